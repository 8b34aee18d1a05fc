"""The packages of Argos Translate, by its public index; ARGOS_PACKAGE_INDEX may name another, as for Argos itself."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from dragoman.imports.download import RemoteFile, fetch_file, fetch_json
from dragoman.imports.remote import NetworkError, Progress, RemoteModel, language_pair

INDEX = "https://raw.githubusercontent.com/argosopentech/argospm-index/main/"


def find_argos_model(pair: str) -> RemoteModel:
    """Return the newest package of a direction, such as "en-de".

    Raises:
        ConfigError: it is no pair of languages.
        NetworkError: the index cannot be read, or has no such direction.
    """
    source, target = language_pair(pair, "argos:en-de")
    address = os.environ.get("ARGOS_PACKAGE_INDEX", INDEX).rstrip("/")
    listed = fetch_json(address if address.endswith(".json") else f"{address}/index.json")
    try:
        found = [
            (_version(entry["package_version"]), entry)
            for entry in listed
            if entry.get("from_code") == source and entry.get("to_code") == target
        ]
        if not found:
            raise NetworkError(f"Argos has no package from {source} to {target}", advice="see its list of languages")
        _, chosen = max(found, key=lambda each: each[0])
        url = next(link for link in chosen["links"] if link.startswith(("https://", "http://")))
        title = f"Argos {pair} {chosen['package_version']}"
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration):
        raise NetworkError("the index of Argos has another form than is known here", address) from None
    file = RemoteFile("package.argosmodel", url)
    return RemoteModel(
        title=title,
        page="https://www.argosopentech.com/argospm/index/",
        license=None,
        n_bytes=None,
        languages=(source, target),
        is_hashed=False,
        fetch=partial(_fetch, file),
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _fetch(file: RemoteFile, folder: Path, progress: Progress) -> None:
    fetch_file(file, folder, progress)
