"""A model that CTranslate2 loads as a bundle: a Transformer with an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dragoman.bundle.bundle import Bundle
from dragoman.errors import BundleError
from dragoman.imports.ctranslate2_settings import NAMES, REVISIONS, Attributes
from dragoman.imports.ctranslate2_variables import Specification, read_specification
from dragoman.imports.ctranslate2_vocabularies import SpecialTokens, read_pieces, read_tokenizers
from dragoman.imports.ctranslate2_weights import check_variables, decided_settings, our_weights
from dragoman.imports.marian_binary import is_binary
from dragoman.imports.model_checks import parsed, require_finite
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.text.languages import Languages
from dragoman.text.tags import TAG

MODEL, CONFIG = "model.bin", "config.json"
#: The first version whose settings are in `config.json` alone.
_WITH_CONFIG = 6
#: The special tokens that a model has unless it names others.
_DEFAULT_TOKENS = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}


def is_ctranslate2(folder: Path) -> bool:
    """Return True for a folder that has a model file of CTranslate2; Marian's may have the same name."""
    path = folder / MODEL
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return not is_binary(file.read(16))


def import_ctranslate2(folder: Path, languages: Languages = (None, None)) -> Bundle:
    """Read a folder that CTranslate2's converters wrote, with the SentencePiece models of its text.

    Args:
        languages: codes of the source and the target, which such a folder does not name.

    Raises:
        BundleError: the folder is damaged or incomplete, or has a model that ours cannot be.
        ConfigError: a language code is missing or invalid.
    """
    return read_folder(folder, folder, languages, SearchConfig())


def read_folder(folder: Path, tokenizer_folder: Path, languages: Languages, search: SearchConfig) -> Bundle:
    """Read a folder of CTranslate2 whose SentencePiece models are in `tokenizer_folder`.

    Raises:
        BundleError, ConfigError: as `import_ctranslate2` does.
    """
    model = read_specification(folder / MODEL)
    if model.name not in NAMES:
        advice = "encoder-decoders are read, of the kind TransformerSpec"
        raise BundleError(f"a model of the kind {model.name}", model.path, advice=advice)
    if model.revision not in REVISIONS:
        problem = f"revision {model.revision:,} of {model.name}; {REVISIONS[0]} to {REVISIONS[-1]} are read"
        raise BundleError(problem, model.path, advice="convert the model by another release of CTranslate2")
    settings = _settings(model)
    attributes = Attributes(model, settings.get("layer_norm_epsilon"))
    if obstacles := [*attributes.obstacles()]:
        raise BundleError(f"dragoman has no such model: {'; '.join(obstacles)}", model.path, advice="take another")
    special = _special_tokens(settings, attributes, model.path)
    pieces = read_pieces(folder, "source", special.unknown), read_pieces(folder, "target", special.unknown)
    _require_sizes(attributes, pieces)
    tokenizers = read_tokenizers(tokenizer_folder, pieces, special, languages)
    sizes = {"source_vocab_size": tokenizers.source.vocab_size, "target_vocab_size": tokenizers.target.vocab_size}
    ours = attributes.model_settings() | sizes
    check_variables(attributes, parsed(ModelConfig, ours, model.path), (len(pieces[0]), len(pieces[1])))
    decided = decided_settings(attributes, ours["d_model"])
    if sizes["target_vocab_size"] > len(pieces[1]):  # the bias keeps the padding from being written
        decided["bias"] = True
    config = parsed(ModelConfig, ours | decided, model.path)
    weights = our_weights(attributes, config)
    require_finite(weights, model.path)
    return Bundle(config, weights, tokenizers, search, {"imported_from": "ctranslate2"})


def _settings(model: Specification) -> Mapping[str, Any]:
    """Return `config.json`, or the attributes that were in the file itself before version 6."""
    path = model.path.with_name(CONFIG)
    found = read_json(path.resolve(), JSON_LIMIT) if path.is_file() or model.version >= _WITH_CONFIG else {}
    if model.version >= _WITH_CONFIG:
        return found
    old = {name: model.text(name) or usual for name, usual in _DEFAULT_TOKENS.items()}
    has_start = model.number("with_target_bos") != 0
    return {
        **found,
        **old,
        "decoder_start_token": old["bos_token" if has_start else "eos_token"],
        "add_source_bos": bool(model.number("with_source_bos")),
        "add_source_eos": bool(model.number("with_source_eos")),
    }


def _special_tokens(settings: Mapping[str, Any], attributes: Attributes, path: Path) -> SpecialTokens:
    """Return the special pieces. Sources of OpenNMT-py have no end; those of other programs have one.

    Raises:
        BundleError: something else is put before a text.
    """
    unknown, first, end = (settings.get(name, usual) for name, usual in _DEFAULT_TOKENS.items())
    start = settings.get("decoder_start_token", "<s>")
    if not all(isinstance(piece, str) for piece in (unknown, end, start)):
        problem = (
            "a translation starts with what the caller says" if start is None else "its special tokens are no pieces"
        )
        raise BundleError(problem, path.with_name(CONFIG), advice="take another model")
    has_first = bool(settings.get("add_source_bos"))
    if has_first and not (isinstance(first, str) and TAG.fullmatch(first)):
        raise BundleError(f"each source begins with {first!r}", path.with_name(CONFIG), advice="take another model")
    is_plain = start == "<s>" and not attributes.starts_from_zeros
    ends_source = settings.get("add_source_eos") is True or not is_plain
    return SpecialTokens(unknown, end, start, ends_source, attributes.starts_from_zeros, first if has_first else "")


def _require_sizes(attributes: Attributes, pieces: tuple[list[str], list[str]]) -> None:
    """Require that the vocabularies have as many pieces as the model has vectors."""
    variables = attributes.model.variables
    for side, name, own in zip(("source", "target"), attributes.tables, pieces, strict=False):
        if (table := variables.get(name)) is not None and table.shape[:1] != (len(own),):
            problem = f"the {side} vocabulary has {len(own):,} pieces, and {name} the shape {table.shape}"
            raise BundleError(problem, attributes.model.path, advice="use the vocabulary that belongs to the model")
