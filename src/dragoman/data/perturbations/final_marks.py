"""The marks that end a text: left out, or written two or three times."""

from __future__ import annotations

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick

_MARKS = ".!?…‽。！？｡؟۔։।॥"
_MORE = {"?": ("??", "???", "?!", "!?"), "？": ("？？", "？？？", "？！"), ".": ("..", "...")}


def drop_final_mark(text: str, generator: Generator) -> str:
    """Return the text without the marks at its end."""
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


def double_final_mark(text: str, generator: Generator) -> str:
    """Return the text with two or three marks at its end instead of one."""
    start, marks = split_final_marks(text)
    mark = marks.strip()
    if len(mark) != 1:
        return text
    choices = _MORE.get(mark, (mark * 2, mark * 3))
    return start + marks[: marks.index(mark)] + pick(choices, generator)
