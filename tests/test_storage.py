"""Files that must survive: whole or not at all, and never damaged unnoticed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.errors import BundleError, ResourceError, RunFolderError
from dragoman.storage import MANIFEST, lock_folder, read_pointer, save_folder, set_pointer, verify_folder, write_file


def _save(folder: Path) -> None:
    def write(temporary: Path) -> None:
        (temporary / "inner").mkdir()
        (temporary / "inner" / "numbers.bin").write_bytes(bytes(range(256)))
        (temporary / "text.txt").write_text("text", encoding="utf-8")

    save_folder(folder, write, facts={"step": 7})


def test_a_saved_folder_verifies(tmp_path: Path) -> None:
    _save(tmp_path / "folder")
    manifest = verify_folder(tmp_path / "folder")
    assert manifest["step"] == 7
    assert set(manifest["files"]) == {"inner/numbers.bin", "text.txt"}
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("name", ["inner/numbers.bin", "text.txt", MANIFEST])
def test_any_flipped_bit_or_lost_byte_is_noticed(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    _save(folder)
    whole = (folder / name).read_bytes()
    for position in range(0, len(whole), 5):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        (folder / name).write_bytes(damaged)
        with pytest.raises(BundleError):
            verify_folder(folder)
    for length in range(0, len(whole), 7):
        (folder / name).write_bytes(whole[:length])
        with pytest.raises(BundleError):
            verify_folder(folder)
    (folder / name).unlink()
    with pytest.raises(BundleError, match=name.rpartition("/")[2]):
        verify_folder(folder)


def test_a_manifest_cannot_point_outside(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    _save(tmp_path / "folder")
    manifest = json.loads((tmp_path / "folder" / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"]["../secret"] = {"size": 6, "sha256": "0" * 64}
    (tmp_path / "folder" / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BundleError):
        verify_folder(tmp_path / "folder")


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "file", b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match="no space left") as caught:
        write_file(tmp_path / "file", b"new")
    assert caught.value.exit_code == 5
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_failed_save_leaves_no_folder(tmp_path: Path) -> None:
    def write(temporary: Path) -> None:
        (temporary / "half").write_bytes(b"half")
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(RunFolderError, match="Input/output error"):
        save_folder(tmp_path / "folder", write)
    assert not (tmp_path / "folder").exists()
    _save(tmp_path / "folder")  # what the failed save left does not disturb
    verify_folder(tmp_path / "folder")


def test_pointers_follow_their_folder_when_moved(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for step in (1, 2):
        _save(run / "bundles" / f"step-{step}")
        set_pointer(run / "best", run / "bundles" / f"step-{step}")
    run.rename(tmp_path / "moved")
    assert read_pointer(tmp_path / "moved" / "best") == (tmp_path / "moved" / "bundles" / "step-2").resolve()
    (tmp_path / "moved" / "best").unlink()
    (tmp_path / "moved" / "best").write_text("bundles/step-1", encoding="utf-8")  # where there are no links
    assert read_pointer(tmp_path / "moved" / "best") == tmp_path / "moved" / "bundles" / "step-1"


def test_a_folder_has_one_owner_and_the_lock_dies_with_it(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from dragoman.storage import lock_folder\n"
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
