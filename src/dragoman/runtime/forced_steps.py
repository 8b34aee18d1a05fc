"""Forced decoding on a CPU: a compiled model reads given targets token by token, as if it had written them.

B sentences, S source, T target tokens, the start mark included, L decoder layers, H heads.
"""

from __future__ import annotations

import numpy as np

from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.compiled_model import CompiledModel


def forced_log_probs(model: CompiledModel, source_ids: Ints, target_ids: Ints) -> Floats:
    """Return the log-probability of each target token after the first: (B, T - 1).

    Args:
        source_ids: (B, S), which end in eos and then padding.
        target_ids: (B, T), which begin with the start mark.

    Raises:
        IndexError, ValueError: an id is unknown, or a side is longer than the model reads.
    """
    rows, steps = np.arange(len(target_ids)), model.start(source_ids)
    log_probs = np.empty((len(target_ids), target_ids.shape[1] - 1), dtype=np.float32)
    for position in range(log_probs.shape[1]):
        scores = steps.step(target_ids[:, position, None], position, None, rows)
        log_probs[:, position] = scores.at(rows, target_ids[:, position + 1])
    return log_probs


def forced_attention(model: CompiledModel, source_ids: Ints, target_ids: Ints) -> Floats:
    """Return the weights with which the decoder attends to the source, (L, B, H, T, S).

    Args, Raises: as `forced_log_probs`.
    """
    config, (n_sentences, n_tokens) = model.config, target_ids.shape
    sizes = n_tokens, config.n_decoder_layers, n_sentences, config.n_heads, source_ids.shape[1]
    attention = np.empty(sizes, dtype=np.float32)
    steps = model.start(source_ids)
    for position in range(n_tokens):
        steps.step(target_ids[:, position, None], position, None, np.arange(n_sentences), attention[position])
    return attention.transpose(1, 2, 3, 0, 4)
