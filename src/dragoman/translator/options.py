"""Options of the calls of a `Translator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

from dragoman.memories import TranslationMemory
from dragoman.text.terms import TermList

#: Texts for a type checker, for which a string is a sequence of strings, too.
TextList = list[str] | tuple[str, ...]


class SearchOptions(TypedDict, total=False):
    """Options of a search; each stands in for the field of that name in `SearchConfig`."""

    beam_size: int | None
    n_best: int | None
    length_penalty: float | None
    min_length: int | None
    max_length: int | None
    no_repeat_ngram: int | None
    repetition_penalty: float | None
    rerank: bool | None
    sample: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None


class LanguageOptions(TypedDict, total=False):
    """The languages of texts; see `Request`."""

    source_lang: str | None
    target_lang: str | None


class TextOptions(LanguageOptions, total=False):
    """Options that belong to texts; see `Request`."""

    protect: str | Sequence[str] | None
    memory: TranslationMemory | None
    memory_threshold: float
    terms: TermList | None
    doubts: bool
    min_confidence: float | None
    off: Sequence[str]
    plain: bool


class CallOptions(SearchOptions, TextOptions, total=False):
    """Options of a call that translates: of its search, and of its texts."""


class TranslateOptions(CallOptions, total=False):
    """Options of `Translator.translate` for texts of one kind."""

    sentences: bool | None
    batch_size: int | None


class ScoreOptions(LanguageOptions, total=False):
    """Options of `Translator.score`."""

    batch_size: int | None


class AllOptions(TranslateOptions, total=False):
    """Options of `Translator.translate`."""

    prefixes: str | Sequence[str] | None
    align: bool
    timeout: float | None
    as_document: bool


def split_options(options: CallOptions) -> tuple[TextOptions, SearchOptions]:
    """Return the options that belong to texts, and those of a search."""
    names = TextOptions.__annotations__
    of_texts = {name: value for name, value in options.items() if name in names and value is not None}
    of_search = {name: value for name, value in options.items() if name not in names}
    return cast(TextOptions, of_texts), cast(SearchOptions, of_search)


def languages_of(options: ScoreOptions) -> LanguageOptions:
    """Return the languages."""
    return {"source_lang": options.get("source_lang"), "target_lang": options.get("target_lang")}
