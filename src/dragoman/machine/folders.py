"""Folders that survive a crash, with a manifest that shows damage.

A folder is saved in this order, so that after a crash at any point either the old or the new state is there:
write `.dragoman-<name>/`, flush each file to disk, write the manifest (size and SHA-256 of each file, and a hash of
itself), flush it and the folder, rename once to `<name>/`, flush the parent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import BundleError, RunFolderError, disk_errors
from dragoman.machine.files import flush_folder, sha256, temporary, write_file
from dragoman.machine.json_files import JSON_LIMIT, read_at_most, read_json, to_json
from dragoman.machine.locks import require_held

MANIFEST = "MANIFEST.json"


def save_folder(folder: Path, write: Callable[[Path], None], *, facts: Mapping[str, Any] | None = None) -> None:
    """Create `folder` with what `write` puts into it, and a manifest; it appears whole or not at all.

    Args:
        folder: the final name, which must not exist.
        write: is given a temporary folder beside it and fills it with files (folders one level down are allowed).
        facts: further entries of the manifest (step, fingerprints).

    Raises:
        ResourceError: the disk is full; nothing is left behind.
        RunFolderError: the folder exists, or cannot be written for another reason.
    """
    require_held(folder)
    if folder.exists():
        raise RunFolderError("the output exists", folder, advice="choose another one")
    unfinished = temporary(folder)
    with contextlib.ExitStack() as cleanup, disk_errors(folder):
        cleanup.callback(remove_folder, unfinished)
        folder.parent.mkdir(parents=True, exist_ok=True)
        remove_folder(unfinished)
        unfinished.mkdir()
        write(unfinished)
        manifest = {**(facts or {}), "files": _flush_files(unfinished)}
        write_file(unfinished / MANIFEST, to_json({**manifest, "self": self_hash(manifest)}))  # flushes the folder too
        require_held(folder)
        os.rename(unfinished, folder)
        flush_folder(folder.parent)


def _flush_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Flush all files and folders inside `folder`, and return the entry of each file in the manifest."""
    entries: dict[str, dict[str, Any]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with open(path, "r+b") as file:
            os.fsync(file.fileno())
        entries[path.relative_to(folder).as_posix()] = {"size": path.stat().st_size, "sha256": sha256(path)}
    for inner in sorted(path for path in folder.rglob("*") if path.is_dir()):
        flush_folder(inner)
    return entries


def self_hash(manifest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all other entries of a manifest, which is its entry `self`."""
    return hashlib.sha256(to_json({key: value for key, value in manifest.items() if key != "self"})).hexdigest()


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it; leave what cannot be removed.

    Raises:
        LostFolderError: it lies in a locked folder that was taken away.
    """
    require_held(folder)
    shutil.rmtree(folder, ignore_errors=True)


def verify_folder(
    folder: Path,
    advice: str = "use another copy",
    *,
    editable: Container[str] = (),
    limits: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Check every file of `folder` against its manifest and return the manifest.

    Args:
        advice: the way out, for the error.
        editable: the files that people may change or remove.
        limits: the files to read, with the largest size of each in bytes. Of other files only the size is compared.
            None reads all files, whatever their sizes.

    Raises:
        BundleError: the manifest is missing or damaged, or a file differs from it in size or SHA-256, or is missing, or
            is larger than its limit.
    """
    manifest, files = _read_manifest(folder / MANIFEST, advice)
    for name, (size, digest) in files.items():
        if name in editable:
            continue
        if Path(name).is_absolute() or ".." in Path(name).parts:
            problem = f"the manifest names a file outside the folder ({name!r})"
            raise BundleError(problem, folder / MANIFEST, advice=advice)
        is_read = limits is None or name in limits
        limit = limits[name] if limits is not None and is_read else None
        _verify_file(folder / name, size, digest if is_read else None, limit, advice)
    return manifest


def _read_manifest(path: Path, advice: str) -> tuple[dict[str, Any], dict[str, tuple[int, str]]]:
    """Return a manifest that is exactly as it was written, and (size, SHA-256) of each of its files."""
    manifest = read_json(path)
    try:
        files = {name: (entry["size"], entry["sha256"]) for name, entry in manifest["files"].items()}
        is_whole = (
            read_at_most(path, JSON_LIMIT) == to_json(manifest)
            and all(type(size) is int and isinstance(digest, str) for size, digest in files.values())
            and manifest["self"] == self_hash(manifest)
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        is_whole, files = False, {}
    if not is_whole:
        raise BundleError("the manifest is damaged", path, advice=advice)
    return manifest, files


def _verify_file(path: Path, size: int, digest: str | None, limit: int | None, advice: str) -> None:
    """Compare a file with its entry in the manifest; its content only if there is a digest."""
    try:
        exists = path.is_file() and not path.is_symlink()
        actual_size = path.stat().st_size if exists else 0
        if limit is not None and actual_size > limit:
            raise BundleError(f"larger than {limit:,} bytes", path, advice="use another copy")
        is_equal = exists and actual_size == size and (digest is None or sha256(path) == digest)
    except OSError as error:
        raise BundleError(f"cannot be read ({error.strerror})", path, advice="use another copy") from None
    if not exists:
        raise BundleError("a file of the manifest is missing", path, advice=advice)
    if not is_equal:
        raise BundleError("the file differs from its SHA-256 in the manifest", path, advice=advice)
