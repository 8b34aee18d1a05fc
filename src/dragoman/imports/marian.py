"""A model in Marian's own files as a bundle: transformers with self-attention or SSRU, as OPUS-MT and Firefox have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dragoman.bundle.bundle import Bundle
from dragoman.bundle.layout import Layout
from dragoman.errors import BundleError
from dragoman.imports.compressed_files import file_content, plain_name
from dragoman.imports.marian_binary import binary_tensors
from dragoman.imports.marian_folder import MarianFolder
from dragoman.imports.marian_npz import npz_tensors
from dragoman.imports.marian_settings import MarianSettings, read_marian_settings
from dragoman.imports.marian_short_list import read_marian_short_list
from dragoman.imports.marian_tensors import SETTINGS, MarianTensor
from dragoman.imports.marian_vocabularies import read_vocabularies
from dragoman.imports.marian_weights import OUTPUT_BIAS, Tables, named_tensors, our_weights, tables
from dragoman.imports.model_checks import parsed, require_finite, tensor_problems
from dragoman.settings.model_config import ModelConfig
from dragoman.text.languages import Languages

#: Bytes of a model file; the largest that Marian's users share have a few gigabytes.
_MOST_BYTES = 16_000_000_000
#: Tensors that have no part in the search: multipliers of activations, which we compute for each text.
_LEFT_OUT = ("_QuantMultA", "_QuantMultB")


def import_marian(folder: Path, languages: Languages = (None, None)) -> Bundle:
    """Read a folder with a model of Marian's.

    Args:
        languages: codes of the source and the target, in place of those that the folder names.

    Raises:
        BundleError: the folder is damaged or incomplete, or has a model that ours cannot be.
        ConfigError: a language code is missing or invalid.
    """
    files = MarianFolder(folder)
    path = files.model
    content = file_content(path, _MOST_BYTES)
    stored = (npz_tensors if plain_name(path).endswith(".npz") else binary_tensors)(content, path)
    settings = _settings(stored, path)
    names = tables(settings, stored)
    tokenizers = read_vocabularies(files.vocabularies, files.tables, files.languages(languages), languages[1])
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    if names.source == names.target and sizes[0] != sizes[1]:
        problem = "both sides share their token vectors, and their vocabularies have different sizes"
        raise BundleError(problem, folder, advice="use another copy of the whole folder")
    config = parsed(ModelConfig, settings.model_settings(sizes, names.tie), path)
    _check(path, stored, _needed(config, settings, names))
    weights = our_weights(config, settings, names, stored)
    require_finite(weights, path)
    short_list = files.short_list
    likely = None if short_list is None else read_marian_short_list(short_list, tokenizers, files.short_list_sizes)
    return Bundle(config, weights, tokenizers, files.search(), {"imported_from": "marian"}, likely)


def _settings(stored: Mapping[str, MarianTensor], path: Path) -> MarianSettings:
    try:
        if (tensor := stored.get(SETTINGS)) is None or tensor.kind != "int8":
            raise ValueError(f"no {SETTINGS}")
        text = tensor.text()
    except ValueError as error:
        raise BundleError(f"not a translation model of Marian ({error})", path, advice="use another copy") from None
    return read_marian_settings(text, path)


def _needed(config: ModelConfig, settings: MarianSettings, names: Tables) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors that a file must have, by name."""
    sizes = config.source_vocab_size - 1, config.target_vocab_size - 1  # without padding
    width = config.d_model
    shapes: dict[str, tuple[int, ...]] = {names.source: (sizes[0], width), names.target: (sizes[1], width)}
    shapes[names.output] = (width, sizes[1]) if names.output.endswith("_W") else (sizes[1], width)
    if not settings.output_omit_bias:
        shapes[OUTPUT_BIAS] = (1, sizes[1])
    return shapes | {tensor.name: tensor.shape for tensor in named_tensors(Layout(config), settings)}


def _check(path: Path, stored: Mapping[str, MarianTensor], needed: Mapping[str, tuple[int, ...]]) -> None:
    """Compare names and shapes.

    Raises:
        BundleError: lists tensors that are missing, have another shape, or are unknown.
    """
    known = {*needed, SETTINGS}
    unknown = [f"unknown: {name!r}" for name in stored if name not in known and not name.endswith(_LEFT_OUT)]
    if problems := [*tensor_problems(stored, needed), *unknown]:
        title = "the tensors are not those of its settings and vocabularies"
        raise BundleError(title, path, advice="use another copy of the whole folder", details=problems)
