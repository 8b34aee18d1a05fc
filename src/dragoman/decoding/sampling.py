"""Sampling: translations drawn from the model, sharpened by temperature, cut to the top k or the top p.

Seed and sentence alone determine the noise of a sentence. Its neighbours in the batch and the number of samples change
only the rounding of probabilities, which hardly ever changes a draw. So equal sentences get equal samples.

B sentences, R rows, V vocabulary, K tokens to draw from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.lengths import Limits
from dragoman.decoding.greedy import decode_rows
from dragoman.decoding.hypothesis import Hypothesis, best_first
from dragoman.decoding.scores import Scores, refuse_nan
from dragoman.decoding.state import State
from dragoman.machine.arrays import Floats, Ints
from dragoman.settings.search_config import SearchConfig

#: Lower temperatures are raised to this one, because float32 has no smaller numbers to divide by.
LOWEST_TEMPERATURE = 1e-20


def sample(state: State, constraints: ActiveConstraints, config: SearchConfig) -> list[list[Hypothesis]]:
    """Draw n_best translations of each sentence, independently, so that two may be equal.

    Their log-probabilities are those before temperature, top k and top p.
    """
    state.select(constraints.sentence)
    noise = _noise(constraints.sources, constraints.limits, config)

    def choose(scores: Scores, numbers: Ints, position: int) -> tuple[Floats, Ints]:
        return draw(scores, noise[numbers, position], config)

    samples, n = decode_rows(state, constraints, choose, config.length_penalty), config.n_best
    return [best_first(samples[first : first + n]) for first in range(0, len(samples), n)]


def draw(scores: Scores, noise: Floats, config: SearchConfig) -> tuple[Floats, Ints]:
    """Draw a token for each row of scores (R, V) with noise (R,) from [0, 1) -> log-probabilities and ids (R,).

    Top k (Fan et al. 2018), then top p (Holtzman et al. 2020): the fewest tokens that together have probability p.
    The chosen token is the first whose cumulative probability exceeds the noise. Probabilities are summed in the
    order of the ids. In the order of probability, rounding could swap two nearly equal tokens, and the same noise would
    draw the other one.
    """
    if config.top_k:
        values, ids = scores.top_k(config.top_k)  # (R, K)
        order = ids.argsort(axis=1)
        values, ids = np.take_along_axis(values, order, axis=1), np.take_along_axis(ids, order, axis=1)
    else:
        values, ids = scores.array(), None
    best = values.max(axis=1, keepdims=True)
    refuse_nan(best)
    # If every token of a row is forbidden, any token will do: its log-probability tells the caller.
    best = np.maximum(best, np.finfo(np.float32).min)
    weights = np.exp((values - best) / np.float32(max(config.temperature, LOWEST_TEMPERATURE)))
    if config.top_p < 1:
        weights[weights < _least_weight(weights, config.top_p)] = 0
    cumulated = weights.cumsum(axis=1, dtype=np.float64)  # (R, K)
    column = (cumulated <= noise[:, None] * cumulated[:, -1:]).sum(axis=1, keepdims=True)
    column = np.minimum(column, cumulated.shape[1] - 1)  # all tokens of the row are forbidden
    chosen = column if ids is None else np.take_along_axis(ids, column, axis=1)
    return np.take_along_axis(values, column, axis=1)[:, 0], chosen[:, 0]


def _least_weight(weights: Floats, top_p: float) -> Floats:
    """Return the least weight (R, 1) among the fewest tokens that together have the share top_p of weights (R, K)."""
    falling = -np.sort(-weights, axis=1)
    cumulated = falling.cumsum(axis=1, dtype=np.float64)
    last = (cumulated < top_p * cumulated[:, -1:]).sum(axis=1, keepdims=True)
    return np.take_along_axis(falling, np.minimum(last, falling.shape[1] - 1), axis=1)


def _noise(sources: Sequence[Sequence[int]], limits: Limits, config: SearchConfig) -> Floats:
    """Return uniform noise (B * n_best, longest) from [0, 1). Seed and sentence alone determine a sentence's rows."""
    noise = np.zeros((len(sources), config.n_best, limits.longest), dtype=np.float32)
    lengths = zip(limits.natural.tolist(), limits.written.tolist(), strict=True)
    for sentence, (ids, (natural, written)) in enumerate(zip(sources, lengths, strict=True)):
        key = [config.seed, *ids]
        usual = np.random.default_rng(key).random((config.n_best, natural), dtype=np.float32)
        noise[sentence, :, : min(natural, written)] = usual[:, :written]
        for number in range(config.n_best if written > natural else 0):  # more noise leaves the first as it is
            more = np.random.default_rng([*key, number]).random(written - natural, dtype=np.float32)
            noise[sentence, number, natural:written] = more
    return noise.reshape(-1, limits.longest)
