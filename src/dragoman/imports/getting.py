"""Get a model by its name: found, fetched, read, and kept as a bundle among the named models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.bundle.named_models import REMOTE_NAMES, downloads, local_name, remote_source
from dragoman.bundle.weights import StoredPrecision
from dragoman.errors import BundleError, ConfigError, DragomanError, RunFolderError, disk_errors
from dragoman.imports.argos_models import find_argos_model
from dragoman.imports.firefox_models import find_firefox_model
from dragoman.imports.hub_models import find_hub_model
from dragoman.imports.kinds import kind_of
from dragoman.imports.remote import Progress, RemoteModel
from dragoman.machine.files import require_space
from dragoman.machine.locks import lock_folder
from dragoman.text.languages import Languages

#: How a model is found at each source of `REMOTE_NAMES`, by its name there.
SOURCES: dict[str, Callable[[str], RemoteModel]] = {
    "hf": find_hub_model,
    "firefox": find_firefox_model,
    "argos": find_argos_model,
}


def find_remote(name: str, *, is_offline: bool = False) -> RemoteModel:
    """Return the model of a name: "opus-mt-en-de", "hf:OWNER/MODEL", "firefox:en-de" or "argos:en-de".

    Raises:
        ConfigError: no name is like this.
        DragomanError: the network is forbidden, by `is_offline` or by HF_HUB_OFFLINE.
        NetworkError: there is no such model, or its publisher cannot be asked.
    """
    if (found := remote_source(name)) is None:
        advice = f"names are {', '.join(REMOTE_NAMES.values())}"
        raise ConfigError(f"no source of models has a name like {name!r}", advice=advice)
    if is_offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        what = "--offline" if is_offline else "HF_HUB_OFFLINE"
        raise DragomanError(f"{name} is not here, and {what} forbids the network", advice=f"run it without {what}")
    source, rest = found
    return SOURCES[source](rest)


def get_model(
    name: str, remote: RemoteModel, precision: StoredPrecision, languages: Languages, progress: Progress
) -> tuple[Path, Bundle]:
    """Fetch a model and keep it as a bundle; an interrupted call is continued by the next one.

    Returns:
        its folder, and the bundle.

    Raises:
        BundleError: it is of no kind that is read, or damaged; what was fetched is removed.
        NetworkError, ResourceError: it cannot be fetched or kept; what has come is continued by the next call.
        RunFolderError: another process fetches it, or its folder is there and has no whole model.
    """
    folder = downloads() / local_name(name)
    if folder.exists():
        raise RunFolderError("there already, and no whole model", folder, advice="remove this folder")
    fetched = folder.with_name(f".{folder.name}.files")
    try:
        with lock_folder(fetched):
            bundle = _fetch(remote, fetched, languages, progress)
            write_bundle(folder, bundle, precision, _card(name, remote, bundle))
    except BundleError:  # of these files there will never be a model
        shutil.rmtree(fetched, ignore_errors=True)
        raise
    shutil.rmtree(fetched, ignore_errors=True)
    return folder, bundle


def _fetch(remote: RemoteModel, folder: Path, languages: Languages, progress: Progress) -> Bundle:
    if remote.n_bytes is not None:
        there = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        require_space(folder, remote.n_bytes - there)
    with disk_errors(folder):
        remote.fetch(folder, progress)
    codes = languages[0] or remote.languages[0], languages[1] or remote.languages[1]
    return kind_of(folder).read(folder, codes)


def _card(name: str, remote: RemoteModel, bundle: Bundle) -> str:
    languages = dict.fromkeys(language for direction in bundle.tokenizers.directions for language in direction)
    return (
        f"---\nlicense: {remote.license or 'unknown'}\nlanguage: [{', '.join(languages)}]\nlibrary_name: dragoman\n"
        f"pipeline_tag: translation\n---\n\n# {local_name(name)}\n\n{remote.title}, from {remote.page}, read by "
        f"`dragoman get {name}`: {bundle.describe()}.\n"
    )
