"""The models of Firefox, by Mozilla's public list; DRAGOMAN_FIREFOX_MODELS may name a mirror of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from dragoman.errors import DragomanError
from dragoman.imports.download import RemoteFile, fetch_file, fetch_json
from dragoman.imports.remote import NetworkError, Progress, RemoteModel, language_pair

LIST = "https://storage.googleapis.com/moz-fx-translations-data--303e-prod-translations-data/db/models.json"
_PAGE = "https://github.com/mozilla/translations"
#: The files of a model, by the list's names: one vocabulary, or one for each side.
_PARTS = ("model", "lexicalShortlist", "vocab", "srcVocab", "trgVocab")
_RELEASED = ("Release", "Release Desktop", "Release Android", "Nightly")


def find_firefox_model(pair: str) -> RemoteModel:
    """Return the best released model of a direction, such as "en-de".

    Raises:
        ConfigError: it is no pair of languages.
        NetworkError: the list cannot be read, or has no such direction.
    """
    languages = language_pair(pair, "firefox:en-de")
    listed = fetch_json(os.environ.get("DRAGOMAN_FIREFOX_MODELS", LIST))
    try:
        base, models = str(listed["baseUrl"]).rstrip("/"), listed["models"]
        choices = {
            status: model for model in reversed(models.get("-".join(languages), [])) for status in _status(model)
        }
        chosen = next((choices[status] for status in _RELEASED if status in choices), None)
        if chosen is None:
            raise NetworkError(
                f"Firefox has no model from {languages[0]} to {languages[1]}", advice=_near(models, pair)
            )
        files = [_file(base, chosen["files"][part]) for part in _PARTS if chosen["files"].get(part)]
        title = f"Firefox {pair} ({chosen.get('architecture', 'of an unknown architecture')})"
    except DragomanError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError):
        raise NetworkError("Firefox's list of models has another form than is known here", LIST) from None
    sizes = [file.n_bytes for file in files]
    return RemoteModel(
        title=title,
        page=_PAGE,
        license="MPL-2.0",
        n_bytes=sum(size for size in sizes if size is not None) if None not in sizes else None,
        languages=languages,
        is_hashed=all(file.sha256 for file in files),
        fetch=partial(_fetch, files),
    )


def _status(model: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(status := model.get("releaseStatus"), str):
        yield status


def _file(base: str, entry: Mapping[str, Any]) -> RemoteFile:
    path = PurePosixPath(entry["path"])
    size, digest = entry.get("size"), entry.get("uncompressedHash")
    return RemoteFile(path.name, f"{base}/{path}", size if isinstance(size, int) else None, digest)


def _near(models: Mapping[str, Any], pair: str) -> str:
    near = sorted(name for name in models if {*name.split("-")} & {*pair.split("-")} - {"en"})
    return f"with one of the two it has {', '.join(near)}" if near else "it has none with these languages"


def _fetch(files: list[RemoteFile], folder: Path, progress: Progress) -> None:
    for file in files:
        fetch_file(file, folder, progress)
