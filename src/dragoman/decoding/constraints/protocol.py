"""A rule that translations must keep.

A rule may lower the scores of a row's next tokens, to -inf if it forbids them, and it decides if a row may end.

R rows, t tokens that each row has written, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from dragoman.decoding.scores import Scores
from dragoman.machine.arrays import Bools, Ints


class Rows(NamedTuple):
    """The open hypotheses of a search."""

    sentence: Ints  # (R,): the sentence of the batch that each translates
    ids: Ints  # (R, t): the tokens that each has written


class Constraint(Protocol):
    """A rule. Several searches may use it at once, so everything that changes is in the state from `start`."""

    def start(self, rows: Rows) -> ConstraintState:
        """Return the state for rows that have written nothing yet."""


class ConstraintState(Protocol):
    """A rule during one search, with a record of each row, or without (`Stateless`)."""

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Lower some of the log-probabilities (R, V) of the next tokens. None may rise: beam search relies on it."""

    def satisfied(self, rows: Rows) -> Bools:
        """Return True for each row (R,) that may end here. The others may not write the end mark."""

    def advance(self, parents: Ints, tokens: Ints) -> None:
        """Follow the search by one token.

        Args:
            parents: for each new row (R',) the row that it continues; several may continue the same one, or none.
            tokens: the token (R',) that each new row has written.
        """


@runtime_checkable
class Guide(ConstraintState, Protocol):
    """A rule that knows what is missing: it leads a beam search to translations that the model would not find."""

    @property
    def sentences(self) -> Ints:
        """The sentences that it leads, each once or more often."""

    def wanted(self) -> tuple[Ints, Ints]:
        """Return rows (n,) and tokens (n,): continuations that a search should try beside the most probable ones."""

    def progress(self, parents: Ints, tokens: Ints) -> Ints:
        """Return how far rows (n,) are when each has written one of the tokens (n,). A beam is shared among rows that
        are equally far."""


class Stateless:
    """A base for rules that follow from the tokens of a row: they remember nothing, and allow everything."""

    def start(self, rows: Rows) -> Self:
        """Return the rule itself."""
        return self

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Leave the scores as they are."""

    def satisfied(self, rows: Rows) -> Bools:
        """Return True for each row (R,)."""
        return np.ones(len(rows.sentence), dtype=np.bool_)

    def advance(self, parents: Ints, tokens: Ints) -> None:
        """Remember nothing."""
