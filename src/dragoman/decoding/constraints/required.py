"""Phrases that a translation must have: each demand is one phrase of several, in any segmentation.

Equal demands are satisfied by as many phrases. The phrases lead a beam search: every hypothesis is also continued by
the next piece of its phrases, and the beam is shared among hypotheses that are equally far
(`decoding/guided_beam.py`), as in dynamic beam allocation (Post & Vilar 2018) in the form of Hu et al. 2019. Phrases
are texts, so whatever pieces a model spells them with, they count.

B sentences, R rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dragoman.decoding.constraints.protocol import Rows
from dragoman.decoding.scores import Scores
from dragoman.machine.arrays import Bools, Ints
from dragoman.text.languages import UNSPACED
from dragoman.text.surfaces import Surfaces
from dragoman.text.terms import WORD_CHARACTER, apart, stands_alone

_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
#: Tokens that are tried where a phrase that may go on ends inside one.
_MOST_ENDINGS = 12


@dataclass(frozen=True)
class Phrase:
    """Words, as a translation's own pieces spell them.

    Args:
        pieces: the texts of its tokens, without a space before the first.
        goes_on: it may be the beginning of a longer word.
    """

    pieces: tuple[str, ...]
    goes_on: bool = False

    @cached_property
    def beginnings(self) -> tuple[str, ...]:
        """The first piece, the first two, and so on."""
        return tuple(accumulate(self.pieces))

    @cached_property
    def _numbers_by_end(self) -> dict[str, list[int]]:
        """The numbers of pieces, falling, by the last character of the beginning that they make."""
        numbers: dict[str, list[int]] = {}
        for n in range(len(self.pieces) - 1, 0, -1):
            numbers.setdefault(self.beginnings[n - 1][-1], []).append(n)
        return numbers

    def n_begun(self, text: str) -> int:
        """Return the number of its pieces that a text ends with, from its first on, but not all."""
        for n in self._numbers_by_end.get(text[-1:], ()):
            beginning = self.beginnings[n - 1]
            if text.endswith(beginning) and self._may_begin(text[: -len(beginning)]):
                return n
        return 0

    def first_tokens(self, text: str, surfaces: Surfaces) -> list[int]:
        """Return the tokens with which it can begin after a text; a space alone if there is no other way."""
        piece = self.pieces[0]
        spaced = f" {piece}"
        forms = [piece] if _UNSPACED_CHARACTER.match(piece) else [spaced]
        if forms == [spaced] and text and self._may_begin(text):
            forms = [piece] if text.endswith(" ") else [spaced, piece]
        found = [id for form in forms for id in self._tokens(form, 1, surfaces)]
        return (
            found or self._tokens(spaced, 1, surfaces) or [surfaces.ids[each] for each in " " if each in surfaces.ids]
        )

    def next_tokens(self, n_begun: int, surfaces: Surfaces) -> list[int]:
        """Return the tokens with which it can go on after some of its pieces."""
        return self._tokens(self.pieces[n_begun], n_begun + 1, surfaces)

    def all_tokens(self, surfaces: Surfaces) -> set[int]:
        """Return all tokens that may be wanted for it."""
        first = {id for text in ("", "(", " ") for id in self.first_tokens(text, surfaces)}
        return first.union(*(self.next_tokens(n, surfaces) for n in range(1, len(self.pieces))))

    def _may_begin(self, before: str) -> bool:
        return not (before and WORD_CHARACTER.match(self.pieces[0]) and WORD_CHARACTER.match(before[-1]))

    def _tokens(self, text: str, n_pieces: int, surfaces: Surfaces) -> list[int]:
        """Return the token of a piece, and those that it begins if the phrase may go on after it."""
        whole = [surfaces.ids[text]] if text in surfaces.ids else []
        goes_on = self.goes_on and n_pieces == len(self.pieces)
        return whole + (surfaces.beginning_with(text, _MOST_ENDINGS) if goes_on else [])


#: For each thing that is demanded, the phrases of which it needs one.
Demands = Sequence[Sequence[Phrase]]


@dataclass(frozen=True)
class RequiredPhrases:
    """A rule: the translation of each sentence has a phrase of each of its demands, and does not end before.

    Args:
        demands: of each of B sentences; none for a sentence that is free.
        surfaces: the texts of the tokens.
        is_one: True for each of B sources that is one sentence, which no mark may end before its demands are satisfied;
            else a search is tempted to write "A dog sleeps. Hound." None for none of them.
    """

    demands: Sequence[Demands]
    surfaces: Surfaces
    is_one: Sequence[bool] | None = None

    def start(self, rows: Rows) -> RequiredState:
        """Return the state of rows that have no text yet."""
        begun = [_Row("", self.demands[number], (_OPEN,) * len(self.demands[number])) for number in rows.sentence]
        led = np.array([number for number, demands in enumerate(self.demands) if demands], dtype=np.int64)
        is_one = np.array(self.is_one if self.is_one is not None else [False] * len(self.demands))
        return RequiredState(begun, self.surfaces, led, is_one)


#: A demand of a row: open; satisfied by the end of its text, which the next token may spoil; satisfied for good.
_OPEN, _AT_END, _SETTLED = range(3)


class _Row(NamedTuple):
    """The text of a hypothesis, and how far its demands are satisfied."""

    text: str
    demands: Demands
    states: tuple[int, ...]

    def grown(self, addition: str) -> _Row:
        """Return the row with more text."""
        if not addition or not self.demands:
            return self
        text = self.text + addition
        if len(self._places) < len(self.demands):
            return _Row(text, self.demands, tuple(self._states_of_each(text)))
        states = (
            _SETTLED if state == _SETTLED else max(self._state(phrase, text) for phrase in demand)
            for demand, state in zip(self.demands, self.states, strict=True)
        )
        return _Row(text, self.demands, tuple(states))

    @property
    def _places(self) -> dict[tuple[Phrase, ...], list[int]]:
        """The numbers of the demands that are equal."""
        places: dict[tuple[Phrase, ...], list[int]] = {}
        for number, demand in enumerate(self.demands):
            places.setdefault(tuple(demand), []).append(number)
        return places

    def _states_of_each(self, text: str) -> list[int]:
        """Return the states of demands of which some are equal: each takes a phrase of its own."""
        states = [_OPEN] * len(self.demands)
        for demand, numbers in self._places.items():
            found = [(*place, phrase.goes_on) for phrase in demand for place in _places_alone(phrase, text)]
            n_settled = len(apart((start, end) for start, end, goes_on in found if goes_on or end < len(text)))
            n_all = len(apart((start, end) for start, end, _ in found))
            for rank, number in enumerate(numbers):
                states[number] = _SETTLED if rank < n_settled else _AT_END if rank < n_all else _OPEN
        return states

    def progress(self) -> int:
        """Count the pieces of satisfied demands, the most that each may have, and those begun of one that is open."""
        satisfied = sum(
            max(len(phrase.pieces) for phrase in demand)
            for demand, state in zip(self.demands, self.states, strict=True)
            if state != _OPEN
        )
        return satisfied + max((phrase.n_begun(self.text) for phrase in self._open_phrases()), default=0)

    def wanted(self, surfaces: Surfaces) -> set[int]:
        """Return the tokens that go on with the phrases that are begun, or else begin one."""
        begun = [(phrase, n) for phrase in self._open_phrases() if (n := phrase.n_begun(self.text))]
        if begun:
            return {id for phrase, n in begun for id in phrase.next_tokens(n, surfaces)}
        return {id for phrase in self._open_phrases() for id in phrase.first_tokens(self.text, surfaces)}

    def _open_phrases(self) -> Iterator[Phrase]:
        pairs = zip(self.demands, self.states, strict=True)
        return (phrase for demand, state in pairs if state == _OPEN for phrase in demand)

    def _state(self, phrase: Phrase, text: str) -> int:
        """Return the state of a demand by one of its phrases; nothing before the latest token can have satisfied it."""
        words = phrase.beginnings[-1]
        start = text.find(words, max(0, len(self.text) - len(words)))
        while start >= 0:
            end = start + len(words)
            if stands_alone(text, (start, end), goes_on=phrase.goes_on):
                return _SETTLED if phrase.goes_on or end < len(text) else _AT_END
            start = text.find(words, start + 1)
        return _OPEN


def _places_alone(phrase: Phrase, text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a phrase in a text, where it is no part of a longer word."""
    words = phrase.beginnings[-1]
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        if stands_alone(text, (start, end), goes_on=phrase.goes_on):
            yield start, end
        start = text.find(words, start + 1)


@dataclass
class RequiredState:
    """The rows of one search (`dragoman.decoding.constraints.protocol.Guide`)."""

    _rows: list[_Row]
    _surfaces: Surfaces
    sentences: Ints
    _is_one: Bools
    #: Rows with one more token, by row and token.
    _grown: dict[tuple[int, int], _Row] = field(default_factory=dict)

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Forbid the marks that end a sentence too early. A hypothesis may leave a phrase that it has begun."""
        early = np.flatnonzero(self._is_one[rows.sentence] & ~self.satisfied(rows))
        for row in early.tolist():
            wanted = self._rows[row].wanted(self._surfaces)  # a phrase may have such a mark: "St. Gallen"
            marks = np.array([id for id in self._surfaces.final_marks if id not in wanted], dtype=np.int64)
            scores.forbid(np.full(len(marks), row), marks)

    def satisfied(self, rows: Rows) -> Bools:
        """Return True for each row (R,) that has a phrase of each demand."""
        return np.array([_OPEN not in row.states for row in self._rows], dtype=np.bool_)

    def advance(self, parents: Ints, tokens: Ints) -> None:
        """Follow the search by one token."""
        self._rows = [self._with(*pair) for pair in zip(parents.tolist(), tokens.tolist(), strict=True)]
        self._grown = {}

    def wanted(self) -> tuple[Ints, Ints]:
        """Return rows (n,) and tokens (n,) that lead towards their demands."""
        pairs = [(number, id) for number, row in enumerate(self._rows) for id in sorted(row.wanted(self._surfaces))]
        rows, tokens = zip(*pairs, strict=True) if pairs else ((), ())
        return np.array(rows, dtype=np.int64), np.array(tokens, dtype=np.int64)

    def progress(self, parents: Ints, tokens: Ints) -> Ints:
        """Return how far rows (n,) are when each has written one of the tokens (n,)."""
        pairs = zip(parents.tolist(), tokens.tolist(), strict=True)
        return np.array([self._with(*pair).progress() for pair in pairs], dtype=np.int64)

    def _with(self, row: int, token: int) -> _Row:
        key = row, token
        if key not in self._grown:
            self._grown[key] = self._rows[row].grown(self._surfaces.texts[token])
        return self._grown[key]
