"""Files of XLIFF 1.2 and 2 (OASIS): units without a target get one, and everything else stays, byte for byte.

A unit whose target has a state such as "needs-translation" is translated anew. A new target with a flag, and with
`is_fuzzy` every new one, gets the state of one that people must check. Its origin is in words of XLIFF 1.2, in XLIFF 2
as a `subState` of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_names import same_language
from dragoman.data.formats.xliff import BY_MACHINE, ORIGIN_PREFIX
from dragoman.documents.document import are_remembered, is_left_out
from dragoman.documents.inline_elements import (
    PLAIN_XML,
    PRESERVED_XML,
    Flow,
    TextSyntax,
    fill_parts,
    inline_parts,
    is_segment,
    sources_of,
)
from dragoman.documents.xml_tokens import XmlFile, XmlToken, opening, parse_xml_of, with_attribute
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: States of targets that are no translations, and of those that are finished even if they are empty.
_UNTRANSLATED, _FINISHED = frozenset(("new", "needs-translation", "needs-l10n")), frozenset(("final", "signed-off"))
#: Elements with a source and a target: of XLIFF 1.2, and of 2.
_UNITS = frozenset(("trans-unit", "segment"))


@dataclass
class _Unit:
    """A unit: the places of its tags among the tokens of the file.

    Args:
        after: the tag that the target follows.
    """

    start: int
    is_preserved: bool
    source: int = 0
    segmented: int | None = None
    after: int = 0
    target: int | None = None

    @property
    def syntax(self) -> TextSyntax:
        """The syntax of its text."""
        return PRESERVED_XML if self.is_preserved else PLAIN_XML


@dataclass(frozen=True)
class _Job:
    """A unit to translate, with the parts of its target.

    Args:
        is_partial: the target has translations of some segments, which stay.
    """

    unit: _Unit
    parts: Sequence[str | Flow]
    is_partial: bool = False


@dataclass(frozen=True)
class _Scope:
    """Rules of an element for those inside it."""

    name: str = ""
    is_translated: bool = True
    is_preserved: bool = False

    def inside(self, token: XmlToken) -> _Scope:
        """Return the scope of an element in this one."""
        translate, space = token.attributes.get("translate"), token.attributes.get("xml:space")
        is_translated = self.is_translated if translate not in ("yes", "no") else translate == "yes"
        return _Scope(token.name, is_translated, self.is_preserved if space is None else space == "preserve")


class XliffFile:
    """A file of units.

    `is_fuzzy` gives all new targets the state of those to check; without it, those with a flag have it.

    Raises:
        DataError: it is not well-formed, declares entities or a document type, or is no XLIFF.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self.is_fuzzy = False
        self._file, self._name = parse_xml_of("xliff", "XLIFF", content, name), name
        version = self._file.tokens[self._file.root].attributes.get("version", "")
        self._is_second = version.startswith("2")
        self._jobs = [job for unit in _units(self._file) if (job := self._job(unit)) is not None]

    def segments(self) -> list[MarkedText]:
        """Return the texts of the units to translate."""
        return [source for job in self._jobs for source in sources_of(job.parts)]

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Check the languages of a translation.

        Raises:
            DataError: the file names others.
        """
        for at, names in self._language_tags():
            token = self._file.tokens[at]
            for name, wanted, option in zip(names, (source, target), ("source", "target"), strict=True):
                stated = token.attributes.get(name)
                if stated and wanted and not same_language(stated, wanted):
                    problem = f"the file has {name} {stated!r}, and {wanted} is asked for"
                    advice = f"change --{option}-lang, or {name} in the file"
                    raise DataError(problem, self._name, line=self._file.line(at), advice=advice)

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a target in each of these units, and the language where the file names none.

        Raises:
            DataError: the file names another language.
        """
        self.set_languages(None, target_lang)
        changed: dict[int, str] = {}
        if target_lang:
            for at, (_, name) in self._language_tags():
                if not self._file.tokens[at].attributes.get(name):
                    changed[at] = with_attribute(self._file.tokens[at].raw, name, target_lang)
        given = iter(translations)
        for job in self._jobs:
            self._fill(job, given, changed)
        return self._file.written(changed)

    def _language_tags(self) -> Iterator[tuple[int, tuple[str, str]]]:
        """Yield the place of each tag that names languages, and the names of its attributes."""
        names = ("srcLang", "trgLang") if self._is_second else ("source-language", "target-language")
        for at, token in enumerate(self._file.tokens):
            if token.kind == "start" and token.name == ("xliff" if self._is_second else "file"):
                yield at, names

    def _job(self, unit: _Unit) -> _Job | None:
        """Return what is to be translated of a unit."""
        tokens, ends = self._file.tokens, self._file.ends
        state = tokens[unit.start if self._is_second or unit.target is None else unit.target].attributes.get("state")
        if not has_content(tokens[unit.source + 1 : ends[unit.source]]) or state in _FINISHED:
            return None
        if unit.target is None or not has_content(tokens[unit.target + 1 : ends[unit.target]]):
            return _Job(unit, self._parts(unit))
        if tokens[unit.start].attributes.get("approved") == "yes":
            return None
        if state in _UNTRANSLATED:
            return _Job(unit, self._parts(unit))
        if unit.segmented is None:
            return None
        parts = completed_parts(self._file, unit.segmented, unit.target, unit.syntax)
        return _Job(unit, parts, is_partial=True) if parts else None

    def _parts(self, unit: _Unit) -> list[str | Flow]:
        """Return the parts of the target of a unit: those of its source, or of its segments."""
        start = unit.source
        if unit.segmented is not None:
            inside = self._file.tokens[unit.segmented : self._file.ends[unit.segmented]]
            start = unit.segmented if any(map(is_segment, inside)) else start
        return inline_parts(self._file, start + 1, self._file.ends[start], unit.syntax)

    def _fill(self, job: _Job, given: Iterator[Translation], changed: dict[int, str]) -> None:
        """Write the target of a unit into the tokens to change."""
        tokens, unit = self._file.tokens, job.unit
        text, translations = fill_parts(job.parts, given)
        is_doubtful = self.is_fuzzy or any(one.flags for one in translations)
        pairs = zip(sources_of(job.parts), translations, strict=True)
        used = [translation for source, translation in pairs if not _is_copy(source, translation)]
        if is_left_out(used):
            return
        tag = f"<{self._file.prefix}target>" if unit.target is None else opening(tokens[unit.target].raw)
        if self._is_second:
            qualifier = _qualifier(used)
            origin = f"{ORIGIN_PREFIX}{qualifier}" if qualifier and not job.is_partial else ""
            head = with_attribute(changed.get(unit.start, tokens[unit.start].raw), "subState", origin)
            changed[unit.start] = with_attribute(head, "state", "initial" if is_doubtful else "translated")
        else:
            if is_doubtful or not job.is_partial:
                tag = with_attribute(tag, "state", "needs-review-translation" if is_doubtful else "translated")
            if not job.is_partial:
                tag = with_attribute(tag, "state-qualifier", _qualifier(used))
        element = f"{tag}{text}</{self._file.prefix}target>"
        if unit.target is None:
            changed[unit.after] = tokens[unit.after].raw + self._file.indentation(unit.source) + element
        else:
            changed |= self._file.with_element(unit.target, element)


def _units(file: XmlFile) -> Iterator[_Unit]:
    """Yield the units with a source, except those that are not to be translated."""
    scopes = [_Scope()]
    unit = _Unit(0, is_preserved=False)
    for at, token in enumerate(file.tokens):
        if token.kind == "start":
            parent = scopes[-1]
            scopes.append(parent.inside(token))
            if token.name in _UNITS:
                unit = _Unit(at, scopes[-1].is_preserved)
            elif parent.name in _UNITS:
                _take(unit, at, token, file.ends, is_preserved=scopes[-1].is_preserved)
        elif token.kind == "end":
            scope = scopes.pop()
            if scope.name in _UNITS and unit.source and scope.is_translated:
                yield unit
                unit = _Unit(0, is_preserved=False)


def _take(unit: _Unit, at: int, token: XmlToken, ends: Mapping[int, int], *, is_preserved: bool) -> None:
    """Write down an element of a unit."""
    if token.name == "source" and not unit.source:
        unit.source, unit.after, unit.is_preserved = at, ends[at], is_preserved
    elif token.name == "seg-source":
        unit.segmented, unit.after = at, ends[at]
    elif token.name == "target" and unit.target is None:
        unit.target = at


def _is_copy(source: MarkedText, translation: Translation) -> bool:
    """Return True if no model has read a text, and it is its own translation."""
    return not translation.score and not translation.memory and translation.text == source.text


def _qualifier(translations: Sequence[Translation]) -> str:
    """Return the origin of a target in the words of XLIFF 1.2; "" if all of it is a copy of its source."""
    if not translations:
        return ""
    return "exact-match" if are_remembered(translations) else BY_MACHINE


def has_content(tokens: Sequence[XmlToken]) -> bool:
    """Return True if there is text or code, beside elements that wrap nothing."""
    return any(
        token.text.strip() or (token.kind == "start" and token.name not in ("mrk", "g", "pc")) for token in tokens
    )


def completed_parts(file: XmlFile, source: int, target: int, syntax: TextSyntax) -> list[str | Flow]:
    """Return the parts of a target with the segments that it lacks; those that it has stay as they are.

    Args:
        source: the place of the element with the segments of the source.
        target: that of the target.

    Returns:
        An empty list if it lacks none, or is not segmented.
    """
    tokens, ends = file.tokens, file.ends
    sources, targets = (dict(_segments(file, start)) for start in (source, target))
    sources = {mid: at for mid, at in sources.items() if not _is_empty(file, at)}
    if not targets or "" in sources or all(mid in targets and not _is_empty(file, targets[mid]) for mid in sources):
        return []

    def filled(mid: str) -> Iterator[str | Flow]:
        """Yield the source of a segment, in the tags that the target has for it."""
        at, start = targets.get(mid, sources[mid]), sources[mid]
        yield opening(tokens[at].raw)
        yield from inline_parts(file, start + 1, ends[start], syntax)
        yield tokens[ends[at]].raw or f"</{file.prefix}mrk>"

    leading, following = _without_element(sources, targets)
    parts = [part for mid in leading for part in (*filled(mid), " ")]
    at = target + 1
    while at < ends[target]:
        mid = tokens[at].attributes.get("mid", "") if is_segment(tokens[at]) else ""
        stop = ends[at] + 1 if mid else at + 1
        is_lacking = mid in sources and _is_empty(file, at)
        parts += filled(mid) if is_lacking else [token.raw for token in tokens[at:stop]]
        parts += [part for other in following.get(mid, ()) for part in (" ", *filled(other))]
        at = stop
    return parts


def _without_element(
    sources: Mapping[str, int], targets: Mapping[str, int]
) -> tuple[Sequence[str], Mapping[str, Sequence[str]]]:
    """Return the numbers of segments that have no element in the target: those at the start, and those after each."""
    following: dict[str, list[str]] = {"": []}
    last = ""
    for mid in sources:
        if mid in targets:
            last = mid
        else:
            following.setdefault(last, []).append(mid)
    return following.pop(""), following


def _segments(file: XmlFile, start: int) -> Iterator[tuple[str, int]]:
    """Yield the number and the place of each segment in an element."""
    for at in range(start + 1, file.ends[start]):
        if is_segment(file.tokens[at]):
            yield file.tokens[at].attributes.get("mid", ""), at


def _is_empty(file: XmlFile, at: int) -> bool:
    return not has_content(file.tokens[at + 1 : file.ends[at]])
