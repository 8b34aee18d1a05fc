"""The one room that writes files which must survive a crash.

A folder is saved in this order, so that after a crash at any point either the old or the new state is there:
write `.dragoman-<name>/`, flush each file to disk, write the manifest (size and SHA-256 of each file, and a hash of
itself), flush it and the folder, rename once to `<name>/`, flush the parent.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from dragoman.errors import BundleError, ResourceError, RunFolderError, disk_errors
from dragoman.machine.locks import require_held

MANIFEST = "MANIFEST.json"
POINTER_LIMIT = 4096
#: Bytes of a JSON file that holds no words; reading one takes up to 25 times its size.
JSON_LIMIT = 200_000
#: How the names of files and folders begin that are not whole yet; no name of a person's does.
TEMPORARY = ".dragoman-"


def temporary(path: Path) -> Path:
    """Where a file or folder is written before it gets its name."""
    return path.with_name(f"{TEMPORARY}{path.name}")


def _flush_file(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Make renames and new names in `folder` durable. Windows has no such call, and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, content: bytes) -> None:
    """Replace the file `path` by `content`, wholly or not at all.

    Raises:
        ResourceError: the disk is full.
        RunFolderError: the file cannot be written for another reason.
    """
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace the file `path` by `pieces` in a row, as `write_file` does, without holding all of them.

    Raises:
        ResourceError, RunFolderError: as `write_file`.
    """
    unfinished = temporary(path)
    require_held(path)
    with disk_errors(path):
        try:
            with open(unfinished, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                _flush_file(file)
            require_held(path)
            os.replace(unfinished, path)
        except BaseException:
            with contextlib.suppress(RunFolderError):  # of another's folder, nothing is removed
                require_held(path)
                unfinished.unlink(missing_ok=True)
            raise
        _flush_folder(path.parent)


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
    """Refuse to begin what would not fit on the disk.

    Raises:
        ResourceError: less than `n_bytes` are free.
    """
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise ResourceError(
            f"no space left on the device ({n_bytes:,} bytes needed, {free:,} free)",
            folder,
            advice="free some space and run it again",
        )


def to_json(value: Any) -> bytes:
    """JSON as this project writes it: sorted keys, indented, so that equal values are equal bytes."""
    return (json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _self_hash(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(to_json({key: value for key, value in manifest.items() if key != "self"})).hexdigest()


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
        entries: dict[str, dict[str, Any]] = {}
        for path in sorted(path for path in unfinished.rglob("*") if path.is_file()):
            with open(path, "r+b") as file:
                os.fsync(file.fileno())
            name = path.relative_to(unfinished).as_posix()
            entries[name] = {"size": path.stat().st_size, "sha256": sha256(path)}
        manifest = {**(facts or {}), "files": entries}
        for inner in sorted(path for path in unfinished.rglob("*") if path.is_dir()):
            _flush_folder(inner)
        write_file(unfinished / MANIFEST, to_json({**manifest, "self": _self_hash(manifest)}))  # flushes the folder too
        require_held(folder)
        os.rename(unfinished, folder)
        _flush_folder(folder.parent)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; what cannot be removed is left.

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
        advice: for whoever lost a file.
        editable: the files that people may change or remove.
        limits: the files that will be read, and the most bytes each may have; of others only the size is compared, and
            none of them is opened. None: all files are read, whatever their sizes.

    Raises:
        BundleError: the manifest is missing or damaged, or a file differs from it in size or SHA-256, or is missing, or
            is larger than its limit.
    """
    manifest = read_json(folder / MANIFEST)
    try:
        canonical = _read_at_most(folder / MANIFEST, JSON_LIMIT) == to_json(manifest)
        files = {name: (entry["size"], entry["sha256"]) for name, entry in manifest["files"].items()}
        typed = all(type(size) is int and isinstance(digest, str) for size, digest in files.values())
        whole = canonical and typed and manifest["self"] == _self_hash(manifest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise BundleError("the manifest is damaged", folder / MANIFEST, advice=advice)
    for name, (size, digest) in files.items():
        if name in editable:
            continue
        if Path(name).is_absolute() or ".." in Path(name).parts:
            what = f"the manifest names a file outside the folder ({name!r})"
            raise BundleError(what, folder / MANIFEST, advice=advice)
        is_read = limits is None or name in limits
        limit = limits[name] if limits is not None and is_read else None
        _verify_file(folder / name, size, digest if is_read else None, limit, advice)
    return manifest


def _verify_file(path: Path, size: int, digest: str | None, limit: int | None, advice: str) -> None:
    """Compare a file with its entry in the manifest; its content only if there is a digest."""
    try:
        there = path.is_file() and not path.is_symlink()
        found = path.stat().st_size if there else 0
        if limit is not None and found > limit:
            raise BundleError(f"larger than {limit:,} bytes", path, advice="use another copy")
        same = there and found == size and (digest is None or sha256(path) == digest)
    except OSError as error:
        raise BundleError(f"cannot be read ({error.strerror})", path, advice="use another copy") from None
    if not there:
        raise BundleError("a file of the manifest is missing", path, advice=advice)
    if not same:
        raise BundleError("the file differs from its SHA-256 in the manifest", path, advice=advice)


def _read_at_most(path: Path, limit: int) -> bytes:
    """The content of a file of up to `limit` bytes.

    Raises:
        ValueError: it has more; files of the system do not tell how long they are.
    """
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return content


def read_json(path: Path, limit: int = JSON_LIMIT) -> dict[str, Any]:
    """Read a JSON object that this project wrote.

    Raises:
        BundleError: the file is missing, unreadable, a link, larger than `limit` bytes, or not a JSON object; or a key
            is there twice.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise BundleError("not a regular file", path, advice="use another copy")
        if path.exists() and path.stat().st_size > limit:
            raise BundleError(f"larger than {limit:,} bytes", path, advice="use another copy")
        value = json.loads(
            _read_at_most(path, limit).decode(), object_pairs_hook=without_duplicates, parse_constant=_not_a_number
        )
    except FileNotFoundError:
        raise BundleError("file not found", path, advice="is this the right folder?") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BundleError(f"not readable as JSON ({error})", path, advice="use another copy") from None
    if not isinstance(value, dict):
        raise BundleError("not a JSON object", path, advice="use another copy")
    return value


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object of these pairs; a ValueError if a key is there twice.

    Python would take the last of two equal keys, and others may take the first.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is there twice")
    return value


def _not_a_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def set_pointer(pointer: Path, target: Path) -> None:
    """Let the name `pointer` mean the folder `target`, in one step: a relative link where the system has links,
    else a small file that holds the relative path."""
    relative = os.path.relpath(target, pointer.parent)
    unfinished = temporary(pointer)
    require_held(pointer)
    with disk_errors(pointer):
        _put_aside(pointer)
        unfinished.unlink(missing_ok=True)
        try:
            os.symlink(relative, unfinished, target_is_directory=True)
        except (OSError, NotImplementedError):
            write_file(pointer, relative.encode())
            return
        os.replace(unfinished, pointer)
        _flush_folder(pointer.parent)


def remove_pointer(pointer: Path) -> None:
    """Let the name `pointer` mean nothing."""
    require_held(pointer)
    with disk_errors(pointer):
        _put_aside(pointer)
        pointer.unlink(missing_ok=True)


def _put_aside(pointer: Path) -> None:
    """Rename a real folder in the place of a pointer, which a copy that follows links leaves there. Nothing in it is
    lost: it may be the only whole one."""
    if pointer.is_dir() and not pointer.is_symlink():
        names = (pointer.with_name(f"copied-{pointer.name}{number or ''}") for number in itertools.count())
        pointer.rename(next(name for name in names if not name.exists()))


def read_pointer(pointer: Path) -> Path:
    """The folder that `pointer` names; a real folder names itself."""
    if pointer.is_file() and pointer.stat().st_size <= POINTER_LIMIT:
        return pointer.parent / pointer.read_text(encoding="utf-8")
    return pointer.resolve()
