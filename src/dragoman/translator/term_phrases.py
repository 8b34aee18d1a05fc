"""The terms of segments, and the phrases that a search is to write for them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from dragoman.decoding.constraints.required import Demands, Phrase
from dragoman.text.protection import occurrences
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import GOES_ON, Term, TermList
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator.cutting import Segment

_log = logging.getLogger(__name__)

#: Phrases that a search of one segment looks for at each step; terms beyond them are only checked.
_MOST_PHRASES = 128
#: Characters of the terms whose phrases are kept: clients of a server may send ever new terms.
_MOST_CHARACTERS = 1 << 20


class TermPhrases:
    """The phrases of one model.

    Args:
        tokenizer: of the target language.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[Term, tuple[Phrase, ...]] = {}
        self._n_characters, self._has_warned = 0, False

    def added(self, segment: Segment, terms: TermList) -> Segment:
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
        found = list(dict.fromkeys(found))
        return segment._replace(reading=segment.reading._replace(terms=found), required=self._demands(found))

    def _demands(self, terms: Sequence[Term]) -> Demands:
        """Return the phrases of terms, each of which is demanded once; not more than a search can look for."""
        demands, room = [], _MOST_PHRASES
        for term in terms:
            if phrases := self._phrases(term)[:room]:
                demands.append(phrases)
                room -= len(phrases)
        return demands

    def _phrases(self, term: Term) -> Sequence[Phrase]:
        """Return the ways to write a term, those at the beginning of a sentence too; none if there are none."""
        if (known := self._known.get(term)) is not None:
            return known
        forms = dict.fromkeys(form for target in term.targets for form in _forms(target, case=term.case))
        written = (phrase for form in forms if (phrase := self._phrase(form)) is not None)
        phrases = tuple(islice(written, _MOST_PHRASES))
        n_characters = sum(map(len, (term.source, *term.targets)))
        if self._n_characters + n_characters > _MOST_CHARACTERS:
            self._known, self._n_characters = {}, 0
        self._n_characters += n_characters
        self._known[term] = phrases
        if not phrases and not self._has_warned:
            self._has_warned = True  # without the term: the log of a server has no text of a client
            _log.warning("the vocabulary of the model cannot write the targets of some terms; they are flagged")
        return phrases

    def _phrase(self, target: str) -> Phrase | None:
        ids = self._tokenizer.encode(target.removesuffix(GOES_ON))
        if self._tokenizer.special_ids.unknown in ids:
            return None
        first, *others = [self._surfaces.texts[id] for id in ids]
        return Phrase(tuple(filter(None, (first.lstrip(" "), *others))), target.endswith(GOES_ON))

    @cached_property
    def _surfaces(self) -> Surfaces:
        return Surfaces.of(self._tokenizer)


def _forms(target: str, *, case: bool) -> list[str]:
    return [target] if case else [target, target[:1].upper() + target[1:]]
