"""Some files of a stranger's zip file, within limits. The others are not looked at, and none leads out of a folder."""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Collection
from pathlib import Path

from dragoman.errors import BundleError, disk_errors
from dragoman.imports.compressed_files import largest_expanded
from dragoman.imports.zip_archives import COMPRESSIONS, DAMAGED, opened_archive
from dragoman.machine.files import require_space

_MOST_FILES, _CHUNK = 10_000, 1 << 20


def unpack(path: Path, first: str, wanted: Collection[str], folder: Path) -> None:
    """Write files of a zip file into a folder.

    Args:
        first: the one by whose place the others are found: at the top, or in a folder there.
        wanted: paths from there.

    Raises:
        BundleError: the zip file is damaged or has no `first`, or a file expands to much more than its size.
        ResourceError: the disk is full.
    """
    try:
        with open(path, "rb") as file, opened_archive(file, _MOST_FILES) as archive:
            entries = _chosen(archive, first, wanted)
            require_space(folder, sum(entry.file_size for entry in entries.values()))
            for name, entry in entries.items():
                with archive.open(entry) as content, disk_errors(folder):
                    (folder / name).parent.mkdir(exist_ok=True)
                    with open(folder / name, "wb") as output:
                        while chunk := content.read(_CHUNK):
                            output.write(chunk)
    except DAMAGED as error:
        raise BundleError(f"not a package that can be unpacked ({error})", path, advice="use another copy") from None


def _chosen(archive: zipfile.ZipFile, first: str, wanted: Collection[str]) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of the wanted files; a ValueError says what is wrong with one."""
    names = archive.namelist()
    tops = [name.removesuffix(first) for name in names if re.fullmatch(rf"([^/]+/)?{re.escape(first)}", name)]
    if len(tops) != 1:
        raise ValueError(f"{len(tops)} files {first} where one should be")
    entries = {name: archive.getinfo(tops[0] + name) for name in wanted if tops[0] + name in names}
    for name, entry in entries.items():
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise ValueError(f"{name} is no plain file")
        if entry.compress_type not in COMPRESSIONS:
            raise ValueError(f"{name} is compressed in another way than by deflate")
        if entry.file_size > largest_expanded(entry.compress_size):
            raise ValueError(f"{name} expands to {entry.file_size:,} bytes, much more than its size")
    return entries
