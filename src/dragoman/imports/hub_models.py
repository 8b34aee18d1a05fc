"""Models of the Hugging Face hub, which the package `huggingface_hub` fetches; HF_ENDPOINT may name a mirror."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.imports.hugging_face_settings import read_stock_config
from dragoman.imports.remote import NetworkError, Progress, RemoteModel
from dragoman.imports.tensor_files import FILES
from dragoman.machine.files import sha256

#: Files that readers of transformers' folders know, weights left out.
_SMALL = re.compile(r"[\w.-]+\.json|(source|target)\.spm|[\w.-]*\.bpe\.model|spiece\.model|README\.md")


def find_hub_model(repository: str) -> RemoteModel:
    """Return a model of the hub.

    Args:
        repository: owner and name, such as "Helsinki-NLP/opus-mt-en-de".

    Raises:
        ConfigError: it is no such name.
        NetworkError: it cannot be found.
    """
    if not re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", repository):
        raise ConfigError(f"{repository!r} is no model of the hub", advice="name owner and model: hf:OWNER/MODEL")
    info = _info(repository)
    if not info.sha or not info.siblings:
        raise NetworkError("the hub does not list its files", repository, advice="choose another model")
    sizes = {file.rfilename: file.size for file in info.siblings}
    hashes = {file.rfilename: file.lfs.sha256 for file in info.siblings if file.lfs is not None}
    weights = chosen_weights(sizes)
    if not weights:
        problem = "the model has no weights that are read"
        raise NetworkError(problem, repository, advice=f"choose one with {' or '.join(FILES)}")
    small = [name for name in sizes if _SMALL.fullmatch(name)]
    names = small + weights
    licenses = (getattr(info.card_data, name, None) for name in ("license_name", "license"))
    license = next((each for each in licenses if each), None)
    return RemoteModel(
        title=f"{repository}, {info.sha[:8]}",
        page=f"{_endpoint()}/{repository}",
        license=None if license is None else " ".join(str(license).split()),  # a line, whatever its owner wrote
        n_bytes=sum(sizes[name] for name in names) if all(sizes[name] is not None for name in names) else None,
        languages=(None, None),
        is_hashed=hashes.keys() >= {*weights},
        fetch=partial(_fetch, repository, info.sha, small, {name: hashes.get(name) for name in weights}),
    )


def chosen_weights(names: Collection[str]) -> list[str]:
    """Return the names of the first form of the weights that a model has: one file, or shards of one."""
    for path in map(Path, FILES):
        if path.name in names:
            return [path.name]
        shard = re.compile(rf"{path.stem}-\d+-of-\d+\{path.suffix}")
        if f"{path.name}.index.json" in names and (shards := [*filter(shard.fullmatch, names)]):
            return shards
    return []


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _info(repository: str) -> Any:
    from huggingface_hub import HfApi

    try:
        return HfApi(endpoint=_endpoint()).model_info(repository, files_metadata=True)
    except Exception as error:  # of the library, and of the one below it
        raise _network_error(error, repository) from None


def _fetch(
    repository: str, revision: str, small: list[str], weights: dict[str, str | None], folder: Path, progress: Progress
) -> None:
    """Fetch files, the weights last and only of a model of a kind that is read; compare those whose hashes are known.

    Raises:
        BundleError: the model is of another kind.
        NetworkError: a file cannot be fetched, or is not the file that it should be.
    """
    _snapshot(repository, revision, small, folder)
    read_stock_config(folder)
    _snapshot(repository, revision, [*weights], folder)
    for name, expected in weights.items():
        if expected is not None and sha256(folder / name) != expected:
            (folder / name).unlink()
            raise NetworkError(f"the hash of {name} is not the published one", repository, advice="run it again")


def _snapshot(repository: str, revision: str, names: list[str], folder: Path) -> None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        snapshot_download(repository, revision=revision, local_dir=folder, allow_patterns=names, endpoint=_endpoint())
    except Exception as error:
        raise _network_error(error, repository) from None
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise NetworkError(f"{missing[0]} did not come", repository, advice="run it again")


def _network_error(error: Exception, repository: str) -> Exception:
    """Return an error of the library as one of ours, in its own first words; a full disk stays what it is."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    words = " ".join(str(error).split()) or type(error).__name__
    kinds = {"RepositoryNotFoundError": "there is no such model, or it is private", "GatedRepoError": "it is gated"}
    problem = kinds.get(type(error).__name__, f"the hub cannot be asked ({words[:200]})")
    return NetworkError(problem, repository, advice="check the name and the network")
