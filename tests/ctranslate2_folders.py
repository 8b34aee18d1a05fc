"""Folders of CTranslate2 and packages of Argos Translate, with random weights, made without either program."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tiny import tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout
from dragoman.exchange.ctranslate2_names import stacked_variables
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.text.subword import Subword

Variables = dict[str, NDArray[np.generic]]
KINDS = ("float32", "int8", "int16", "int32", "float16")
METADATA = {"package_version": "1.2", "argos_version": "1.5", "from_code": "en", "to_code": "de"}


def small_bundle() -> Bundle:
    """The model that the folders have; its sizes do not matter."""
    return tiny_bundle(tiny_tokenizers(), tie="all", norm="pre", n_decoder_layers=2)


def variables_of(bundle: Bundle) -> Variables:
    """Return the variables of a model, whose matrices of tokens are one, which two aliases name again."""
    config, layout, weights = bundle.config, Layout(bundle.config), bundle.weights
    flags = {"pre_norm": np.int8(config.norm == "pre"), "activation": np.int8(0), "num_heads": np.int16(config.n_heads)}
    variables: Variables = {}
    for side in ("encoder", "decoder"):
        variables |= {f"{side}/{name}": np.array(value) for name, value in flags.items()}
        variables[f"{side}/position_encodings/encodings"] = sinusoidal_table(range(40), config.d_model, halves=False)
    for stacked in stacked_variables(layout):
        variables[stacked.name] = np.concatenate([weights[weight.name] for weight in stacked.weights])
    variables["decoder/embeddings/weight"] = weights[layout.source_embedding.tokens.name]
    assert layout.output.bias is not None
    variables["decoder/projection/bias"] = weights[layout.output.bias.name]
    return variables


ALIASES = {
    "encoder/embeddings_0/weight": "decoder/embeddings/weight",
    "decoder/projection/weight": "decoder/embeddings/weight",
}


def in_int8(variables: Mapping[str, NDArray[np.generic]]) -> Variables:
    """Return the same with matrices in whole numbers, and a scale for each row."""
    result: Variables = {}
    for name, values in variables.items():
        result[name] = values
        if name.endswith("/weight"):
            scales = (127 / np.abs(values.astype(np.float32)).max(axis=1)).astype(np.float32)
            result[name] = np.rint(values.astype(np.float32) * scales[:, None]).astype(np.int8)
            result[f"{name}_scale"] = scales
    return result


def model_file(
    variables: Mapping[str, NDArray[np.generic]],
    aliases: Mapping[str, str] = ALIASES,
    *,
    version: int = 6,
    name: str = "TransformerSpec",
    revision: int = 7,
    counts: tuple[int, int] = (0, 0),
) -> bytes:
    """Return the content of `model.bin`; `counts` is added to the number of variables and of aliases."""
    parts = [struct.pack("<I", version), text(name), struct.pack("<I", revision)]
    parts.append(struct.pack("<I", len(variables) + counts[0]))
    for key, values in variables.items():
        width = values.dtype.itemsize
        kind = KINDS.index(values.dtype.name) if version >= 4 else width
        size = values.nbytes if version >= 4 else values.size
        parts += [text(key), struct.pack(f"<B{values.ndim}IBI", values.ndim, *values.shape, kind, size)]
        parts.append(np.ascontiguousarray(values).tobytes())
    if version >= 3:
        parts.append(struct.pack("<I", len(aliases) + counts[1]))
        parts += [text(one) for pair in aliases.items() for one in pair]
    return b"".join(parts)


def text(value: str) -> bytes:
    return struct.pack("<H", len(value.encode()) + 1) + value.encode() + b"\0"


def folder_files(bundle: Bundle, **config: object) -> dict[str, bytes]:
    """Return the files of a folder with its tokenizer."""
    assert isinstance(bundle.tokenizers.source, Subword)
    pieces = [
        "<blank>",
        "<unk>",
        "<s>",
        "</s>",
        *bundle.tokenizers.source.pieces(range(4, bundle.config.source_vocab_size)),
    ]
    marks = {"bos_token": "<s>", "decoder_start_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    settings = {**marks, "add_source_bos": False, "add_source_eos": True, "layer_norm_epsilon": None, **config}
    return {
        "model.bin": model_file(variables_of(bundle)),
        "config.json": json.dumps(settings).encode(),
        "shared_vocabulary.json": json.dumps(pieces).encode(),
        "sentencepiece.model": bundle.tokenizers.source.segmenter.model,
    }


def write_folder(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def package_files(bundle: Bundle, **metadata: object) -> dict[str, bytes]:
    """Return the files of a package, by their paths in its own folder."""
    files = folder_files(bundle)
    pieces = files.pop("sentencepiece.model")
    inner = {f"model/{name}": content for name, content in files.items()}
    return {**inner, "sentencepiece.model": pieces, "metadata.json": json.dumps({**METADATA, **metadata}).encode()}


def zipped(files: Mapping[str, bytes], top: str = "en_de/") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(top + path, content)
    return buffer.getvalue()
