"""A locked folder has one owner, who notices when it is taken away."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import LostFolderError, ResourceError, RunFolderError
from dragoman.machine import locks
from dragoman.machine.files import append_file, write_file
from dragoman.machine.folders import remove_folder, save_folder
from dragoman.machine.locks import lock_folder, require_held
from dragoman.machine.pointers import remove_pointer, set_pointer


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_folder_has_one_owner_and_the_lock_dies_with_it(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from dragoman.machine.locks import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder, holder.stdout:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunFolderError, match=f"in use by process {holder.pid} on "), lock_folder(tmp_path):
            pass
        holder.kill()
        holder.wait()
    with lock_folder(tmp_path):
        pass


def test_a_folder_that_stays_empty_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_folder(tmp_path / "new"):
        print(1 / 0)
    assert not (tmp_path / "new").exists()
    with lock_folder(tmp_path / "new"):
        (tmp_path / "new" / "result").touch()
    assert (tmp_path / "new" / "result").exists()
    (tmp_path / "old").mkdir()
    with lock_folder(tmp_path / "old"):
        pass
    assert (tmp_path / "old").exists()


def test_the_owner_of_a_lock_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "lock").write_text("process 123456789 on a host with a long name", encoding="utf-8")
    for folder in (tmp_path / "deep", tmp_path / "new" / "folder"):
        with lock_folder(folder):
            owner = (folder / "lock").read_text(encoding="utf-8")
            assert owner == f"process {os.getpid()} on {socket.gethostname()}"
            with pytest.raises(RunFolderError, match=f"in use by {owner}: .*; wait for it"), lock_folder(folder):
                pass
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="cannot write"), lock_folder(tmp_path / "file"):
        pass


def test_a_lock_whose_owner_did_not_sign_yet(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        (tmp_path / "lock").write_bytes(b" \n")
        with pytest.raises(RunFolderError, match="in use by another process"), lock_folder(tmp_path):
            pass
        sign = threading.Timer(0.15, lambda: (tmp_path / "lock").write_bytes(b"process 7 on a host"))
        sign.start()
        with pytest.raises(RunFolderError, match="in use by process 7 on a host"), lock_folder(tmp_path):
            pass
        sign.join()


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a folder that is in use."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(fcntl, "flock", failing(errno.ENOLCK))
    with (
        pytest.raises(RunFolderError, match=r"cannot be locked \(No locks available\): .*; choose .* local disk"),
        lock_folder(tmp_path),
    ):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_lock_that_cannot_be_signed_is_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("/dev/full")
    with pytest.raises((ResourceError, RunFolderError), match=r"/lock; "), lock_folder(tmp_path):
        pass


def test_the_lock_of_windows_leaves_its_owner_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[int, int]] = []

    def locking(descriptor: int, mode: int, n_bytes: int) -> None:
        taken.append((os.lseek(descriptor, 0, os.SEEK_CUR), n_bytes))
        if len(taken) > 1:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(LK_NBLCK=2, locking=locking))
    held = pytest.raises(RunFolderError, match=f"in use by process {os.getpid()}")
    with lock_folder(tmp_path), held, lock_folder(tmp_path):
        pass
    assert all(at > 200 and n_bytes == 1 for at, n_bytes in taken)


def test_folders_made_for_a_lock_are_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_folder(tmp_path / "runs" / "deep" / "new"):
        print(1 / 0)
    assert not list(tmp_path.iterdir())
    (tmp_path / "runs").mkdir()
    with lock_folder(tmp_path / "runs" / "new"):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]
    with lock_folder(tmp_path / "runs" / "other" / "new"):
        (tmp_path / "runs" / "other" / "somebody's").touch()
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["other"]
    with pytest.raises(RunFolderError, match="in use"), lock_folder(tmp_path / "held"), lock_folder(tmp_path / "held"):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]


def _remove(folder: Path) -> None:
    shutil.rmtree(folder)


def _remove_parent(folder: Path) -> None:
    shutil.rmtree(folder.parent)


def _rename(folder: Path) -> None:
    folder.rename(folder.with_name("moved"))


def _recreate(folder: Path) -> None:
    _rename(folder)
    folder.mkdir()


def _lock_again(folder: Path) -> None:
    _recreate(folder)
    (folder / "lock").touch()


def _link(folder: Path) -> None:
    _lock_again(folder)
    folder.rename(folder.with_name("other"))
    folder.symlink_to("other")


def _put_file(folder: Path) -> None:
    _rename(folder)
    folder.touch()


def _remove_lock(folder: Path) -> None:
    (folder / "lock").unlink()


LOSSES = (_remove, _remove_parent, _rename, _recreate, _lock_again, _link, _put_file, _remove_lock)


def _snapshot(place: Path) -> list[str]:
    return sorted(str(each) for each in place.rglob("*"))


@pytest.mark.skipif(os.name == "nt", reason="a folder in use stays where it is on Windows")
@pytest.mark.parametrize("take_away", LOSSES)
def test_nothing_is_written_into_a_folder_that_was_taken_away(
    tmp_path: Path, take_away: Callable[[Path], None]
) -> None:
    folder = tmp_path / "runs" / "run"
    writes: tuple[Callable[[], object], ...] = (
        lambda: write_file(folder / "file", b"new"),
        lambda: append_file(folder / "log", b"new"),
        lambda: save_folder(folder / "checkpoints" / "step-1", lambda made: None),
        lambda: set_pointer(folder / "best", folder / "bundles"),
        lambda: remove_pointer(folder / "best"),
        lambda: remove_folder(folder),
        lambda: lock_folder(folder / "variant").__enter__(),
    )
    with lock_folder(folder) as lock:
        (folder / "checkpoints").mkdir()
        lock.require()
        require_held(folder / "deep" / "file")
        take_away(folder)
        before = _snapshot(tmp_path)
        for write in writes:
            with pytest.raises(LostFolderError, match=r"removed, renamed or replaced while in use: .*/run; "):
                write()
        assert not lock.is_held()
        write_file(tmp_path / "elsewhere", b"is free to write to")
        (tmp_path / "elsewhere").unlink()
        assert _snapshot(tmp_path) == before
    assert _snapshot(tmp_path) == before


@pytest.mark.skipif(os.name == "nt", reason="a folder in use stays where it is on Windows")
@pytest.mark.parametrize("take_away", LOSSES)
@pytest.mark.parametrize("error", [OSError(errno.ENOENT, "no file"), RuntimeError("a consequence")])
def test_the_consequences_of_a_lost_folder_are_told_as_a_lost_folder(
    tmp_path: Path, take_away: Callable[[Path], None], error: Exception
) -> None:
    folder = tmp_path / "runs" / "run"
    with pytest.raises(type(error)), lock_folder(folder):
        raise error
    with pytest.raises(LostFolderError), lock_folder(folder):
        _lose(folder, take_away, error)


def _lose(folder: Path, take_away: Callable[[Path], None], error: Exception) -> None:
    take_away(folder)
    raise error


@pytest.mark.skipif(os.name == "nt", reason="a folder in use stays where it is on Windows")
def test_a_folder_that_comes_back_is_the_same(tmp_path: Path) -> None:
    with lock_folder(tmp_path / "run") as lock:
        (tmp_path / "run").rename(tmp_path / "moved")
        assert not lock.is_held()
        (tmp_path / "moved").rename(tmp_path / "run")
        write_file(tmp_path / "run" / "file", b"new")
        (tmp_path / "run").rename(tmp_path / "moved")
        (tmp_path / "run").symlink_to("moved")
        write_file(tmp_path / "run" / "file", b"newer")
    assert (tmp_path / "moved" / "file").read_bytes() == b"newer"
    require_held(tmp_path / "run" / "file")  # it is not ours any more, and anybody may write


@pytest.mark.skipif(os.name == "nt", reason="a folder in use stays where it is on Windows")
def test_a_save_leaves_the_unfinished_files_of_another_alone(tmp_path: Path) -> None:
    """The folder is replaced while a save is under way, by one in which the same save is under way."""
    run = tmp_path / "run"

    def replace(_made: Path) -> None:
        run.rename(tmp_path / "moved")
        (run / ".dragoman-step-1").mkdir(parents=True)
        (run / ".dragoman-step-1" / "model").touch()

    with pytest.raises(LostFolderError), lock_folder(run):
        save_folder(run / "step-1", replace)
    assert _snapshot(run) == [str(run / ".dragoman-step-1"), str(run / ".dragoman-step-1" / "model")]


@pytest.mark.skipif(os.name == "nt", reason="an open file keeps its name on Windows")
def test_a_lock_file_removed_in_the_moment_it_is_locked_locks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = itertools.count()
    monkeypatch.setattr(locks, "_try_lock", lambda *_: next(attempts) >= 3 or not shutil.rmtree(tmp_path / "run"))
    with lock_folder(tmp_path / "run") as lock:
        assert lock.is_held()
    assert next(attempts) == 4
    monkeypatch.setattr(locks, "_try_lock", lambda *_: not shutil.rmtree(tmp_path / "run"))
    with pytest.raises(RunFolderError, match="cannot be locked"), lock_folder(tmp_path / "run"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="a folder in use stays where it is on Windows")
def test_a_folder_that_cannot_be_read_for_a_while_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lock_folder(tmp_path) as lock:
        with monkeypatch.context() as patch:
            patch.setattr(os, "stat", failing(errno.EIO))
            with pytest.raises(RunFolderError, match="cannot be read") as caught:
                lock.require()
        assert not isinstance(caught.value, LostFolderError)
        lock.require()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_lock_is_given_back_though_a_copy_of_the_process_still_has_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine, a copy may come to close the file only after its parent is done."""
    reading, writing = os.pipe()
    with lock_folder(tmp_path):
        monkeypatch.setattr(locks, "_held", set())  # so that the copy closes nothing
        copy = os.fork()
        if copy == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    try:
        with lock_folder(tmp_path):
            pass
    finally:
        os.close(writing)
        os.close(reading)
        os.waitpid(copy, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("error", [None, KeyError("an error of its own"), KeyboardInterrupt()], ids=repr)
def test_a_copy_of_the_process_leaves_the_block_without_an_error(tmp_path: Path, error: BaseException | None) -> None:
    """It gives nothing back and removes nothing, and its own error stays what it was."""
    copy = -1
    try:
        with lock_folder(tmp_path / "new"):
            copy = os.fork()
            if copy == 0 and error is not None:
                raise error
            if copy:
                assert os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0
                with pytest.raises(RunFolderError, match=f"process {os.getpid()}"), lock_folder(tmp_path / "new"):
                    pass
    except BaseException as caught:
        if copy == 0:
            os._exit(caught is not error)
        raise
    if copy == 0:
        os._exit(error is not None)
    assert not (tmp_path / "new").exists()
