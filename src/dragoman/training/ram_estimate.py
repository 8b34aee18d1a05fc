"""An estimate of the RAM or GPU memory that a training will take."""

from __future__ import annotations

from dragoman.model.operations import MAX_KEYS_FUSED, MAX_KEYS_UNFUSED
from dragoman.native.fused_library import library
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.loss import chunk_tokens
from dragoman.training.optimizer import OPTIMIZERS

#: float32.
_BYTES = 4
#: What is kept for the backward pass takes less in 16 bits, since products have their factors in two bytes.
_OF_BFLOAT16 = 0.65
#: Numbers kept for the backward pass, for each token and layer: this many vectors of width d_model, and of width d_ff;
#: by the compiled functions, which compute some of them again, fewer.
#: Counted on models of 128 to 512 dimensions, with sentences of usual length. With the compiled functions true to a
#: tenth in most cases, and a fifth too much in others; without them to a third or so.
_NARROW_VECTORS, _COMPILED_NARROW_VECTORS = 20, 15
_WIDE_VECTORS = {"relu": 3, "gelu": 3, "silu": 3, "swiglu": 5}
_COMPILED_WIDE_VECTORS = {"relu": 2, "gelu": 2, "silu": 2, "swiglu": 4}
#: Numbers held for each score of the loss's chunk, without R-Drop and with it; by the compiled functions only one.
_SCORES, _SCORES_OF_TWO = 3, 5
#: Numbers kept for each weight of attention: by the compiled function, in plain products, and with dropout.
_WEIGHTS, _PLAIN_WEIGHTS, _DROPPED_WEIGHTS = 1, 2, 4


def state_bytes(n_parameters: int, training: TrainingConfig) -> int:
    """Return the bytes that stay all the time: weights, gradients, Adam's moments, and the moving average, if any.

    Muon keeps one moment, and its updates take as much as the other while it makes a step.
    """
    return _BYTES * n_parameters * (5 if training.ema else 4)


def saving_bytes(n_parameters: int, training: TrainingConfig) -> int:
    """Return the bytes in use while a checkpoint is written: no gradients, but the optimizer's moments three times."""
    n_moments = OPTIMIZERS[training.optimizer].n_moments
    return _BYTES * n_parameters * (1 + 3 * n_moments + (1 if training.ema else 0))


def training_bytes(
    model: ModelConfig,
    n_parameters: int,
    training: TrainingConfig,
    longest: int,
    *,
    device: str = "cpu",
    n_processes: int = 1,
) -> int:
    """Return about how many bytes each process of a training takes at its peak, besides the program itself.

    If precision is still to be chosen, float32 is assumed.

    Args:
        longest: tokens of the longest sentence.
    """
    compiled = device == "cpu" and library() is not None
    share = -(-training.batch_tokens // n_processes)
    n_tokens = min(training.micro_batch_tokens or share, share)
    n_tokens *= 2 if training.r_drop else 1
    n_layers = model.n_encoder_layers + model.n_decoder_layers
    narrow = _COMPILED_NARROW_VECTORS if compiled else _NARROW_VECTORS
    wide = (_COMPILED_WIDE_VECTORS if compiled else _WIDE_VECTORS)[model.activation]
    vectors = narrow * model.d_model + wide * model.d_ff
    copies = 1 if compiled else _SCORES_OF_TWO if training.r_drop else _SCORES
    scores = copies * min(n_tokens, chunk_tokens(device)) * model.target_vocab_size
    kept = n_tokens * (n_layers * vectors + _attention_numbers(model, longest, device, compiled)) + scores
    narrowed = round(kept * _OF_BFLOAT16) if training.precision in ("bfloat16", "float16") else kept
    if device == "cuda" and training.cuda_graphs and n_processes == 1:
        narrowed *= 2  # the first step of each shape is made outside the memory of the graphs
    step = state_bytes(n_parameters, training) + _BYTES * narrowed
    return max(step, saving_bytes(n_parameters, training))


def _attention_numbers(model: ModelConfig, longest: int, device: str, compiled: bool) -> int:
    """Return how many numbers attention keeps for each token, of its weights over up to `longest` others."""
    if model.attention_dropout:
        each = _DROPPED_WEIGHTS * longest
    elif compiled:
        each = _WEIGHTS * min(longest, MAX_KEYS_FUSED)
    elif device == "cpu":
        each = _PLAIN_WEIGHTS * min(longest, MAX_KEYS_UNFUSED)
    else:
        each = 0  # PyTorch's fused attention computes them again
    of_decoder_layer = 1 if model.decoder_layer == "ssru" else 2
    return each * model.n_heads * (model.n_encoder_layers + of_decoder_layer * model.n_decoder_layers)
