"""Forced decoding on a CPU: a compiled model reads given targets token by token, as if it had written them.

B sentences, S source, T target tokens, the start mark included, L decoder layers, H heads.
"""

from __future__ import annotations

import numpy as np

from dragoman.decoding.state import TransformerState
from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.compiled_model import CompiledModel


def forced_log_probs(model: CompiledModel, source_ids: Ints, target_ids: Ints) -> Floats:
    """Return the log-probability of each target token after the first, and 0 for padding: (B, T - 1).

    Equal sources are read once, and so are the equal beginnings of their targets.

    Args:
        source_ids: (B, S), which end in eos and then padding.
        target_ids: (B, T), which begin with the start mark.

    Raises:
        IndexError, ValueError: an id is unknown, or a side is longer than the model reads.
    """
    pad_id, n_steps = model.special_ids.target.pad, target_ids.shape[1] - 1
    sources, rows = np.unique(source_ids, axis=0, return_inverse=True)  # `rows` (B,): where each target is written
    state = TransformerState(model.start(sources), len(sources), pad_id)
    lengths = n_steps - (target_ids[:, :0:-1] != pad_id).argmax(axis=1)
    log_probs = np.zeros((len(target_ids), n_steps), dtype=np.float32)
    for position in range(n_steps):
        left = np.flatnonzero(lengths > position)
        branches = np.stack((rows[left], target_ids[left, position]), axis=1)
        (parents, last_ids), rows[left] = _distinct(branches)
        state.select(parents)
        log_probs[left, position] = state.step(last_ids).at(rows[left], target_ids[left, position + 1])
    return log_probs


def _distinct(pairs: Ints) -> tuple[Ints, Ints]:
    """Return the distinct ones of pairs (n, 2), (2, m), and the number of each pair among them, (n,)."""
    found, numbers = np.unique(pairs, axis=0, return_inverse=True)
    return found.T, numbers


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
