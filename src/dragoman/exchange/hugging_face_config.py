"""Descriptions of a model that transformers and transformers.js read: its shape, its search, its tokenizer."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.piece_names import PieceNames, never_written, piece_names
from dragoman.settings.model_config import ModelConfig
from dragoman.text.tokenizer import Tokenizers

#: The most positions of a model that computes them; `max_length` may be a million.
_MOST_POSITIONS = 4_096

_log = logging.getLogger(__name__)


def n_positions(config: ModelConfig) -> int:
    """Return the number of positions that the exported model has."""
    return config.max_length if config.positions == "learned" else min(config.max_length, _MOST_POSITIONS)


def warn_of_tags(tokenizers: Tokenizers, name: str | Path) -> None:
    """Warn that a caller must begin each text with a tag, if the model reads tags.

    Args:
        name: of the model.
    """
    if tokenizers.is_tagged:
        tags = " ".join(map(tokenizers.tag, tokenizers.targets))
        _log.warning(f"{name}: begin each text with the language to translate into: {tags}")


def names_of(tokenizers: Tokenizers) -> PieceNames:
    """Return the usual names in transformers."""
    return piece_names(tokenizers, ("<s>", "<pad>", "<unk>", "</s>"))


def model_config(bundle: Bundle) -> dict[str, Any]:
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
        "max_position_embeddings": n_positions(config),
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


def generation_config(bundle: Bundle) -> dict[str, Any]:
    """Return `generation_config.json`: the search that the bundle has as its default.

    transformers counts the start of a translation as one of its `max_length` tokens.
    """
    ids, longest = bundle.tokenizers.target.special_ids, n_positions(bundle.config)
    return {
        "decoder_start_token_id": ids.start,
        "bos_token_id": ids.start,
        "eos_token_id": ids.end,
        "pad_token_id": ids.pad,
        "bad_words_ids": [[id] for id in never_written(bundle.tokenizers)],
        "forced_eos_token_id": None,
        "num_beams": bundle.search.beam_size,
        "length_penalty": bundle.search.length_penalty,
        "max_length": min(longest, (bundle.search.max_length or longest) + 1),
        "do_sample": False,
    }


def tokenizer_config(bundle: Bundle) -> dict[str, Any]:
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
        "model_max_length": n_positions(bundle.config),
        "clean_up_tokenization_spaces": False,
    }
