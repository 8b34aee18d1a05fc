"""Get a model by its name: found, fetched, read, and kept as a bundle among the named models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.bundle.named_models import downloads, local_name, owner_of
from dragoman.bundle.weights import StoredPrecision
from dragoman.errors import ConfigError, DragomanError, disk_errors
from dragoman.imports.firefox_models import find_firefox_model
from dragoman.imports.hub_models import find_hub_model
from dragoman.imports.kinds import Languages, kind_of
from dragoman.imports.remote import Progress, RemoteModel

#: Where models are published, by what comes before the colon of their names.
SOURCES: dict[str, Callable[[str], RemoteModel]] = {
    "hf": find_hub_model,
    "firefox": find_firefox_model,
}


def find_remote(name: str) -> RemoteModel:
    """Return the model of a name: "opus-mt-en-de", "hf:OWNER/MODEL" or "firefox:en-de".

    Raises:
        ConfigError: no name is like this.
        NetworkError: there is no such model, or its publisher cannot be asked.
    """
    source, colon, rest = name.partition(":")
    if colon and source in SOURCES:
        return SOURCES[source](rest)
    owner = owner_of(name)
    if owner is None or colon:
        raise ConfigError(
            f"no source of models has a name like {name!r}",
            advice="names are opus-mt-en-de, nllb-200-distilled-600M, hf:OWNER/MODEL, firefox:en-de",
        )
    return find_hub_model(f"{owner}/{name}")


def require_network(name: str, is_offline: bool) -> None:
    """Refuse a download where the network is forbidden, by `is_offline` or by HF_HUB_OFFLINE.

    Raises:
        DragomanError: it is.
    """
    is_forbidden = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    if is_offline or is_forbidden:
        what = "--offline" if is_offline else "HF_HUB_OFFLINE"
        raise DragomanError(f"{name} is not here, and {what} forbids the network", advice="allow the network once")


def get_model(
    name: str, remote: RemoteModel, precision: StoredPrecision, languages: Languages, progress: Progress
) -> tuple[Path, Bundle]:
    """Fetch a model and keep it as a bundle; an interrupted call is continued by the next one.

    Returns:
        its folder, and the bundle.

    Raises:
        BundleError: it is of no kind that is read, or damaged; its files are kept for another try.
        NetworkError, ResourceError: it cannot be fetched or kept; what has come is continued by the next call.
    """
    folder = downloads() / local_name(name)
    fetched = folder.with_name(f".{folder.name}.files")
    with disk_errors(fetched):
        fetched.mkdir(parents=True, exist_ok=True)
        remote.fetch(fetched, progress)
    codes = languages[0] or remote.languages[0], languages[1] or remote.languages[1]
    bundle = kind_of(fetched).read(fetched, codes)
    write_bundle(folder, bundle, precision, _card(name, remote, bundle))
    shutil.rmtree(fetched, ignore_errors=True)
    return folder, bundle


def _card(name: str, remote: RemoteModel, bundle: Bundle) -> str:
    languages = dict.fromkeys(language for direction in bundle.tokenizers.directions for language in direction)
    return (
        f"---\nlicense: {remote.license or 'unknown'}\nlanguage: [{', '.join(languages)}]\nlibrary_name: dragoman\n"
        f"pipeline_tag: translation\n---\n\n# {local_name(name)}\n\n{remote.title}, from {remote.page}, read by "
        f"`dragoman get {name}`: {bundle.describe()}.\n"
    )
