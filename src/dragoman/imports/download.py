"""Files from the network by HTTP: continued where they broke off, compared with their hashes, whole or not there.

Python's own client is used, which keeps to the usual variables for proxies (https_proxy, no_proxy).
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from dragoman.errors import disk_errors
from dragoman.imports.remote import NetworkError, Progress

#: Bytes that are read at once, seconds without a byte after which a connection counts as lost, and tries of a file.
_CHUNK, _TIMEOUT, _TRIES = 1 << 18, 30.0, 4
#: The largest list and the largest file that are fetched.
_MOST_LIST_BYTES, _MOST_BYTES = 50_000_000, 20_000_000_000
_LOST = (OSError, http.client.HTTPException)
#: Answers that a later try may better.
_TEMPORARY = (408, 429, 500, 502, 503, 504)


@dataclass(frozen=True)
class RemoteFile:
    """A file on the network.

    Args:
        name: in the folder.
        sha256: of its content, in hexadecimal, after it is unpacked if the name ends in .gz; None if unknown.
    """

    name: str
    url: str
    n_bytes: int | None = None
    sha256: str | None = None


def fetch_json(url: str) -> Any:
    """Return the JSON at an address.

    Raises:
        NetworkError: it cannot be fetched, or is no JSON.
    """
    with closing(_opened(url)) as answer:
        try:
            content = answer.read(_MOST_LIST_BYTES + 1)
            if len(content) > _MOST_LIST_BYTES:
                raise NetworkError(f"a list of more than {_MOST_LIST_BYTES:,} bytes", url)
            return json.loads(content)
        except (ValueError, RecursionError):
            raise NetworkError("what is there is no JSON", url, advice="try again later") from None
        except _LOST as error:
            raise NetworkError(f"the connection broke off ({error})", url, advice="run it again") from None


def fetch_file(file: RemoteFile, folder: Path, progress: Progress) -> None:
    """Fetch a file into a folder, unless it is there; a part that is there is continued.

    Raises:
        NetworkError: it cannot be fetched, or is not the file that it should be; its part is kept, or removed.
        ResourceError: the disk is full; the part is kept.
    """
    path, part = folder / file.name, folder / f"{file.name}.part"
    if path.is_file():
        progress(path.stat().st_size)
        return
    for number in range(_TRIES):
        try:
            _continue(file, part, progress)
            break
        except _LOST as error:
            if number + 1 == _TRIES:
                advice = "run it again; what has come is kept"
                raise NetworkError(f"the connection broke off ({error})", file.url, advice=advice) from None
            time.sleep(0.2 * 4**number)
    _compare(file, part)
    with disk_errors(path):
        part.replace(path)


def _continue(file: RemoteFile, part: Path, progress: Progress) -> None:
    """Fetch the rest of a file into its part.

    Raises:
        OSError, HTTPException: the connection was lost.
    """
    there = part.stat().st_size if part.is_file() else 0
    if there and there == file.n_bytes:
        return
    with closing(_opened(file.url, there)) as answer, disk_errors(part):
        is_rest = answer.status == http.client.PARTIAL_CONTENT
        with open(part, "ab" if is_rest else "wb") as output:
            progress(there if is_rest else 0)
            _copy(answer, output, progress)
    if answer.length:  # the server has promised more
        raise http.client.IncompleteRead(b"", answer.length)


def _copy(answer: http.client.HTTPResponse, output: BinaryIO, progress: Progress) -> None:
    n_bytes = output.tell()
    while chunk := _read(answer):
        output.write(chunk)
        progress(len(chunk))
        if (n_bytes := n_bytes + len(chunk)) > _MOST_BYTES:
            raise NetworkError(f"a file of more than {_MOST_BYTES:,} bytes", output.name)


def _read(answer: http.client.HTTPResponse) -> bytes:
    """Read some bytes; a lost connection is no fault of the disk."""
    try:
        return answer.read(_CHUNK)
    except OSError as error:
        raise http.client.HTTPException(str(error)) from None


def _opened(url: str, first: int = 0) -> http.client.HTTPResponse:
    """Open an address, from a byte on.

    Raises:
        NetworkError: there is no such address or file.
        OSError, HTTPException: the server cannot be reached, or answers nonsense; a later try may do.
    """
    if urlsplit(url).scheme not in ("https", "http"):
        raise NetworkError("not an address of the web", url)
    headers = {"User-Agent": "dragoman"} | ({"Range": f"bytes={first}-"} if first else {})
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(
            urllib.request.Request(url, headers=headers), timeout=_TIMEOUT
        )
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and first:
            return _opened(url)
        if error.code in _TEMPORARY:
            raise ConnectionError(f"{error.code} {error.reason}") from None
        raise NetworkError(f"the server answers {error.code} {error.reason}", url, advice="check the name") from None
    return answer


def _compare(file: RemoteFile, part: Path) -> None:
    """Remove a part that is not the file that it should be.

    Raises:
        NetworkError: its size or its hash is another one.
    """
    problem = None
    if file.n_bytes is not None and part.stat().st_size != file.n_bytes:
        problem = f"{part.stat().st_size:,} bytes came instead of {file.n_bytes:,}"
    elif file.sha256 is not None and _hash(part, file.name.endswith(".gz")) != file.sha256:
        problem = "its hash is not the published one"
    if problem is not None:
        part.unlink()
        raise NetworkError(problem, file.url, advice="run it again; if it stays so, do not use this model")


def _hash(path: Path, is_packed: bool) -> str | None:
    """Return the SHA-256 of a file's content; None if it cannot be unpacked."""
    total = hashlib.sha256()
    try:
        with gzip.open(path) if is_packed else open(path, "rb") as file:
            for chunk in _chunks(file):
                total.update(chunk)
    except (OSError, EOFError, zlib.error):
        return None
    return total.hexdigest()


def _chunks(file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    n_bytes = 0
    while chunk := file.read(_CHUNK):
        n_bytes += len(chunk)
        if n_bytes > _MOST_BYTES:
            raise EOFError
        yield chunk
