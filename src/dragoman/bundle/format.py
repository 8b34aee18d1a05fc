"""The format of a trained model on disk: one folder with all that is needed to translate raw text.

    config.json        format version, precision, model, search defaults, facts about the training
    tokenizer/         see `dragoman.text.tokenizer`
    model.safetensors  the weights, in float32, in float16 (half the size) or in int8 (a quarter); tied matrices once
    short_list.safetensors  the tokens that translations may have, if the model was packaged with a short-list
    README.md          the model card, if it has one: for people, who may edit it; nothing depends on it
    MANIFEST.json      size and SHA-256 of each file

A bundle can be moved, and is safe to take from a stranger: it holds no code, no paths and no pickle, only files with
these fixed names are opened, and all that is read is compared with what the configuration asks for before it is used.
The manifest shows damage; it does not show who wrote the bundle.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import StoredPrecision
from dragoman.errors import BundleError, ConfigError
from dragoman.machine.json_files import read_json
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.sections import S, parse_section

FORMAT_VERSION = 1
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"
SHORT_LIST = "short_list.safetensors"
TOKENIZER = "tokenizer"
#: The fewest bytes of a layer in the file of weights, with six tensors in the head. More layers are not even outlined.
LEAST_LAYER_BYTES = 500


def read_config(folder: Path) -> dict[str, Any]:
    """Return config.json, and check its keys and its format version before anything else of the folder is trusted."""
    settings = read_json(folder / CONFIG)
    version = settings.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        needs = f"needs a version of dragoman that reads format version >= {version}; this one reads {FORMAT_VERSION}"
        raise BundleError(needs, folder / CONFIG, advice="upgrade dragoman")
    if type(version) is not int or version < 1:
        raise BundleError(f"unknown format version {version!r}", folder / CONFIG, advice="is this a bundle?")
    expected = {"format_version": int, "precision": str, "model": dict, "search": dict, "facts": dict}
    problems = [f"unknown key {key!r}" for key in settings.keys() - expected.keys()]
    problems += [
        f"{key} is missing or of a wrong type" for key in expected if not isinstance(settings.get(key), expected[key])
    ]
    if settings.get("precision") not in get_args(StoredPrecision):
        problems.append(f"unknown precision {settings.get('precision')!r}")
    if problems:
        raise BundleError("not the configuration of a bundle", folder / CONFIG, details=sorted(problems))
    return settings


def parse_part(section: type[S], settings: Mapping[str, Any], folder: Path) -> S:
    """Check the settings of one section of config.json, and return it.

    Raises:
        BundleError: lists every problem found.
    """
    try:
        return parse_section(section, settings)
    except ConfigError as error:
        problems = error.message.split("\n  ")
        raise BundleError("the configuration is not valid", folder / CONFIG, details=problems) from None


def configured_shapes(config: ModelConfig, folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the configured model's weights, and refuse more layers than the file can have."""
    path, n_layers = folder / WEIGHTS, config.n_encoder_layers + config.n_decoder_layers
    if path.is_file() and path.stat().st_size < n_layers * LEAST_LAYER_BYTES:
        raise BundleError(f"the file is too small for the configured {n_layers:,} layers", path)
    return Layout(config).shapes()


def verify_listed(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a file that loading would open but the manifest does not list. Only the first of perhaps many is named."""
    try:
        with os.scandir(folder / TOKENIZER) as entries:
            optional = [SHORT_LIST] if (folder / SHORT_LIST).exists() else []
            names = itertools.chain((CONFIG, WEIGHTS, *optional), (f"{TOKENIZER}/{entry.name}" for entry in entries))
            name = next((name for name in names if name not in manifest["files"]), None)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise BundleError(problem, folder / TOKENIZER, advice="use another copy") from None
    if name is not None:
        raise BundleError("the file is not listed in the manifest", folder / name, advice="use another copy")
