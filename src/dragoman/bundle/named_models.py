"""Models that go by a name: those that come with dragoman, and those of other distributions.

A distribution offers a model by an entry point: the model's name, and the package that has the bundle in a folder of
that name.

    [project.entry-points."dragoman.models"]
    multi30k-en-de = "dragoman_captions"

Only its metadata is read. None of its code runs.
"""

from __future__ import annotations

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


def named_models() -> Mapping[str, Path]:
    """Return the folders of all models that are installed, by their names, in alphabetical order."""
    found = dict(_offered(entry_points(group=GROUP))) | _shipped()
    return dict(sorted(found.items()))


def named_model(name: str) -> Path | None:
    """Return the folder of an installed model; None if there is none of this name.

    Those that come with dragoman come first: no distribution replaces one.
    """
    if not name or Path(name).name != name:
        return None
    return _shipped().get(name) or next((path for _, path in _offered(entry_points(group=GROUP, name=name))), None)


def installing_advice(name: str) -> str:
    """Return how to install a model of dragoman's repository that is not in its own distribution; "" for others."""
    place = "install dragoman-captions in dragoman's repository: pip install ./packages/captions"
    return place if name in CAPTION_MODELS else ""


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
