"""Locks that give a folder to one process. Files are written only while the folder is still the one that was locked.

Another process may remove or rename a folder in use, and a third may make a new one of the same name. So everything
that writes into a folder calls `require_held` first: the lock file must still have its path.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dragoman.errors import LostFolderError, RunFolderError, disk_errors

#: Error numbers that mean another process has the lock.
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
#: Tries to take a lock whose file is removed by others in the same moment.
_ATTEMPTS = 10


class Lock:
    """A folder that this process holds by a lock on the file `lock` in it."""

    def __init__(self, folder: Path, file: IO[bytes]) -> None:
        self.folder, self.path, self.file = folder, folder / "lock", file

    def require(self) -> None:
        """Make sure that the folder is still the one that was locked.

        Raises:
            LostFolderError: the folder or its lock file was removed, renamed or replaced.
            RunFolderError: the folder cannot be read now.
        """
        if not self.is_held():
            problem = "the folder or its lock file was removed, renamed or replaced while in use"
            raise LostFolderError(problem, self.folder, advice="nothing more is written; put it back to continue")

    def is_held(self) -> bool:
        """Return True if the file that was locked still has its name.

        Raises:
            RunFolderError: the folder cannot be read now.
        """
        if os.name == "nt":  # an open file cannot lose its name there
            return True
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self.file.fileno()))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise RunFolderError(f"cannot be read ({error.strerror})", self.path, advice="check the folder") from error


#: Locks of this process.
_held: set[Lock] = set()


def require_held(path: Path) -> None:
    """Make sure that the folders this process has locked, and in which `path` lies, are still those that were locked.

    Raises:
        LostFolderError, RunFolderError: as `Lock.require`.
    """
    for lock in tuple(_held):
        if lock.folder == path or lock.folder in path.parents:
            lock.require()


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[Lock]:
    """Hold `folder` for this process alone. The lock dies with the process, also under `kill -9`.

    Folders that are made for it are removed in the end, unless something else was written into them.

    Raises:
        RunFolderError: another process holds it, and the message names that process and its host; or it cannot be
            written or locked.
        LostFolderError: instead of any other error inside, if the folder was taken away.
        ResourceError: the disk is full.
    """
    require_held(folder)
    missing = [ancestor for ancestor in (folder, *folder.parents) if not ancestor.exists()]
    lock = _take(folder)
    _held.add(lock)
    try:
        _sign(lock)
        yield lock
    except Exception:
        if not lock.file.closed:
            lock.require()
        raise
    finally:
        if not lock.file.closed:  # as it is in a copy of this process, which has nothing to give back
            _remove_empty(lock, missing)
            _held.discard(lock)
            _release(lock.file)


def _take(folder: Path) -> Lock:
    """Lock the file `lock`, and try again if it was removed or replaced meanwhile, because that one locks nothing."""
    path = folder / "lock"
    for _ in range(_ATTEMPTS):
        with disk_errors(path):
            folder.mkdir(parents=True, exist_ok=True)
            try:
                file = open(path, "a+b", buffering=0)  # noqa: SIM115 - held for as long as the caller works
            except FileNotFoundError:  # the folder was removed by its last owner
                continue
        lock = Lock(folder, file)
        try:
            if not _try_lock(file, folder):
                advice = "wait for it, or choose another folder"
                raise RunFolderError(f"in use by {_owner(file)}", folder, advice=advice)
            if lock.is_held():
                return lock
        except BaseException:
            file.close()
            raise
        file.close()
    advice = "choose an --output on a local disk"
    raise RunFolderError("cannot be locked (its lock file does not keep its place)", folder, advice=advice)


def _sign(lock: Lock) -> None:
    """Write process and host into the lock file."""
    with disk_errors(lock.path):
        lock.file.truncate(0)
        lock.file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())


def _remove_empty(lock: Lock, folders: list[Path]) -> None:
    """Remove folders that were made for the lock, the innermost first, unless something else was written into them."""
    with contextlib.suppress(OSError, RunFolderError):
        if folders and lock.is_held() and [*lock.folder.iterdir()] == [lock.path]:
            lock.path.unlink()
            for folder in folders:
                folder.rmdir()


def _release(file: IO[bytes]) -> None:
    """Give the lock back at once: closing the file leaves it to a copy of this process that has not closed its own."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)
    file.close()


def _close_held() -> None:
    """Close the locks that a copy of the process inherits, because they would last as long as the copy."""
    for lock in _held:
        lock.file.close()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_held)


def _owner(file: IO[bytes]) -> str:
    """Return the owner that the lock file names; wait half a second for one that has just got the lock to write it."""
    for _ in range(10):
        time.sleep(0.05)
        file.seek(0)
        if owner := file.read(200).decode(errors="replace").strip():
            return owner
    return "another process"


def _try_lock(file: IO[bytes], folder: Path) -> bool:
    """Take the lock, or return False when another process has it.

    Raises:
        RunFolderError: the file system has no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # A byte far behind the text is locked, so that others can still read the owner's name.
            file.seek(1 << 30)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        problem, advice = f"cannot be locked ({error.strerror})", "choose an --output on a local disk"
        raise RunFolderError(problem, folder, advice=advice) from None
    return True
