"""The marks that end a text: left out, or written two or three times."""

from __future__ import annotations

import re

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick

#: All marks at the end of a text, with the space that French puts before them.
_FINAL_MARKS = re.compile(r"\s*[.!?…‽。！？｡؟۔։।॥]+\s*\Z")
_MORE = {"?": ("??", "???", "?!", "!?"), "？": ("？？", "？？？", "？！"), ".": ("..", "...")}


def drop_final_mark(text: str, generator: Generator) -> str:
    """Return the text without the marks at its end."""
    return _FINAL_MARKS.sub("", text) or text


def split_final_marks(text: str) -> tuple[str, str]:
    """Return the text before the marks at its end, and these marks with the space before them."""
    match = _FINAL_MARKS.search(text)
    return (text, "") if match is None else (text[: match.start()], match[0])


def final_mark(text: str) -> str:
    """Return the first of the marks at the end of a text, or "".

    >>> final_mark("Ça va ?!"), final_mark("你好。"), final_mark("He said “yes”")
    ('?', '。', '')
    """
    match = _FINAL_MARKS.search(text)
    return match[0].strip()[0] if match else ""


def double_final_mark(text: str, generator: Generator) -> str:
    """Return the text with two or three marks at its end instead of one."""
    match, mark = _FINAL_MARKS.search(text), final_mark(text)
    if match is None or match[0].strip() != mark:
        return text
    choices = _MORE.get(mark, (mark * 2, mark * 3))
    space = match[0][: match[0].index(mark)]
    return text[: match.start()] + space + pick(choices, generator)
