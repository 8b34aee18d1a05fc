"""Find the bundle of a name: a folder, the best of a run, or a model that comes with the package."""

from __future__ import annotations

import os
from pathlib import Path

from dragoman.bundle.format import CARD, CONFIG
from dragoman.errors import BundleError
from dragoman.machine.folders import MANIFEST
from dragoman.machine.pointers import read_pointer

#: Holds the bundles that come with the package, each in a folder of its name.
PRETRAINED = Path(__file__).parent.parent / "pretrained"
#: Bytes of a card; a larger file is ignored.
MAX_CARD_BYTES = 1_000_000


def find_bundle(name: str | Path) -> Path:
    """Return the bundle folder of `name`: a bundle, a run folder (its best), or a shipped model's name.

    An existing folder always wins over a shipped model's name.

    Raises:
        BundleError: there is none; the message describes the folder there.
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
    shipped = shipped_models()
    if exists:
        problem = (
            "no bundle in this folder" if path.is_dir() else "a model is a folder, with its weights in safetensors"
        )
        advice = "give a bundle, or a run folder made by `dragoman train`"
        if str(name) in shipped:
            advice = "it hides the shipped model of that name: rename it, or work in another folder"
        raise BundleError(problem, path, advice=advice)
    if str(name) in shipped:
        return PRETRAINED / str(name)
    choices = f", or a shipped model: {', '.join(shipped)}" if shipped else ""
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


def shipped_models() -> list[str]:
    """Return the names of the models that come with this installation."""
    return sorted(folder.name for folder in PRETRAINED.iterdir() if folder.is_dir()) if PRETRAINED.is_dir() else []


def card_of(name: str | Path) -> str | None:
    """Return the card of a bundle, found as by `find_bundle`; None unless it is text of at most `MAX_CARD_BYTES`."""
    path = find_bundle(name) / CARD
    try:
        is_card = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_CARD_BYTES
        return path.read_text(encoding="utf-8") if is_card else None
    except (OSError, UnicodeDecodeError):
        return None
