"""Packages of parts in a ZIP file (Open Packaging Conventions, ECMA-376 part 2), such as the files of Word.

A stranger's package is checked as a whole before anything is written: its size unpacked, compression, checksums.
"""

from __future__ import annotations

import io
import shutil
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from dragoman.errors import DataError

#: Of a package: its entries, the bytes of all of them unpacked, and those of the parts that are held in RAM.
_MOST_ENTRIES, _MOST_BYTES, _MOST_READ = 10_000, 512 * 2**20, 64 * 2**20
#: Text of an office document is compressed to a tenth or a twentieth; an entry of more than `_SMALL` bytes that was
#: more than so many times as long is a bomb.
_MOST_RATIO, _SMALL = 250, 8 * 2**20
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGES = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, ValueError, NotImplementedError, RuntimeError,
    OverflowError, KeyError, IndexError,
)  # fmt: skip
_SAVE = "open it in an office program, and save it"


class ZipPackage:
    """The parts of a package by their names.

    Args:
        content: of the file.
        name: of the file, for messages.
        suffix: of such files, for messages.
        save: advice on how to get a good one.

    Raises:
        DataError: it is no ZIP file, damaged, encrypted, or far larger than it should be.
    """

    def __init__(self, content: bytes, name: Path, suffix: str, save: str = _SAVE) -> None:
        self._name, self.save = name, f"{save} as {suffix}"
        if not content:
            raise DataError("the file is empty", name, advice="use another copy")
        if content.startswith(_OLD):
            problem = "this is an old .doc, .ppt or .xls, or has a password"
            raise DataError(problem, name, advice=f"{self.save} without a password")
        if not zipfile.is_zipfile(io.BytesIO(content)):
            advice = f"use another copy, or {self.save}"
            raise DataError(f"this is no {suffix}, or its end is missing", name, advice=advice)
        try:
            self._zip = _opened(content)
            entries = self._zip.infolist()
        except _DAMAGES:
            raise self._damaged() from None
        self._check(entries)
        self.names = [entry.filename for entry in entries]
        self._n_read = 0
        for entry in entries:
            self._verify(entry)

    def read(self, part: str) -> bytes:
        """Return the content of a part.

        Raises:
            DataError: all that are read are too large to be held in RAM.
        """
        self._n_read += self._zip.getinfo(part).file_size
        if self._n_read > _MOST_READ:
            raise DataError(f"its text has more than {_MOST_READ:,} bytes of XML", self._name, advice="split it")
        return self._zip.read(part)

    def rebuild(self, changed: Mapping[str, bytes]) -> bytes:
        """Return the package with other contents of some parts; order, names and times stay."""
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w") as target:
            target.comment = self._zip.comment
            for entry in self._zip.infolist():
                copy = zipfile.ZipInfo(entry.filename, entry.date_time)
                copy.compress_type, copy.external_attr = entry.compress_type, entry.external_attr
                copy.create_system, copy.comment = entry.create_system, entry.comment
                if (content := changed.get(entry.filename)) is not None:
                    target.writestr(copy, content)
                else:
                    with self._zip.open(entry) as source, target.open(copy, "w") as to:
                        shutil.copyfileobj(source, to)
        return written.getvalue()

    def _check(self, entries: list[zipfile.ZipInfo]) -> None:
        """Refuse what the directory of the package says already."""
        advice = f"if you trust it, {self.save}"
        if len(entries) > _MOST_ENTRIES or sum(entry.file_size for entry in entries) > _MOST_BYTES:
            limits = f"more than {_MOST_ENTRIES:,} files or {_MOST_BYTES:,} bytes when it is unpacked"
            raise DataError(limits, self._name, advice=advice)
        if len({entry.filename for entry in entries}) < len(entries):
            raise DataError("two files of one name in the package", self._name, advice=advice)
        for entry in entries:
            if entry.flag_bits & 1:
                raise DataError("it is encrypted", self._name, advice=f"{self.save} without a password")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError(f"{entry.filename} is compressed in an unusual way", self._name, advice=advice)
            if entry.file_size > max(_SMALL, _MOST_RATIO * entry.compress_size):
                raise DataError(f"{entry.filename} unpacks to far too much (a bomb)", self._name, advice=advice)

    def _verify(self, entry: zipfile.ZipInfo) -> None:
        """Read an entry to its end, which compares its checksum. It cannot become longer than the directory says."""
        try:
            with self._zip.open(entry) as file:
                n_bytes = sum(len(chunk) for chunk in iter(lambda: file.read(2**20), b""))
        except _DAMAGES:
            raise self._damaged() from None
        if n_bytes != entry.file_size:
            raise self._damaged()

    def _damaged(self) -> DataError:
        return DataError("the file is damaged", self._name, advice="use another copy")


def _opened(content: bytes) -> zipfile.ZipFile:
    """Return a file whose names are in UTF-8, as in most packages, even if no flag says so, else as the flags say."""
    try:
        return zipfile.ZipFile(io.BytesIO(content), metadata_encoding="utf-8")
    except UnicodeDecodeError:
        return zipfile.ZipFile(io.BytesIO(content))
