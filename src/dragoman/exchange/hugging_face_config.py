"""Descriptions of a model that transformers and transformers.js read: its shape, its search, its tokenizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.never_written import never_written
from dragoman.exchange.obstacles import Obstacle
from dragoman.exchange.piece_names import PieceNames, piece_names
from dragoman.settings.model_config import ModelConfig
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers


def tokenizer_obstacles(tokenizers: Tokenizers) -> Iterator[Obstacle]:
    """Yield the settings of tokenizers that are no pieces of a SentencePiece model, or change the text."""
    config = tokenizers.config
    if not isinstance(tokenizers.source, Subword) or not isinstance(tokenizers.target, Subword):
        yield Obstacle("tokenizer.kind", config.kind, "text is cut by a SentencePiece model", "bpe")
    elif config.lowercases_source:
        setting = "tokenizer.lowercase" if config.lowercase else "tokenizer.lowercase_source"
        yield Obstacle(setting, True, "nothing lower-cases the text", False)


def names_of(tokenizers: Tokenizers) -> PieceNames:
    """Return the usual names in transformers."""
    return piece_names(tokenizers, ("<s>", "<pad>", "<unk>", "</s>"))


def model_config(bundle: Bundle, n_positions: int) -> dict[str, Any]:
    """Return `config.json`."""
    config, ids = bundle.config, bundle.tokenizers.target.special_ids
    kind, name = ("pegasus", "PegasusForConditionalGeneration") if config.norm == "pre" else ("marian", "MarianMTModel")
    is_tied = config.tie == "all"
    vocabularies = {} if kind == "pegasus" else {"decoder_vocab_size": config.target_vocab_size}
    sharing = {} if kind == "pegasus" else {"share_encoder_decoder_embeddings": is_tied}
    return {
        "architectures": [name],
        "model_type": kind,
        "is_encoder_decoder": True,
        "d_model": config.d_model,
        **_side("encoder", config.n_encoder_layers, config),
        **_side("decoder", config.n_decoder_layers, config),
        "num_hidden_layers": config.n_encoder_layers,
        "vocab_size": config.source_vocab_size,
        **vocabularies,
        **sharing,
        "tie_word_embeddings": is_tied,
        "max_position_embeddings": n_positions,
        "activation_function": config.activation,
        "scale_embedding": config.scale_embeddings,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "pad_token_id": ids.pad,
        "bos_token_id": ids.start,
        "eos_token_id": ids.end,
        "decoder_start_token_id": ids.start,
        "forced_eos_token_id": None,
        "use_cache": True,
        "dtype": "float32",
    }


def _side(side: str, n_layers: int, config: ModelConfig) -> dict[str, Any]:
    return {
        f"{side}_layers": n_layers,
        f"{side}_attention_heads": config.n_heads,
        f"{side}_ffn_dim": config.d_ff,
        f"{side}_layerdrop": 0.0,
    }


def generation_config(bundle: Bundle, n_positions: int) -> dict[str, Any]:
    """Return `generation_config.json`: the search that the bundle has as its default."""
    ids = bundle.tokenizers.target.special_ids
    return {
        "decoder_start_token_id": ids.start,
        "bos_token_id": ids.start,
        "eos_token_id": ids.end,
        "pad_token_id": ids.pad,
        "bad_words_ids": [[id] for id in never_written(bundle.tokenizers)],
        "forced_eos_token_id": None,
        "num_beams": bundle.search.beam_size,
        "length_penalty": bundle.search.length_penalty,
        "max_length": min(n_positions, bundle.search.max_length or n_positions),
        "do_sample": False,
    }


def tokenizer_config(bundle: Bundle, n_positions: int) -> dict[str, Any]:
    """Return `tokenizer_config.json`, except the class."""
    tokenizers = bundle.tokenizers
    names = names_of(tokenizers)
    return {
        "source_lang": tokenizers.source_lang,
        "target_lang": tokenizers.target_lang,
        "unk_token": names.unknown,
        "bos_token": names.start,
        "eos_token": names.end,
        "pad_token": names.pad,
        "model_max_length": n_positions,
        "clean_up_tokenization_spaces": False,
    }
