"""The demands of a segment that lacks something: phrases that a second search is to write.

A demand is one thing with the forms that it may have: a term with its targets, a date as the target language writes it,
a span as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dragoman.decoding.constraints.required import Demands, Phrase
from dragoman.text.protection import occurrences
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import GOES_ON, Term, TermList
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator.cutting import Segment
from dragoman.translator.losses import lost_quantities, lost_spans
from dragoman.translator.reading import Reading

_log = logging.getLogger(__name__)

#: Phrases that a search of one segment looks for at each step; what is beyond them is only checked.
_MOST_PHRASES = 128
#: Characters of the forms whose phrases are kept: clients of a server may send ever new ones.
_MOST_CHARACTERS = 1 << 20


class Form(NamedTuple):
    """A way to write a thing; True if it may be the beginning of a longer word."""

    text: str
    goes_on: bool = False


#: The ways to write one thing, of which a translation needs one.
Forms = tuple[Form, ...]


def with_terms(segment: Segment, terms: TermList) -> Segment:
    """Return a segment with the terms that it has, except those in what is kept."""
    if segment.is_copied:
        return segment
    text = segment.text
    kept = [(span.start, span.end) for span in find_spans(text) if span.kind in VERBATIM]
    kept += [place for stretch in segment.reading.verbatim for place in occurrences(text, stretch)]
    found = [
        term
        for start, end, term in terms.find(text)
        if not term.is_kept and not any(start < last and first < end for first, last in kept)
    ]
    return segment._replace(reading=segment.reading._replace(terms=list(dict.fromkeys(found))))


def wanted(reading: Reading, translation: str, languages: tuple[str, str]) -> list[Forms]:
    """Return what another search for a segment is to write: its terms, and what a translation of it lost.

    Args:
        reading: what the model read.
        translation: as the model wrote it.
        languages: codes of the source and the target language.
    """
    spans = [(Form(text),) for text in lost_spans(reading.text, translation, reading.unmasked)]
    lost = lost_quantities(reading.text, translation, reading.unmasked, languages)
    return [*wanted_terms(reading), *spans, *(tuple(map(Form, quantity.forms)) for quantity in lost)]


def wanted_terms(reading: Reading) -> list[Forms]:
    """Return the terms of a segment."""
    return [_term_forms(term) for term in reading.terms]


def _term_forms(term: Term) -> Forms:
    """Return the targets of a term, those at the beginning of a sentence too."""
    cases = ((each,) if term.case else (each, each[:1].upper() + each[1:]) for each in term.targets)
    targets = dict.fromkeys(target for each in cases for target in each)
    return tuple(Form(target.removesuffix(GOES_ON), target.endswith(GOES_ON)) for target in targets)


class PhraseBook:
    """The phrases of one model.

    Args:
        tokenizer: of the target language.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[Forms, tuple[Phrase, ...]] = {}
        self._n_characters, self._has_warned = 0, False

    def demands(self, wanted: Iterable[Forms]) -> Demands:
        """Return the phrases of things, each of which is demanded once; not more than a search can look for."""
        demands, room = [], _MOST_PHRASES
        for forms in wanted:
            if phrases := self._phrases(forms)[:room]:
                demands.append(phrases)
                room -= len(phrases)
        return demands

    def _phrases(self, forms: Forms) -> Sequence[Phrase]:
        """Return the ways to write a thing; none if the model cannot."""
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
            self._has_warned = True  # without the words: the log of a server has no text of a client
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
