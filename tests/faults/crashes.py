"""The states of a folder after a power failure, given the calls that changed it.

A file system promises only what was flushed: the bytes of a file by fsync of the file, the names in a folder by fsync
of the folder. All else may be there or not. Of the states this allows, `crash_states` builds the extreme ones.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Lost = Literal["nothing", "empty", "zeroed", "half"]
LOSSES: tuple[Lost, ...] = ("nothing", "empty", "zeroed", "half")


@dataclass
class _File:
    content: bytearray = field(default_factory=bytearray)
    flushed: bytes = b""
    named: bool = False  # whether its folder was flushed after it was made


def crash_states(
    log: Sequence[tuple[str, str, Any]], before: Path, place: Path, wanted: Callable[[int], bool]
) -> Iterator[tuple[str, Path]]:
    """Build each state in a new folder below `place`, starting from the folder `before`; (what it is, where it is).

    Of the states, numbered from 0, those are built that are `wanted`.
    """
    number = 0
    for n_done in range(len(log) + 1):
        for lost in LOSSES:
            for names_kept in (True, False):
                if n_done and lost == "nothing" and not names_kept and log[n_done - 1][0] == "write":
                    continue  # names do not change with what is written
                number += 1
                if not wanted(number - 1):
                    continue
                state = place / f"{n_done}-{lost}-{names_kept}"
                shutil.copytree(before, state, symlinks=True)
                _replay(log[:n_done], state, lost, names_kept)
                yield state.name, state
                shutil.rmtree(state)


def _replay(log: Sequence[tuple[str, str, Any]], state: Path, lost: Lost, names_kept: bool) -> None:
    """Do what was done; unflushed bytes are lost in the given way, unflushed names are undone unless `names_kept`."""
    last_flush = {path: number for number, (name, path, _) in enumerate(log) if name == "fsync"}
    files: dict[str, _File] = {}

    def durable(number: int, path: str) -> bool:
        """Return True if the change of a name in a folder was flushed after it was made."""
        return names_kept or last_flush.get(os.path.dirname(path) or ".", -1) > number

    for number, (name, path, argument) in enumerate(log):
        if name == "create":
            files[path] = _File()
        elif name == "write":
            files.setdefault(path, _File()).content += argument
        elif name == "fsync":
            if path in files:
                files[path].flushed = bytes(files[path].content)
            for other, file in files.items():
                file.named = file.named or (os.path.dirname(other) or ".") == path
        elif name == "rename":
            _rename(state, files, path, argument, durable(number, argument))
        elif name == "mkdir":
            (state / path).mkdir(exist_ok=True)
        elif name in ("unlink", "rmdir"):
            files.pop(path, None)
            if durable(number, path):
                _remove(state / path)
        elif name == "symlink":
            _remove(state / path)
            (state / path).symlink_to(argument)
    for path, file in files.items():
        target = state / path
        if target.parent.is_dir() and (file.named or names_kept):
            target.write_bytes(_left(file, lost))


def _rename(state: Path, files: dict[str, _File], source: str, target: str, durable: bool) -> None:
    if not durable:
        return  # the new name never reached the disk; the old one is still there
    moved = {path: file for path, file in files.items() if path == source or path.startswith(source + os.sep)}
    for path in moved:
        del files[path]
    if (state / target).is_symlink() or (state / target).is_file():
        (state / target).unlink()
    if (state / source).is_symlink() or (state / source).exists():
        os.rename(state / source, state / target)
    for path, file in moved.items():
        files[target + path[len(source) :]] = file


def _left(file: _File, lost: Lost) -> bytes:
    unflushed = bytes(file.content[len(file.flushed) :])
    if lost == "nothing":
        return bytes(file.content)
    if lost == "zeroed":
        return file.flushed + bytes(len(unflushed))
    return file.flushed + (unflushed[: len(unflushed) // 2] if lost == "half" else b"")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
