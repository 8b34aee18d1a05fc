"""Files from the network by HTTP: continued where they broke off, compared with their hashes, whole or not there.

Python's own client is used, which keeps to the usual variables for proxies (https_proxy, no_proxy).
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.errors import disk_errors
from dragoman.imports.compressed_files import content_hash
from dragoman.imports.remote import NetworkError, Progress
from dragoman.machine.files import temporary

#: Bytes that are read at once, seconds without a byte after which a connection counts as lost, and tries of a file.
_CHUNK, _TIMEOUT, _TRIES = 1 << 18, 30.0, 4
#: The largest list and the largest file that are fetched.
_MOST_LIST_BYTES, _MOST_BYTES = 10_000_000, 20_000_000_000
_LOST = (OSError, http.client.HTTPException)
#: Answers that a later try may better.
_TEMPORARY = (408, 429, 500, 502, 503, 504)
#: All that an address may lead to: Python's usual client would follow a redirection to ftp, too.
_HANDLERS = (
    urllib.request.ProxyHandler,
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPRedirectHandler,
    urllib.request.HTTPDefaultErrorHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.UnknownHandler,
)


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
    try:
        with closing(_opened(url)) as answer:
            content = answer.read(_MOST_LIST_BYTES + 1)
    except _LOST as error:
        raise NetworkError(_lost(error), url, advice="check the network, and run it again") from None
    if len(content) > _MOST_LIST_BYTES:
        raise NetworkError(f"a list of more than {_MOST_LIST_BYTES:,} bytes", url, advice="check the address")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise NetworkError("what is there is no JSON", url, advice="try again later") from None


def fetch_file(file: RemoteFile, folder: Path, progress: Progress) -> None:
    """Fetch a file into a folder, unless it is there.

    The part that an earlier call has left is continued if the file has a hash, which tells if both parts fit.

    Raises:
        NetworkError: it cannot be fetched, or is not the file that it should be; its part is kept, or removed.
        ResourceError: the disk is full; the part is kept.
    """
    path = folder / file.name
    part = temporary(path)
    if path.is_file() and _problem(file, path) is None:
        progress(path.stat().st_size)
        return
    if file.sha256 is None:
        part.unlink(missing_ok=True)
    progress(_size(part))
    for number in range(_TRIES):
        try:
            _continue(file, part, progress)
            break
        except _LOST as error:
            if number + 1 == _TRIES:
                kept = "; what has come is kept" if file.sha256 else ""
                advice = f"check the network, and run it again{kept}"
                raise NetworkError(_lost(error), file.url, advice=advice) from None
            time.sleep(0.2 * 4**number)
    if (problem := _problem(file, part)) is not None:
        part.unlink()
        raise NetworkError(problem, file.url, advice="run it again; if it stays so, do not use this model")
    with disk_errors(path):
        part.replace(path)


def _continue(file: RemoteFile, part: Path, progress: Progress) -> None:
    """Fetch the rest of a file into its part.

    Raises:
        OSError, HTTPException: the connection was lost.
    """
    there = _size(part)
    if there and there == file.n_bytes:
        return
    with closing(_opened(file.url, there)) as answer, disk_errors(part):
        is_rest = answer.status == http.client.PARTIAL_CONTENT
        if is_rest and not answer.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
            part.unlink(missing_ok=True)
            progress(-there)
            raise http.client.HTTPException("another part came than was asked for")
        if not is_rest:
            progress(-there)
        with open(part, "ab" if is_rest else "wb") as output:
            while output.tell() <= _limit(file) and (chunk := _read(answer)):
                output.write(chunk)
                progress(len(chunk))
    is_missing = answer.length and _size(part) <= _limit(file)  # the server has promised more
    if is_missing:
        raise http.client.IncompleteRead(b"", answer.length)


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _limit(file: RemoteFile) -> int:
    """Return the most bytes that a file may have."""
    return _MOST_BYTES if file.n_bytes is None else min(file.n_bytes, _MOST_BYTES)


def _lost(error: Exception) -> str:
    """Return what is wrong with a connection."""
    return f"no connection, or it broke off ({getattr(error, 'reason', error)})"


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
    headers = {"User-Agent": "dragoman"} | ({"Range": f"bytes={first}-"} if first else {})
    client = urllib.request.OpenerDirector()
    for handler in _HANDLERS:
        client.add_handler(handler())
    try:
        answer: http.client.HTTPResponse = client.open(urllib.request.Request(url, headers=headers), timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and first:
            return _opened(url)
        if error.code in _TEMPORARY:
            raise ConnectionError(f"{error.code} {error.reason}") from None
        raise NetworkError(f"the server answers {error.code} {error.reason}", url, advice="check the name") from None
    except (ValueError, urllib.error.URLError) as error:
        if isinstance(reason := getattr(error, "reason", ""), str):  # an address that is none, or one of ftp
            problem = f"not an address of the web{f' ({reason})' if reason else ''}"
            raise NetworkError(problem, url, advice="it begins with https://") from None
        raise
    return answer


def _problem(file: RemoteFile, path: Path) -> str | None:
    """Say why a file on the disk is not the one that it should be; None if nothing is wrong."""
    size = path.stat().st_size
    if size > _limit(file):
        return f"more than {_limit(file):,} bytes came"
    if file.n_bytes is not None and size < file.n_bytes:
        return f"{size:,} bytes came instead of {file.n_bytes:,}"
    if file.sha256 is not None and content_hash(path) != file.sha256:
        return "its hash is not the published one"
    return None
