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

from dragoman.config import SearchConfig
from dragoman.decoding.scores import Ints, Scores
from dragoman.errors import ConfigError
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID

_NOTHING: Ints = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Constraints:
    """The limits of a batch of sentences."""

    limit: Ints  # (B,): most tokens to write, the end mark included
    shortest: int  # the smallest of limit
    longest: int  # the largest
    min_length: int  # fewest tokens before the end mark
    no_repeat_ngram: int
    prefix_ids: Ints  # (B, P): what each translation begins with, then padding

    @classmethod
    def of(
        cls,
        source_ids: Ints,
        config: SearchConfig,
        *,
        prefixes: Sequence[Sequence[int]] | None,
        vocab_size: int,
        max_length: int,
    ) -> Self:
        """The constraints of a configuration for source_ids (B, S), given the model's own largest length.

        Raises:
            ConfigError: a prefix has special or unknown ids or is too long, or min_length leaves no room for the end.
        """
        room = max_length if config.max_length is None else min(config.max_length, max_length)
        if config.min_length >= room:
            whose = "" if room == config.max_length else "the model's "
            what = f"min_length {config.min_length} leaves no room for the end mark in {whose}max_length {room}"
            raise ConfigError(what, advice="lower min_length")
        prefixes = prefixes or [()] * len(source_ids)
        if len(prefixes) != len(source_ids):
            what = f"{len(prefixes)} prefixes for {len(source_ids)} sentences"
            raise ConfigError(what, advice="give one for each, or none")
        if config.max_length is not None:
            limit = np.full(len(source_ids), config.max_length)
        else:
            n_tokens = (source_ids != PAD_ID).sum(axis=1) - 1  # the end mark is not counted
            limit = np.maximum(n_tokens * 3 // 2 + 50, config.min_length + 1) + [len(prefix) for prefix in prefixes]
        limit = np.minimum(limit, max_length)
        _check_prefixes(prefixes, limit.tolist(), vocab_size)
        return cls(
            limit=limit,
            shortest=int(limit.min()),
            longest=int(limit.max()),
            min_length=config.min_length,
            no_repeat_ngram=config.no_repeat_ngram,
            prefix_ids=_padded(prefixes),
        )

    def apply(self, scores: Scores, written: Ints, sentence: Ints) -> None:
        """Forbid tokens in the scores (R, V).

        written (R, t) is what each row has so far, sentence (R,) the sentence of the batch that it translates.
        """
        t = written.shape[1]
        rows, forced = self._forced(t, sentence)
        # A forced token keeps its probability whatever the other constraints say.
        forced_log_probs = scores.at(rows, forced) if len(rows) else None
        scores.forbid_everywhere([PAD_ID, SOS_ID, EOS_ID] if t < self.min_length else [PAD_ID, SOS_ID])
        if 0 < self.no_repeat_ngram <= t:
            scores.forbid(*_repeats(written, self.no_repeat_ngram))
        if forced_log_probs is not None:
            scores.force(rows, forced, forced_log_probs)

    def _forced(self, t: int, sentence: Ints) -> tuple[Ints, Ints]:
        """Rows (n,) of which only one token (n,) may come next: one of the prefix, or at the limit the end mark.

        There a translation that would have gone on ends with a probability as low as it is to end there.
        """
        has_prefix, may_be_last = t < self.prefix_ids.shape[1], t + 1 >= self.shortest
        if not (has_prefix or may_be_last):
            return _NOTHING, _NOTHING
        tokens = self.prefix_ids[sentence, t] if has_prefix else np.full_like(sentence, PAD_ID)
        if may_be_last:
            tokens = np.where(self.limit[sentence] == t + 1, EOS_ID, tokens)
        rows = np.flatnonzero(tokens != PAD_ID)
        return rows, tokens[rows]


def _repeats(written: Ints, n: int) -> tuple[Ints, Ints]:
    """Rows and tokens (m,) that would complete an n-gram already in `written` (R, t), t at least n."""
    ngrams = sliding_window_view(written, n, axis=1)  # (R, t - n + 1, n)
    latest = written[:, written.shape[1] - (n - 1) :]  # (R, n - 1)
    rows, places = np.nonzero((ngrams[:, :, :-1] == latest[:, None]).all(axis=2))
    return rows, ngrams[rows, places, -1]


def _padded(prefixes: Sequence[Sequence[int]]) -> Ints:
    """(B, P), padding after each prefix's end."""
    width = max(len(prefix) for prefix in prefixes)
    rows = [[*prefix, *[PAD_ID] * (width - len(prefix))] for prefix in prefixes]
    return np.array(rows, dtype=np.int64).reshape(len(prefixes), width)


def _check_prefixes(prefixes: Sequence[Sequence[int]], limits: Sequence[int], vocab_size: int) -> None:
    for number, (prefix, limit) in enumerate(zip(prefixes, limits, strict=True)):
        wrong = [id for id in prefix if id in (PAD_ID, SOS_ID, EOS_ID) or not 0 <= id < vocab_size]
        if wrong:
            raise ConfigError(f"prefix {number} has the id {wrong[0]}, which no translation contains")
        if len(prefix) >= limit:
            raise ConfigError(
                f"prefix {number} has {len(prefix)} tokens, but its translation may have {limit - 1}",
                advice="shorten it, or raise max_length",
            )
