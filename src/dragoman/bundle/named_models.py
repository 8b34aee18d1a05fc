"""Models that go by a name: those that come with dragoman, those of other distributions, and those that were fetched.

A distribution offers a model by an entry point: the model's name, and the package that has the bundle in a folder of
that name.

    [project.entry-points."dragoman.models"]
    multi30k-en-de = "dragoman_captions"

Only its metadata is read. None of its code runs. `dragoman get` fetches models of other programs into `downloads()`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from dragoman.bundle.format import CONFIG

#: Holds the bundles that come with the package, each in a folder of its name.
PRETRAINED = Path(__file__).parent.parent / "pretrained"
#: The group of entry points by which distributions offer models.
GROUP = "dragoman.models"
#: The models for non-commercial use, which are another distribution in dragoman's repository.
CAPTION_MODELS = ("multi30k-en-de", "multi30k-en-fr")
#: Owners of the models of the Hugging Face hub that go by their names alone, by the beginnings of these names.
OWNERS = {"opus-mt-": "Helsinki-NLP", "nllb-200-": "facebook", "m2m100_": "facebook"}


def named_models() -> Mapping[str, Path]:
    """Return the folders of all models that are installed, by their names, in alphabetical order."""
    found = _fetched() | dict(_offered(entry_points(group=GROUP))) | _shipped()
    return dict(sorted(found.items()))


def named_model(name: str) -> Path | None:
    """Return the folder of an installed model; None if there is none of this name.

    Those that come with dragoman come first: no distribution replaces one.
    """
    if not name or Path(local_name(name)).name != local_name(name):
        return None
    if (shipped := _shipped().get(name)) is not None:
        return shipped
    offered = next((path for _, path in _offered(entry_points(group=GROUP, name=name))), None)
    return offered or _fetched().get(local_name(name))


def downloads() -> Path:
    """Return the folder of the models that were fetched: DRAGOMAN_MODELS, or a place that the system has for such."""
    if chosen := os.environ.get("DRAGOMAN_MODELS"):
        return Path(chosen)
    home = Path.home()
    places = {"win32": home / "AppData" / "Local", "darwin": home / "Library" / "Application Support"}
    place = os.environ.get("XDG_DATA_HOME") or places.get(sys.platform, home / ".local" / "share")
    return Path(place) / "dragoman" / "models"


def local_name(name: str) -> str:
    """Return the name under which a fetched model is kept: one that every file system takes.

    >>> local_name("firefox:en-de"), local_name("hf:Helsinki-NLP/opus-mt-en-de"), local_name("opus-mt-en-de")
    ('firefox-en-de', 'opus-mt-en-de', 'opus-mt-en-de')
    >>> local_name("hf:someone/model")
    'someone--model'
    """
    source, _, rest = name.partition(":")
    if source == "firefox":
        return f"{source}-{rest}"
    owner, slash, model = rest.partition("/")
    if source == "hf" and slash:
        return model if owner_of(model) == owner else f"{owner}--{model}"
    return name


def owner_of(model: str) -> str | None:
    """Return whose model of the Hugging Face hub has this name, for those that go by their names alone."""
    return next((owner for start, owner in OWNERS.items() if model.startswith(start)), None)


def is_remote(name: str) -> bool:
    """Return True for a name that `dragoman get` may know."""
    return name.startswith(("hf:", "firefox:")) or owner_of(name) is not None


def installing_advice(name: str) -> str:
    """Return how to get a model that is not installed; "" where nothing is known about it."""
    if is_remote(name):
        return f"fetch it: dragoman get {name}"
    place = "install dragoman-captions in dragoman's repository: pip install ./packages/captions"
    return place if name in CAPTION_MODELS else ""


def _fetched() -> dict[str, Path]:
    """Return the folders of the models that `dragoman get` has fetched."""
    try:
        folders = [folder for folder in downloads().iterdir() if not folder.name.startswith(".")]
    except OSError:
        return {}
    return {folder.name: folder for folder in folders if (folder / CONFIG).is_file()}


def _shipped() -> dict[str, Path]:
    return {folder.name: folder for folder in PRETRAINED.iterdir() if folder.is_dir()} if PRETRAINED.is_dir() else {}


def _offered(points: Iterable[EntryPoint]) -> Iterator[tuple[str, Path]]:
    """Yield the names and folders of the bundles that distributions offer."""
    for point in points:
        package, *inner = point.module.split(".")
        try:
            spec = find_spec(package)  # of a package that is in no other: nothing is imported
        except (ImportError, ValueError):
            continue
        for place in (spec.submodule_search_locations if spec else None) or ():
            folder = Path(place, *inner, point.name)
            if Path(point.name).name == point.name and (folder / CONFIG).is_file():
                yield point.name, folder
