"""The required beginning of a translation. It wins over every other rule.

B sentences, R rows, P tokens of the longest prefix, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from dragoman.decoding.constraints.protocol import Rows
from dragoman.decoding.scores import Scores
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Floats, Ints, padded


class Prefix:
    """For each of B sentences the ids that its translation begins with."""

    def __init__(self, prefixes: Sequence[Sequence[int]], pad_id: int) -> None:
        self._ids, self._pad_id = padded(prefixes, pad_id), pad_id  # (B, P)

    def forced(self, scores: Scores, rows: Rows) -> tuple[Ints, Ints, Floats] | None:
        """Return the rows (n,) whose next token is given, these tokens (n,), and their log-probabilities (n,)."""
        n_written = rows.ids.shape[1]
        if n_written >= self._ids.shape[1]:
            return None
        tokens = self._ids[rows.sentence, n_written]
        numbers = np.flatnonzero(tokens != self._pad_id)
        return (numbers, tokens[numbers], scores.at(numbers, tokens[numbers])) if len(numbers) else None


def check_prefixes(prefixes: Sequence[Sequence[int]], limits: Ints, vocab_size: int, marks: Set[int]) -> None:
    """Check that translations of at most `limits` (B,) tokens, the end mark included, can begin with these ids.

    Args:
        marks: special ids that no translation has.

    Raises:
        ConfigError: a prefix has ids that no translation has, or is too long.
    """
    for number, (prefix, limit) in enumerate(zip(prefixes, limits.tolist(), strict=True)):
        wrong = [id for id in prefix if id in marks or not 0 <= id < vocab_size]
        if wrong:
            raise ConfigError(f"prefix {number} has the id {wrong[0]}, which no translation contains")
        if len(prefix) >= limit:
            raise ConfigError(
                f"prefix {number} has {len(prefix)} tokens, but its translation may have {limit - 1}",
                advice="shorten it, or raise max_length",
            )
