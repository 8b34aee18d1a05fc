"""The models of Firefox, by Mozilla's public list; DRAGOMAN_FIREFOX_MODELS may name a mirror of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from dragoman.imports.download import RemoteFile, fetch_file, fetch_json
from dragoman.imports.language_pairs import nearby_pairs, read_pair
from dragoman.imports.remote import NetworkError, Progress, RemoteModel

LIST = "https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data/db/models.json"
_PAGE = "https://github.com/mozilla/translations"
#: The files of a model, by the list's names: one vocabulary, or one for each side.
_PARTS = ("model", "lexicalShortlist", "vocab", "srcVocab", "trgVocab")
_FILE_NAME, _HASH = re.compile(r"\w[\w.-]*"), re.compile(r"[0-9a-fA-F]{64}")
#: The states of models that are taken, the best first.
_RELEASED = ("Release", "Release Desktop", "Release Android", "Nightly")


def find_firefox_model(pair: str) -> RemoteModel:
    """Return the best released model of a direction, such as "en-de".

    Raises:
        ConfigError: it is no pair of languages.
        NetworkError: the list cannot be read, or has no such direction.
    """
    source, target = read_pair(pair, "firefox")
    address = os.environ.get("DRAGOMAN_FIREFOX_MODELS", LIST)
    listed = fetch_json(address)
    try:
        base, models = str(listed["baseUrl"]).rstrip("/"), listed["models"]
        published = models.get(pair, [])
        released = [model for status in _RELEASED for model in published if model.get("releaseStatus") == status]
        if not released:
            raise NetworkError(
                f"Firefox has no model from {source} to {target}", advice=nearby_pairs(models, source, target)
            )
        chosen = released[0]
        files = [_file(base, chosen["files"][part]) for part in _PARTS if chosen["files"].get(part)]
        if len({file.name for file in files}) < len(files):
            raise ValueError
        title = f"Firefox {pair} ({chosen.get('architecture', 'of an unknown architecture')})"
    except (KeyError, TypeError, AttributeError, ValueError):
        raise NetworkError("Firefox's list of models has another form than is known here", address) from None
    sizes = [file.n_bytes for file in files]
    return RemoteModel(
        title=title,
        page=_PAGE,
        license="MPL-2.0",
        n_bytes=sum(size for size in sizes if size is not None) if None not in sizes else None,
        languages=(source, target),
        is_hashed=all(file.sha256 for file in files),
        fetch=partial(_fetch, files),
    )


def _file(base: str, entry: Mapping[str, Any]) -> RemoteFile:
    path, size, digest = PurePosixPath(entry["path"]), entry.get("size"), entry.get("uncompressedHash")
    is_size = size is None or (type(size) is int and size >= 0)
    is_hash = digest is None or _HASH.fullmatch(digest)
    if not (_FILE_NAME.fullmatch(path.name) and is_size and is_hash):
        raise ValueError
    return RemoteFile(path.name, f"{base}/{quote(str(path))}", size, digest and digest.lower())


def _fetch(files: list[RemoteFile], folder: Path, progress: Progress) -> None:
    for file in files:
        fetch_file(file, folder, progress)
