"""Quotation marks, dashes and spaces of other kinds in the same text, or apostrophes left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import UNSPACED

_QUOTE_MARKS = '"„“”‟«»「」『』＂'
#: Quotation marks, with the spaces of French inside them.
_QUOTES = re.compile(rf"«[\s\u202f]*|[\s\u202f]*»|[{_QUOTE_MARKS}]")
_STYLES = ('""', "“”", "„“", "«»", "»«", "””")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʼ`´](?=[^\W\d_])")
_APOSTROPHES = "'’’`´"
#: A dash between words, or a hyphen inside one.
_DASH, _HYPHEN = re.compile(r"(?<=\s)(?:--?|[–—])(?=\s)|—|--"), re.compile(r"(?<=\w)[-‐‑](?=\w)")
_DASHES, _HYPHENS = ("-", "–", "—", "--"), "-‐‑"
_UNSPACED = re.compile(f"[{UNSPACED}]")


def other_quotes(text: str, generator: Generator) -> str:
    """Return the text with quotation marks and apostrophes of another kind."""
    found = _QUOTES.findall(text)
    if found and len(found) % 2 == 0:
        style = _other(_STYLES, found[0].strip() + found[1].strip(), generator)
        marks = cycle(style)
        text = _QUOTES.sub(lambda match: next(marks), text)
    if apostrophe := _APOSTROPHE.search(text):
        text = _APOSTROPHE.sub(_other(_APOSTROPHES, apostrophe[0], generator), text)
    return text


def drop_apostrophes(text: str, _: Generator) -> str:
    """Return the text without the apostrophes between letters."""
    return _APOSTROPHE.sub("", text)


def other_dashes(text: str, generator: Generator) -> str:
    """Return the text with dashes and hyphens of another kind."""
    for pattern, choices in ((_DASH, _DASHES), (_HYPHEN, _HYPHENS)):
        if match := pattern.search(text):
            text = pattern.sub(_other(choices, match[0], generator), text)
    return text


def _other(choices: Sequence[str], present: str, generator: Generator) -> str:
    others = [choice for choice in choices if choice != present]
    return pick(others, generator)


def other_spaces(text: str, generator: Generator) -> str:
    """Return the text with a space too many, one of another kind, or one between Chinese characters."""
    spaces = [match.start() for match in re.finditer(r"(?<=\S)\s(?=\S)", text)]
    if not spaces:
        inner = [place for place in range(1, len(text)) if _UNSPACED.match(text, place)]
        if not inner:
            return text
        place = pick(inner, generator)
        return text[:place] + pick((" ", "\u3000"), generator) + text[place:]
    place = pick(spaces, generator)
    space = pick(("  ", "\u00a0", "   ", " \u00a0", "\u2009"), generator)
    chance = generator.random()
    if chance < 0.3:
        return f" {text}" if chance < 0.15 else f"{text} "
    loose = re.sub(r"(?<=\w)([.!?,])(?=\s|\Z)", r" \1", text, count=1)
    if chance < 0.5 and loose != text:
        return loose
    return text[:place] + space + text[place + 1 :]
