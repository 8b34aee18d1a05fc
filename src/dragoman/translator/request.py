"""Requests for translations, and options of the search."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypedDict

from dragoman.errors import ConfigError
from dragoman.translator.checking import flag, string


@dataclass(frozen=True)
class Request:
    """A text to translate, with everything that belongs to this text alone."""

    text: str
    #: The beginning of the translation.
    prefix: str = ""
    #: True translates each sentence by itself, False the whole text if the model can read it. None takes as many
    #: sentences at once as a line of the training text had, or the whole text if the bundle does not say.
    sentences: bool | None = None
    #: Align the words of the translation with those of the text, by the attention of the first model.
    align: bool = False

    def checked(self, owner: str) -> Self:
        """Check the types of its values, and return it.

        Args:
            owner: the end of each value's name in a message: " of request 2".

        Raises:
            ConfigError: a value has a wrong type.
        """
        string(self.text, f"the text{owner}")
        string(self.prefix, f"the prefix{owner}")
        flag(self.align, f"align{owner}")
        if self.sentences is not None:
            flag(self.sentences, f"sentences{owner}")
        return self


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


class TranslateOptions(SearchOptions, total=False):
    """Options of `Translator.translate` for texts of one kind."""

    sentences: bool | None
    batch_size: int | None


class AllOptions(TranslateOptions, total=False):
    """Options of `Translator.translate`."""

    prefixes: str | Sequence[str] | None
    align: bool
    timeout: float | None


def refuse_unknown(options: Iterable[str]) -> None:
    """Refuse options of a search that do not exist.

    Raises:
        ConfigError: there is one; the message names a similar option of `Translator.translate`.
    """
    for name in options:
        if name not in SearchOptions.__annotations__:
            similar = difflib.get_close_matches(name, AllOptions.__annotations__, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else "`help(dragoman.Translator.translate)` has them"
            raise ConfigError(f"unknown option {name!r} ({hint})")
