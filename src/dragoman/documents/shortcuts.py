"""Marks of keyboard shortcuts in the texts of programs: `&Open` (Qt, Windows) and `_Open` (GTK) are opened by Alt+O.

A model reads "Open". In the translation, the mark stands before the same letter, if a word begins with it or has it,
else before the first letter: `&Ouvrir`. A translation into Chinese, Japanese or Korean gets the letter in brackets, as
is usual there: 打开(&O). A key after a tab, as in an entry of a menu (`&Open`, a tab, `Ctrl+O`), stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
_END = " \n\t\u3000:：.…。!！?？"
#: A tab as it is, as a reference of XML, and as an escape, and the spaces around it between words of a line.
_TAB = r"(?:\t|&#(?:9|[xX]0*9);|(?<!\\)(?:\\\\)*+\\t)"
_GAP = re.compile(rf"(?<!\s) *+(?:{_TAB} *+)++")
#: A key, such as `Ctrl+O`, `Shift+Page Up`, `F5` or `⌘O`; after a text with a shortcut, each word is one.
_KEY, _WORD = re.compile(r"\S+\+\S+(?: \S+)?|F\d{1,2}|[⌘⌥⇧⌃^]+\S+"), re.compile(r"\S+")


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


def find_tabs(line: str, read: Callable[[str], str] = str) -> Iterator[tuple[int, int]]:
    r"""Yield the place of each tab between words of a line; that of the last one includes the key after it.

    Args:
        read: returns the text that characters of the file stand for.

    >>> [line[slice(*place)] for line in ("&Open\tCtrl+O", "&Delete\tDel", "Name\tSize") for place in find_tabs(line)]
    ['\tCtrl+O', '\tDel', '\t']
    """
    places = [match.span() for match in _GAP.finditer(line) if "\t" in read(match[0])]
    places = [(start, end) for start, end in places if not line[end : end + 1].isspace()]
    yield from places[:-1]
    for start, end in places[-1:]:
        rest = line[end:].rstrip()
        is_entry = _WORD.fullmatch(rest) and find_shortcut(read(line[:start]))
        is_key = len(rest) <= _LONGEST and (is_entry or _KEY.fullmatch(rest))
        yield start, end + len(rest) if is_key else end


def put_shortcut(translation: str, shortcut: Shortcut) -> str:
    """Return a translation with the mark of a shortcut.

    >>> [put_shortcut(text, Shortcut("&", "O")) for text in ("Ouvrir", "Datei öffnen", "打开…", "%d")]
    ['&Ouvrir', '&Datei öffnen', '打开(&O)…', '%d']
    """
    at, added = place_shortcut(translation, shortcut)
    return translation[:at] + added + translation[at:]


def place_shortcut(translation: str, shortcut: Shortcut) -> tuple[int, str]:
    """Return the place of the mark of a shortcut in a translation, and what to add there: "" if it has no letter."""
    mark, letter = shortcut
    if _WITHOUT_KEYS.search(translation) and letter.isascii():
        return len(translation.rstrip(_END)), f"({mark}{letter.upper()})"
    places = list(_places(translation))
    same = [at for at in places if translation[at].casefold() == letter.casefold()]
    starts = [at for at in same if at == 0 or not translation[at - 1].isalnum()]
    best = next(iter([*starts, *same, *places]), None)
    return (0, "") if best is None else (best, mark)


def _places(text: str) -> Iterator[int]:
    """Yield the places of letters outside tags and what stays as it is."""
    kept = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
    kept += [match.span() for match in _TAG.finditer(text)]
    for at, character in enumerate(text):
        if character.isalpha() and not any(start <= at < end for start, end in kept):
            yield at
