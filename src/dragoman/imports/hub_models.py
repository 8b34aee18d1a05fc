"""Models of the Hugging Face hub, which the package `huggingface_hub` fetches; HF_ENDPOINT may name a mirror."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError
from dragoman.imports.remote import NetworkError, Progress, RemoteModel
from dragoman.machine.files import sha256

#: Files that readers of transformers' folders know. Weights in safetensors come before those in PyTorch's format.
_SMALL = re.compile(r"[^/]+\.json|(source|target)\.spm|[^/]*\.bpe\.model|spiece\.model|README\.md")
_SAFE, _PICKLED = re.compile(r"model[^/]*\.safetensors"), re.compile(r"pytorch_model[^/]*\.bin")


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
    sizes = {file.rfilename: file.size for file in info.siblings}
    hashes = {file.rfilename: file.lfs.sha256 for file in info.siblings if file.lfs is not None}
    weights = [name for name in sizes if _SAFE.fullmatch(name)] or [name for name in sizes if _PICKLED.fullmatch(name)]
    if not weights:
        raise NetworkError(
            "the model has no weights that are read", repository, advice="choose one with model.safetensors"
        )
    names = [name for name in sizes if _SMALL.fullmatch(name)] + weights
    licenses = (getattr(info.card_data, name, None) for name in ("license_name", "license"))
    license = next((each for each in licenses if each), None)
    return RemoteModel(
        title=f"{repository}, {info.sha[:8]}",
        page=f"{_endpoint()}/{repository}",
        license=None if license is None else " ".join(str(license).split()),  # a line, whatever its owner wrote
        n_bytes=sum(sizes[name] for name in names) if all(sizes[name] is not None for name in names) else None,
        languages=(None, None),
        is_hashed=hashes.keys() >= {*weights},
        fetch=partial(_fetch, repository, info.sha, {name: hashes.get(name) for name in names}),
    )


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def _info(repository: str) -> Any:
    from huggingface_hub import HfApi

    try:
        return HfApi(endpoint=_endpoint()).model_info(repository, files_metadata=True)
    except Exception as error:  # of the library, and of the one below it
        raise _network_error(error, repository) from None


def _fetch(repository: str, revision: str, files: dict[str, str | None], folder: Path, progress: Progress) -> None:
    """Fetch files, and compare those whose hashes are known.

    Raises:
        NetworkError: a file cannot be fetched, or is not the file that it should be.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()
    try:
        snapshot_download(
            repository, revision=revision, local_dir=folder, allow_patterns=[*files], endpoint=_endpoint()
        )
    except Exception as error:
        raise _network_error(error, repository) from None
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise NetworkError(f"{name} did not come", repository, advice="run it again")
        if expected is not None and sha256(path) != expected:
            path.unlink()
            raise NetworkError(f"the hash of {name} is not the published one", repository, advice="run it again")


def _network_error(error: Exception, repository: str) -> Exception:
    """Return an error of the library as one of ours, in its own first words; a full disk stays what it is."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    words = " ".join(str(error).split()) or type(error).__name__
    kinds = {"RepositoryNotFoundError": "there is no such model, or it is private", "GatedRepoError": "it is gated"}
    problem = kinds.get(type(error).__name__, f"the hub cannot be asked ({words[:200]})")
    return NetworkError(problem, repository, advice="check the name and the network")
