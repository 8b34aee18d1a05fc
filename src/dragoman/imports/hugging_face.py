"""A Marian, Pegasus or M2M-100 model of transformers as a bundle. Neither PyTorch nor transformers is needed.

The table of names is that of the export (`stock_tensors`). The weights decide which matrices are tied, if positions are
learned, and if there are biases: equal matrices are tied, a table of sines is not stored, and a model all of whose
biases are zeros has none. So an exported model comes back as it was, except that its sines and cosines are no longer in
turn.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout
from dragoman.errors import BundleError, some_of
from dragoman.exchange.hugging_face_weights import (
    OUTPUT,
    OUTPUT_BIAS,
    SHARED,
    position_table,
    stock_tensors,
    token_embedding,
)
from dragoman.imports.hugging_face_settings import CONFIG, StockConfig, our_config, read_search, read_stock_config
from dragoman.imports.hugging_face_tokenizers import read_tokenizers
from dragoman.imports.m2m import read_m2m_tokenizers
from dragoman.imports.marian_weights import NEVER, Tables, marian_positions
from dragoman.imports.model_checks import are_sines, require_finite, tensor_problems, tie_of
from dragoman.imports.stored_tensor import KINDS, StoredTensor
from dragoman.imports.tensor_files import FILES, stored_tensors
from dragoman.machine.arrays import Floats
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig
from dragoman.text.languages import Languages

SIDES = ("encoder", "decoder")
_MOST_LISTED = 3
#: The position of the first token of M2M-100 and NLLB-200: fairseq counts from the id of padding, 1, on.
_FIRST_M2M = 2

_log = logging.getLogger(__name__)


def is_hugging_face(folder: Path) -> bool:
    """Return True for a folder that has a file of those that `import_hugging_face` needs."""
    return any((folder / name).is_file() for name in (CONFIG, *FILES))


def import_hugging_face(folder: Path, languages: Languages = (None, None)) -> Bundle:
    """Read a folder that transformers wrote.

    Args:
        languages: codes of the source and the target, in place of those that the folder names.

    Raises:
        BundleError: the folder is damaged or incomplete, or has another kind of model.
        ConfigError: a language code is invalid.
    """
    stock = read_stock_config(folder)
    search, is_renormalized = read_search(folder, stock)
    layout = Layout(our_config(stock, folder))
    stored = stored_tensors(folder)
    matrices = _matrices(stored, stock)
    used = _checked(folder, stored, _needed(layout, matrices, stock), _optional(stock))
    is_m2m = stock.model_type == "m2m_100"
    tokenizers = (read_m2m_tokenizers if is_m2m else read_tokenizers)(folder, stock, languages)
    tensors = {name: stored[name].read() for name in used}
    require_finite(tensors, folder)
    positions = [tensors[name] for name in map(position_table, SIDES) if name in tensors]
    is_learned = is_m2m or not all(are_sines(table, halves=True) for table in positions)
    config = our_config(
        stock,
        folder,
        tie=_tie(matrices, tensors),
        positions="learned" if is_learned else "halves",
        bias=is_renormalized or any(tensors[name].any() for name in tensors if name.endswith(("bias", OUTPUT_BIAS))),
    )
    output_bias = tensors.get(OUTPUT_BIAS, np.zeros((1, stock.target_vocab_size), np.float32))[0].copy()
    if is_renormalized:
        output_bias[stock.pad_token_id] = NEVER
    if is_m2m:
        table = marian_positions(config.max_length + _FIRST_M2M, config.d_model)[_FIRST_M2M:]
        tensors |= dict.fromkeys(map(position_table, SIDES), table)
    weights = _weights(config, matrices, tensors, output_bias)
    return Bundle(config, weights, tokenizers, search, {"imported_from": stock.model_type})


def _matrices(stored: Mapping[str, StoredTensor], stock: StockConfig) -> Tables:
    """Choose among the names that a matrix may have: transformers writes a tied one once, older versions did not."""
    source, target = map(token_embedding, SIDES)
    if stock.is_shared and stock.tie_word_embeddings:
        name = next((name for name in (SHARED, target, source, OUTPUT) if name in stored), SHARED)
        return Tables(name, name, name)
    if stock.is_shared:
        source, target = (name if name in stored else SHARED for name in (source, target))
    return Tables(source, target, target if stock.tie_word_embeddings else OUTPUT)


def _needed(layout: Layout, matrices: Tables, stock: StockConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors that a folder must have, by name."""
    sizes = stock.vocab_size, stock.target_vocab_size, stock.target_vocab_size
    vectors: dict[str, tuple[int, ...]] = {
        name: (size, stock.d_model) for name, size in zip(matrices, sizes, strict=True)
    }
    vectors.update({tensor.name: tensor.shape for tensor in stock_tensors(layout)})
    return vectors


def _optional(stock: StockConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors that a folder may have."""
    table = stock.max_position_embeddings, stock.d_model
    return {**dict.fromkeys(map(position_table, SIDES), table), OUTPUT_BIAS: (1, stock.target_vocab_size)}


def _checked(
    folder: Path,
    stored: Mapping[str, StoredTensor],
    needed: Mapping[str, tuple[int, ...]],
    optional: Mapping[str, tuple[int, ...]],
) -> list[str]:
    """Return the names of the tensors to read, and warn of others that mean something.

    Raises:
        BundleError: lists every tensor that is missing, or has another shape or no floating-point numbers.
    """
    expected = {**needed, **{name: shape for name, shape in optional.items() if name in stored}}
    problems = [*tensor_problems(stored, expected)]
    for name in expected:
        if name in stored and stored[name].kind not in KINDS:
            problems.append(f"{name}: numbers of the kind {stored[name].kind}")
    if problems:
        advice = "use another copy of the whole folder"
        raise BundleError("the tensors are not those of its config.json", folder, advice=advice, details=problems)
    aliases = {SHARED, OUTPUT, *map(token_embedding, SIDES)}
    if extra := sorted(stored.keys() - expected.keys() - aliases):
        _log.warning(f"{folder}: left out, as transformers does: {some_of(extra, _MOST_LISTED)}")
    return list(expected)


def _tie(matrices: Tables, tensors: Mapping[str, Floats]) -> str:
    """Return our setting for the matrices that are equal."""
    source, target, output = (tensors[name] for name in matrices)
    return tie_of(is_tied=np.array_equal(target, output), is_shared=np.array_equal(source, target))


def _weights(
    config: ModelConfig, matrices: Tables, tensors: Mapping[str, Floats], output_bias: Floats
) -> dict[str, Floats]:
    """Return the weights by our names."""
    layout = Layout(config)
    embeddings = (layout.source_embedding, layout.target_embedding)
    weights = {
        embeddings[0].tokens.name: tensors[matrices.source],
        embeddings[1].tokens.name: tensors[matrices.target],
        layout.output.weight.name: tensors[matrices.output],
    }
    for side, embedding in zip(SIDES, embeddings, strict=True):
        if embedding.positions is not None:
            rows = range(config.max_length)
            sines = sinusoidal_table(rows, config.d_model, halves=True)
            weights[embedding.positions.name] = tensors.get(position_table(side), sines)
    if layout.output.bias is not None:
        weights[layout.output.bias.name] = output_bias
    for tensor in stock_tensors(layout):
        if tensor.weight is not None:
            weights[tensor.weight.name] = tensors[tensor.name]
    return {name: weights[name] for name in layout.shapes()}
