"""Lengths of translations: a rule for the shortest, and limits at which a search stops.

B sentences, R rows, t tokens that each row has written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dragoman.decoding.constraints.protocol import Rows, Stateless
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Bools, Ints
from dragoman.settings.search_config import SearchConfig


@dataclass(frozen=True)
class MinLength(Stateless):
    """A translation has at least `n` tokens before the end mark."""

    n: int

    def satisfied(self, rows: Rows) -> Bools:
        """Return True for all rows (R,) or for none, because all have equally many tokens."""
        return np.full(len(rows.sentence), rows.ids.shape[1] >= self.n)


@dataclass(frozen=True)
class Limits:
    """The most tokens of each sentence's translations, the end mark included."""

    natural: Ints  # (B,): tokens that a translation of this sentence may need
    returned: Ints  # (B,): tokens that are returned
    written: Ints  # (B,): tokens that the search writes
    shortest: int  # the smallest of written
    longest: int  # the largest

    @classmethod
    def of(
        cls,
        sources: Sequence[Sequence[int]],
        prefixes: Sequence[Sequence[int]],
        config: SearchConfig,
        model_max_length: int,
    ) -> Self:
        """Return the limits of sources, ids with the end mark, whose translations begin with `prefixes`.

        The natural limit is 1.5 times the tokens of the source, plus 50, plus the prefix, and at most the model's.

        Raises:
            ConfigError: min_length leaves no room for the end mark.
        """
        limit = model_max_length if config.max_length is None else min(config.max_length, model_max_length)
        if config.min_length >= limit:
            whose = "" if limit == config.max_length else "the model's "
            problem = f"min_length {config.min_length} leaves no room for the end mark in {whose}max_length {limit}"
            raise ConfigError(problem, advice="lower min_length")
        n_tokens = np.array([len(source) - 1 for source in sources])  # the end mark is not counted
        needed = np.maximum(n_tokens * 3 // 2 + 50, config.min_length + 1) + [len(prefix) for prefix in prefixes]
        natural = np.minimum(needed, model_max_length)
        returned = natural if config.max_length is None else np.full_like(natural, limit)
        # The best of several hypotheses is chosen among whole ones, and cut then; a single one is only written so far.
        n_hypotheses = config.n_best if config.sample else config.beam_size
        written = returned if n_hypotheses == 1 else np.maximum(returned, natural)
        return cls(natural, returned, written, shortest=int(written.min()), longest=int(written.max()))

    def reached(self, rows: Rows) -> Bools:
        """Return True for each row (R,) that may write only one token more.

        That token may be the end mark or any other, as always. A row that writes another is kept without that token,
        unfinished: a forced end would have a meaningless probability.
        """
        n_tokens = rows.ids.shape[1] + 1
        if n_tokens < self.shortest:
            return np.zeros(len(rows.sentence), dtype=np.bool_)
        reached: Bools = self.written[rows.sentence] == n_tokens
        return reached
