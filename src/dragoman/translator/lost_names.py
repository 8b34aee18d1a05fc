"""Names that a translation has lost, found by the model of the opposite direction.

A translation that lacks a name as it is written may have it in another form: "Mary" may be "Maria", and "Monday"
"Montag". The opposite model tells the two apart: read the translation, and it finds the source's word probable only if
something there stands for it. Tu et al. 2017, "Neural Machine Translation with Reconstruction", train and choose
translations by the same probability of a whole source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, groupby
from typing import NamedTuple

from dragoman.text.languages import have_rules
from dragoman.text.name_words import NameWord
from dragoman.text.protection import Stretch
from dragoman.text.spelling import Spelling
from dragoman.text.surfaces import Surfaces
from dragoman.text.tags import with_tag
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.choosing import rank
from dragoman.translator.cutting import Segment
from dragoman.translator.directions import Directions
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.padding import IdPair, pair_batches
from dragoman.translator.plans import Plan, TextPlan
from dragoman.translator.searching import Candidate
from dragoman.translator.segment_names import Name, languages_of, names_in

#: A word is lost if the opposite model gives it a lower log-probability: where only names have a capital, and
#: elsewhere, that is at the beginning of a sentence and in German.
_LOST, _LOST_UNMARKED = -2.0, -4.0
#: Where a capital does not mark names, a word of a lower log-probability is certainly lost.
_CERTAINLY_LOST = -9.0
#: Of fewer words the opposite model knows too little to be certain: "Tschüss!" may be "Goodbye!".
_SHORTEST = 4
#: The most by which the log-probability of a translation with a lost name may be lower, in nats, where a capital does
#: not mark names. A noun that the model translates badly costs more.
_MOST_COST = 3.0


class LostName(NamedTuple):
    """A name of one word or several that a translation lacks or repeats."""

    name: Name
    #: Only names have a capital in its place.
    is_marked: bool
    #: It is hardly there in another form: it is marked, or the opposite model finds it very improbable.
    is_certain: bool


#: The lost names of jobs, by their numbers.
LostNames = Mapping[int, Sequence[LostName]]


class _Word(NamedTuple):
    """A word that may be a name, and what a translation has of it."""

    place: Stretch
    forms: tuple[str, ...]
    is_marked: bool
    #: The vocabulary spells it in several pieces, and it is no ordinary word. Others are hardly ever lost.
    is_rare: bool
    is_missing: bool
    #: The translation has it more often than the text, or unchanged where the target language has another form.
    is_wrong: bool

    @property
    def is_suspect(self) -> bool:
        return self.is_rare and (self.is_missing or self.is_wrong)


class _Written(NamedTuple):
    """A text as tokens write it, and the place of each token. Those of a character's bytes share its place."""

    text: str
    places: Sequence[Stretch]

    @classmethod
    def of(cls, tokens: Sequence[str]) -> _Written:
        own = [*(token.lstrip(" ") for token in tokens[:1]), *tokens[1:]]
        parts = [token.encode(errors="surrogateescape") for token in own]
        written = b"".join(parts)
        #: The number of characters that have begun before each byte.
        begun = [0, *accumulate(byte & 0xC0 != 0x80 for byte in written), len(written)]
        ends = list(accumulate(map(len, parts)))
        places = [(begun[start + 1] - 1, begun[end]) for start, end in zip([0, *ends], ends, strict=False)]
        return cls(written.decode(errors="replace"), places)

    def values(self, place: Stretch, values: Sequence[float]) -> list[float]:
        """Return the values of the tokens that share characters with a place."""
        shares = (start < place[1] and place[0] < end for start, end in self.places)
        return [value for value, is_shared in zip(values, shares, strict=False) if is_shared]


class _Check(NamedTuple):
    """The groups of words of a segment with words that may be lost."""

    groups: Sequence[Sequence[_Word]]
    #: The translation and the segment, as the opposite model reads and writes them.
    pair: IdPair
    written: _Written


class NameCheck:
    """Finder of lost names. Only a model with reserved pieces that translates both ways can find and keep them.

    Args:
        decoder: the models.
        tokenizers: those of the models.
        directions: those of the models.
        max_length: most tokens of a source and of a target, the end mark not counted.
        batch_size: tokens that are read at once.
        facts: those of the models; ordinary words of the training text are no names, even with a capital.
    """

    def __init__(
        self,
        decoder: ForcedDecoder,
        tokenizers: Tokenizers,
        directions: Directions,
        max_length: int,
        batch_size: int,
        facts: ModelFacts,
    ) -> None:
        self._decoder = decoder
        self._tokenizers = tokenizers
        self._directions = directions
        self._max_length, self._batch_size = max_length, batch_size
        self._spelling = facts.spelling or Spelling()
        both_ways = {pair for pair in tokenizers.directions if pair[::-1] in tokenizers.directions}
        self._both_ways = both_ways if tokenizers.reserved else set()

    def find(self, plan: Plan, candidates: Sequence[Sequence[Candidate]]) -> dict[int, list[LostName]]:
        """Return the names that the best candidates of a plan's jobs have lost."""
        checks = {}
        for number, ((text, segment), beam) in enumerate(zip(plan.searched, candidates, strict=True)):
            if (check := self._check(text, segment, beam)) is not None:
                checks[number] = check
        log_probs = self._log_probs([check.pair for check in checks.values()])
        found = {}
        for (number, check), values in zip(checks.items(), log_probs, strict=True):
            names = [name for group in check.groups for name in _names(group, check.written, values)]
            if names:
                found[number] = names
        return found

    def is_probable(
        self, names: Sequence[LostName], segment: Segment, translations: tuple[Candidate, Candidate]
    ) -> bool:
        """Return True if the model finds a translation with the names of a segment almost as probable as another.

        Names that are marked need only be there.

        Args:
            translations: the other, as the model wrote it, and that with the names, which has all spans in place.
        """
        before, after = translations
        if not all(lost.name.n_in(after.text) for lost in names):
            return False
        if all(lost.is_marked for lost in names):
            return True
        ids = self._tokenizers.target.encode(segment.reading.mask(after.text))
        if len(ids) > self._max_length:
            return False
        (log_probs,) = self._log_probs([(segment.ids, ids)])
        return before.hypothesis.log_prob - math.fsum(log_probs) <= _MOST_COST

    def _check(self, text: TextPlan, segment: Segment, beam: Sequence[Candidate]) -> _Check | None:
        """Return what is to be checked of a segment; None if its translation has all words that may be names."""
        languages, reading = languages_of(text), segment.reading
        is_plain = (
            not text.request.plain
            and have_rules(languages)
            and not segment.prefix
            and not reading.is_shouted
            and not text.languages.typed_tags
        )
        groups = names_in(text, reading) if is_plain and languages in self._both_ways else []
        rare = {word for group in groups for word in group if self._is_rare(word, reading.text, languages[0])}
        if not rare:
            return None
        translation = rank(reading, beam, languages).candidates[0].text
        seen = [[_seen(word, reading.text, translation, is_rare=word in rare) for word in group] for group in groups]
        suspects = [group for group in seen if any(word.is_suspect for word in group)]
        if not suspects:
            return None
        tags = self._directions.tagged("", languages[1], languages[0]).tags
        ids = self._tokenizers.target.encode(reading.text)
        pair = self._tokenizers.source.encode(with_tag(tags, translation)), ids
        written = _Written.of([self._surfaces.texts[id] for id in ids])
        is_readable = written.text == reading.text and max(map(len, pair)) <= self._max_length
        return _Check(suspects, pair, written) if is_readable else None

    def _is_rare(self, word: NameWord, text: str, language: str) -> bool:
        own = text[word.start : word.end]
        is_spelled = len(self._tokenizers.source.encode(own)) > 1
        return bool(word.forms) or (is_spelled and not self._spelling.is_ordinary(own, language))

    def _log_probs(self, pairs: Sequence[IdPair]) -> list[tuple[float, ...]]:
        found: dict[int, tuple[float, ...]] = {}
        for rows in pair_batches(pairs, self._batch_size):
            found.update(zip(rows, self._decoder.log_probs([pairs[row] for row in rows]), strict=True))
        return [found[row] for row in range(len(pairs))]

    @cached_property
    def _surfaces(self) -> Surfaces:
        return Surfaces.of(self._tokenizers.target)


def _names(group: Sequence[_Word], text: _Written, log_probs: Sequence[float]) -> list[LostName]:
    """Return the lost names of a group.

    A lost word takes its neighbours with it that are lost too, or that are the same in the translation.
    """
    values = {word: math.fsum(text.values(word.place, log_probs)) for word in group}
    is_lost = {word: word.is_missing and values[word] < _most(word) for word in group}
    found = []
    for belongs, run in groupby(group, key=lambda word: is_lost[word] or not word.is_missing):
        words = list(run)
        lost = [word for word in words if word.is_rare and (word.is_wrong or is_lost[word])]
        if belongs and lost:
            name = Name(text.text[words[0].place[0] : words[-1].place[1]], lost[0].forms)
            least = _CERTAINLY_LOST if len(text.text.split()) >= _SHORTEST else -math.inf
            is_certain = any(word.is_marked or (is_lost[word] and values[word] < least) for word in lost)
            found.append(LostName(name, all(word.is_marked for word in lost), is_certain))
    return found


def _most(word: _Word) -> float:
    """Return the log-probability below which a word is lost."""
    return _LOST if word.is_marked else _LOST_UNMARKED


def _seen(word: NameWord, text: str, translation: str, *, is_rare: bool) -> _Word:
    name = Name(text[word.start : word.end], word.forms)
    n_written = name.n_in(translation)
    is_copied = bool(word.forms) and Name(name.text).n_as_written(translation) > 0
    is_wrong = is_copied or (not word.forms and n_written > name.n_in(text))
    return _Word(word[:2], word.forms, word.is_marked, is_rare, not n_written and not is_copied, is_wrong)
