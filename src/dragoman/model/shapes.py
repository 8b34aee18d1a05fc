"""What weights a model has, told from its configuration alone: for checking a file before anything is built from it."""

from __future__ import annotations

from collections.abc import Iterator

from dragoman.settings.model_config import ModelConfig

Shape = tuple[int, ...]


def weight_shapes(config: ModelConfig) -> dict[str, Shape]:
    """The shape of each weight by its name in `Transformer`, a tied one under its first name only."""
    shapes = dict(_embedding("source_embedding", config.source_vocab_size, config))
    shapes |= _embedding("target_embedding", config.target_vocab_size, config)
    for number in range(config.n_encoder_layers):
        shapes |= _layer(f"encoder_layers.{number}", ["self_attention"], ["attention_residual"], config)
    attentions, residuals = ["self_attention", "cross_attention"], ["self_residual", "cross_residual"]
    for number in range(config.n_decoder_layers):
        shapes |= _layer(f"decoder_layers.{number}", attentions, residuals, config)
    if config.has_final_norm:
        shapes |= _norm("encoder_norm", config)
        shapes |= _norm("decoder_norm", config)
    shapes |= _linear("output_projection", config.d_model, config.target_vocab_size, config)
    if config.tie != "none":
        del shapes["output_projection.weight"]
    if config.tie == "all":
        del shapes["target_embedding.tokens.weight"]
    return shapes


def _embedding(name: str, vocab_size: int, config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.tokens.weight", (vocab_size, config.d_model)
    if config.positions == "learned":
        yield f"{name}.positions.table", (config.max_length, config.d_model)


def _layer(name: str, attentions: list[str], residuals: list[str], config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    for attention in attentions:
        keys, values = (config.n_heads * width for width in config.head_widths)
        for part, width in (("query", keys), ("key", keys), ("value", values)):
            yield from _linear(f"{name}.{attention}.{part}_projection", config.d_model, width, config)
        yield from _linear(f"{name}.{attention}.output_projection", values, config.d_model, config)
    for part in ["inner", "gate"] if config.activation == "swiglu" else ["inner"]:
        yield from _linear(f"{name}.feed_forward.{part}", config.d_model, config.d_ff, config)
    yield from _linear(f"{name}.feed_forward.outer", config.d_ff, config.d_model, config)
    for residual in [*residuals, "feed_forward_residual"]:
        yield from _norm(f"{name}.{residual}.norm", config)


def _linear(name: str, n_inputs: int, n_outputs: int, config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (n_outputs, n_inputs)
    if config.bias:
        yield f"{name}.bias", (n_outputs,)


def _norm(name: str, config: ModelConfig) -> Iterator[tuple[str, Shape]]:
    yield f"{name}.weight", (config.d_model,)
    if config.bias and config.norm_kind != "rms":
        yield f"{name}.bias", (config.d_model,)
