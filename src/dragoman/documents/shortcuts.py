"""Marks of keyboard shortcuts in the texts of programs: `&Open` (Qt, Windows) and `_Open` (GTK) are opened by Alt+O.

A model reads "Open". In the translation, the mark stands before the same letter, if a word begins with it or has it,
else before the first letter: `&Ouvrir`. A translation into Chinese, Japanese or Korean gets the letter in brackets, as
is usual there: 打开(&O).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dragoman.text.spans import VERBATIM, find_spans

#: Longer messages are prose.
_LONGEST = 60
#: A mark before a word, or inside one ("E&xit", "E_xit"), but not "R&D", "&amp;" or "file_name".
_MARK = re.compile(r"(?:(?<![\w&_])[&_](?=[^\W\d_])|(?<=\w)&(?=[a-z])|(?<=\b[A-Z])_(?=[a-z]))(?!\w{1,10};)")
#: As it is written in Chinese, Japanese and Korean.
_IN_BRACKETS = re.compile(r"\s?[(（](?P<mark>[&_])(?P<letter>[A-Za-z0-9])[)）]")
#: Letters of scripts that no keyboard has on its keys.
_WITHOUT_KEYS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TAG = re.compile(r"<[^<>]*>")
#: What stays behind the letter in brackets.
_END = re.compile(r"[\s:：.…。]*\Z")


class Shortcut(NamedTuple):
    """The mark of a shortcut, and the letter after it."""

    mark: str
    letter: str


def take_shortcut(text: str) -> tuple[str, Shortcut | None]:
    """Return a text without the mark of its shortcut, if it has one.

    >>> take_shortcut("Save &As..."), take_shortcut("R&D")
    (('Save As...', Shortcut(mark='&', letter='A')), ('R&D', None))
    """
    found = find_shortcut(text)
    return (text, None) if found is None else (text[: found[0]] + text[found[1] :], found[2])


def find_shortcut(text: str) -> tuple[int, int, Shortcut] | None:
    """Return the place in a text of the mark of its shortcut, brackets included, and the shortcut, if it has one."""
    if len(text) > _LONGEST or text.count("&") + text.count("_") != 1:
        return None
    match = _IN_BRACKETS.search(text)
    if match and any(map(str.isalpha, text[: match.start()] + text[match.end() :])):
        return *match.span(), Shortcut(match["mark"], match["letter"])
    match = _MARK.search(text)
    return (*match.span(), Shortcut(match[0], text[match.end()])) if match else None


def put_shortcut(translation: str, shortcut: Shortcut) -> str:
    """Return a translation with the mark of a shortcut.

    >>> [put_shortcut(text, Shortcut("&", "O")) for text in ("Ouvrir", "Datei öffnen", "打开…", "%d")]
    ['&Ouvrir', '&Datei öffnen', '打开(&O)…', '%d']
    """
    mark, letter = shortcut
    if _WITHOUT_KEYS.search(translation) and letter.isascii():
        end = _END.search(translation)
        at = end.start() if end else len(translation)
        return f"{translation[:at]}({mark}{letter.upper()}){translation[at:]}"
    places = list(_places(translation))
    same = [at for at in places if translation[at].casefold() == letter.casefold()]
    starts = [at for at in same if at == 0 or not translation[at - 1].isalnum()]
    best = next(iter([*starts, *same, *places]), None)
    return translation if best is None else translation[:best] + mark + translation[best:]


def _places(text: str) -> Iterator[int]:
    """Yield the places of letters outside tags and what stays as it is."""
    kept = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
    kept += [match.span() for match in _TAG.finditer(text)]
    for at, character in enumerate(text):
        if character.isalpha() and not any(start <= at < end for start, end in kept):
            yield at
