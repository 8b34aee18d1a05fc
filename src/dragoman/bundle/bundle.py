"""A trained model with its tokenizers: load it from a folder, and save it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.numpy import save

from dragoman.bundle.finding import find_bundle
from dragoman.bundle.format import (
    CARD,
    CONFIG,
    FORMAT_VERSION,
    SHORT_LIST,
    TOKENIZER,
    WEIGHTS,
    configured_shapes,
    parse_part,
    read_config,
    verify_listed,
)
from dragoman.bundle.search_ram import disproportion
from dragoman.bundle.short_list_file import largest_short_list, read_short_list, short_list_bytes
from dragoman.bundle.weights import StoredPrecision, largest_file, not_finite, read_weights, stored_weights, weights_of
from dragoman.errors import BundleError, ConfigError, DivergedError
from dragoman.machine.arrays import Floats
from dragoman.machine.folders import MANIFEST, save_folder, verify_folder
from dragoman.machine.json_files import JSON_LIMIT, read_json, to_json
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.text.short_list import ShortList
from dragoman.text.tags import describe_directions
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import file_limits, load_tokenizers

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer

#: Facts that also hold of weights made from a bundle's, by averaging or by training on: the heads that align words
#: (`dragoman.alignment.heads`), because both keep the model's shape, and small changes of the weights keep what a head
#: does; and the kind of text that was learned from (`dragoman.text.learned_text`), which a training counts anew.
LASTING_FACTS = ("alignment", "learned_text")


@dataclass(frozen=True)
class Bundle:
    """A trained model with its tokenizers."""

    config: ModelConfig
    #: By their names in `Transformer`, a tied one under its first name only.
    weights: Mapping[str, Floats]
    tokenizers: Tokenizers
    #: The defaults of `translate`.
    search: SearchConfig
    #: Known when it was saved: the step, validation scores.
    facts: Mapping[str, Any]
    #: The likely tokens of translations, if they were learned.
    short_list: ShortList | None = None

    @property
    def lasting_facts(self) -> dict[str, Any]:
        """Return the facts that also hold of weights made from these."""
        return {name: self.facts[name] for name in LASTING_FACTS if name in self.facts}

    def describe(self) -> str:
        """Return one line with the languages, the vocabularies and the search."""
        directions = describe_directions(self.tokenizers.directions)
        return f"{directions}; {self.tokenizers.describe()}; {self.search.describe()}"

    @cached_property
    def model(self) -> Transformer:
        """Return the model in PyTorch: evaluation mode, float32, on the CPU. Torch's random state does not change."""
        import torch

        from dragoman.model.transformer import Transformer

        with torch.random.fork_rng(devices=[]):
            model = Transformer(self.config, self.tokenizers.special_ids)
        model.load_state_dict({name: torch.tensor(weight) for name, weight in self.weights.items()}, strict=False)
        return model.eval()


def save_bundle(
    folder: str | Path,
    model: Transformer,
    tokenizers: Tokenizers,
    search: SearchConfig,
    *,
    facts: Mapping[str, Any],
) -> None:
    """Write a bundle of a model in PyTorch, in float32; `folder` must not exist, and appears whole or not at all.

    Raises:
        DivergedError: a weight is not finite; nothing is written.
        ConfigError: the special ids are not the tokenizers', or the search would take RAM out of proportion; nothing is
            written.
        ResourceError, RunFolderError: the disk is full, or the folder cannot be written.
    """
    tokenizers.require_special_ids(model.special_ids)
    write_bundle(Path(folder), Bundle(model.config, weights_of(model), tokenizers, search, facts))


def write_bundle(folder: Path, bundle: Bundle, precision: StoredPrecision = "float32", card: str | None = None) -> None:
    """Write a bundle, in any precision.

    Args:
        precision: of the weights on disk; they are float32 again when they are loaded.
        card: Markdown for people, which becomes README.md.

    Raises:
        ConfigError: a weight is too large for float16; nothing is written. Other errors are those of `save_bundle`.
    """
    if problem := disproportion(bundle.config, bundle.search):
        raise ConfigError(problem, folder, advice="change the model's shape or the search")
    if bad := not_finite(bundle.weights):
        raise DivergedError(f"weights that are not finite are not saved ({bad})", folder)
    weights = stored_weights(bundle.weights, precision)
    if bad := not_finite(weights):
        raise ConfigError(f"weights too large for {precision} ({bad})", folder, advice="keep float32")
    settings = {
        "format_version": FORMAT_VERSION,
        "precision": precision,
        "model": bundle.config.model_dump(mode="json"),
        "search": bundle.search.model_dump(mode="json"),
        "facts": dict(bundle.facts),
    }

    def write(temporary: Path) -> None:
        (temporary / CONFIG).write_bytes(to_json(settings))
        (temporary / TOKENIZER).mkdir()
        bundle.tokenizers.save(temporary / TOKENIZER)
        # Written by Python, whose errors say that the disk is full; those of safetensors do not.
        (temporary / WEIGHTS).write_bytes(save(weights))
        if bundle.short_list is not None:
            (temporary / SHORT_LIST).write_bytes(short_list_bytes(bundle.short_list))
        if card is not None:
            (temporary / CARD).write_text(card, encoding="utf-8", newline="\n")

    save_folder(folder, write, facts={"format_version": FORMAT_VERSION})


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
    return load_bundle(name, verify=verify)  # meanwhile, a run chose another best and removed this one


def _load(folder: Path, verify: bool) -> Bundle:
    settings = read_config(folder)
    config = parse_part(ModelConfig, settings["model"], folder)
    search = parse_part(SearchConfig, settings["search"], folder)
    shapes, precision = configured_shapes(config, folder), settings["precision"]
    if (folder / TOKENIZER).is_symlink():
        raise BundleError("a link instead of a folder", folder / TOKENIZER, advice="use another copy")
    expected = config.source_vocab_size, config.target_vocab_size
    limits = {CONFIG: JSON_LIMIT, WEIGHTS: largest_file(shapes, precision)}
    limits |= {f"{TOKENIZER}/{name}": limit for name, limit in file_limits(expected).items()}
    limits |= {SHORT_LIST: largest_short_list(expected)}
    manifest = verify_folder(folder, editable={CARD}, limits=limits) if verify else {}
    if verify:
        verify_listed(folder, manifest)
    if problem := disproportion(config, search):
        raise BundleError(problem, folder / CONFIG, advice="use another copy")
    weights = read_weights(folder / WEIGHTS, shapes, precision)
    tokenizers = load_tokenizers(folder / TOKENIZER, expected)
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    if sizes != expected:
        problem = f"the tokenizers have {sizes[0]} and {sizes[1]} entries, the model {expected[0]} and {expected[1]}"
        raise BundleError(problem, folder)
    short_list_file = folder / SHORT_LIST
    short_list = read_short_list(short_list_file, tokenizers) if short_list_file.exists() else None
    if verify and (read_json(folder / CONFIG), read_json(folder / MANIFEST)) != (settings, manifest):
        raise BundleError("the folder was replaced while it was read", folder, advice="load it again")
    return Bundle(config, weights, tokenizers, search, settings["facts"], short_list)
