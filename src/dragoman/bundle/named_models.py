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
from dragoman.errors import ConfigError

#: Holds the bundles that come with the package, each in a folder of its name.
PRETRAINED = Path(__file__).parent.parent / "pretrained"
#: The group of entry points by which distributions offer models.
GROUP = "dragoman.models"
#: The models for non-commercial use, which are another distribution in dragoman's repository.
CAPTION_MODELS = ("multi30k-en-de", "multi30k-en-fr")
#: The sources of published models, and names that they have; most begin with that of their source.
REMOTE_NAMES = {
    "hf": "opus-mt-en-de, nllb-200-distilled-600M, m2m100_418M, hf:OWNER/MODEL",
    "firefox": "firefox:en-de",
    "argos": "argos:en-de",
}
#: Owners of the models of the Hugging Face hub that go by their names alone, by the beginnings of these names.
_OWNERS = {"opus-mt-": "Helsinki-NLP", "nllb-200-": "facebook", "m2m100_": "facebook"}
#: Where systems keep the data of programs, in the home folder.
_DATA = {"win32": "AppData/Local", "darwin": "Library/Application Support"}


def named_models() -> Mapping[str, Path]:
    """Return the folders of all models that are installed, by their names, in alphabetical order."""
    found = fetched_models() | dict(_offered(entry_points(group=GROUP))) | _shipped()
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
    return offered or fetched_models().get(local_name(name))


def downloads() -> Path:
    """Return the folder of the models that were fetched: DRAGOMAN_MODELS, or a place that the system has for such.

    Raises:
        ConfigError: the user has no home folder, and DRAGOMAN_MODELS is not set.
    """
    if chosen := os.environ.get("DRAGOMAN_MODELS"):
        return Path(chosen)
    place = os.environ.get("XDG_DATA_HOME")
    try:
        data = Path(place) if place else Path.home() / _DATA.get(sys.platform, ".local/share")
    except RuntimeError:
        raise ConfigError("this user has no home folder", advice="name a folder in DRAGOMAN_MODELS") from None
    return data / "dragoman" / "models"


def fetched_models() -> dict[str, Path]:
    """Return the folders of the models that `dragoman get` has fetched, by their names."""
    try:
        folders = [*downloads().iterdir()]
    except (OSError, ConfigError):
        return {}
    return {folder.name: folder for folder in folders if not folder.name.startswith(".") and _has_config(folder)}


def remote_source(name: str) -> tuple[str, str] | None:
    """Return the source that publishes a model, a key of `REMOTE_NAMES`, and the model's name there.

    Returns:
        None if no source has such names.

    >>> remote_source("firefox:en-de"), remote_source("hf:someone/model"), remote_source("everyday")
    (('firefox', 'en-de'), ('hf', 'someone/model'), None)
    >>> remote_source("opus-mt-en-de")
    ('hf', 'Helsinki-NLP/opus-mt-en-de')
    """
    source, colon, rest = name.partition(":")
    if colon:
        return (source, rest) if source in REMOTE_NAMES else None
    owner = _owner_of(name)
    return None if owner is None else ("hf", f"{owner}/{name}")


def local_name(name: str) -> str:
    """Return the name under which a fetched model is kept: one that every file system takes.

    >>> local_name("firefox:en-de"), local_name("hf:Helsinki-NLP/opus-mt-en-de"), local_name("opus-mt-en-de")
    ('firefox-en-de', 'opus-mt-en-de', 'opus-mt-en-de')
    >>> local_name("hf:someone/model")
    'someone--model'
    """
    if (found := remote_source(name)) is None:
        return name
    source, rest = found
    if source != "hf":
        return f"{source}-{rest}"
    owner, _, model = rest.partition("/")
    return model if _owner_of(model) == owner else f"{owner}--{model}"


def _owner_of(model: str) -> str | None:
    """Return whose model of the Hugging Face hub has this name, for those that go by their names alone."""
    return next((owner for start, owner in _OWNERS.items() if model.startswith(start)), None)


def installing_advice(name: str) -> str:
    """Return how to get a model that is not installed; "" where nothing is known about it."""
    if remote_source(name) is not None:
        return f"fetch it: dragoman get {name}"
    place = "install dragoman-captions in dragoman's repository: pip install ./packages/captions"
    return place if name in CAPTION_MODELS else ""


def _has_config(folder: Path) -> bool:
    try:
        return (folder / CONFIG).is_file()
    except OSError:  # nobody may look into it
        return False


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
