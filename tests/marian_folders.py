"""Folders in Marian's own formats with random weights, made without Marian: for English and German, of a few kB."""

from __future__ import annotations

import gzip
import io
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from tiny import PAIRS

from dragoman.machine.arrays import Floats

SETTINGS = "special:model.yml"
KINDS = {"float32": 0x404, "float16": 0x402, "int8": 0x101, "intgemm8": 0x4101, "other intgemm8": 0x10001}
USUAL: dict[str, Any] = {
    "type": "transformer",
    "dim-emb": 16,
    "enc-depth": 2,
    "dec-depth": 2,
    "dec-cell": "gru",
    "dim-vocabs": [0, 0],
    "input-types": [],
    "tied-embeddings": False,
    "tied-embeddings-all": True,
    "tied-embeddings-src": False,
    "transformer-heads": 2,
    "transformer-dim-ffn": 32,
    "transformer-ffn-activation": "relu",
    "transformer-preprocess": "",
    "transformer-postprocess": "dan",
    "transformer-postprocess-emb": "d",
    "transformer-postprocess-top": "",
    "transformer-decoder-autoreg": "self-attention",
    "transformer-tied-layers": [],
    "version": "v1.12.0",
}
SSRU = {"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}
PRE_NORM = {"transformer-preprocess": "n", "transformer-postprocess": "da", "transformer-postprocess-top": "n"}

Tensors = dict[str, Floats]


def vocabulary(path: Path, size: int = 64) -> int:
    """Write a SentencePiece model as Marian learns it, for both languages, and return its size."""
    lines = [line for pair in PAIRS for line in pair]
    options = {"bos_id": -1, "eos_id": 0, "unk_id": 1, "vocab_size": size, "hard_vocab_limit": False}
    out = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=out, minloglevel=2, **options)
    path.write_bytes(out.getvalue())
    return SentencePieceProcessor(model_proto=out.getvalue()).get_piece_size()


def random_tensors(settings: Mapping[str, Any], sizes: tuple[int, int]) -> Tensors:
    """Return the tensors that Marian makes for settings, by its names."""
    draw = np.random.default_rng(1)
    width, inner = settings["dim-emb"], settings["transformer-dim-ffn"]
    shapes: dict[str, tuple[int, int]] = {}

    def norm(name: str) -> None:
        end = "_pre" if settings["transformer-preprocess"] else ""
        shapes[f"{name}_ln_scale{end}"] = shapes[f"{name}_ln_bias{end}"] = (1, width)

    def attention(name: str) -> None:
        for letter in "qkvo":
            shapes[f"{name}_W{letter}"], shapes[f"{name}_b{letter}"] = (width, width), (1, width)
        norm(f"{name}_Wo")

    for side, depth in (("encoder", settings["enc-depth"]), ("decoder", settings["dec-depth"])):
        for number in (
            {*(settings["transformer-tied-layers"] or range(1, depth + 1))}
            if side == "decoder"
            else range(1, depth + 1)
        ):
            layer = f"{side}_l{number}"
            if side == "decoder" and settings["transformer-decoder-autoreg"] == "rnn":
                shapes[f"{layer}_rnn_W"] = shapes[f"{layer}_rnn_Wf"] = (width, width)
                shapes[f"{layer}_rnn_bf"] = (1, width)
                norm(f"{layer}_rnn" if settings["transformer-preprocess"] else f"{layer}_rnn_ffn")
            else:
                attention(f"{layer}_self")
            if side == "decoder":
                attention(f"{layer}_context")
            shapes[f"{layer}_ffn_W1"], shapes[f"{layer}_ffn_b1"] = (width, inner), (1, inner)
            shapes[f"{layer}_ffn_W2"], shapes[f"{layer}_ffn_b2"] = (inner, width), (1, width)
            norm(f"{layer}_ffn_ffn")
        if settings["transformer-postprocess-top"]:
            shapes[f"{side}_top_ln_scale"] = shapes[f"{side}_top_ln_bias"] = (1, width)
    if settings["tied-embeddings-all"] or settings["tied-embeddings-src"]:
        shapes["Wemb"] = (sizes[0], width)
    else:
        shapes["encoder_Wemb"], shapes["decoder_Wemb"] = (sizes[0], width), (sizes[1], width)
    if not (settings["tied-embeddings-all"] or settings["tied-embeddings"]):
        shapes["decoder_ff_logit_out_Wt"] = (sizes[1], width)
    shapes["decoder_ff_logit_out_b"] = (1, sizes[1])
    return {
        name: (draw.normal(0, 0.3, shape) + name.endswith(("ln_scale", "ln_scale_pre"))).astype(np.float32)
        for name, shape in sorted(shapes.items())
    }


def settings_bytes(settings: Mapping[str, Any]) -> bytes:
    return yaml.safe_dump(dict(settings)).encode() + b"\0" * 7


def npz(tensors: Mapping[str, Any], settings: Mapping[str, Any]) -> bytes:
    """Return a model file in `.npz`."""
    out = io.BytesIO()
    np.savez(out, **tensors, **{SETTINGS: np.frombuffer(settings_bytes(settings), np.int8)})
    return out.getvalue()


def binary(entries: list[tuple[str, int, tuple[int, ...], bytes]], version: int = 1) -> bytes:
    """Return a model file in `.bin` of (name, kind, shape, data)."""
    entries = [(*entry[:3], entry[3] + b"\0" * (-len(entry[3]) % 256)) for entry in entries]
    names = [name.encode() + b"\0" for name, *_ in entries]
    content = struct.pack("<2Q", version, len(entries))
    for name, (_, kind, shape, data) in zip(names, entries, strict=True):
        content += struct.pack("<4Q", len(name), kind, len(shape), len(data))
    content += b"".join(names) + b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in entries)
    padding = 256 - (len(content) + 8) % 256
    return content + struct.pack("<Q", padding) + b"\0" * padding + b"".join(data for *_, data in entries)


def entries_of(
    tensors: Mapping[str, Floats], settings: Mapping[str, Any], kind: str = "float32", tables: bool = False
) -> list[tuple[str, int, tuple[int, ...], bytes]]:
    """Return the entries of a `.bin` file. With intgemm8, matrices are transposed integers and end with a multiplier.

    Args:
        tables: also store tables of token vectors as integers, as Bergamot does; these are not transposed.
    """
    entries = []
    for name, values in tensors.items():
        is_matrix = name[-3:-1] == "_W" or name.endswith("_W") or (tables and "Wemb" in name)
        if kind == "float32" or not is_matrix:
            entries.append((name, KINDS["float32"], values.shape, values.astype("<f4").tobytes()))
        else:
            multiplier = np.float32(127 / np.abs(values).max())
            integers = np.rint(values * multiplier).astype(np.int8)
            data = (integers if "Wemb" in name else integers.T).tobytes() + multiplier.tobytes()
            entries.append((name, KINDS[kind], values.shape, data))
    text = settings_bytes(settings)
    return [*entries, (SETTINGS, KINDS["int8"], (len(text),), text)]


def write_folder(
    folder: Path, changes: Mapping[str, Any] = {}, model: str = "model.npz", kind: str = "float32"
) -> Tensors:
    """Write a folder with one vocabulary for both sides, and return its tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    size = vocabulary(folder / "vocab.ende.spm")
    settings = {**USUAL, **changes}
    tensors = random_tensors(settings, (size, size))
    is_npz = model.removesuffix(".gz").endswith(".npz")
    content = npz(tensors, settings) if is_npz else binary(entries_of(tensors, settings, kind, tables=True))
    (folder / model).write_bytes(gzip.compress(content) if model.endswith(".gz") else content)
    return tensors


def short_list_bytes(frequent: int, best: int, rows: list[list[int]]) -> bytes:
    """Return a binary short-list. Its checksum is not that of Marian."""
    starts = np.cumsum([0, *map(len, rows)])
    likely = np.array([id for row in rows for id in row], "<u4")
    head = struct.pack("<6Q", 0xF11A48D5013417F5, 0, frequent, best, len(starts), len(likely))
    return head + starts.astype("<u8").tobytes() + likely.tobytes()
