"""The file that the readers of the book write, chapter by chapter: its checks, and the faults that they name.

Each check demands a property of the reader's own functions, by PyTorch's layers and by short formulas. It knows the
names that the book gives to functions, classes and methods, and not how they are written inside.
"""
