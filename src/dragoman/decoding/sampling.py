"""Sampling: translations drawn from the model, sharpened by temperature, cut to the top k or the top p.

What is drawn for a sentence is a function of the seed and the sentence alone; its neighbours in the batch, and the
number of samples, change nothing. The same sentence twice therefore gives the same samples twice.

B sentences, R rows, S source, V vocabulary, K tokens to draw from.
"""

from __future__ import annotations

import numpy
import torch
from torch import Tensor

from dragoman.config import SearchConfig
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.greedy import walk
from dragoman.decoding.hypothesis import Hypothesis, best_first
from dragoman.decoding.state import State, refuse_nan
from dragoman.text.vocabulary import PAD_ID

#: A temperature below this is this: float32 has no smaller numbers to divide by.
LOWEST_TEMPERATURE = 1e-20


def sample(state: State, constraints: Constraints, source_ids: Tensor, config: SearchConfig) -> list[list[Hypothesis]]:
    """Draw n_best translations of each sentence of source_ids (B, S), independently, so that two may be equal.

    Their log-probabilities are the model's own: before temperature, top k and top p.
    """
    n = config.n_best
    sentence = torch.arange(len(source_ids), device=source_ids.device).repeat_interleave(n)
    state.select(sentence)
    noise = _noise(source_ids, constraints, config)

    def choose(log_probs: Tensor, rows: Tensor, position: int) -> tuple[Tensor, Tensor]:
        return draw(log_probs, noise[rows, position], config)

    samples = walk(state, constraints, sentence, choose, config.length_penalty)
    return [best_first(samples[first : first + n]) for first in range(0, len(samples), n)]


def draw(log_probs: Tensor, noise: Tensor, config: SearchConfig) -> tuple[Tensor, Tensor]:
    """Draw a token for each row of log_probs (R, V) with noise (R,) from [0, 1) -> log_probs and ids (R,).

    Top k (Fan et al. 2018), then top p (Holtzman et al. 2020): the fewest tokens that together have probability p.
    The distribution function is inverted: the token is the first whose cumulated probability exceeds the noise.
    """
    n_tokens = min(config.top_k or log_probs.size(1), log_probs.size(1))
    if config.top_k or config.top_p < 1:
        values, ids = log_probs.topk(n_tokens, dim=-1)  # (R, K), falling
    else:
        values, ids = log_probs, None
    best = values.amax(dim=-1, keepdim=True)
    refuse_nan(best)
    # Of a row in which every token is forbidden, any token will do: its log-probability says so.
    best = best.clamp(min=torch.finfo(best.dtype).min)
    weights = ((values - best) / max(config.temperature, LOWEST_TEMPERATURE)).exp()
    cumulated = weights.cumsum(dim=-1)  # (R, K)
    n_last = cumulated.size(1) - 1
    last = torch.searchsorted(cumulated, config.top_p * cumulated[:, -1:]).clamp(max=n_last)
    total = cumulated.gather(1, last)
    # Noise is at most 1 - 2**-24 and the total at least 1, so their product rounds to less than the total.
    place = torch.searchsorted(cumulated, noise[:, None] * total, right=True).clamp(max=n_last)
    chosen = place if ids is None else ids.gather(1, place)
    return log_probs.gather(1, chosen).squeeze(1), chosen.squeeze(1)


def _noise(source_ids: Tensor, constraints: Constraints, config: SearchConfig) -> Tensor:
    """Uniform noise (B * n_best, longest) from [0, 1); a sentence's rows are a function of seed and sentence."""
    noise = numpy.zeros((len(source_ids), config.n_best, constraints.longest), dtype=numpy.float32)
    for sentence, (ids, limit) in enumerate(zip(source_ids.tolist(), constraints.limit.tolist(), strict=True)):
        key = [config.seed, *(id for id in ids if id != PAD_ID)]
        noise[sentence, :, :limit] = numpy.random.default_rng(key).random((config.n_best, limit), dtype=numpy.float32)
    return torch.from_numpy(noise).flatten(0, 1).to(source_ids.device)
