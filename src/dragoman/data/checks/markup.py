"""Remains of markup in text: entities, tags, addresses and placeholders are counted, and removed on request."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html.entities import html5
from typing import Literal

from dragoman.data.checks.mojibake import mend_mojibake
from dragoman.data.formats.pair_file import LocatedPair
from dragoman.data.parallel_text import ParallelText
from dragoman.data.text_files.lines import Line
from dragoman.errors import counted
from dragoman.text.cleaning import collapse_spaces
from dragoman.text.spans import find_spans

Cleaning = Literal["entities", "tags", "mojibake"]

#: Elements of HTML that stand in running text, inline elements of TMX and XLIFF, and tags of subtitles. An unknown name
#: alone in brackets may be text, as in "open <file>".
_BREAKS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body br center dd div dl dt fieldset figcaption figure footer form h1 h2 h3
        h4 h5 h6 head header hr html li main nav ol option p pre section table tbody td tfoot th thead title tr ul""",
    )
)
_INLINE = frozenset(
    re.findall(
        r"\w+",
        """a abbr b bdi bdo big bpt button bx cite code del dfn em ept ex font g hi i iframe img input ins it kbd label
        link mark meta mrk ph q rp rt ruby s samp script seg select small source span strike strong style sub sup tt u
        ut var video wbr x""",
    )
)
_NAME = r"[A-Za-z][A-Za-z0-9:-]*"
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+)"""
_TAG = re.compile(rf"<(/?)({_NAME})((?:{_ATTRIBUTE})*)\s*(/?)>|<!--[^<>]*-->|\{{\\[^{{}}]*\}}")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: An ampersand that was encoded several times, before an entity.
_ENCODED_AGAIN = re.compile(r"&(?:(?:amp|#38|#[xX]26);)+(?=(?:#?\w+);)")
#: Signs that a text with any markup has.
_SIGN = re.compile(r"[&<@{%]|__|://|www\.")
#: Spans that are counted.
_SPANS: dict[str, str] = {"url": "web addresses", "email": "e-mail addresses", "placeholder": "placeholders"}
_MAX_SAMPLE = 40
_MAX_PASSES = 20


@dataclass
class _Remains:
    """The number of pairs with one kind of markup, and the first of them.

    Args:
        line: the first line that has it.
        sample: the markup there.
    """

    line: int
    sample: str
    n_source: int = 0
    n_target: int = 0
    n_pairs: int = 0


class MarkupCounter:
    """Takes the pairs of a corpus, and counts those with markup of each kind."""

    def __init__(self) -> None:
        self._remains: dict[str, _Remains] = {}

    def add(self, line: int, source: str, target: str) -> None:
        """Take one pair and its line."""
        if not (_SIGN.search(source) or _SIGN.search(target)):
            return
        sides = _first_of_each(source), _first_of_each(target)
        for kind, sample in {**sides[1], **sides[0]}.items():
            remains = self._remains.setdefault(kind, _Remains(line, sample))
            remains.n_source += kind in sides[0]
            remains.n_target += kind in sides[1]
            remains.n_pairs += 1

    def lines(self) -> list[str]:
        """Return a warning for people about each kind that occurs."""
        kinds = ("HTML entities", "tags", *_SPANS.values())
        return [_warning(kind, self._remains[kind]) for kind in kinds if kind in self._remains]


def cleaned(text: ParallelText, cleaning: Sequence[Cleaning]) -> ParallelText:
    """Return the same pairs without the markup and the mojibake that `cleaning` names."""
    if not cleaning:
        return text

    def read() -> Iterator[LocatedPair]:
        for line, source, target in text.numbered():
            yield line, _clean_line(source, cleaning), _clean_line(target, cleaning)

    return replace(text, pair_file=replace(text.pair_file, read=read))


def clean_markup(text: str, cleaning: Sequence[Cleaning]) -> str:
    """Decode entities, remove tags, or both; text without them stays as it is.

    >>> clean_markup("Tom &amp;amp; <b>Mary</b>, 1 < 2", ("entities", "tags"))
    'Tom & Mary, 1 < 2'
    """
    after = text
    for _ in range(_MAX_PASSES):  # an entity may be encoded twice, and a decoded one may be a tag
        before = after
        if "entities" in cleaning and "&" in after:
            after = _ENTITY.sub(_decoded, _ENCODED_AGAIN.sub("&", after))
        if "tags" in cleaning and ("<" in after or "{\\" in after):
            after = _TAG.sub(_without_tag, after)
        if after == before:
            break
    return text if after == text else collapse_spaces(after)


def _clean_line(line: Line, cleaning: Sequence[Cleaning]) -> Line:
    if isinstance(line, str):
        if "mojibake" in cleaning:
            line = mend_mojibake(line)
        return clean_markup(line, cleaning) if _SIGN.search(line) else line
    return line


def _without_tag(match: re.Match[str]) -> str:
    """Return the replacement of a tag: a space if it breaks the line, an unknown tag itself, else nothing."""
    if not _is_tag(match):
        return match.group()
    return " " if (match[2] or "").lower() in _BREAKS else ""


def _is_tag(match: re.Match[str]) -> bool:
    if not match[2]:
        return True  # a comment, or a tag of subtitles
    name = match[2].lower()
    return name in _BREAKS or name in _INLINE or any((match[1], match[3], match[4])) or f"</{match[2]}" in match.string


def _decoded(match: re.Match[str]) -> str:
    return html.unescape(match.group()) if _is_entity(match) else match.group()


def _is_entity(match: re.Match[str]) -> bool:
    name = match.group()[1:]
    return name.startswith("#") or name in html5


def _first_of_each(text: str) -> dict[str, str]:
    """Return the first markup of each kind in a text."""
    found = {_SPANS[span.kind]: text[span.start : span.end] for span in find_spans(text)[::-1] if span.kind in _SPANS}
    for kind, pattern, is_one in (("HTML entities", _ENTITY, _is_entity), ("tags", _TAG, _is_tag)):
        if first := next(filter(is_one, pattern.finditer(text)), None):
            found[kind] = first.group()
    return found


_ADVICE = {
    "HTML entities": "; --set data.clean=entities decodes them",
    "tags": "; --set data.clean=tags removes them",
}


def _warning(kind: str, remains: _Remains) -> str:
    sample = remains.sample if len(remains.sample) <= _MAX_SAMPLE else remains.sample[:_MAX_SAMPLE] + "..."
    location = f"the first in line {remains.line:,}: {sample}"
    sides = ""
    if remains.n_source != remains.n_target:
        sides = f", {remains.n_source:,} in the source and {remains.n_target:,} in the target"
    pairs = counted(remains.n_pairs, "pair has", "pairs have")
    return f"warning: {pairs} {kind} ({location}{sides}){_ADVICE.get(kind, '')}"
