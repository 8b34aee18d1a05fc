"""The translation of the segments of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

from dragoman.documents.document import Bilingual, Document
from dragoman.documents.ellipses import Ellipses, put_ellipses, take_ellipses
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
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
    segments = document.segments()

    def translations() -> Iterator[Translation]:
        for start in range(0, len(segments), _N_TOGETHER):
            requests = [_request(segment, template) for segment in segments[start : start + _N_TOGETHER]]
            found = translator.pipeline.translate(requests, config, batch_size=batch_size)
            yield from (
                _finished(segment, translation, template)
                for segment, translation in zip(segments[start : start + _N_TOGETHER], found, strict=True)
            )

    return translations()


def _finished(segment: MarkedText, translation: Translation, template: Request) -> Translation:
    """Return the translation of a segment with its ellipses, and with its capital."""
    *_, ellipses = _without_ellipses(segment, template)
    if any(ellipses):
        translation = replace(translation, text=put_ellipses(translation.text, ellipses, template.target_lang))
    return _with_capital(segment, translation)


def _without_ellipses(segment: MarkedText, template: Request) -> tuple[str, Sequence[Stretch], Ellipses]:
    """Return a segment's text and verbatim stretches, without ellipses unless a memory of whole texts is used."""
    if template.memory is not None or template.prefix:
        return segment.text, segment.verbatim, Ellipses("", "")
    return take_ellipses(segment.text, segment.verbatim)


def _with_capital(segment: MarkedText, translation: Translation) -> Translation:
    """Return the translation of a segment that begins with a capital with one: "Help" in a menu is a heading.

    A word that was copied stays as it is.
    """
    first, text = segment.text[:1], translation.text
    is_small = text[:1].islower() and len(text[:1].upper()) == 1 and text.split()[0] not in segment.text.split()
    return replace(translation, text=text[0].upper() + text[1:]) if first.isupper() and is_small else translation


def _languages(translator: Translator, *given: str | None) -> list[str | None]:
    """Return the languages of source and target: as given, else the only ones of the model."""
    sides = [set(side) for side in zip(*translator.directions, strict=True)]
    only = [side.pop() if len(side) == 1 and not side & {UNKNOWN, SEVERAL} else None for side in sides]
    return [code or own for code, own in zip(given, only, strict=True)]


def _request(segment: MarkedText, template: Request) -> Request:
    """Return the request for a segment; words are aligned where marks need it."""
    text, verbatim, _ = _without_ellipses(segment, template)
    return replace(template, text=text, verbatim=verbatim, align=bool(segment.marks))
