"""The packages of Argos Translate, by their public index; ARGOS_PACKAGE_INDEX may name a mirror, as for Argos."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from dragoman.imports.argos import SUFFIX
from dragoman.imports.download import RemoteFile, fetch_file, fetch_json
from dragoman.imports.language_pairs import nearby_pairs, read_pair
from dragoman.imports.remote import NetworkError, Progress, RemoteModel

#: The folder of `index.json`.
_INDEX = "https://raw.githubusercontent.com/argosopentech/argospm-index/main/"
_PAGE = "https://www.argosopentech.com/argospm/index/"
_VERSION = re.compile(r"\d{1,9}(\.\d{1,9}){0,3}")


def find_argos_model(pair: str) -> RemoteModel:
    """Return the newest package of a direction, such as "en-de".

    Raises:
        ConfigError: it is no pair of languages.
        NetworkError: the index cannot be read, or has no such direction.
    """
    source, target = read_pair(pair, "argos")
    address = f"{os.environ.get('ARGOS_PACKAGE_INDEX', _INDEX).rstrip('/')}/index.json"
    listed = fetch_json(address)
    try:
        packages = [each for each in listed if each.get("type", "translate") == "translate"]
        found = [each for each in packages if (each["from_code"], each["to_code"]) == (source, target)]
        if not found:
            pairs = [f"{each['from_code']}-{each['to_code']}" for each in packages]
            advice = nearby_pairs(pairs, source, target)
            raise NetworkError(f"Argos has no package from {source} to {target}", address, advice=advice)
        version, links = max((_version(each["package_version"]), each["links"]) for each in found)
        url = next(link for link in links if urlsplit(link).scheme in ("https", "http"))
    except (KeyError, TypeError, AttributeError, ValueError, StopIteration):
        raise NetworkError("the index of Argos has another form than is known here", address) from None
    name = ".".join(map(str, version))
    return RemoteModel(
        title=f"Argos {pair} {name}",
        page=_PAGE,
        license=None,
        n_bytes=None,
        languages=(None, None),  # the package has them, as codes that people know
        is_hashed=False,
        fetch=partial(_fetch, RemoteFile(f"{pair}-{name}{SUFFIX}", url)),
    )


def _version(text: str) -> tuple[int, ...]:
    if not _VERSION.fullmatch(text):
        raise ValueError
    return tuple(map(int, text.split(".")))


def _fetch(file: RemoteFile, folder: Path, progress: Progress) -> None:
    """Fetch a package in place of other versions, which an earlier call may have left."""
    for path in folder.glob(f"*{SUFFIX}"):
        if path.name != file.name:
            path.unlink()
    fetch_file(file, folder, progress)
