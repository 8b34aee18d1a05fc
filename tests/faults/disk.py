"""A disk that fails on purpose, and one that remembers: every call that changes files below a folder is counted.

The code under test calls `open`, `os.fsync`, `os.rename` and so on as always; inside `Disk` these are replaced by
functions that first ask the disk what to do, then do it. Linux only: files are found by /proc/self/fd.
"""

from __future__ import annotations

import builtins
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: What can happen at a call: nothing, an error, death, or death with half of the bytes written.
FAULTS = ("ENOSPC", "EIO", "kill", "short write")


class Disk:
    """Within `with Disk(root) as disk`, changes below `root` go through `disk`."""

    def __init__(self, root: Path, *, fault: str | None = None, at: int = 0) -> None:
        """Fail with `fault` at the call number `at`, counted from 1; without a fault, only remember."""
        self.root, self.fault, self.at = str(root.resolve()), fault, at
        self.n_calls = 0
        #: What was done: (name, path below root, argument).
        self.log: list[tuple[str, str, Any]] = []

    def __enter__(self) -> Self:
        self._saved: list[tuple[Any, str, Any]] = []
        for module, name, function in (
            (builtins, "open", self._open(builtins.open)),
            (io, "open", self._open(io.open)),
            (os, "fsync", self._fsync(os.fsync)),
            (os, "rename", self._move("rename", os.rename)),
            (os, "replace", self._move("rename", os.replace)),
            (os, "mkdir", self._change("mkdir", os.mkdir)),
            (os, "unlink", self._change("unlink", os.unlink)),
            (os, "remove", self._change("unlink", os.remove)),
            (os, "rmdir", self._change("rmdir", os.rmdir)),
            (os, "symlink", self._symlink(os.symlink)),
        ):
            self._saved.append((module, name, getattr(module, name)))
            setattr(module, name, function)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for module, name, function in self._saved:
            setattr(module, name, function)

    def inside(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The path below the root, or None for a file that is none of ours."""
        if isinstance(path, int):
            return None
        place = os.fspath(path)
        if dir_fd is not None:
            place = os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), place)
        place = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        return os.path.relpath(place, self.root) if place.startswith(self.root + os.sep) or place == self.root else None

    def call(self, name: str, path: str, argument: Any = None, half: Callable[[], None] | None = None) -> None:
        """Count a call, and let the fault happen if it is its turn."""
        self.n_calls += 1
        if self.fault is not None and self.n_calls == self.at:
            if self.fault in ("ENOSPC", "EIO"):
                number = {"ENOSPC": 28, "EIO": 5}[self.fault]
                raise OSError(number, os.strerror(number), path)
            if self.fault == "short write" and half is not None:
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        self.log.append((name, path, argument))

    def _open(self, original: Any) -> Any:
        def opened(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            path = self.inside(file) if any(letter in mode for letter in "wax+") else None
            if path is None:
                return original(file, mode, *args, **options)
            if "w" in mode or "x" in mode:
                self.call("create", path)
            stream = original(file, mode, *args, **options)
            return Written(stream, self, path) if "+" not in mode else stream

        return opened

    def _fsync(self, original: Any) -> Any:
        def fsynced(descriptor: Any) -> None:
            number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
            path = self.inside(os.readlink(f"/proc/self/fd/{number}"))
            if path is not None:
                self.call("fsync", path)
            original(number)

        return fsynced

    def _move(self, name: str, original: Any) -> Any:
        def moved(source: Any, target: Any, **options: Any) -> None:
            path = self.inside(source)
            if path is not None:
                self.call(name, path, self.inside(target))
            original(source, target, **options)

        return moved

    def _change(self, name: str, original: Any) -> Any:
        def changed(path: Any, *args: Any, dir_fd: int | None = None, **options: Any) -> None:
            place = self.inside(path, dir_fd)
            if place is not None:
                self.call(name, place)
            original(path, *args, dir_fd=dir_fd, **options)

        return changed

    def _symlink(self, original: Any) -> Any:
        def linked(target: Any, path: Any, *args: Any, **options: Any) -> None:
            place = self.inside(path)
            if place is not None:
                self.call("symlink", place, os.fspath(target))
            original(target, path, *args, **options)

        return linked


class Written:
    """A file open for writing, whose bytes pass by the disk."""

    def __init__(self, stream: Any, disk: Disk, path: str) -> None:
        self._stream, self._disk, self._path = stream, disk, path

    def write(self, data: Any) -> int:
        content = data.encode() if isinstance(data, str) else bytes(data)

        def half() -> None:
            self._stream.write(data[: len(data) // 2])
            self._stream.flush()

        self._disk.call("write", self._path, content, half)
        written: int = self._stream.write(data)
        return written

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
