"""The marks that end a text, and the text without them."""

from __future__ import annotations

from numpy.random import Generator

_MARKS = ".!?…‽。！？｡؟۔։।॥"


def drop_final_mark(text: str, generator: Generator) -> str:
    """Return the text without the marks at its end."""
    return without_final_marks(text)


def without_final_marks(text: str) -> str:
    """Return the text without the marks at its end, unless it has nothing else."""
    return split_final_marks(text)[0] or text


def split_final_marks(text: str) -> tuple[str, str]:
    """Return the text before the marks at its end, and these marks with the spaces around them: French puts one before.

    >>> split_final_marks("Ça va ?! ")
    ('Ça va', ' ?! ')
    """
    ended = text.rstrip()
    begun = ended.rstrip(_MARKS)
    if begun == ended:
        return text, ""
    begun = begun.rstrip()
    return begun, text[len(begun) :]


def final_mark(text: str) -> str:
    """Return the first of the marks at the end of a text, or "".

    >>> final_mark("Ça va ?!"), final_mark("你好。"), final_mark("He said “yes”")
    ('?', '。', '')
    """
    return split_final_marks(text)[1].strip()[:1]
