"""The translation of the segments of a document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Unpack

from dragoman.documents.document import Bilingual, Document
from dragoman.documents.segment_text import SegmentText
from dragoman.text.tags import SEVERAL, UNKNOWN
from dragoman.translator import Request, Translation, Translator
from dragoman.translator.options import CallOptions, split_options

#: Segments that are planned, sorted by length and shared among workers together.
_N_TOGETHER = 500


def translate_document(
    document: Document,
    translator: Translator,
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
    config = translator.search_config(**of_search)
    template = Request("", prefix, sentences, **of_texts).checked("")
    if isinstance(document, Bilingual):
        document.set_languages(*_languages(translator, of_texts.get("source_lang"), of_texts.get("target_lang")))
    keeps_ellipses = template.plain or template.memory is not None or bool(template.prefix)
    texts = [SegmentText.of(segment, keeps_ellipses=keeps_ellipses) for segment in document.segments()]

    def translations() -> Iterator[Translation]:
        for start in range(0, len(texts), _N_TOGETHER):
            together = texts[start : start + _N_TOGETHER]
            requests = [
                replace(template, text=each.text, verbatim=each.verbatim, marked=each.marked, align=each.aligns)
                for each in together
            ]
            found = translator.pipeline.translate(requests, config, batch_size=batch_size)
            for text, translation in zip(together, found, strict=True):
                yield translation if template.plain else text.finish(translation, template.target_lang)

    return translations()


def _languages(translator: Translator, *given: str | None) -> list[str | None]:
    """Return the languages of source and target: as given, else the only ones of the model."""
    sides = [set(side) for side in zip(*translator.directions, strict=True)]
    only = [side.pop() if len(side) == 1 and not side & {UNKNOWN, SEVERAL} else None for side in sides]
    return [code or own for code, own in zip(given, only, strict=True)]
