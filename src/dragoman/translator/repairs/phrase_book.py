"""Phrases in the tokens of a model, for a search that must write them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dragoman.decoding.constraints.required import Demands, Phrase
from dragoman.text.odd_characters import foreign_letters
from dragoman.text.surfaces import Surfaces
from dragoman.text.tokenizer import Tokenizer

_log = logging.getLogger(__name__)

#: Most phrases that the search for one segment must write; further ones are only checked.
_MOST_PHRASES = 128
#: Most characters of the cached forms, because clients of a server may send new ones without end.
_MOST_CHARACTERS = 1 << 20


class Form(NamedTuple):
    """One way to write a term, a number or a span; `goes_on` if it may begin a longer word."""

    text: str
    goes_on: bool = False


#: The ways to write one thing. A translation needs one of them.
Forms = tuple[Form, ...]


class PhraseBook:
    """Phrases in the tokens of one model, cached by their forms.

    Args:
        tokenizer: of the target language.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[Forms, tuple[Phrase, ...]] = {}
        self._n_characters, self._has_warned = 0, False
        self._foreign: dict[str, dict[int, set[str]]] = {}

    def demands(self, required: Iterable[Forms]) -> Demands:
        """Return the phrases of each demand, up to the number that a search can handle."""
        demands, room = [], _MOST_PHRASES
        for forms in required:
            if phrases := self._phrases(forms)[:room]:
                demands.append(phrases)
                room -= len(phrases)
        return demands

    def _phrases(self, forms: Forms) -> Sequence[Phrase]:
        """Return the phrases of one demand; none if the vocabulary cannot write it."""
        if (known := self._known.get(forms)) is not None:
            return known
        written = (phrase for form in forms if (phrase := self._phrase(form)) is not None)
        phrases = tuple(islice(written, _MOST_PHRASES))
        n_characters = sum(len(form.text) for form in forms)
        if self._n_characters + n_characters > _MOST_CHARACTERS:
            self._known, self._n_characters = {}, 0
        self._n_characters += n_characters
        self._known[forms] = phrases
        if not phrases and not self._has_warned:
            self._has_warned = True  # names no words, because a server's log must not have text of clients
            _log.warning("the vocabulary of the model cannot write some terms, numbers or spans; they are flagged")
        return phrases

    def _phrase(self, form: Form) -> Phrase | None:
        ids = self.tokenizer.encode(form.text)
        if self.tokenizer.special_ids.unknown in ids:
            return None
        texts = [self.surfaces.texts[id] for id in ids]
        pieces = tuple(filter(None, (texts[0].lstrip(" "), *texts[1:]))) if texts else ()
        return Phrase(pieces, form.goes_on) if pieces else None

    def foreign_letters(self, language: str) -> dict[int, set[str]]:
        """Return the letters of tokens that a language does not use, by the ids of these tokens."""
        if (known := self._foreign.get(language)) is None:
            letters = {id: foreign_letters("", text, language) for id, text in enumerate(self.surfaces.texts)}
            known = self._foreign[language] = {id: own for id, own in letters.items() if own}
        return known

    @cached_property
    def surfaces(self) -> Surfaces:
        """The texts of the tokens of the target language."""
        return Surfaces.of(self.tokenizer)
