"""Translation memories (TMX): units without a variant in the target language get one; everything else stays.

A property of a new variant says that a machine has translated it, so that it is not read as a person's translation.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.data.formats.column_names import same_language
from dragoman.data.formats.tmx import ORIGIN
from dragoman.data.formats.xliff import BY_MACHINE
from dragoman.documents.document import is_left_out
from dragoman.documents.inline_elements import Flow, inline_parts
from dragoman.documents.xml_tokens import XmlFile, parse_xml
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation


@dataclass
class _Variant:
    """The text of a unit in one language: the places of its `<tuv>` and its `<seg>` among the tokens."""

    language: str
    start: int
    segment: int = 0


@dataclass
class _Unit:
    variants: list[_Variant] = field(default_factory=list)


@dataclass(frozen=True)
class _Job:
    """A unit to translate, with the parts of its new text, and its empty variant, if it has one."""

    unit: _Unit
    parts: Sequence[str | Flow]
    empty: _Variant | None


class TmxFile:
    """A memory. It has segments when its languages are set.

    Raises:
        DataError: it is not well-formed, declares entities, or is no memory.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self._file, self._name = parse_xml(content, name, allow_doctype=True), name
        root = self._file.tokens[self._file.root]
        if root.name != "tmx":
            problem = f"this is XML ({root.name}), not a translation memory (TMX)"
            raise DataError(problem, name, line=self._file.line(self._file.root), advice="give a TMX file")
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
        codes = dict.fromkeys(variant.language for unit in self._units for variant in unit.variants)
        if self._units and not any(same_language(code, source) for code in codes):
            problem = f"the units are in {', '.join(codes)}, and {source} is asked for"
            raise DataError(problem, self._name, advice="change --source-lang")
        self._jobs = [*self._chosen(source)]

    def segments(self) -> list[MarkedText]:
        """Return the texts of the units to translate."""
        return [part.source for job in self._jobs for part in job.parts if isinstance(part, Flow)]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the memory with a variant in the target language in each of these units."""
        tokens, ends, given = self._file.tokens, self._file.ends, iter(translations)
        changed: dict[int, str] = {}
        prefix, language = self._file.prefix, html.escape(target_lang or self._language)
        for job in self._jobs:
            own = [next(given) if isinstance(part, Flow) else None for part in job.parts]
            if is_left_out(filter(None, own)):
                continue
            parts = (
                part.fill(translation) if isinstance(part, Flow) and translation is not None else str(part)
                for part, translation in zip(job.parts, own, strict=True)
            )
            segment = f"<{prefix}seg>{''.join(parts)}</{prefix}seg>"
            if job.empty is not None:
                places = range(job.empty.segment, ends[job.empty.segment] + 1)
                changed |= dict.fromkeys(places, "") | {job.empty.segment: segment}
                continue
            last = job.unit.variants[-1]
            before = tokens[last.start - 1]
            indentation = before.raw if before.kind == "text" and before.raw.isspace() else ""
            is_remembered = all(one is None or (one.memory and one.memory[0].score == 1) for one in own)
            origin = "" if is_remembered else f'<{prefix}prop type="{ORIGIN}">{BY_MACHINE}</{prefix}prop>'
            variant = f'<{prefix}tuv xml:lang="{language}">{origin}{segment}</{prefix}tuv>'
            changed[ends[last.start]] = tokens[ends[last.start]].raw + indentation + variant
        return self._file.written(changed)

    def _chosen(self, source: str) -> Iterator[_Job]:
        """Yield the units to translate: those with a source, and without a text in the target language."""
        is_exact = same_language(source, self._language)
        for unit in self._units:
            sources = [one for one in unit.variants if _fits(one.language, source, is_exact=is_exact)]
            sources = [one for one in sources if not self._is_empty(one)]
            sources.sort(key=lambda one: not _fits(one.language, source, is_exact=True))
            targets = [one for one in unit.variants if _fits(one.language, self._language, is_exact=is_exact)]
            if sources and all(map(self._is_empty, targets)):
                start = sources[0].segment
                parts = inline_parts(self._file, start + 1, self._file.ends[start])
                yield _Job(unit, parts, next(iter(targets), None))

    def _is_empty(self, variant: _Variant) -> bool:
        content = self._file.tokens[variant.segment + 1 : self._file.ends[variant.segment]]
        return not any(token.kind == "start" or token.text.strip() for token in content)


def _units(file: XmlFile, name: Path) -> Iterator[_Unit]:
    """Yield the units with a text."""
    unit = _Unit()
    path: list[str] = []
    for at, token in enumerate(file.tokens):
        if token.kind == "end":
            path.pop()
            if token.name == "tu":
                unit.variants = [variant for variant in unit.variants if variant.segment]
                if unit.variants:
                    yield unit
                unit = _Unit()
        elif token.kind == "start":
            if token.name == "tuv":
                language = token.attributes.get("xml:lang") or token.attributes.get("lang")
                if not language:
                    line = file.line(at)
                    raise DataError("a <tuv> without xml:lang", name, line=line, advice="export the file again")
                unit.variants.append(_Variant(language, at))
            elif token.name == "seg" and path[-1:] == ["tuv"]:
                unit.variants[-1].segment = at
            path.append(token.name)


def _fits(code: str, language: str, *, is_exact: bool) -> bool:
    if is_exact:
        return code.replace("_", "-").lower() == language.replace("_", "-").lower()
    return same_language(code, language)
