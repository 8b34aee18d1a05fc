"""Translation memories (TMX): units without a variant in the target language get one; everything else stays.

A property of a new variant says that a machine has translated it, so that it is not read as a person's translation.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.column_names import same_language
from dragoman.data.formats.tmx import ORIGIN
from dragoman.data.formats.xliff import BY_MACHINE
from dragoman.documents.document import are_remembered, is_left_out
from dragoman.documents.inline_elements import Flow, fill_parts, inline_parts, sources_of
from dragoman.documents.xml_tokens import XmlFile, parse_xml_of
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


@dataclass
class _Variant:
    """The text of a unit in one language: the places of its `<tuv>` and its `<seg>` among the tokens."""

    language: str
    start: int
    segment: int = 0


@dataclass(frozen=True)
class _Job:
    """A unit to translate, with the parts of its new text, and its empty variant, if it has one."""

    unit: Sequence[_Variant]
    parts: Sequence[str | Flow]
    empty: _Variant | None


class TmxFile:
    """A memory. It has segments when its languages are set.

    Raises:
        DataError: it is not well-formed, declares entities, or is no memory.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._file = parse_xml_of("tmx", "a translation memory (TMX)", content, name, allow_doctype=True)
        self._name = name
        headers = [token for token in self._file.tokens if token.name == "header" and token.kind == "start"]
        self._source = next((token.attributes.get("srclang", "") for token in headers), "")
        self._units = [*_units(self._file, name)]
        self._jobs: list[_Job] = []
        self._language = ""

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Choose the units to translate.

        Raises:
            DataError: a language is unknown, or no unit is in that of the source.
        """
        stated = "" if self._source == "*all*" else self._source
        source = source or stated
        for code, option in ((source, "--source-lang"), (target, "--target-lang")):
            if not code:
                raise DataError("the language is unknown", self._name, advice=f"give {option}")
        self._language = target or ""
        codes = dict.fromkeys(variant.language for unit in self._units for variant in unit)
        if self._units and not any(same_language(code, source) for code in codes):
            problem = f"the units are in {', '.join(codes)}, and {source} is asked for"
            raise DataError(problem, self._name, advice="change --source-lang")
        self._jobs = [*self._chosen(source)]

    def segments(self) -> list[MarkedText]:
        """Return the texts of the units to translate."""
        return [source for job in self._jobs for source in sources_of(job.parts)]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the memory with a variant in the target language in each of these units."""
        tokens, ends, given = self._file.tokens, self._file.ends, iter(translations)
        changed: dict[int, str] = {}
        prefix, language = self._file.prefix, html.escape(target_lang or self._language)
        for job in self._jobs:
            text, used = fill_parts(job.parts, given)
            if is_left_out(used):
                continue
            origin = "" if are_remembered(used) else f'<{prefix}prop type="{ORIGIN}">{BY_MACHINE}</{prefix}prop>'
            segment = f"{origin}<{prefix}seg>{text}</{prefix}seg>"
            if job.empty is not None:
                changed |= self._file.with_element(job.empty.segment, segment)
                continue
            start = job.unit[-1].start
            variant = f'<{prefix}tuv xml:lang="{language}">{segment}</{prefix}tuv>'
            changed[ends[start]] = tokens[ends[start]].raw + self._file.indentation(start) + variant
        return self._file.written(changed)

    def _chosen(self, source: str) -> Iterator[_Job]:
        """Yield the units to translate: those with a source, and without a text in the target language."""
        is_exact = same_language(source, self._language)
        for unit in self._units:
            sources = [one for one in unit if _fits(one.language, source, is_exact=is_exact)]
            sources = [one for one in sources if not self._is_empty(one)]
            sources.sort(key=lambda one: not _fits(one.language, source, is_exact=True))
            targets = [one for one in unit if _fits(one.language, self._language, is_exact=is_exact)]
            if sources and all(map(self._is_empty, targets)):
                start = sources[0].segment
                parts = inline_parts(self._file, start + 1, self._file.ends[start])
                yield _Job(unit, parts, next(iter(targets), None))

    def _is_empty(self, variant: _Variant) -> bool:
        content = self._file.tokens[variant.segment + 1 : self._file.ends[variant.segment]]
        return not any(token.kind == "start" or token.text.strip() for token in content)


def _units(file: XmlFile, name: Path) -> Iterator[Sequence[_Variant]]:
    """Yield the variants with a text of each unit that has one."""
    variants: list[_Variant] = []
    path: list[str] = []
    for at, token in enumerate(file.tokens):
        if token.kind == "end":
            path.pop()
            if token.name == "tu":
                if with_text := [variant for variant in variants if variant.segment]:
                    yield with_text
                variants = []
        elif token.kind == "start":
            if token.name == "tuv":
                language = token.attributes.get("xml:lang") or token.attributes.get("lang")
                if not language:
                    line = file.line(at)
                    raise DataError("a <tuv> without xml:lang", name, line=line, advice="export the file again")
                variants.append(_Variant(language, at))
            elif token.name == "seg" and path[-1:] == ["tuv"]:
                variants[-1].segment = at
            path.append(token.name)


def _fits(code: str, language: str, *, is_exact: bool) -> bool:
    if is_exact:
        return code.replace("_", "-").lower() == language.replace("_", "-").lower()
    return same_language(code, language)
