"""Writing a site: a new folder, or in place of an earlier site that nobody has changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dragoman.errors import BundleError, RunFolderError, disk_errors
from dragoman.machine.files import temporary
from dragoman.machine.folders import MANIFEST, remove_folder, save_folder, verify_folder

#: The entry of the manifest that only sites have.
_FACTS = {"made_by": "dragoman export web"}


def write_site(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write the files of a site, by their paths. The folder appears whole or not at all.

    Raises:
        RunFolderError: the folder has something else than an earlier site, or cannot be written.
        ResourceError: the disk is full.
    """
    old = temporary(folder.with_name(f"old-{folder.name}"))
    is_replaced = require_free(folder)
    with disk_errors(folder):
        if is_replaced:
            remove_folder(old)
            os.rename(folder, old)
        elif folder.is_dir():
            folder.rmdir()
    try:
        save_folder(folder, lambda unfinished: _write(unfinished, contents), facts=_FACTS)
    except BaseException:
        if is_replaced and not folder.exists():
            os.rename(old, folder)
        raise
    if is_replaced:
        remove_folder(old)


def require_free(folder: Path) -> bool:
    """Return True if an earlier site is there, and False if nothing or an empty folder is.

    Raises:
        RunFolderError: something else is there.
    """
    if not os.path.lexists(folder):
        return False
    is_folder = folder.is_dir() and not folder.is_symlink()
    if is_folder and not any(folder.iterdir()):
        return False
    if is_folder and _is_site(folder):
        return True
    problem = "the output exists, and is no unchanged site of an earlier export"
    raise RunFolderError(problem, folder, advice="choose another --output, or remove it")


def _is_site(folder: Path) -> bool:
    """Return True if all files of a folder are those that an export wrote."""
    try:
        manifest = verify_folder(folder)
    except BundleError:
        return False
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return manifest.get("made_by") == _FACTS["made_by"] and paths == {*manifest["files"], MANIFEST}


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    for path, content in contents.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
