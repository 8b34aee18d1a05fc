"""The translation of the segments of a document.

Few models have learned ellipses at the ends of a segment ("...and then", "Search…"). A model reads the text without
them, and they stand at the same ends of its translation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Self, Unpack

from dragoman.documents.document import Bilingual, Document
from dragoman.text.languages import base_language
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
from dragoman.text.tags import SEVERAL, UNKNOWN
from dragoman.translator import Request, TextTranslator, Translation, in_document
from dragoman.translator.options import CallOptions, split_options

_START, _END = re.compile(r"(?:\.{3}|…)(?=\w)"), re.compile(r"(?<=\w)(?:\.{3}|…)\Z")
#: The look behind it keeps a search from starting at each point of a long run.
_SENTENCE_END = re.compile(r"(?<![\s.!?…。！？])[\s.!?…。！？]+\Z")
#: Text of more words is read as a sentence.
_MOST_WORDS = 3


class Ellipses(NamedTuple):
    """Those at the start and the end of a text; empty strings for none."""

    start: str
    end: str


def take_ellipses(text: str, verbatim: tuple[Stretch, ...]) -> tuple[str, tuple[Stretch, ...], Ellipses]:
    """Return a text without its ellipses, the places of its verbatim stretches in it, and the ellipses.

    >>> take_ellipses("...and I said: no…", ())
    ('and I said: no.', (), Ellipses(start='...', end='…'))
    """
    first, last = _START.match(text), _END.search(text)
    start = first[0] if first and all(begin >= first.end() for begin, _ in verbatim) else ""
    end = last[0] if last and all(stop <= last.start() for _, stop in verbatim) else ""
    core = text[len(start) : len(text) - len(end)]
    if end and len(core.split()) > _MOST_WORDS:
        core += "."
    return core, tuple((begin - len(start), stop - len(start)) for begin, stop in verbatim), Ellipses(start, end)


def put_ellipses(translation: str, ellipses: Ellipses, language: str | None) -> str:
    """Return a translation with ellipses; Chinese ones at its end are doubled, as is usual there.

    >>> put_ellipses("dann sagte ich: nein.", Ellipses("...", "…"), "de")
    '...dann sagte ich: nein…'
    """
    start, end = ellipses
    if end:
        translation = _SENTENCE_END.sub("", translation)
        end = "……" if language and base_language(language) == "zh" else end
    return start + translation + end


class SegmentText(NamedTuple):
    """The text of a segment, without ellipses at its ends."""

    text: str
    verbatim: tuple[Stretch, ...]
    ellipses: Ellipses
    segment: MarkedText

    @classmethod
    def of(cls, segment: MarkedText, *, keeps_ellipses: bool = False) -> Self:
        """Return the text of a segment.

        Args:
            keeps_ellipses: True for a lookup of the whole text in a memory, or if the translation has a given prefix.
        """
        if keeps_ellipses:
            return cls(segment.text, segment.verbatim, Ellipses("", ""), segment)
        return cls(*take_ellipses(segment.text, segment.verbatim), segment)

    @property
    def aligns(self) -> bool:
        """True if words must be aligned, because the segment has marks to place."""
        return bool(self.segment.marks)

    @property
    def marked(self) -> tuple[str, ...]:
        """The parts without letters that are marked: numbers and prices in tags of their own."""
        parts = (self.segment.text[mark.start : mark.end] for mark in self.segment.marks)
        return tuple(part for part in parts if part and not any(map(str.isalpha, part)))

    def request(self, template: Request) -> Request:
        """Return the request for its translation."""
        return replace(template, text=self.text, verbatim=self.verbatim, marked=self.marked, align=self.aligns)

    def finish(self, translation: Translation, target_lang: str | None) -> Translation:
        """Return the translation of the segment and its alternatives, given those of the text.

        They get the ellipses and the first capital: "Help" in a menu is a heading, so its translation begins with a
        capital. A word that was copied stays as it is.
        """
        alternatives = tuple(
            replace(each, text=self._finished(each.text, target_lang), parts=()) for each in translation.alternatives
        )
        return replace(translation, text=self._finished(translation.text, target_lang), alternatives=alternatives)

    def _finished(self, text: str, target_lang: str | None) -> str:
        if any(self.ellipses):
            text = put_ellipses(text, self.ellipses, target_lang)
        is_small = text[:1].islower() and len(text[:1].upper()) == 1
        if is_small and self.segment.text[:1].isupper() and text.split()[0] not in self.segment.text.split():
            text = text[0].upper() + text[1:]
        return text


#: Segments that are planned, sorted by length and shared among workers together.
_N_TOGETHER = 500


def document_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `translate_document`, given those of `Translator.translate_stream`."""
    of_lines = ("prefixes", "align", "n_best", "doubts", "as_document", "read_ahead")
    given = {name: value for name, value in options.items() if name not in of_lines}
    return given | {"prefix": options.get("prefixes") or ""}


def translate_document(
    document: Document,
    translator: TextTranslator,
    *,
    prefix: str = "",
    sentences: bool | None = None,
    batch_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Iterator[Translation]:
    """Yield the translation of each segment of a document, for its `rebuild`.

    Args:
        prefix, sentences: see `Request`.
        batch_size, options: as for `Translator.translate`.

    Raises:
        ConfigError: as `Translator.translate`, at once.
    """
    of_texts, of_search = split_options(options)
    answer = translator.answering(**of_search)
    template = Request("", prefix, sentences, **of_texts).checked("")
    if isinstance(document, Bilingual):
        document.set_languages(*_languages(translator, of_texts.get("source_lang"), of_texts.get("target_lang")))
    keeps_ellipses = template.plain or template.memory is not None or bool(template.prefix)
    texts = [SegmentText.of(segment, keeps_ellipses=keeps_ellipses) for segment in document.segments()]
    requests = list(in_document(each.request(template) for each in texts))

    def translations() -> Iterator[Translation]:
        for start in range(0, len(texts), _N_TOGETHER):
            together = slice(start, start + _N_TOGETHER)
            found = answer(requests[together], batch_size=batch_size)
            for text, translation in zip(texts[together], found, strict=True):
                yield translation if template.plain else text.finish(translation, template.target_lang)

    return translations()


def _languages(translator: TextTranslator, *given: str | None) -> list[str | None]:
    """Return the languages of source and target: as given, else the only ones of the model."""
    sides = [set(side) for side in zip(*translator.directions, strict=True)]
    only = [side.pop() if len(side) == 1 and not side & {UNKNOWN, SEVERAL} else None for side in sides]
    return [code or own for code, own in zip(given, only, strict=True)]
