"""What a trained model is on disk: one folder that holds all that is needed to translate raw text.

    config.json        format version, model, search defaults, facts about the training
    tokenizer/         see `dragoman.text.tokenizer`
    model.safetensors  the weights in float32; tied matrices once
    MANIFEST.json      size and SHA-256 of each file

A bundle can be moved, and is safe to take from a stranger: it holds no code, no paths and no pickle, only files with
these fixed names are opened, and everything is compared with what the configuration asks for before it is used. The
manifest shows damage; it does not show who wrote the bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from dragoman.config import ModelConfig, S, SearchConfig, parse_section
from dragoman.errors import BundleError, ConfigError, DivergedError
from dragoman.model.transformer import Transformer
from dragoman.storage import MANIFEST, read_json, read_pointer, save_folder, to_json, verify_folder
from dragoman.text.tokenizer import Tokenizers

FORMAT_VERSION = 1
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer"
PRETRAINED = Path(__file__).parent / "pretrained"
#: Facts that also hold of weights made from a bundle's, by averaging or by training on: the heads that align words
#: (`dragoman.alignment.heads`). Both keep the model's shape, and small changes of the weights keep what a head does.
LASTING_FACTS = ("alignment",)
#: Numbers in a table of positions, beyond which `max_length` is taken for a mistake or an attack.
MAX_POSITION_TABLE = 2**25
#: Bytes that the head of the weights may have for each tensor.
MAX_HEAD_BYTES = 1_000
#: Bytes of the weights that a layer takes at least, with six tensors in the head; an outline of many takes time.
LEAST_LAYER_BYTES = 500


@dataclass(frozen=True)
class Bundle:
    """A trained model with its tokenizers, as loaded: in evaluation mode, float32, on the CPU."""

    model: Transformer
    tokenizers: Tokenizers
    #: What `translate` searches with unless told otherwise.
    search: SearchConfig
    #: What was known when it was saved: the step, validation scores.
    facts: Mapping[str, Any]

    @property
    def lasting_facts(self) -> dict[str, Any]:
        """Those of the facts that hold of weights made from these, too."""
        return {name: self.facts[name] for name in LASTING_FACTS if name in self.facts}


def find_bundle(name: str | Path) -> Path:
    """The bundle folder that `name` means: a bundle, a run folder (its best), or a shipped model's name.

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
        raise BundleError(what, path, advice="give a bundle, or a run folder made by `dragoman train`")
    shipped = sorted(each.name for each in PRETRAINED.iterdir() if each.is_dir()) if PRETRAINED.is_dir() else []
    if str(name) in shipped:
        return PRETRAINED / str(name)
    known = f", or a shipped model: {', '.join(shipped)}" if shipped else ""
    raise BundleError("no such model", path, advice=f"give a bundle or a run folder{known}")


def _follow(pointer: Path, folder: Path) -> Path:
    """The folder that `pointer` names, which must be one below `folder`."""
    target = read_pointer(pointer).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise BundleError(f"it points out of its folder, to {target}", pointer, advice="name the bundle itself")
    return target


def save_bundle(
    folder: Path, model: Transformer, tokenizers: Tokenizers, search: SearchConfig, *, facts: Mapping[str, Any]
) -> None:
    """Write a bundle; `folder` must not exist, and appears whole or not at all.

    Raises:
        DivergedError: a weight is not finite; nothing is written.
        ResourceError, RunFolderError: the disk is full, or the folder cannot be written.
    """
    weights = {name: weight.detach().float().cpu().contiguous() for name, weight in unique_weights(model).items()}
    if bad := _not_finite(weights):
        raise DivergedError("weights that are not finite are not saved", folder, details=bad)
    config = {
        "format_version": FORMAT_VERSION,
        "model": model.config.model_dump(mode="json"),
        "search": search.model_dump(mode="json"),
        "facts": dict(facts),
    }

    def write(temporary: Path) -> None:
        (temporary / CONFIG).write_bytes(to_json(config))
        (temporary / TOKENIZER).mkdir()
        tokenizers.save(temporary / TOKENIZER)
        # Written by Python, whose errors say that the disk is full; those of safetensors do not.
        (temporary / WEIGHTS).write_bytes(save(weights))

    save_folder(folder, write, facts={"format_version": FORMAT_VERSION})


def load_bundle(name: str | Path, *, verify: bool = True) -> Bundle:
    """Load what `find_bundle` finds; torch's random state is left as it was.

    Args:
        verify: compare every file with the manifest; without, the manifest may be missing.

    Raises:
        BundleError: the folder is damaged, incomplete, of a newer format, or its parts contradict each other.
    """
    folder = find_bundle(name)
    settings = _read_config(folder)
    if (folder / TOKENIZER).is_symlink():
        raise BundleError("a link instead of a folder", folder / TOKENIZER, advice="use another copy")
    if verify:
        _verify_listed(folder, verify_folder(folder))
    config = _section(ModelConfig, settings["model"], folder)
    search = _section(SearchConfig, settings["search"], folder)
    model = _build(config, folder)
    expected = config.source_vocab_size, config.target_vocab_size
    tokenizers = Tokenizers.load(folder / TOKENIZER, expected)
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    if sizes != expected:
        what = f"the tokenizers have {sizes[0]} and {sizes[1]} entries, the model {expected[0]} and {expected[1]}"
        raise BundleError(what, folder)
    return Bundle(
        model=model,
        tokenizers=tokenizers,
        search=search,
        facts=settings["facts"],
    )


def average_bundles(names: Sequence[str | Path], output: Path) -> None:
    """Write a bundle whose weights are the mean of the given bundles' weights, with the first one's search defaults.

    It aligns words with the heads that were chosen for the first of them, or for the next if none were.

    Raises:
        ConfigError: they differ in their configuration or tokenizer.
        BundleError: one of them cannot be loaded.
        RunFolderError: `output` exists or cannot be written.
    """
    first = load_bundle(names[0])
    total = {name: weight.detach().double() for name, weight in unique_weights(first.model).items()}
    steps, fingerprint = [first.facts.get("step")], first.tokenizers.fingerprint()
    lasting = first.lasting_facts
    for name in names[1:]:
        other = load_bundle(name)
        same_model = other.model.config == first.model.config
        if not same_model or other.tokenizers.fingerprint() != fingerprint:
            part = "tokenizer" if same_model else "model configuration"
            raise ConfigError(f"its {part} differs from that of {names[0]}", name, advice="average models of one run")
        for key, weight in unique_weights(other.model).items():
            total[key] += weight.detach()
        steps.append(other.facts.get("step"))
        lasting = other.lasting_facts | lasting
    save_mean(first, total, len(names), output, {"average_of_steps": steps, **lasting})


def save_mean(like: Bundle, total: Mapping[str, Tensor], n: int, output: Path, facts: Mapping[str, Any]) -> None:
    """Write a bundle whose weights are `total` / n, and whose model, tokenizers and search are those of `like`.

    Args:
        total: sums of weights by name, as `unique_weights` has them.
        facts: what was averaged, for the record, and what lasts.
    """
    like.model.load_state_dict({name: weight / n for name, weight in total.items()}, strict=False)
    save_bundle(output, like.model, like.tokenizers, like.search, facts=facts)


def unique_weights(model: Transformer) -> dict[str, Tensor]:
    """The model's state by name, a tied tensor under its first name only (safetensors refuses shared memory)."""
    unique, seen = {}, set()
    for name, weight in model.state_dict(keep_vars=True).items():
        if id(weight) not in seen:
            unique[name] = weight
            seen.add(id(weight))
    return unique


def read_weights(path: Path, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Read the weights of a safetensors file that must be exactly the expected ones, in name, shape and type.

    Nothing but the file's head is read before the comparison; `expected` may live on the meta device.

    Raises:
        BundleError: lists every difference, and every tensor that is not finite.
    """
    try:
        _check_head(path, len(expected))
        with safe_open(path, framework="pt") as file:
            found = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            problems = [f"missing: {name}" for name in expected if name not in found]
            problems += [f"unknown: {name}" for name in found if name not in expected]
            for name in sorted(found.keys() & expected.keys()):
                shape, wanted = tuple(found[name].get_shape()), tuple(expected[name].shape)
                if shape != wanted:
                    problems.append(f"{name}: shape {shape} instead of {wanted}")
                if found[name].get_dtype() != "F32":
                    problems.append(f"{name}: type {found[name].get_dtype()} instead of F32")
            weights = {} if problems else {name: file.get_tensor(name) for name in found}
    except (SafetensorError, OSError) as error:
        raise BundleError(f"not readable as safetensors ({error})", path, advice="use another copy") from None
    if problems := problems or _not_finite(weights):
        raise BundleError("the weights are not those of the configured model", path, details=problems)
    return weights


def _check_head(path: Path, n_tensors: int) -> None:
    """Refuse a head that is much longer than `n_tensors` need: reading it takes time and memory."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > (n_tensors + 1) * MAX_HEAD_BYTES:
        raise BundleError(f"its head has {length:,} bytes", path, advice="use another copy")


def _build(config: ModelConfig, folder: Path) -> Transformer:
    """The model with the folder's weights. It is built only after its outline has been compared with the file."""
    if config.max_length * config.d_model > MAX_POSITION_TABLE:
        raise BundleError(f"max_length {config.max_length} is beyond reason", folder / CONFIG)
    path, n_layers = folder / WEIGHTS, config.n_encoder_layers + config.n_decoder_layers
    if path.is_file() and path.stat().st_size < n_layers * LEAST_LAYER_BYTES:
        raise BundleError(f"the file is too small for the configured {n_layers:,} layers", path)
    weights = read_weights(path, outline(config))
    with torch.random.fork_rng(devices=[]):
        model = Transformer(config)
    model.load_state_dict(weights, strict=False)
    return model.eval()


def outline(config: ModelConfig) -> dict[str, Tensor]:
    """Names and shapes of a model's weights, without memory for their values.

    The table of sinusoidal positions is no weight, so learned ones stand in for it: computing it on the meta device
    would make PyTorch import a compiler, which takes longer than everything else in loading.
    """
    with torch.device("meta"), _WithoutRandomness():
        weights = unique_weights(Transformer(config.model_copy(update={"positions": "learned"})))
    learned = config.positions == "learned"
    return {name: weight for name, weight in weights.items() if learned or not name.endswith("positions.table")}


class _WithoutRandomness(TorchFunctionMode):
    """Leaves out random initialisation, for the same reason."""

    def __torch_function__(
        self, func: Callable[..., Any], types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in ("normal_", "uniform_"):
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


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
    problems = [f"unknown key {key!r}" for key in settings.keys() - known.keys()]
    problems += [f"{key} is missing or no object" for key in known if not isinstance(settings.get(key), known[key])]
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
    """No file that loading would open may be missing from the manifest."""
    names = {path.relative_to(folder).as_posix() for path in (folder / TOKENIZER).iterdir()}
    for name in sorted({CONFIG, WEIGHTS, *names} - manifest["files"].keys()):
        raise BundleError("the file is not listed in the manifest", folder / name, advice="use another copy")


def _not_finite(weights: Mapping[str, Tensor]) -> list[str]:
    return [f"{name}: not finite" for name, weight in weights.items() if not weight.isfinite().all()]
