"""What a trained model is on disk: one folder that holds all that is needed to translate raw text.

    config.json        format version, model, search defaults, facts about the training
    tokenizer/         see `dragoman.text.tokenizer`
    model.safetensors  the weights, in float32, in float16 (half the size) or in int8 (a quarter); tied matrices once
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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.numpy import save

from dragoman.bundle.search_ram import disproportion
from dragoman.bundle.weights import StoredPrecision, largest_file, not_finite, read_weights, stored_weights, weights_of
from dragoman.errors import BundleError, ConfigError, DivergedError
from dragoman.machine.arrays import Floats
from dragoman.machine.storage import JSON_LIMIT, MANIFEST, read_json, read_pointer, save_folder, to_json, verify_folder
from dragoman.model.layout import Layout
from dragoman.settings.config import ModelConfig, SearchConfig
from dragoman.settings.sections import S, parse_section
from dragoman.text.tokenizer import Tokenizers, file_limits
from dragoman.text.vocabulary import PAD_ID

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer

#: How the weights of each format version are stored, from version 1 on. Each is still written, so that what an earlier
#: release could read it still can.
_PRECISIONS: tuple[StoredPrecision, ...] = ("float32", "float16", "int8")
FORMAT_VERSION = len(_PRECISIONS)
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
CARD = "README.md"
TOKENIZER = "tokenizer"
#: Holds the bundles that come with the package, each in a folder of its name.
PRETRAINED = Path(__file__).parent.parent / "pretrained"
#: Facts that also hold of weights made from a bundle's, by averaging or by training on: the heads that align words
#: (`dragoman.alignment.heads`), because both keep the model's shape, and small changes of the weights keep what a head
#: does; and the kind of text that was learned from (`dragoman.text.learned_text`), which a training counts anew.
LASTING_FACTS = ("alignment", "learned_text")
#: Bytes of a card; a larger one is none.
MAX_CARD_BYTES = 1_000_000
#: Bytes of the weights that a layer takes at least, with six tensors in the head; an outline of many takes time.
LEAST_LAYER_BYTES = 500


@dataclass(frozen=True)
class Bundle:
    """A trained model with its tokenizers."""

    config: ModelConfig
    #: By their names in `Transformer`, a tied one under its first name only.
    weights: Mapping[str, Floats]
    tokenizers: Tokenizers
    #: What `translate` searches with unless told otherwise.
    search: SearchConfig
    #: What was known when it was saved: the step, validation scores.
    facts: Mapping[str, Any]

    @property
    def lasting_facts(self) -> dict[str, Any]:
        """Those of the facts that hold of weights made from these, too."""
        return {name: self.facts[name] for name in LASTING_FACTS if name in self.facts}

    def describe(self) -> str:
        """One line: what it translates, with what vocabularies, and how it searches."""
        tokenizers = self.tokenizers
        return (
            f"{tokenizers.source_lang} to {tokenizers.target_lang}; {tokenizers.describe()}; {self.search.describe()}"
        )

    @cached_property
    def model(self) -> Transformer:
        """The model in PyTorch: in evaluation mode, float32, on the CPU. Torch's random state is left as it was."""
        import torch

        from dragoman.model.transformer import Transformer

        with torch.random.fork_rng(devices=[]):
            model = Transformer(self.config)
        model.load_state_dict({name: torch.tensor(weight) for name, weight in self.weights.items()}, strict=False)
        return model.eval()


def find_bundle(name: str | Path) -> Path:
    """The bundle folder that `name` means: a bundle, a run folder (its best), or a shipped model's name.

    What is there under that name comes before a shipped model: a folder that somebody made is never passed over.

    Raises:
        BundleError: there is none; the message says what was found instead.
    """
    path = Path(name)
    try:
        if path.is_file() and path.suffix == "":
            path = _follow(path, path.parent)
        if (path / CONFIG).is_file() or (path / MANIFEST).is_file():
            return path.resolve()
        best = path / "best"
        if best.is_symlink() or best.exists():
            return _follow(best, path)
        exists, is_run = path.exists(), (path / "config.yaml").is_file()
    except (OSError, ValueError, RuntimeError) as error:  # the last for links in a circle
        raise BundleError(f"not a model ({error})", str(name)) from None
    if is_run:
        raise BundleError("this run has no best model yet", path, advice="let `dragoman train` reach a validation")
    if exists:
        what = "no bundle in this folder" if path.is_dir() else "a model is a folder, with its weights in safetensors"
        advice = "give a bundle, or a run folder made by `dragoman train`"
        if str(name) in shipped_models():
            advice = "it hides the shipped model of that name: rename it, or work in another folder"
        raise BundleError(what, path, advice=advice)
    if str(name) in shipped_models():
        return PRETRAINED / str(name)
    known = f", or a shipped model: {', '.join(shipped_models())}" if shipped_models() else ""
    raise BundleError("no such model", path, advice=f"give a bundle or a run folder{known}")


def card_of(name: str | Path) -> str | None:
    """The card of the bundle that `find_bundle` finds, if it has one that is text, of at most `MAX_CARD_BYTES`."""
    path = find_bundle(name) / CARD
    try:
        is_card = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_CARD_BYTES
        return path.read_text(encoding="utf-8") if is_card else None
    except (OSError, UnicodeDecodeError):
        return None


def shipped_models() -> list[str]:
    """The names of the models that come with this installation."""
    return sorted(each.name for each in PRETRAINED.iterdir() if each.is_dir()) if PRETRAINED.is_dir() else []


def _follow(pointer: Path, folder: Path) -> Path:
    """The folder that `pointer` names, which must be one below `folder`."""
    target = read_pointer(pointer).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise BundleError(f"it points out of its folder, to {target}", pointer, advice="name the bundle itself")
    return target


def save_bundle(
    folder: Path,
    model: Transformer,
    tokenizers: Tokenizers,
    search: SearchConfig,
    *,
    facts: Mapping[str, Any],
    precision: StoredPrecision = "float32",
    card: str | None = None,
) -> None:
    """Write a bundle; `folder` must not exist, and appears whole or not at all.

    Args:
        precision: of the weights on disk; they are float32 again when they are loaded.
        card: Markdown for people, which becomes README.md.

    Raises:
        DivergedError: a weight is not finite; nothing is written.
        ConfigError: a weight is too large for float16, the padding is not the tokenizers', or a search would take
            memory out of proportion; nothing is written.
        ResourceError, RunFolderError: the disk is full, or the folder cannot be written.
    """
    write_bundle(folder, Bundle(model.config, weights_of(model), tokenizers, search, facts), precision, card)


def write_bundle(folder: Path, bundle: Bundle, precision: StoredPrecision = "float32", card: str | None = None) -> None:
    """`save_bundle` of what is in a bundle already."""
    if problem := _other_padding(bundle.config):
        raise ConfigError(problem, folder, advice=f"train one with pad_id {PAD_ID}")
    if problem := disproportion(bundle.config, bundle.search):
        raise ConfigError(problem, folder, advice="change the model's shape or the search")
    if bad := not_finite(bundle.weights):
        raise DivergedError("weights that are not finite are not saved", folder, details=bad)
    weights = stored_weights(bundle.weights, precision)
    if bad := not_finite(weights):
        raise ConfigError(f"weights too large for {precision}", folder, advice="keep float32", details=bad)
    version = 1 + _PRECISIONS.index(precision)
    config = {
        "format_version": version,
        **({"precision": precision} if version > 1 else {}),
        "model": bundle.config.model_dump(mode="json"),
        "search": bundle.search.model_dump(mode="json"),
        "facts": dict(bundle.facts),
    }

    def write(temporary: Path) -> None:
        (temporary / CONFIG).write_bytes(to_json(config))
        (temporary / TOKENIZER).mkdir()
        bundle.tokenizers.save(temporary / TOKENIZER)
        # Written by Python, whose errors say that the disk is full; those of safetensors do not.
        (temporary / WEIGHTS).write_bytes(save(weights))
        if card is not None:
            (temporary / CARD).write_text(card, encoding="utf-8", newline="\n")

    save_folder(folder, write, facts={"format_version": version})


def _other_padding(config: ModelConfig) -> str | None:
    """What is wrong with the padding of a model, if it is not its tokenizers'."""
    if config.pad_id == PAD_ID:
        return None
    return f"the model's pad_id is {config.pad_id}, and its tokenizers fill up with {PAD_ID}"


def load_bundle(name: str | Path, *, verify: bool = True) -> Bundle:
    """Load what `find_bundle` finds.

    Args:
        verify: compare every file with the manifest; without, the manifest may be missing.

    Raises:
        BundleError: the folder is damaged, incomplete, of a newer format, or its parts contradict each other.
    """
    folder = find_bundle(name)
    try:
        return _load(folder, verify)
    except BundleError:
        if find_bundle(name) == folder:
            raise
    return load_bundle(name, verify=verify)  # a training chose another best, and removed this one, meanwhile


def _load(folder: Path, verify: bool) -> Bundle:
    settings = _read_config(folder)
    config = _section(ModelConfig, settings["model"], folder)
    search = _section(SearchConfig, settings["search"], folder)
    shapes, precision = _shapes(config, folder), settings.get("precision", "float32")
    if (folder / TOKENIZER).is_symlink():
        raise BundleError("a link instead of a folder", folder / TOKENIZER, advice="use another copy")
    expected = config.source_vocab_size, config.target_vocab_size
    limits = {CONFIG: JSON_LIMIT, WEIGHTS: largest_file(shapes, precision)}
    limits |= {f"{TOKENIZER}/{name}": limit for name, limit in file_limits(expected).items()}
    manifest = verify_folder(folder, editable={CARD}, limits=limits) if verify else {}
    if verify:
        _verify_listed(folder, manifest)
    if problem := disproportion(config, search):
        raise BundleError(problem, folder / CONFIG, advice="use another copy")
    weights = read_weights(folder / WEIGHTS, shapes, precision)
    tokenizers = Tokenizers.load(folder / TOKENIZER, expected)
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    if sizes != expected:
        what = f"the tokenizers have {sizes[0]} and {sizes[1]} entries, the model {expected[0]} and {expected[1]}"
        raise BundleError(what, folder)
    if problem := _other_padding(config):
        raise BundleError(problem, folder)
    if verify and (read_json(folder / CONFIG), read_json(folder / MANIFEST)) != (settings, manifest):
        raise BundleError("the folder was replaced while it was read", folder, advice="load it again")
    return Bundle(config, weights, tokenizers, search, settings["facts"])


def _shapes(config: ModelConfig, folder: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the configured model's weights, if the file can have so many layers."""
    path, n_layers = folder / WEIGHTS, config.n_encoder_layers + config.n_decoder_layers
    if path.is_file() and path.stat().st_size < n_layers * LEAST_LAYER_BYTES:
        raise BundleError(f"the file is too small for the configured {n_layers:,} layers", path)
    return Layout(config).shapes()


def _read_config(folder: Path) -> dict[str, Any]:
    """config.json with its keys and its format version checked, before anything else of the folder is trusted."""
    settings = read_json(folder / CONFIG)
    version = settings.get("format_version")
    if type(version) is int and version > FORMAT_VERSION:
        needs = f"needs a version of dragoman that reads format version >= {version}; this one reads {FORMAT_VERSION}"
        raise BundleError(needs, folder / CONFIG, advice="upgrade dragoman")
    if type(version) is not int or version < 1:
        raise BundleError(f"unknown format version {version!r}", folder / CONFIG, advice="is this a bundle?")
    known = {"format_version": int, "model": dict, "search": dict, "facts": dict}
    if version > 1:
        known["precision"] = str
    problems = [f"unknown key {key!r}" for key in settings.keys() - known.keys()]
    problems += [
        f"{key} is missing or of a wrong type" for key in known if not isinstance(settings.get(key), known[key])
    ]
    if version > 1 and settings.get("precision") != _PRECISIONS[version - 1]:
        problems.append(f"unknown precision {settings.get('precision')!r}")
    if problems:
        raise BundleError("not the configuration of a bundle", folder / CONFIG, details=sorted(problems))
    return settings


def _section(section: type[S], settings: Mapping[str, Any], folder: Path) -> S:
    try:
        return parse_section(section, settings)
    except ConfigError as error:
        problems = error.message.split("\n  ")
        raise BundleError("the configuration is not valid", folder / CONFIG, details=problems) from None


def _verify_listed(folder: Path, manifest: Mapping[str, Any]) -> None:
    """No file that loading would open may be missing from the manifest. The first is told: there may be a million."""
    try:
        with os.scandir(folder / TOKENIZER) as entries:
            names = itertools.chain((CONFIG, WEIGHTS), (f"{TOKENIZER}/{entry.name}" for entry in entries))
            name = next((name for name in names if name not in manifest["files"]), None)
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
        raise BundleError(what, folder / TOKENIZER, advice="use another copy") from None
    if name is not None:
        raise BundleError("the file is not listed in the manifest", folder / name, advice="use another copy")
