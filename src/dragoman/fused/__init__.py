"""What a training step on a CPU does besides products of large matrices, each in one pass over memory, compiled.

`functions.py` has what the model calls, `library.py` what calls `fused.c`.
"""
