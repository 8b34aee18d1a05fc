"""The RAM that a search takes with a model, estimated from the configuration, to refuse a model out of proportion.

Numbers are of four bytes. N hypotheses of a sentence, T tokens of each, D model width, K and W widths of a head's keys
and values, H heads, V target vocabulary.
"""

from __future__ import annotations

import math

from dragoman.bundle.layout import Layout, LinearLayout
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig

#: A search may take this many numbers (32 MB), and `PER_WEIGHT` more for each weight: more than any usual shape takes.
FREE_NUMBERS, PER_WEIGHT = 2**23, 2
#: The longest translation that the settings of a bundle may ask for, in tokens.
MOST_STEPS = 4096
#: The assumed length of a translation if the search sets none.
USUAL_STEPS = 100
#: Compiled products fill up the rows and columns of a matrix to at most a multiple of this.
PANEL = 32
#: Rows that go through a layer together.
ROWS = 96
#: Numbers that a layer takes besides its weights.
PER_LAYER = 2**15


def disproportion(config: ModelConfig, search: SearchConfig) -> str | None:
    """Return a problem if a model and its usual search take RAM out of proportion to its weights; else None."""
    n_steps = min(max(search.max_length or USUAL_STEPS, search.min_length + 1), config.max_length)
    if search.min_length >= config.max_length:
        return (
            f"search.min_length {search.min_length} leaves no room for the end mark in max_length {config.max_length}"
        )
    if n_steps > MOST_STEPS:
        return (
            f"translations of {n_steps:,} tokens, set by search.max_length or min_length, are more than {MOST_STEPS:,}"
        )
    n_weights = sum(map(math.prod, Layout(config).shapes().values()))
    needed = _model_numbers(config) + _search_numbers(config, search, n_steps)
    if needed <= FREE_NUMBERS + PER_WEIGHT * n_weights:
        return None
    sizes = f"{4 * needed / 1e6:,.0f} MB, out of proportion to its {n_weights:,} weights"
    return f"translating a sentence would take {sizes}: too narrow, too deep, or searched too widely"


def _model_numbers(config: ModelConfig) -> int:
    """Return the numbers of the packed matrices and of the workspace for a few rows."""
    packed = sum(math.prod(map(_filled_up, linear.weight.shape)) for linear in Layout(config).parts(LinearLayout))
    row = 2 * config.d_model + 2 * config.n_heads * sum(config.head_widths) + 3 * config.d_ff
    return packed + ROWS * row + PER_LAYER * (config.n_encoder_layers + config.n_decoder_layers)


def _search_numbers(config: ModelConfig, search: SearchConfig, n_steps: int) -> int:
    """Return the numbers that a search keeps for a sentence: keys, values, position tables, ancestry, scores.

    A recurrent decoder has two states of each hypothesis in place of the tokens' keys, values and ancestry.
    """
    n_hypotheses = search.n_best if search.sample else search.beam_size
    n_tokens = 0 if config.decoder_layer == "ssru" else n_hypotheses * n_steps
    keys_and_values = (n_tokens + 2 * PANEL) * config.n_decoder_layers * config.n_heads * sum(config.head_widths)
    states = 0 if n_tokens else 2 * n_hypotheses * config.n_decoder_layers * config.d_model
    tables = 5 * n_steps * max(config.d_model, config.head_widths[0])
    ancestry, scores = 2 * n_hypotheses * n_tokens, 3 * n_hypotheses * config.target_vocab_size
    return keys_and_values + states + tables + ancestry + scores


def _filled_up(size: int) -> int:
    return -(-size // PANEL) * PANEL
