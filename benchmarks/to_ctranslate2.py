"""A bundle as a CTranslate2 model, so that both translate the same text with the same weights and the same pieces.

python benchmarks/to_ctranslate2.py BUNDLE FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import numpy as np
import sentencepiece
import torch
from ctranslate2.converters import utils
from ctranslate2.specs import common_spec, transformer_spec
from torch import nn

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.layers import FeedForward
from dragoman.text.vocabulary import SPECIALS

#: Ours, and what CTranslate2 calls them by default.
NAMES = dict(zip(SPECIALS, ("<blank>", "<unk>", "<s>", "</s>"), strict=True))


def array(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def set_linear(spec: common_spec.LinearSpec, layer: nn.Linear) -> None:
    spec.weight = array(layer.weight)
    if layer.bias is not None:
        spec.bias = array(layer.bias)


def set_norm(spec: common_spec.LayerNormSpec, norm: nn.Module) -> None:
    spec.gamma, spec.beta = array(norm.weight), array(norm.bias)


def set_attention(spec, attention: MultiHeadAttention, *, to_itself: bool) -> None:
    query, key, value = common_spec.LinearSpec(), common_spec.LinearSpec(), common_spec.LinearSpec()
    set_linear(query, attention.query_projection)
    set_linear(key, attention.key_projection)
    set_linear(value, attention.value_projection)
    if to_itself:
        utils.fuse_linear(spec.linear[0], [query, key, value])
    else:
        utils.fuse_linear(spec.linear[0], [query])
        utils.fuse_linear(spec.linear[1], [key, value])
    set_linear(spec.linear[-1], attention.output_projection)


def set_feed_forward(spec, feed_forward: FeedForward, norm: nn.Module) -> None:
    set_norm(spec.layer_norm, norm)
    set_linear(spec.linear_0, feed_forward.inner)
    set_linear(spec.linear_1, feed_forward.outer)


def convert(bundle: Bundle) -> transformer_spec.TransformerSpec:
    """The specification with the weights: layer norm, ReLU and sinusoidal positions only."""
    model, config = bundle.model, bundle.model.config
    spec = transformer_spec.TransformerSpec.from_config(
        (config.n_encoder_layers, config.n_decoder_layers), config.n_heads, pre_norm=config.norm == "pre"
    )
    sides = (
        (spec.encoder, spec.encoder.embeddings[0], model.source_embedding, model.encoder_norm),
        (spec.decoder, spec.decoder.embeddings, model.target_embedding, model.decoder_norm),
    )
    for side, embeddings, embedding, norm in sides:
        embeddings.weight = array(embedding.tokens.weight)
        side.position_encodings.encodings = array(embedding.positions.table)
        if config.norm == "pre":
            set_norm(side.layer_norm, norm)
    for layer, ours in zip(spec.encoder.layer, model.encoder_layers, strict=True):
        set_norm(layer.self_attention.layer_norm, ours.attention_residual.norm)
        set_attention(layer.self_attention, ours.self_attention, to_itself=True)
        set_feed_forward(layer.ffn, ours.feed_forward, ours.feed_forward_residual.norm)
    for layer, ours in zip(spec.decoder.layer, model.decoder_layers, strict=True):
        set_norm(layer.self_attention.layer_norm, ours.self_residual.norm)
        set_attention(layer.self_attention, ours.self_attention, to_itself=True)
        set_norm(layer.attention.layer_norm, ours.cross_residual.norm)
        set_attention(layer.attention, ours.cross_attention, to_itself=False)
        set_feed_forward(layer.ffn, ours.feed_forward, ours.feed_forward_residual.norm)
    set_linear(spec.decoder.projection, model.output_projection)
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
    (Path(folder) / "pieces.model").write_bytes(loaded.tokenizers.source.learned)


class Peer:
    """CTranslate2 from text to text, as its documentation has it: SentencePiece before and behind it.

    Args:
        folder: what `save` wrote.
        kind: float32 or int8.
        workers: of one thread each.
    """

    def __init__(self, folder: str, kind: str, workers: int) -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(Path(folder) / "pieces.model"))
        threads = {"inter_threads": workers, "intra_threads": 1}
        self._translator = ctranslate2.Translator(folder, device="cpu", compute_type=kind, **threads)
        self._n_threads = workers

    def translate(self, lines: Sequence[str], **options: object) -> list[str]:
        """One translation of each line."""
        pieces = self._processor.encode(list(lines), out_type=str, num_threads=self._n_threads)
        found = self._translator.translate_batch(pieces, **options)
        texts: list[str] = self._processor.decode([each.hypotheses[0] for each in found], num_threads=self._n_threads)
        return texts


def main() -> None:
    """Convert the bundle that the command line names."""
    save(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
