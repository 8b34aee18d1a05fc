"""Names of a folder beside them, such as `best` in a run.

A pointer is a relative link, so that every program can follow it. Where the system has no links, it is a small file
that holds the relative path.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from dragoman.errors import disk_errors
from dragoman.machine.files import flush_folder, temporary, write_file
from dragoman.machine.locks import require_held

POINTER_LIMIT = 4096


def set_pointer(pointer: Path, target: Path) -> None:
    """Let `pointer` lead to the folder `target`, atomically."""
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
        flush_folder(pointer.parent)


def remove_pointer(pointer: Path) -> None:
    """Remove a pointer, but not its folder."""
    require_held(pointer)
    with disk_errors(pointer):
        _put_aside(pointer)
        pointer.unlink(missing_ok=True)


def _put_aside(pointer: Path) -> None:
    """Rename a real folder in the place of a pointer. A copy that follows links leaves one, and it may be the only
    whole one."""
    if pointer.is_dir() and not pointer.is_symlink():
        names = (pointer.with_name(f"copied-{pointer.name}{number or ''}") for number in itertools.count())
        pointer.rename(next(name for name in names if not name.exists()))


def read_pointer(pointer: Path) -> Path:
    """Return the folder of `pointer`; a real folder is its own."""
    if pointer.is_file() and pointer.stat().st_size <= POINTER_LIMIT:
        return pointer.parent / pointer.read_text(encoding="utf-8")
    return pointer.resolve()
