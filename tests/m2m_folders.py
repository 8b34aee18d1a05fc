"""Folders like those of M2M-100 and NLLB-200, small and with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
from safetensors.numpy import save_file
from tiny import PAIRS

from dragoman.bundle.layout import Layout
from dragoman.exchange.hugging_face_weights import SHARED, stock_tensors
from dragoman.settings.model_config import ModelConfig
from dragoman.text.sentence_pieces import SentencePieces

Family = Literal["m2m", "nllb"]
TOKENS = {"m2m": ["__de__", "__en__", "__zh__"], "nllb": ["deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant"]}
SHAPE = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 40,
}


def pieces_model() -> bytes:
    """A SentencePiece model with the first ids of these families: <unk>, <s>, </s>."""
    import io

    import sentencepiece

    output = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(text for pair in PAIRS for text in pair),
        model_writer=output,
        vocab_size=120,
        model_type="bpe",
        minloglevel=2,
    )
    return output.getvalue()


def write_m2m_folder(folder: Path, family: Family, **settings: object) -> Path:
    """Write a folder as transformers does; `settings` are of config.json."""
    folder.mkdir()
    model = pieces_model()
    pieces = SentencePieces(model).pieces
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    tokens = TOKENS[family]
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": tokens}))
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    n_pieces = len(pieces) + 1
    if family == "m2m":
        table = {piece: id for id, piece in enumerate([*first, *(each for each in pieces if each not in first)])}
        (folder / "vocab.json").write_text(json.dumps(table))
        n_pieces = len(table)
    size = n_pieces + len(tokens) + 3
    config = {
        "model_type": "m2m_100",
        "architectures": ["M2M100ForConditionalGeneration"],
        **SHAPE,
        "vocab_size": size,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "decoder_start_token_id": 2,
        **settings,
    }
    (folder / "config.json").write_text(json.dumps(config))
    ours = ModelConfig(
        source_vocab_size=size,
        target_vocab_size=size,
        d_model=16,
        d_ff=24,
        n_heads=4,
        n_encoder_layers=2,
        n_decoder_layers=1,
        norm="pre",
        tie="all",
        positions="learned",
        max_length=40,
    )
    random = np.random.default_rng(1)
    tensors = {each.name: each.shape for each in stock_tensors(Layout(ours))} | {SHARED: (size, 16)}
    save_file(
        {name: random.normal(0, 0.4, shape).astype(np.float32) for name, shape in tensors.items()},
        folder / "model.safetensors",
    )
    return folder
