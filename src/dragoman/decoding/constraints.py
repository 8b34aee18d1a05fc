"""What a translation must or must not contain, written as -inf into the probabilities before a search chooses.

Padding and start marks are never written. The unknown token may be: where a model gives it the highest probability,
leaving it out would hide that, and word-level models are trained to write it.

B sentences, R rows, V vocabulary, t tokens written so far, P length of the longest prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.errors import ConfigError
from dragoman.text.vocabulary import EOS_ID, PAD_ID, SOS_ID

FORBIDDEN = float("-inf")


@dataclass(frozen=True)
class Constraints:
    """The limits of a batch of sentences."""

    limit: Tensor  # (B,): most tokens to write, the end mark included
    longest: int  # the largest of limit
    min_length: int  # fewest tokens before the end mark
    no_repeat_ngram: int
    prefix_ids: Tensor  # (B, P): what each translation begins with, then padding

    @classmethod
    def of(
        cls,
        source_ids: Tensor,
        config: SearchConfig,
        *,
        prefixes: Sequence[Sequence[int]] | None,
        vocab_size: int,
        max_length: int,
    ) -> Self:
        """The constraints of a configuration for source_ids (B, S), given the model's own largest length.

        Raises:
            ConfigError: a prefix has special or unknown ids or is too long, or min_length is more than the model has.
        """
        if config.min_length > max_length:
            raise ConfigError(f"min_length {config.min_length} is more than the model's max_length {max_length}")
        if config.max_length is not None:
            limit = torch.full_like(source_ids[:, 0], config.max_length)
        else:
            n_tokens = (source_ids != PAD_ID).sum(dim=1) - 1  # the end mark is not counted
            limit = (n_tokens * 3 // 2 + 50).clamp(min=config.min_length)
        limit = limit.clamp(max=max_length)
        if prefixes is not None:
            _check_prefixes(prefixes, limit.tolist(), vocab_size)
        return cls(
            limit=limit,
            longest=int(limit.max()),
            min_length=config.min_length,
            no_repeat_ngram=config.no_repeat_ngram,
            prefix_ids=_padded(prefixes or [()] * len(limit), source_ids.device),
        )

    def apply(self, log_probs: Tensor, written: Tensor, sentence: Tensor) -> Tensor:
        """Forbid tokens in log_probs (R, V), in place, and return it.

        written (R, t) is what each row has so far, sentence (R,) the sentence of the batch that it translates.
        """
        t = written.size(1)
        forced = self.prefix_ids[sentence, t] if t < self.prefix_ids.size(1) else None
        # A forced token keeps its probability whatever the other constraints say.
        forced_log_probs = log_probs.gather(1, forced[:, None]) if forced is not None else None
        log_probs[:, PAD_ID] = FORBIDDEN
        log_probs[:, SOS_ID] = FORBIDDEN
        if t < self.min_length:
            log_probs[:, EOS_ID] = FORBIDDEN
        if 0 < self.no_repeat_ngram <= t:
            _forbid_repeats(log_probs, written, self.no_repeat_ngram)
        if forced is not None and forced_log_probs is not None:
            is_forced = (forced != PAD_ID)[:, None]
            log_probs.masked_fill_(is_forced, FORBIDDEN)
            log_probs.scatter_(1, forced[:, None], forced_log_probs.masked_fill(~is_forced, FORBIDDEN))
        return log_probs


def _forbid_repeats(log_probs: Tensor, written: Tensor, n: int) -> None:
    """Forbid the tokens that would complete an n-gram already in `written` (R, t), t at least n."""
    ngrams = written.unfold(1, n, 1)  # (R, t - n + 1, n)
    latest = written[:, written.size(1) - (n - 1) :]  # (R, n - 1)
    seen = (ngrams[:, :, :-1] == latest[:, None]).all(dim=-1)
    log_probs.scatter_(1, torch.where(seen, ngrams[:, :, -1], PAD_ID), FORBIDDEN)


def _padded(prefixes: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """(B, P), padding after each prefix's end."""
    width = max(len(prefix) for prefix in prefixes)
    rows = [[*prefix, *[PAD_ID] * (width - len(prefix))] for prefix in prefixes]
    return torch.tensor(rows, dtype=torch.int64, device=device).reshape(len(prefixes), width)


def _check_prefixes(prefixes: Sequence[Sequence[int]], limits: Sequence[int], vocab_size: int) -> None:
    if len(prefixes) != len(limits):
        raise ConfigError(f"{len(prefixes)} prefixes for {len(limits)} sentences", advice="give one for each, or none")
    for number, (prefix, limit) in enumerate(zip(prefixes, limits, strict=True)):
        wrong = [id for id in prefix if id in (PAD_ID, SOS_ID, EOS_ID) or not 0 <= id < vocab_size]
        if wrong:
            raise ConfigError(f"prefix {number} has the id {wrong[0]}, which no translation contains")
        if len(prefix) > limit:
            raise ConfigError(
                f"prefix {number} has {len(prefix)} tokens, but its translation may have {limit}",
                advice="shorten it, or raise max_length",
            )
