"""A beam search watched from outside, node by node.

The search runs as it always does and knows nothing of this: a scorer that watches stands between it and the model, and
sees what the search asks for and which hypotheses it goes on with. Which others it took before it dropped them follows
from the same probabilities by the search's own rule, `dragoman.decoding.beam.best_continuations`.

N beam size, R hypotheses now open, V vocabulary.
"""

from __future__ import annotations

import math
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

#: What became of a hypothesis.
#:
#: - lived: at least one continuation of it was among the N best;
#: - finished: it wrote the end mark;
#: - cut: there was no room for more, or no token was allowed to follow;
#: - overtaken: no continuation of it was among the N best;
#: - hopeless: whatever it would have written, it could not have become better than what had finished.
Fate = Literal["lived", "finished", "cut", "overtaken", "hopeless"]


@dataclass(eq=False)
class Node:
    """A hypothesis: one token after those of its parent. The root has none."""

    id: int
    parent: Node | None = None
    #: Natural-log probability of this token, and of all tokens up to it.
    log_prob: float = 0.0
    total: float = 0.0
    #: The number of tokens up to this one.
    length: int = 0
    fate: Fate = "hopeless"
    #: The most probable next tokens and their probabilities, before any constraint; none where the search did not look.
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
        """What it is ranked by when it ends: the sum of log-probabilities over the length penalty."""
        return self.total / length_penalty(self.length, alpha)

    @property
    def rivals(self) -> list[tuple[int, float]]:
        """The most probable other tokens that could have stood in this one's place, with their probabilities."""
        return [] if self.parent is None else [each for each in self.parent.nearest if each[0] != self.id]


class WatchedScorer:
    """Gives what another scorer gives, and notes how one sentence is searched for in the tree below `root`."""

    def __init__(self, scorer: Scorer, config: SearchConfig, n_nearest: int) -> None:
        self._scorer, self._config, self._n_nearest = scorer, config, n_nearest
        self.vocab_size, self.max_length, self.special_ids = scorer.vocab_size, scorer.max_length, scorer.special_ids
        self.root = Node(id=-1)

    def start(self, source_ids: Ints) -> State:
        """See `dragoman.decoding.state.Scorer`; source_ids (1, S)."""
        constraints = ActiveConstraints(self, source_ids, self._config)
        state = self._scorer.start(source_ids)
        return WatchedState(state, self.root, constraints, self._config.beam_size, self._n_nearest)


class WatchedState:
    """A state that notes what a beam search, or a greedy one, does with it."""

    def __init__(
        self, state: State, root: Node, constraints: ActiveConstraints, beam_size: int, n_nearest: int
    ) -> None:
        self._state, self._constraints, self._beam_size, self._n_nearest = state, constraints, beam_size, n_nearest
        self._places = np.array([beam_size])  # how many may be open: N less those that ended
        self._open: list[Node] = []
        self._parents = [root]  # of the rows of the next step

    def step(self, last_ids: Ints) -> Scores:
        rows = zip(self._parents, last_ids.tolist(), strict=True)
        # The root has no children at the first step, and is itself what the search begins with.
        self._open = [next((child for child in node.children if child.id == id), node) for node, id in rows]
        self._parents = self._open
        scores = self._state.step(last_ids)
        self._look(scores)
        constrained = ArrayScores(scores.array().copy())
        self._constraints.apply(constrained, self._rows())
        self._grow(constrained)
        return scores

    def select(self, rows: Ints) -> None:
        self._parents = [self._open[row] for row in rows.tolist()]
        self._state.select(rows)

    def _rows(self) -> Rows:
        """Return the open hypotheses; there is only one sentence."""
        ids = np.array([node.ids for node in self._open], dtype=np.int64)
        return Rows(np.zeros(len(self._open), dtype=np.int64), ids.reshape(len(self._open), -1))

    def _look(self, scores: Scores) -> None:
        """Note the nearest of the next tokens."""
        for node, values, ids in zip(
            self._open, *(each.tolist() for each in scores.top_k(self._n_nearest)), strict=True
        ):
            node.nearest = tuple(zip(ids, map(math.exp, values), strict=True))

    def _grow(self, scores: Scores) -> None:
        """Add the continuations that the search takes, given the scores under its constraints."""
        values, token_ids = scores.top_k(self._beam_size)
        stuck = np.isneginf(values[:, 0]).tolist()
        rows = self._rows()
        last = self._constraints.limits.reached(rows).any()
        for node, is_stuck in zip(self._open, stuck, strict=True):
            node.fate = "cut" if is_stuck or last else "overtaken"  # until a continuation is taken
        self._places -= sum(stuck)
        totals = np.array([node.total for node in self._open], dtype=np.float32)
        beam = Beam(rows.sentence, rows.ids, np.zeros_like(totals)[:, None], totals)
        parents, choices = best_continuations(beam, values, self._places, self._beam_size)
        grown = token_ids[parents, choices], values[parents, choices], (totals[parents] + values[parents, choices])
        for row, id, log_prob, total in zip(parents.tolist(), *(each.tolist() for each in grown), strict=True):
            parent = self._open[row]
            is_end = id == self._constraints.special_ids.end
            if last and not is_end:
                continue
            node = Node(id, parent, log_prob, total, parent.length + 1)
            if is_end:
                node.fate = "finished"
                self._places -= 1
            parent.fate = "lived"
            parent.children.append(node)
