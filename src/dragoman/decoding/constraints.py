"""What a translation must or must not contain, written as -inf into the probabilities before a search chooses.

Padding and start marks are never written. The unknown token may be: where a model gives it the highest probability,
leaving it out would hide that, and word-level models are trained to write it.

B sentences, R rows, V vocabulary, t tokens written so far, P length of the longest prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from dragoman.decoding.faults import FaultFinder
from dragoman.decoding.scores import Scores
from dragoman.decoding.state import Scorer
from dragoman.errors import ConfigError
from dragoman.machine.arrays import Ints
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIds

_NOTHING: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Constraints:
    """The limits of a batch of sentences."""

    natural_limit: Ints  # (B,): most tokens that a translation of this sentence needs, the end mark included
    limit: Ints  # (B,): most tokens that the search writes, the end mark included
    shortest: int  # the smallest of limit
    longest: int  # the largest
    special_ids: SpecialIds  # of the target
    min_length: int  # fewest tokens before the end mark
    no_repeat_ngram: int
    prefix_ids: Ints  # (B, P): what each translation begins with, then padding
    finders: tuple[FaultFinder, ...]  # (B,): of the faults of each sentence's translations

    @classmethod
    def of(
        cls,
        source_ids: Ints,
        config: SearchConfig,
        scorer: Scorer,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> Self:
        """Return the constraints of a configuration for source_ids (B, S) that a scorer reads.

        Raises:
            ConfigError: a prefix has special or unknown ids or is too long, or min_length leaves no room for the end.
        """
        max_length, special_ids = scorer.max_length, scorer.special_ids
        asked = max_length if config.max_length is None else min(config.max_length, max_length)
        if config.min_length >= asked:
            whose = "" if asked == config.max_length else "the model's "
            what = f"min_length {config.min_length} leaves no room for the end mark in {whose}max_length {asked}"
            raise ConfigError(what, advice="lower min_length")
        prefixes = prefixes or [()] * len(source_ids)
        if len(prefixes) != len(source_ids):
            what = f"{len(prefixes)} prefixes for {len(source_ids)} sentences"
            raise ConfigError(what, advice="give one for each, or none")
        n_tokens = (source_ids != special_ids.source.pad).sum(axis=1) - 1  # the end mark is not counted
        natural_limit = np.minimum(_natural_limit(n_tokens, prefixes, config.min_length), max_length)
        room = natural_limit if config.max_length is None else np.full_like(natural_limit, asked)
        _check_prefixes(prefixes, room.tolist(), scorer.vocab_size, special_ids.target)
        # What is chosen among several is chosen whole, and cut then; one alone need not be written further.
        limit = room if _writes_one(config) else np.maximum(room, natural_limit)
        return cls(
            natural_limit=natural_limit,
            limit=limit,
            shortest=int(limit.min()),
            longest=int(limit.max()),
            special_ids=special_ids.target,
            min_length=config.min_length,
            no_repeat_ngram=config.no_repeat_ngram,
            prefix_ids=_padded(prefixes, special_ids.target.pad),
            finders=tuple(map(FaultFinder, _without_marks(source_ids, special_ids.source), prefixes)),
        )

    def apply(self, scores: Scores, written: Ints, sentence: Ints) -> None:
        """Forbid tokens in the scores (R, V).

        written (R, t) is what each row has so far, sentence (R,) the sentence of the batch that it translates.
        """
        t = written.shape[1]
        rows, forced = self._forced(t, sentence)
        # A forced token keeps its probability whatever the other constraints say.
        forced_log_probs = scores.at(rows, forced) if len(rows) else None
        marks, may_end = self.special_ids.marks, t >= self.min_length
        scores.forbid_everywhere(sorted(marks - {self.special_ids.end} if may_end else marks))
        if 0 < self.no_repeat_ngram <= t:
            scores.forbid(*_repeats(written, self.no_repeat_ngram))
        if forced_log_probs is not None:
            scores.force(rows, forced, forced_log_probs)

    def _forced(self, t: int, sentence: Ints) -> tuple[Ints, Ints]:
        """Rows (n,) of which only one token (n,) may come next: that of the prefix."""
        if t >= self.prefix_ids.shape[1]:
            return _NOTHING, _NOTHING
        tokens = self.prefix_ids[sentence, t]
        rows = np.flatnonzero(tokens != self.special_ids.pad)
        return rows, tokens[rows]

    def at_limit(self, t: int, sentence: Ints) -> NDArray[np.bool_]:
        """Return for rows that translate `sentence` (R,) if their token after t others is the last: (R,).

        There the end mark is as free to be chosen or not as elsewhere. A row that does not choose it is kept as it is,
        unfinished: forced to end, it would have a probability that says nothing of it.
        """
        if t + 1 < self.shortest:
            return np.zeros(len(sentence), dtype=np.bool_)
        last: NDArray[np.bool_] = self.limit[sentence] == t + 1
        return last


def _natural_limit(n_tokens: Ints, prefixes: Sequence[Sequence[int]], min_length: int) -> Ints:
    """(B,): half as many tokens again as the source has, and 50, after the prefix."""
    limit: Ints = np.maximum(n_tokens * 3 // 2 + 50, min_length + 1) + [len(prefix) for prefix in prefixes]
    return limit


def _writes_one(config: SearchConfig) -> bool:
    """Return True if one hypothesis of each sentence is written, so that none is chosen among several."""
    return (config.n_best if config.sample else config.beam_size) == 1


def _without_marks(source_ids: Ints, special_ids: SpecialIds) -> list[list[int]]:
    return [[id for id in ids if id not in (special_ids.pad, special_ids.end)] for ids in source_ids.tolist()]


def _repeats(written: Ints, n: int) -> tuple[Ints, Ints]:
    """Rows and tokens (m,) that would complete an n-gram already in `written` (R, t), t at least n."""
    ngrams = sliding_window_view(written, n, axis=1)  # (R, t - n + 1, n)
    latest = written[:, written.shape[1] - (n - 1) :]  # (R, n - 1)
    rows, places = np.nonzero((ngrams[:, :, :-1] == latest[:, None]).all(axis=2))
    return rows, ngrams[rows, places, -1]


def _padded(prefixes: Sequence[Sequence[int]], pad_id: int) -> Ints:
    """(B, P), padding after each prefix's end."""
    width = max(len(prefix) for prefix in prefixes)
    rows = [[*prefix, *[pad_id] * (width - len(prefix))] for prefix in prefixes]
    return np.array(rows, dtype=np.int64).reshape(len(prefixes), width)


def _check_prefixes(
    prefixes: Sequence[Sequence[int]], limits: Sequence[int], vocab_size: int, special_ids: SpecialIds
) -> None:
    for number, (prefix, limit) in enumerate(zip(prefixes, limits, strict=True)):
        wrong = [id for id in prefix if id in special_ids.marks or not 0 <= id < vocab_size]
        if wrong:
            raise ConfigError(f"prefix {number} has the id {wrong[0]}, which no translation contains")
        if len(prefix) >= limit:
            raise ConfigError(
                f"prefix {number} has {len(prefix)} tokens, but its translation may have {limit - 1}",
                advice="shorten it, or raise max_length",
            )
