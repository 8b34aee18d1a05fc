"""Convert a bundle to a CTranslate2 model, so that both translate the same text with the same weights and pieces.

python benchmarks/to_ctranslate2.py BUNDLE FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import ctranslate2
import numpy as np
import sentencepiece
from ctranslate2.converters import utils
from ctranslate2.specs import common_spec, transformer_spec

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.bundle.layout import AttentionLayout, FeedForwardLayout, Layout, LinearLayout, NormLayout
from dragoman.runtime.embedding import sinusoidal_table

#: Ours, and what CTranslate2 calls them by default.
NAMES = {"<pad>": "<blank>", "<unk>": "<unk>", "<sos>": "<s>", "<eos>": "</s>"}

Weights = Mapping[str, np.ndarray]


def set_linear(spec: common_spec.LinearSpec, linear: LinearLayout, weights: Weights) -> None:
    spec.weight = weights[linear.weight.name]
    if linear.bias is not None:
        spec.bias = weights[linear.bias.name]


def set_norm(spec: common_spec.LayerNormSpec, norm: NormLayout, weights: Weights) -> None:
    spec.gamma = weights[norm.weight.name]
    if norm.bias is not None:
        spec.beta = weights[norm.bias.name]
    elif hasattr(spec, "beta"):  # a layer norm; an RMS norm has none
        spec.beta = np.zeros_like(spec.gamma)


def set_attention(spec, attention: AttentionLayout, norm: NormLayout, weights: Weights, *, to_itself: bool) -> None:
    set_norm(spec.layer_norm, norm, weights)
    specs = [common_spec.LinearSpec() for _ in range(3)]
    for linear_spec, linear in zip(specs, (attention.query, attention.key, attention.value), strict=True):
        set_linear(linear_spec, linear, weights)
    # CTranslate2 has the maps of one input side by side.
    for linear_spec, joined in zip(spec.linear, [specs] if to_itself else [specs[:1], specs[1:]], strict=False):
        utils.fuse_linear(linear_spec, joined)
    set_linear(spec.linear[-1], attention.output, weights)


def set_feed_forward(spec, feed_forward: FeedForwardLayout, norm: NormLayout, weights: Weights) -> None:
    set_norm(spec.layer_norm, norm, weights)
    set_linear(spec.linear_0, feed_forward.inner, weights)
    set_linear(spec.linear_1, feed_forward.outer, weights)


def convert(bundle: Bundle) -> transformer_spec.TransformerSpec:
    """The specification with the weights: layer or RMS norm, ReLU, sinusoidal or rotary positions, `memory=last`."""
    config, layout = bundle.config, Layout(bundle.config)
    weights = {**bundle.weights, **{name: bundle.weights[other] for name, other in layout.ties.items()}}
    is_rms, is_rotary = config.norm_kind == "rms", config.positions == "rotary"
    options = {"pre_norm": config.norm == "pre", "rms_norm": is_rms}
    if is_rotary:
        options |= {"rotary_dim": config.d_model // config.n_heads, "rotary_interleave": True}
    spec = transformer_spec.TransformerSpec(
        transformer_spec.TransformerEncoderSpec(config.n_encoder_layers, config.n_heads, **options),
        transformer_spec.TransformerDecoderSpec(config.n_decoder_layers, config.n_heads, **options),
    )
    spec.decoder.scale_embeddings = True
    spec.config.layer_norm_epsilon = 1e-6
    positions = sinusoidal_table(range(config.max_length), config.d_model, halves=False)
    sides = (
        (spec.encoder, spec.encoder.embeddings[0], layout.source_embedding, layout.encoder_norm),
        (spec.decoder, spec.decoder.embeddings, layout.target_embedding, layout.decoder_norm),
    )
    for side, embeddings, embedding, norm in sides:
        embeddings.weight = weights[embedding.tokens.name]
        if not is_rotary:
            side.position_encodings.encodings = positions
        if norm is not None:
            set_norm(side.layer_norm, norm, weights)
    for theirs, layer in zip(spec.encoder.layer, layout.encoder_layers, strict=True):
        set_attention(theirs.self_attention, layer.self_attention, layer.self_norm, weights, to_itself=True)
        set_feed_forward(theirs.ffn, layer.feed_forward, layer.feed_forward_norm, weights)
    for theirs, layer in zip(spec.decoder.layer, layout.decoder_layers, strict=True):
        set_attention(theirs.self_attention, layer.self_attention, layer.self_norm, weights, to_itself=True)
        set_attention(theirs.attention, layer.cross_attention, layer.cross_norm, weights, to_itself=False)
        set_feed_forward(theirs.ffn, layer.feed_forward, layer.feed_forward_norm, weights)
    set_linear(spec.decoder.projection, layout.output, weights)
    tokenizers = bundle.tokenizers
    for register, tokenizer in (
        (spec.register_source_vocabulary, tokenizers.source),
        (spec.register_target_vocabulary, tokenizers.target),
    ):
        register([NAMES.get(piece, piece) for piece in tokenizer.pieces(range(tokenizer.vocab_size))])
    spec.config.add_source_eos = True
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = NAMES["<unk>"], NAMES["<sos>"], NAMES["<eos>"]
    spec.config.decoder_start_token = NAMES["<sos>"]
    spec.validate()
    return spec


def save(bundle: str, folder: str) -> None:
    """Write a bundle whose both languages have the same pieces as a CTranslate2 model, and the pieces beside it."""
    loaded = load_bundle(bundle)
    Path(folder).mkdir(parents=True, exist_ok=True)
    convert(loaded).save(folder)
    (Path(folder) / "pieces.model").write_bytes(loaded.tokenizers.source.files()["model"])


class Peer:
    """CTranslate2 from text to text, as its documentation has it: SentencePiece before and behind it.

    Args:
        folder: what `save` wrote.
        kind: float32 or int8.
        workers: of one thread each.
        tag: a piece that every source begins with, or none.
    """

    def __init__(self, folder: str, kind: str, workers: int, tag: str = "") -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(Path(folder) / "pieces.model"))
        threads = {"inter_threads": workers, "intra_threads": 1}
        self._translator = ctranslate2.Translator(folder, device="cpu", compute_type=kind, **threads)
        self._n_threads, self._tag = workers, [tag] if tag else []

    def translate(self, lines: Sequence[str], **options: object) -> list[str]:
        """One translation of each line."""
        pieces = self._processor.encode(list(lines), out_type=str, num_threads=self._n_threads)
        results = self._translator.translate_batch([self._tag + each for each in pieces], **options)
        texts: list[str] = self._processor.decode(
            [result.hypotheses[0] for result in results], num_threads=self._n_threads
        )
        return texts


def main() -> None:
    """Convert the bundle that the command line names."""
    save(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
