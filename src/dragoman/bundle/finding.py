"""Find the bundle of a name: a folder, the best of a run, or a model that is installed."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.bundle.format import CARD, CONFIG, TOKENIZER, WEIGHTS
from dragoman.bundle.named_models import installing_advice, named_model, named_models, remote_source
from dragoman.errors import BundleError
from dragoman.machine.folders import MANIFEST
from dragoman.machine.pointers import read_pointer

#: Bytes of a card; a larger file is ignored.
MAX_CARD_BYTES = 1_000_000


def find_bundle(name: str | Path) -> Path:
    """Return the bundle folder of `name`: a bundle, a run folder (its best), or an installed model's name.

    A bundle or a run folder always wins over an installed model's name. Any other file or folder hides none.

    Raises:
        BundleError: there is none; the message describes the folder there.
    """
    path = Path(name)
    if _holds_model(path):
        return _bundle_of(path)
    if (folder := named_model(str(name))) is not None:
        return folder
    if advice := installing_advice(str(name)):
        is_remote = remote_source(str(name)) is not None
        what = "is not here yet" if is_remote else "is a model for non-commercial use that is not installed"
        raise BundleError(f"{name} {what}", advice=advice)
    return _bundle_of(path)


def model_path(name: str | Path) -> Path | None:
    """Return the path that names a model; None if `name` is the name of an installed model."""
    path = Path(name)
    return path if _holds_model(path) or named_model(str(name)) is None else None


def _holds_model(path: Path) -> bool:
    """Return True for a bundle, a run folder, and a file that points to one; all may be damaged.

    One file is not enough: many programs have a config.json or a config.yaml.
    """
    try:
        if path.is_file():
            path = path if path.suffix else read_pointer(path)
        has_parts = any((path / part).is_dir() for part in ("checkpoints", "bundles", TOKENIZER))
        is_run = has_parts and (path / "config.yaml").is_file()
        return is_run or _has_files(path) or _has_files(read_pointer(path / "best"))
    except (OSError, ValueError, RuntimeError):  # the last for links in a circle
        return False


def _has_files(folder: Path) -> bool:
    return sum((folder / part).exists() for part in (CONFIG, MANIFEST, WEIGHTS, TOKENIZER)) > 1


def _bundle_of(path: Path) -> Path:
    """Return the bundle of a path.

    Raises:
        BundleError: there is none.
    """
    try:
        if path.is_file() and path.suffix == "":
            path = _follow(path, path.parent)
        if (path / CONFIG).is_file() or (path / MANIFEST).is_file():
            return path.resolve()
        best = path / "best"
        if best.is_symlink() or best.exists():
            return _follow(best, path)
        exists, is_run = path.exists(), (path / "config.yaml").is_file()
    except (OSError, ValueError, RuntimeError) as error:
        raise BundleError(f"not a model ({error})", str(path)) from None
    if is_run:
        raise BundleError("this run has no best model yet", path, advice="let `dragoman train` reach a validation")
    if exists:
        is_folder = path.is_dir()
        problem = "no bundle in this folder" if is_folder else "a model is a folder, with its weights in safetensors"
        raise BundleError(problem, path, advice="give a bundle, or a run folder made by `dragoman train`")
    choices = f", or an installed model: {', '.join(names)}" if (names := named_models()) else ""
    raise BundleError("no such model", path, advice=f"give a bundle or a run folder{choices}")


def _follow(pointer: Path, folder: Path) -> Path:
    """Return the target of `pointer`, which must lie in `folder`."""
    named = read_pointer(pointer)
    if not pointer.is_symlink() and not os.path.isdir(named):  # some other file: what it says is not repeated
        raise BundleError("a file that names no folder beside it", pointer, advice="give a bundle or a run folder")
    target = named.resolve()
    if not target.is_relative_to(folder.resolve()):
        raise BundleError(f"it points out of its folder, to {target}", pointer, advice="name the bundle itself")
    return target


def card_of(name: str | Path) -> str | None:
    """Return the card of a bundle, found as by `find_bundle`; None unless it is text of at most `MAX_CARD_BYTES`."""
    return read_card(find_bundle(name))


def read_card(folder: Path) -> str | None:
    """Return the card of a bundle's folder; None unless it is text of at most `MAX_CARD_BYTES`."""
    path = folder / CARD
    try:
        is_card = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_CARD_BYTES
        return path.read_text(encoding="utf-8") if is_card else None
    except (OSError, UnicodeDecodeError):
        return None
