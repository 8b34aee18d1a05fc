"""The weights of a pre-norm model, with less left for its norms to do: the same function of the ids.

All that such a norm reads is the sum of an embedding and of what sublayers have added to it. If each of these has mean
zero, so has the sum, and no norm has a mean to take off (Ashkboos et al. 2024, *SliceGPT*, section 3.2). And all that
reads a norm is linear, and can have the norm's gain and bias in its own weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dragoman.decoding.scores import Floats
from dragoman.settings.model_config import ModelConfig

#: The maps whose results are added to an embedding.
_ADDED = ("_attention.output_projection", ".feed_forward.outer")


def can_fold(config: ModelConfig) -> bool:
    """Whether only norms read the sum of embedding and sublayers, and nothing is added to what a norm gives."""
    return config.norm == "pre" and config.has_final_norm


def needs_centring(config: ModelConfig) -> bool:
    """Whether what is added up must have mean zero; an RMS norm takes no mean off."""
    return can_fold(config) and config.norm_kind != "rms"


def searched_weights(config: ModelConfig, weights: Mapping[str, Floats]) -> Mapping[str, Floats]:
    """The weights that a search computes with: all by all their names, with norms folded into them where `can_fold`."""
    named = _with_tied(weights)
    return fold_norms(config, named) if can_fold(config) else named


def fold_norms(config: ModelConfig, weights: Mapping[str, Floats]) -> dict[str, Floats]:
    """The weights without gains and biases of norms, where `can_fold`; embeddings are left for who looks them up.

    Args:
        weights: float32, all by all their names (of tied ones too, which part here).
    """
    folded = dict(weights)
    if needs_centring(config):
        for name, weight in weights.items():
            if name.removesuffix(".weight").removesuffix(".bias").endswith(_ADDED):
                folded[name] = weight - weight.mean(axis=0)  # over the D numbers that it adds, for each input
    for norm, readers in _readers(config):
        gain, shift = folded.pop(f"{norm}.weight"), folded.pop(f"{norm}.bias", None)
        for reader in readers:
            matrix = folded[f"{reader}.weight"]
            folded[f"{reader}.weight"] = matrix * gain
            if shift is not None:
                folded[f"{reader}.bias"] = folded[f"{reader}.bias"] + matrix @ shift
    return folded


def _readers(config: ModelConfig) -> Iterator[tuple[str, list[str]]]:
    """The name of each norm, and those of the linear maps that read what it gives."""
    projections = [f"self_attention.{part}_projection" for part in ("query", "key", "value")]
    inner = ["feed_forward.inner", "feed_forward.gate"][: 2 if config.activation == "swiglu" else 1]
    encoder = {"attention": projections, "feed_forward": inner}
    decoder = {"self": projections, "cross": ["cross_attention.query_projection"], "feed_forward": inner}
    for side, depth, readers in (
        ("encoder", config.n_encoder_layers, encoder),
        ("decoder", config.n_decoder_layers, decoder),
    ):
        for layer in (f"{side}_layers.{number}" for number in range(depth)):
            for sublayer, maps in readers.items():
                yield f"{layer}.{sublayer}_residual.norm", [f"{layer}.{each}" for each in maps]
    memories = (f"decoder_layers.{number}.cross_attention" for number in range(config.n_decoder_layers))
    yield "encoder_norm", [f"{memory}.{part}_projection" for memory in memories for part in ("key", "value")]
    yield "decoder_norm", ["output_projection"]


def _with_tied(weights: Mapping[str, Floats]) -> dict[str, Floats]:
    """All weights by all their names: of tied ones only the first may be there."""
    named = dict(weights)
    source = named.get("source_embedding.tokens.weight")
    target = named.setdefault("target_embedding.tokens.weight", source) if source is not None else None
    if target is not None:
        named.setdefault("output_projection.weight", target)
    return named
