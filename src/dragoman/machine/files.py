"""Files that survive a crash: written whole or not at all.

A file is written under a temporary name, flushed to disk and renamed; then the folder with its new name is flushed.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from dragoman.errors import ResourceError, RunFolderError, disk_errors
from dragoman.machine.locks import require_held

#: Prefix of files and folders that are not complete yet. No file of a user has it.
TEMPORARY = ".dragoman-"


def temporary(path: Path) -> Path:
    """Return the path under which a file or folder is written before it gets its name."""
    return path.with_name(f"{TEMPORARY}{path.name}")


def flush_folder(folder: Path) -> None:
    """Make renames and new names in `folder` durable, if it may be read. Windows has no such call, and needs none."""
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder in which one may only write
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def whole_file(path: Path, unfinished: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file to write. It replaces the file `path` when it is complete, and then survives a power loss.

    Args:
        unfinished: its path until then; default: that of `temporary`.

    Raises:
        LostFolderError: a folder that this process had locked was taken away.
    """
    unfinished = unfinished or temporary(path)
    require_held(path)
    try:
        with open(unfinished, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        require_held(path)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(RunFolderError):  # another process may own the folder now
            require_held(path)
            unfinished.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def write_file(path: Path, content: bytes) -> None:
    """Replace the file `path` by `content`, wholly or not at all.

    Raises:
        ResourceError: the disk is full.
        RunFolderError: the file cannot be written for another reason.
    """
    write_chunks(path, [content])


def write_chunks(path: Path, chunks: Iterable[bytes]) -> None:
    """Replace the file `path` by the joined `chunks`, as `write_file` does, without holding all of them in RAM.

    Raises:
        ResourceError, RunFolderError: as `write_file`.
    """
    with disk_errors(path), whole_file(path) as file:
        for chunk in chunks:
            file.write(chunk)


def append_file(path: Path, content: bytes) -> None:
    """Add `content` to the end of a file, wholly or not at all.

    Raises:
        ResourceError: the disk is full.
        RunFolderError: the file cannot be written for another reason.
    """
    require_held(path)
    with disk_errors(path), open(path, "ab", buffering=0) as file:
        end = file.tell()
        try:
            if file.write(content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def require_space(folder: Path, n_bytes: int) -> None:
    """Refuse to begin work whose output would not fit on the disk.

    Raises:
        ResourceError: less than `n_bytes` are free.
    """
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        problem = f"no space left on the device ({n_bytes:,} bytes needed, {free:,} free)"
        raise ResourceError(problem, folder, advice="free some space and run it again")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
