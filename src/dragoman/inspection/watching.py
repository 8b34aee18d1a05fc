"""A beam search or a greedy one, recorded as a tree from outside.

A recording scorer lies between the search and the model, so the search needs no change. The recorder sees only the
hypotheses that the search continues. It finds the continuations that the search drops by the search's own rule,
`dragoman.decoding.beam.best_continuations`, from the same probabilities.

N beam size, R hypotheses now open, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dragoman.decoding.beam import Beam, best_continuations
from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.protocol import Rows
from dragoman.decoding.hypothesis import length_penalty
from dragoman.decoding.scores import ArrayScores, Scores
from dragoman.decoding.state import Scorer, State
from dragoman.machine.arrays import Ints
from dragoman.settings.search_config import SearchConfig

#: The fate of a hypothesis:
#:
#: - lived: at least one continuation of it was among the N best;
#: - finished: it wrote the end mark;
#: - cut: it reached the length limit, or no token was allowed to follow;
#: - overtaken: no continuation of it was among the N best;
#: - hopeless: no continuation could have become better than a finished hypothesis.
Fate = Literal["lived", "finished", "cut", "overtaken", "hopeless"]


@dataclass(eq=False)
class Node:
    """A hypothesis: the tokens of its parent, and one more. The root has no token."""

    id: int
    parent: Node | None = None
    #: Natural-log probability of this token, and of all tokens up to it.
    log_prob: float = 0.0
    total: float = 0.0
    #: The number of tokens up to this one.
    length: int = 0
    fate: Fate = "hopeless"
    #: The most probable next tokens and their probabilities, before any constraint; empty if the search ended here.
    nearest: tuple[tuple[int, float], ...] = ()
    children: list[Node] = field(default_factory=list)

    @property
    def path(self) -> list[Node]:
        """The nodes from the first token to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    @property
    def ids(self) -> list[int]:
        """The tokens up to this one, the end mark included."""
        return [node.id for node in self.path]

    def score(self, alpha: float) -> float:
        """Return its score if it ends here: the sum of log-probabilities over the length penalty."""
        return self.total / length_penalty(self.length, alpha)

    @property
    def rivals(self) -> list[tuple[int, float]]:
        """The most probable tokens instead of this one, with their probabilities."""
        return [] if self.parent is None else [rival for rival in self.parent.nearest if rival[0] != self.id]


class WatchedScorer:
    """A scorer that records the search for the translation of one sentence, in the tree below `root`."""

    def __init__(
        self, scorer: Scorer, config: SearchConfig, n_nearest: int, prefixes: Sequence[Sequence[int]] | None = None
    ) -> None:
        self._scorer, self._config, self._n_nearest, self._prefixes = scorer, config, n_nearest, prefixes
        self.vocab_size, self.max_length, self.special_ids = scorer.vocab_size, scorer.max_length, scorer.special_ids
        self.root = Node(id=-1)

    def start(self, source_ids: Ints) -> State:
        """Read source_ids (1, S), and return a state that records the search."""
        constraints = ActiveConstraints(self, source_ids, self._config, self._prefixes)
        state = self._scorer.start(source_ids)
        return WatchedState(state, self.root, constraints, self._config.beam_size, self._n_nearest)


class WatchedState:
    """A search state that adds nodes to a tree."""

    def __init__(
        self, state: State, root: Node, constraints: ActiveConstraints, beam_size: int, n_nearest: int
    ) -> None:
        self._state, self._root, self._constraints = state, root, constraints
        self._beam_size, self._n_nearest = beam_size, n_nearest
        self._widths = np.array([beam_size])  # the beam size less the hypotheses that ended
        self._open: list[Node] = []  # the rows of the latest step
        self._selected: Ints = np.arange(1)  # rows that the search continues

    def step(self, last_ids: Ints) -> Scores:
        """Record a step of the search."""
        if self._open:
            self._constraints.advance(self._selected, last_ids)
            parents = [self._open[row] for row in self._selected.tolist()]
            continued = zip(parents, last_ids.tolist(), strict=True)
            self._open = [next(child for child in node.children if child.id == id) for node, id in continued]
        else:
            self._open = [self._root]
        self._selected = np.arange(len(self._open))
        scores = self._state.step(last_ids)
        self._note_nearest(scores)
        constrained = ArrayScores(scores.array().copy())
        ids = np.array([node.ids for node in self._open], dtype=np.int64).reshape(len(self._open), -1)
        rows = Rows(np.zeros(len(self._open), dtype=np.int64), ids)  # all of the only sentence
        self._constraints.apply(constrained, rows)
        self._grow(constrained, rows)
        return scores

    def select(self, rows: Ints) -> None:
        """Record the rows that the search continues."""
        self._selected = rows
        self._state.select(rows)

    def _note_nearest(self, scores: Scores) -> None:
        values, ids = (array.tolist() for array in scores.top_k(self._n_nearest))
        for node, node_ids, node_values in zip(self._open, ids, values, strict=True):
            node.nearest = tuple(zip(node_ids, map(math.exp, node_values), strict=True))

    def _grow(self, scores: Scores, rows: Rows) -> None:
        """Add the continuations that the search takes, given the constrained scores."""
        values, token_ids = scores.top_k(self._beam_size)
        is_stuck = np.isneginf(values[:, 0]).tolist()
        is_last = self._constraints.limits.reached(rows).any()
        for node, stuck in zip(self._open, is_stuck, strict=True):
            node.fate = "cut" if stuck or is_last else "overtaken"  # until a continuation is taken
        self._widths -= sum(is_stuck)
        totals = np.array([node.total for node in self._open], dtype=np.float32)
        beam = Beam(*rows, np.zeros_like(totals)[:, None], totals)
        parents, choices = best_continuations(beam, values, self._widths, self._beam_size)
        grown = token_ids[parents, choices], values[parents, choices], (totals[parents] + values[parents, choices])
        for row, id, log_prob, total in zip(parents.tolist(), *(array.tolist() for array in grown), strict=True):
            parent = self._open[row]
            is_end = id == self._constraints.special_ids.end
            if is_last and not is_end:
                continue
            node = Node(id, parent, log_prob, total, parent.length + 1)
            if is_end:
                node.fate = "finished"
                self._widths -= 1
            parent.fate = "lived"
            parent.children.append(node)
