"""Phrases that the second search for a segment must write, because the first one lost them.

Each demand lists the forms that are accepted: the targets of a term, a date as the target language writes it, or a span
as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dragoman.decoding.constraints.required import Demands, Phrase
from dragoman.text.languages import base_language
from dragoman.text.protection import Stretch, overlaps
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import GOES_ON, FoundTerm, Term, TermList
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator.content_check import lost_quantities, lost_spans
from dragoman.translator.cutting import Segment
from dragoman.translator.reading import Reading

_log = logging.getLogger(__name__)

#: Most phrases that the search for one segment must write; further ones are only checked.
_MOST_PHRASES = 128
#: Most characters of the cached forms, because clients of a server may send new ones without end.
_MOST_CHARACTERS = 1 << 20


class Form(NamedTuple):
    """One way to write a term, a quantity or a span; `goes_on` if it may begin a longer word."""

    text: str
    goes_on: bool = False


#: The ways to write one demand. A translation needs one of them.
Forms = tuple[Form, ...]


def with_terms(segment: Segment, terms: TermList) -> Segment:
    """Return a segment with the terms that its translation must have, each as often as the segment has it."""
    if segment.is_copied:
        return segment
    found = [term for _, _, term in demanded_terms(segment.text, terms, segment.protected)]
    return segment._replace(reading=segment.reading._replace(terms=found))


def demanded_terms(text: str, terms: TermList | None, protected: Sequence[Stretch]) -> list[FoundTerm]:
    """Return the terms of a text that its translation must have: none in spans and protected stretches."""
    found = [each for each in terms.find(text) if not each.term.is_kept] if terms else []
    if not found:
        return []
    kept = [*protected, *((span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM)]
    return [each for each in found if not overlaps(each[:2], kept)]


def required_forms(reading: Reading, translation: str, languages: tuple[str, str], *, has_numbers: bool) -> list[Forms]:
    """Return what the second search for a segment must write: its terms, and what its translation lost.

    A model without reserved pieces has not learned to write spans, so it must write protected ones only. With them, a
    third search masks a date and its time as one, which Chinese sentences fit better than the phrase.

    Args:
        reading: what the model read.
        translation: as the model wrote it.
        languages: codes of the source and the target language.
        has_numbers: demand lost numbers, too, as the target language writes them.
    """
    lost_texts = lost_spans(reading.text, translation, reading.unmasked)
    spans = [(Form(text),) for text in lost_texts if reading.has_pieces or text in reading.unmasked]
    lost = lost_quantities(reading.text, translation, reading.unmasked, languages) if has_numbers else []
    if reading.has_pieces and base_language(languages[1]) == "zh":
        lost = [quantity for quantity in lost if not quantity.is_moment]
    return [*required_terms(reading), *spans, *(tuple(map(Form, quantity.forms)) for quantity in lost)]


def required_terms(reading: Reading) -> list[Forms]:
    """Return the accepted forms of each term of a segment."""
    return [_term_forms(term) for term in reading.terms]


def _term_forms(term: Term) -> Forms:
    """Return the targets of a term, also as they begin a sentence."""
    cases = ((each,) if term.case else (each, each[:1].upper() + each[1:]) for each in term.targets)
    targets = dict.fromkeys(target for each in cases for target in each)
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)


class PhraseBook:
    """Phrases in the tokens of one model, cached by their forms.

    Args:
        tokenizer: of the target language.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[Forms, tuple[Phrase, ...]] = {}
        self._n_characters, self._has_warned = 0, False

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
        ids = self._tokenizer.encode(form.text)
        if self._tokenizer.special_ids.unknown in ids:
            return None
        texts = [self._surfaces.texts[id] for id in ids]
        pieces = tuple(filter(None, (texts[0].lstrip(" "), *texts[1:]))) if texts else ()
        return Phrase(pieces, form.goes_on) if pieces else None

    @cached_property
    def _surfaces(self) -> Surfaces:
        return Surfaces.of(self._tokenizer)
