"""Files, folders, JSON and pointers: whole or not at all, and never damaged unnoticed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import BundleError, ResourceError, RunFolderError
from dragoman.machine import files, folders
from dragoman.machine.files import append_file, flush_folder, require_space, write_file
from dragoman.machine.folders import MANIFEST, save_folder, self_hash, verify_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import lock_folder
from dragoman.machine.pointers import read_pointer, remove_pointer, set_pointer


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
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "what was half written takes no space"


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


# -- what is on the disk, and when -------------------------------------------------------------------------------


class Disk:
    """Notes what is flushed and renamed, in order, by the places that files have at last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[tuple[str, int, bytes | None]] = []
        for name in ("rename", "replace"):
            monkeypatch.setattr(os, name, self._moving(getattr(os, name)))
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        file = Path(f"/proc/self/fd/{descriptor}")
        content = None if file.is_dir() else file.read_bytes()
        self.log.append(("flush", found.st_ino, content))

    def _moving(self, original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def move(source: Any, target: Any) -> None:
            self.log.append(("rename", os.lstat(source).st_ino, None))
            original(source, target)

        return move

    def when(self, what: str, path: Path, *, content: bytes | None = None) -> int:
        """When `path` was last flushed (with this content) or renamed."""
        inode = path.lstat().st_ino
        return max(at for at, event in enumerate(self.log) if event == (what, inode, content))


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
def test_a_file_is_flushed_then_renamed_then_its_name_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    write_file(tmp_path / "file", b"new")
    flushed, renamed = disk.when("flush", tmp_path / "file", content=b"new"), disk.when("rename", tmp_path / "file")
    assert flushed < renamed < disk.when("flush", tmp_path)


@linux
def test_a_folder_is_flushed_whole_then_renamed_then_its_name_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(monkeypatch)
    folder = tmp_path / "deep" / "folder"
    _save(folder)
    renamed = disk.when("rename", folder)
    for path in folder.rglob("*"):
        assert disk.when("flush", path, content=None if path.is_dir() else path.read_bytes()) < renamed
    assert disk.when("flush", folder) < renamed < disk.when("flush", folder.parent)


@linux
def test_what_is_appended_is_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    for part in (b"one\n", b"two\n"):
        append_file(tmp_path / "log", part)
    assert disk.when("flush", tmp_path / "log", content=b"one\ntwo\n") == 1


@linux
def test_a_pointer_is_replaced_and_its_name_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        set_pointer(tmp_path / "best", tmp_path / name)
        assert disk.when("rename", tmp_path / "best") < disk.when("flush", tmp_path)
    assert read_pointer(tmp_path / "best") == tmp_path / "b"
    assert not (tmp_path / ".dragoman-best").is_symlink()


def test_nothing_is_flushed_that_windows_cannot_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files, "os", types.SimpleNamespace(name="nt", open=refuse))
    flush_folder(tmp_path)


def test_folders_do_not_stay_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, closed, original = list[int](), list[int](), os.close
    real = os.open
    monkeypatch.setattr(os, "open", lambda *details: opened.append(real(*details)) or opened[-1])
    monkeypatch.setattr(os, "close", lambda descriptor: closed.append(descriptor) or original(descriptor))
    flush_folder(tmp_path)
    assert opened == closed != []


# -- failures ----------------------------------------------------------------------------------------------------


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_only_a_full_disk_is_called_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, call: str
) -> None:
    monkeypatch.setattr(os, call, failing(number))
    with pytest.raises((ResourceError, RunFolderError)) as caught:
        write_file(tmp_path / "file", b"new")
    full = number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    assert caught.value.exit_code == (5 if full else 1)
    assert str(tmp_path / "file") in caught.value.message
    assert (" bytes free" if full else os.strerror(number)) in caught.value.message
    assert not (tmp_path / "file").exists()


def test_a_full_disk_is_told_where_not_even_a_folder_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", failing(errno.ENOSPC))
    for attempt in (lock_folder(tmp_path / "new" / "run").__enter__, lambda: save_folder(tmp_path / "x" / "y", print)):
        with pytest.raises(ResourceError, match=r"no space left on the device \([\d,]+ bytes free\)"):
            attempt()


def test_the_space_that_is_left_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: types.SimpleNamespace(free=1000))
    require_space(tmp_path, 1000)
    with pytest.raises(ResourceError, match=r"1,001 bytes needed, 1,000 free\): .*; free some space"):
        require_space(tmp_path, 1001)
    monkeypatch.setattr(os, "fsync", failing(errno.ENOSPC))
    with pytest.raises(ResourceError, match=r"\(1,000 bytes free\)"):
        write_file(tmp_path / "file", b"new")


@pytest.mark.parametrize("fault", ["flush", "half"])
def test_what_cannot_be_appended_wholly_is_not_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    append_file(tmp_path / "log", b"one\n")
    with monkeypatch.context() as patch:
        if fault == "flush":
            patch.setattr(os, "fsync", failing(errno.ENOSPC))
        else:
            patch.setattr(files, "open", HalfWriting, raising=False)
        with pytest.raises(ResourceError):
            append_file(tmp_path / "log", b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\n"
    append_file(tmp_path / "log", b"three\n")
    assert (tmp_path / "log").read_bytes() == b"one\nthree\n"


class HalfWriting:
    """A file that takes half of what is written, as the system may."""

    def __init__(self, path: Path, mode: str, buffering: int) -> None:
        assert buffering == 0, "what is buffered is written later, when nobody looks"
        self.file = open(path, mode, buffering=buffering)  # noqa: SIM115 - closed by __exit__

    def __enter__(self) -> HalfWriting:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: bytes) -> int:
        return self.file.write(content[: len(content) // 2])


def test_a_folder_is_never_overwritten_and_leaves_no_other(tmp_path: Path) -> None:
    _save(tmp_path / "folder")
    (tmp_path / ".dragoman-other").mkdir()
    (tmp_path / ".dragoman-other" / "rubbish").touch()  # of a save that was killed
    _save(tmp_path / "other")
    assert verify_folder(tmp_path / "other")["files"].keys() == {"inner/numbers.bin", "text.txt"}
    with pytest.raises(RunFolderError, match=r"the output exists: .*folder; choose another"):
        _save(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "other"]


def test_what_a_person_calls_temporary_is_left_alone(tmp_path: Path) -> None:
    for theirs in ("tmp.folder", "tmp.text"):
        (tmp_path / theirs).mkdir()
    _save(tmp_path / "folder")
    write_file(tmp_path / "text", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "text", "tmp.folder", "tmp.text"]


def test_other_failures_of_a_save_pass_and_leave_nothing(tmp_path: Path) -> None:
    def write(temporary: Path) -> None:
        (temporary / "half").write_bytes(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_folder(tmp_path / "folder", write)
    assert list(tmp_path.iterdir()) == []


# -- manifests and JSON ------------------------------------------------------------------------------------------


def signed(manifest: dict[str, Any]) -> bytes:
    """A manifest as an attacker would write it: its own hash is right."""
    return to_json({**manifest, "self": self_hash(manifest)})


@pytest.mark.parametrize("name", ["../secret", "inner/../../secret", "/etc/hostname", "link", "inner", "a\0b", "none"])
def test_a_signed_manifest_cannot_point_outside_either(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    _save(folder)
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (folder / "link").symlink_to(tmp_path / "secret")
    where = Path(name) if name.startswith("/") else tmp_path / "secret"
    entry = {"size": where.stat().st_size, "sha256": files.sha256(where)}
    (folder / MANIFEST).write_bytes(signed({"files": {name: entry}}))
    with pytest.raises(BundleError, match=r"outside the folder|a file of the manifest is missing"):
        verify_folder(folder)


@pytest.mark.parametrize(
    "manifest",
    [{}, {"files": []}, {"files": {"a": 1}}, {"files": {"a": {"size": 1}}}, {"files": {"a": []}}, {"files": "a"}],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    (tmp_path / MANIFEST).write_bytes(signed(manifest))
    with pytest.raises(BundleError, match="the manifest is damaged"):
        verify_folder(tmp_path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _save(tmp_path / "folder")
    monkeypatch.setattr(folders, "sha256", failing(errno.EIO))
    with pytest.raises(BundleError, match=r"cannot be read \(Input/output error\): .*numbers\.bin; use another copy"):
        verify_folder(tmp_path / "folder")


def test_a_manifest_is_the_one_that_was_written(tmp_path: Path) -> None:
    """Other spaces, another order or another hash are damage, though JSON reads them alike."""
    _save(tmp_path / "folder")
    written = (tmp_path / "folder" / MANIFEST).read_bytes()
    manifest = json.loads(written)
    changed = [
        json.dumps(manifest).encode(),
        written + b" ",
        to_json({**manifest, "self": "0" * 64}),
        to_json({**manifest, "step": 8}),
    ]
    for content in changed:
        (tmp_path / "folder" / MANIFEST).write_bytes(content)
        with pytest.raises(BundleError, match="the manifest is damaged"):
            verify_folder(tmp_path / "folder")


def test_deep_json_is_damage_and_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / MANIFEST).write_bytes(b'{"files": ' + b"[" * 90_000 + b"]" * 90_000 + b"}")
    with pytest.raises(BundleError, match="not readable as JSON"):
        verify_folder(tmp_path)

    def too_deep(value: object) -> bytes:
        raise RecursionError

    # Newer Pythons read deeper JSON than they write.
    (tmp_path / MANIFEST).write_bytes(to_json({"files": {}, "self": ""}))
    monkeypatch.setattr(folders, "to_json", too_deep)
    with pytest.raises(BundleError, match="the manifest is damaged"):
        verify_folder(tmp_path)


def test_equal_values_are_equal_bytes() -> None:
    assert to_json({"b": [1, {"d": "ä", "c": None}], "a": 0.5}) == to_json({"a": 0.5, "b": [1, {"c": None, "d": "ä"}]})
    assert to_json({"a": "漢"}) == '{\n  "a": "漢"\n}\n'.encode()
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"a": float("nan")})


def test_json_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("[1]", encoding="utf-8")
    (tmp_path / "text").write_text("{", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_text('{"a": 1}', encoding="utf-8")
    (tmp_path / "twice").write_text('{"a": 1, "a": 2}', encoding="utf-8")
    (tmp_path / "number").write_text('{"a": NaN}', encoding="utf-8")
    causes = {"list": "not a JSON object", "text": "not readable", "folder": "not a regular", "none": "file not found"}
    causes |= {"twice": "a key is there twice", "number": "NaN is no JSON"}
    for name, cause in causes.items():
        with pytest.raises(BundleError, match=cause):
            read_json(tmp_path / name)
    assert read_json(tmp_path / "large", limit=8) == {"a": 1}
    with pytest.raises(BundleError, match="larger than 7 bytes"):
        read_json(tmp_path / "large", limit=7)


# -- pointers and locks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError(errno.EPERM, "no"), NotImplementedError()])
def test_pointers_without_links_are_small_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(os, "symlink", refuse)
    for name in ("a", "b"):
        _save(tmp_path / "bundles" / name)
        set_pointer(tmp_path / "best", tmp_path / "bundles" / name)
    assert not (tmp_path / "best").is_symlink()
    assert read_pointer(tmp_path / "best") == tmp_path / "bundles" / "b"
    (tmp_path / "best").write_text("x" * 4096, encoding="utf-8")
    assert read_pointer(tmp_path / "best") == tmp_path / ("x" * 4096)
    (tmp_path / "best").write_text("x" * 4097, encoding="utf-8")  # whatever that is, it is no pointer
    assert read_pointer(tmp_path / "best") == (tmp_path / "best").resolve()


def test_a_pointer_is_removed_and_a_folder_names_itself(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / ".dragoman-best").symlink_to("nowhere")  # of a start that was killed
    set_pointer(tmp_path / "best", tmp_path / "a")
    assert (tmp_path / "best").readlink() == Path("a")
    for _ in range(2):
        remove_pointer(tmp_path / "best")
        assert not (tmp_path / "best").is_symlink()
    assert read_pointer(tmp_path / "a") == tmp_path / "a"
    (tmp_path / "a" / "file").touch()
    remove_pointer(tmp_path / "a")  # a folder in the place of a pointer is put aside
    assert not (tmp_path / "a").exists()
    assert (tmp_path / "copied-a" / "file").exists()
