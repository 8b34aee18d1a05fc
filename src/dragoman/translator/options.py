"""Options of the calls of a `Translator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

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
    sample: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    seed: int | None


class LanguageOptions(TypedDict, total=False):
    """The languages of texts; see `Request`."""

    source_lang: str | None
    target_lang: str | None


class CallOptions(SearchOptions, LanguageOptions, total=False):
    """Options of a call that translates: of its search, and its languages."""


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


def split_languages(options: CallOptions | ScoreOptions) -> tuple[LanguageOptions, SearchOptions]:
    """Return the languages and the options of a search."""
    languages = {name: options.get(name) for name in LanguageOptions.__annotations__}
    search = {name: value for name, value in options.items() if name not in languages}
    return cast(LanguageOptions, languages), cast(SearchOptions, search)
