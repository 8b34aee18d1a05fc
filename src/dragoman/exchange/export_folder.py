"""Writing an export: a new folder, or in place of an earlier export of the same kind that nobody has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from dragoman.errors import BundleError, RunFolderError, disk_errors
from dragoman.machine.files import temporary
from dragoman.machine.folders import MANIFEST, remove_folder, save_folder, verify_folder
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers

#: Of the weights on disk.
Precision = Literal["float32", "int8"]


def write_export(folder: Path, write: Callable[[Path], None], kind: str) -> None:
    """Write an export. The folder appears whole or not at all.

    Args:
        write: is given a temporary folder and fills it with files, at most one level of folders deep.
        kind: the command after `dragoman export`.

    Raises:
        RunFolderError: the folder has something else than an earlier export of this kind, or cannot be written.
        ResourceError: the disk is full.
    """
    old = temporary(folder.with_name(f"old-{folder.name}"))
    is_replaced = require_free(folder, kind)
    with disk_errors(folder):
        if is_replaced:
            remove_folder(old)
            os.rename(folder, old)
        elif folder.is_dir():
            folder.rmdir()
    try:
        save_folder(folder, write, facts={"made_by": _maker(kind)})
    except BaseException:
        if is_replaced and not folder.exists():
            os.rename(old, folder)
        raise
    if is_replaced:
        remove_folder(old)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into an existing folder, by their paths."""
    for path, content in contents.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)


def sentencepiece_files(tokenizers: Tokenizers) -> dict[str, bytes]:
    """Return `source.spm` and `target.spm`, the SentencePiece models of subwords; other tokens have none."""
    sides = {"source.spm": tokenizers.source, "target.spm": tokenizers.target}
    return {name: side.segmenter.model for name, side in sides.items() if isinstance(side, Subword)}


def require_free(folder: Path, kind: str) -> bool:
    """Return True if an earlier export of this kind is there, and False if nothing or an empty folder is.

    Raises:
        RunFolderError: something else is there.
    """
    if not os.path.lexists(folder):
        return False
    is_folder = folder.is_dir() and not folder.is_symlink()
    if is_folder and not any(folder.iterdir()):
        return False
    if is_folder and _is_unchanged(folder, kind):
        return True
    problem = f"the output exists, and is no unchanged folder of an earlier {_maker(kind)}"
    raise RunFolderError(problem, folder, advice="choose another --output, or remove it")


def _is_unchanged(folder: Path, kind: str) -> bool:
    """Return True if all files of a folder are those that an export of this kind wrote."""
    try:
        manifest = verify_folder(folder)
    except BundleError:
        return False
    paths = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    return manifest.get("made_by") == _maker(kind) and paths == {*manifest["files"], MANIFEST}


def _maker(kind: str) -> str:
    return f"dragoman export {kind}"
