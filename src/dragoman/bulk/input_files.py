"""The files of a bulk translation, the names of their translations, and their parts: the units of work.

Parts are translated, kept and repeated by themselves.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

from dragoman.data.text_files.compression import COMPRESSED_SUFFIXES, uncompressed_name
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import MAX_INPUT_BYTES, Line, input_text
from dragoman.documents import AMBIGUOUS, FORMATS, TABLES, read_document
from dragoman.errors import ConfigError, DataError
from dragoman.machine.files import TEMPORARY
from dragoman.text.languages import KNOWN_CODES, base_language


@dataclass(frozen=True)
class InputFile:
    """A file to translate."""

    path: Path
    #: Its place in the output folder: the path below the input folder, or the name of a single file, with "/".
    name: str
    #: A format of documents; None for lines of text.
    format: str | None


@dataclass(frozen=True)
class InputFiles:
    """The files to translate, and those of a folder that are not.

    Args:
        left_out: those that are neither text nor a known document.
        tables: those whose columns are not named.
        ambiguous: those whose suffix may be that of a document or of anything else.
    """

    taken: Sequence[InputFile]
    left_out: Sequence[Path]
    tables: Sequence[Path] = ()
    ambiguous: Sequence[Path] = ()


def find_files(inputs: Sequence[Path], output: Path, format: str | None, *, takes_tables: bool = False) -> InputFiles:
    """Return the files of the inputs, in the order of the inputs and then of their names.

    A file that is named is taken whatever its suffix; it is lines of text unless the suffix is that of a document.
    In a folder, files are taken whose suffix is that of a document, .txt, a language's code (text.en), a number
    (text.00), one of these before .gz, .bz2 or .xz, or the format that was asked for; .xml, .json and .ts, which may be
    anything, only for that. Hidden files are passed over, and so is the output folder.

    Args:
        format: of all files, as `open_document` takes it; None is by the suffix.
        takes_tables: take the tables (CSV, TSV) of a folder, too.

    Raises:
        ConfigError: two files would have one translation, or the format is unknown.
        DataError: an input is missing or is the output folder, or there is nothing to translate.
    """
    if format is not None and f".{format}" not in FORMATS:
        names = ", ".join(suffix.removeprefix(".") for suffix in FORMATS)
        raise ConfigError(f"unknown format {format!r}", advice=f"the formats are {names}")
    taken: list[InputFile] = []
    left_out: list[Path] = []
    tables: list[Path] = []
    ambiguous: list[Path] = []
    for path in inputs:
        if path.is_dir():
            for file in _walk(path, output):
                if file.suffix.lower() in TABLES and not takes_tables and f".{format}" not in TABLES:
                    tables.append(file)
                elif _is_known(file, format):
                    taken.append(_input_file(file, file.relative_to(path), format))
                else:
                    (ambiguous if file.suffix.lower() in AMBIGUOUS else left_out).append(file)
        elif path.exists():
            taken.append(_input_file(path, Path(path.name), format))
        else:
            raise DataError("file not found", path, advice="check the path")
    _refuse_equal_names(taken)
    if not taken:
        advice = "name files of other kinds by --input, or give a --format"
        raise DataError("no text and no document here", inputs[0], advice=advice)
    return InputFiles(taken, left_out, tables, ambiguous)


def _walk(folder: Path, output: Path) -> Iterator[Path]:
    """Yield the files in a folder and in its folders, in the order of their names, without the output's."""
    if output.exists() and folder.samefile(output):
        raise DataError("the output is an input too", folder, advice="choose another --output")
    inside = output.resolve()
    for root, folders, names in os.walk(folder):
        here = Path(root)
        folders[:] = sorted(each for each in folders if not each.startswith(".") and (here / each).resolve() != inside)
        for name in sorted(names):
            if not name.startswith((".", TEMPORARY)):
                yield here / name


def _is_known(path: Path, format: str | None) -> bool:
    """Return True if the suffix of a file in a folder says that it is text or a document."""
    suffix = uncompressed_name(path).suffix.lower().removeprefix(".")
    if format is not None and path.suffix.lower() == f".{format}":
        return True
    if path.suffix.lower() in AMBIGUOUS:
        return False
    is_text = suffix == "txt" or suffix.isdecimal() or base_language(suffix) in KNOWN_CODES
    is_packed = path.suffix.lower() in COMPRESSED_SUFFIXES
    return is_text or (path.suffix.lower() in FORMATS and not is_packed)


def _input_file(path: Path, name: Path, format: str | None) -> InputFile:
    suffix = path.suffix.lower()
    own = suffix.removeprefix(".") if suffix in FORMATS and suffix != ".txt" else None
    return InputFile(path, name.as_posix(), format or own)


def _refuse_equal_names(files: Sequence[InputFile]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        if (other := seen.setdefault(file.name, file.path)) is not file.path:
            problem = f"{other} and {file.path} would have the same translation {file.name}"
            raise ConfigError(problem, advice="give the folder that has both, or translate them one after the other")


_log = logging.getLogger(__name__)

#: Lines of a part: a minute or so of one slow core, so that little is lost with it, and enough to sort by length.
PART_LINES = 5_000


@dataclass(frozen=True)
class Lines:
    """Lines of a text; `first` is the number of the first, from 0."""

    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class DocumentContent:
    """A whole document; its name is for messages."""

    content: bytes
    format: str
    name: str


@dataclass(frozen=True)
class Part:
    """A part of a file: its number in the file, from 0, and what is to be translated."""

    file: InputFile
    index: int
    work: Lines | DocumentContent

    @cached_property
    def key(self) -> str:
        """A name that says what the part holds, so that its translation is never taken for that of another text."""
        work = self.work
        content = json.dumps(work.lines).encode() if isinstance(work, Lines) else work.content
        return f"{self.index:08}-{hashlib.sha256(content).hexdigest()[:24]}"


def read_parts(file: InputFile, invalid_utf8: Literal["error", "replace"], n_lines: int = PART_LINES) -> Iterator[Part]:
    """Yield the parts of a file as it is read: a document is one, a text is cut after every `n_lines` lines.

    Lines that are too long are translated as empty ones. An empty text has no part.

    Raises:
        DataError: the file cannot be read, or is no text in UTF-8.
    """
    if file.format is not None:
        yield Part(file, 0, DocumentContent(read_document(file.path), file.format, str(file.path)))
        return
    refuse_documents(file.path)
    lines = _text(input_text(file.path, file.path, invalid_utf8), file)
    index = 0
    while block := tuple(islice(lines, n_lines)):
        yield Part(file, index, Lines(index * n_lines, block))
        index += 1


def _text(lines: Iterable[Line], file: InputFile) -> Iterator[str]:
    """Yield lines as text. A line that is too long becomes an empty line, with a warning."""
    for number, line in enumerate(lines, 1):
        if isinstance(line, str):
            yield line
        else:
            _log.warning(f"{file.path}:{number}: longer than {MAX_INPUT_BYTES:,} bytes; its output is an empty line")
            yield ""
