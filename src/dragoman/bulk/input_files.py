"""The files of a bulk translation, and the names of their translations."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.text_files.compression import COMPRESSED_SUFFIXES, uncompressed_name
from dragoman.documents import FORMATS, TABLES
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
    """

    taken: Sequence[InputFile]
    left_out: Sequence[Path]
    tables: Sequence[Path] = ()


def find_files(inputs: Sequence[Path], output: Path, format: str | None, *, takes_tables: bool = False) -> InputFiles:
    """Return the files of the inputs, in the order of the inputs and then of their names.

    A file that is named is taken whatever its suffix; it is lines of text unless the suffix is that of a document.
    In a folder, files are taken whose suffix is that of a document, .txt, a language's code (text.en), a number
    (text.00), one of these before .gz, .bz2 or .xz, or the format that was asked for. Hidden files are passed over,
    and so is the output folder.

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
    for path in inputs:
        if path.is_dir():
            for file in _walk(path, output):
                if file.suffix.lower() in TABLES and not takes_tables and f".{format}" not in TABLES:
                    tables.append(file)
                elif _is_known(file, format):
                    taken.append(_input_file(file, file.relative_to(path), format))
                else:
                    left_out.append(file)
        elif path.exists():
            taken.append(_input_file(path, Path(path.name), format))
        else:
            raise DataError("file not found", path, advice="check the path")
    _refuse_equal_names(taken)
    if not taken:
        advice = "name files of other kinds by --input, or give a --format"
        raise DataError("no text and no document here", inputs[0], advice=advice)
    return InputFiles(taken, left_out, tables)


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
