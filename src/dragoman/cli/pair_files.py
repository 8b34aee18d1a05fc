"""Files of pairs that the commands write: two text files, a table, JSON lines, or a translation memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from dragoman.cli.streams import WriteLine, result_bytes, result_lines
from dragoman.errors import ConfigError

#: Takes the source, the target, and the cells of further columns, which a table has.
WritePair = Callable[..., None]
#: (source, target), each None or "und" if it is not known.
Languages = tuple[str | None, str | None]


def refuse_pair_file(path: Path, suffixes: Sequence[str], languages: Languages) -> None:
    """Refuse a file that cannot have both sides of each pair.

    Raises:
        ConfigError: its suffix, before that of a compression, is none of `suffixes`; or the languages, which a
            translation memory needs, are not known, or are the same.
    """
    from dragoman.data.text_files.compression import uncompressed_name

    suffix = uncompressed_name(path).suffix.lower()
    if suffix not in suffixes:
        problem = f"pairs cannot be written as {suffix or 'a file without suffix'}"
        raise ConfigError(problem, path, advice=f"use a name that ends in {' or '.join(suffixes)}")
    if suffix == ".tmx" and not _are_two(languages):
        advice = "give --source-lang and --target-lang"
        raise ConfigError(
            "a TMX file needs two languages, and here one is not known, or both are one", path, advice=advice
        )


@contextlib.contextmanager
def pair_writer(
    paths: Sequence[Path],
    languages: Languages = (None, None),
    *,
    overwrite: bool,
    columns: Sequence[str] = (),
    is_quoted: bool = False,
) -> Iterator[WritePair]:
    """Open the two files of the sides, or the file of the pairs, and yield a function that writes a pair.

    Args:
        columns: the header of a table; without it, a table has none.
        is_quoted: quote the cells of a table, because `needs_quotes` is true for some, or other programs read it.
    """
    from dragoman.data.text_files.compression import uncompressed_name

    with contextlib.ExitStack() as stack:
        suffix = uncompressed_name(paths[0]).suffix.lower()
        if len(paths) == 1 and suffix == ".tmx":
            yield stack.enter_context(_memory_writer(paths[0], languages, overwrite=overwrite))
            return
        lines: list[WriteLine] = [stack.enter_context(result_lines(path, overwrite=overwrite)) for path in paths]
        if len(lines) == 2:
            yield partial(_write_lines, lines[0], lines[1])
        elif suffix == ".jsonl":
            yield partial(_write_json, lines[0])
        else:
            yield _table_writer(lines[0], columns, is_quoted=is_quoted)


def language_columns(languages: Languages) -> tuple[str, ...]:
    """Return the header of a table in two languages, by which they are found again; nothing if they are not known."""
    from dragoman.data.formats.column_names import are_names

    names = tuple(str(language) for language in languages)
    return names if _are_two(languages) and are_names(names) else ()


def _are_two(languages: Languages) -> bool:
    """Return True if two languages are known, and differ."""
    from dragoman.text.tags import UNKNOWN

    return not {None, UNKNOWN}.intersection(languages) and languages[0] != languages[1]


@contextlib.contextmanager
def _memory_writer(path: Path, languages: Languages, *, overwrite: bool) -> Iterator[WritePair]:
    from dragoman.memories import Unit
    from dragoman.memories.memory_files import TMX_END, tmx_head, tmx_unit

    with result_bytes(path, overwrite=overwrite) as write:
        write(tmx_head(languages[0]))
        yield lambda source, target, *_: write(tmx_unit(Unit(source, target, *languages)))
        write(TMX_END)


def _write_lines(write_source: WriteLine, write_target: WriteLine, source: str, target: str) -> None:
    write_source(source)
    write_target(target)


def _write_json(write: WriteLine, source: str, target: str) -> None:
    write(json.dumps({"source": source, "target": target}, ensure_ascii=False))


def _table_writer(write: WriteLine, columns: Sequence[str], *, is_quoted: bool) -> WritePair:
    """Return a function that writes rows of a table, so that they are read as the same pairs."""
    from dragoman.data.formats.column_names import are_names

    is_first = not columns
    if columns:
        write("\t".join(columns))

    def write_row(*row: str) -> None:
        nonlocal is_first
        if is_first and are_names(row):  # else the pair would be taken for the header
            write("source\ttarget")
        is_first = False
        if is_quoted:
            write("\t".join('"' + cell.replace('"', '""') + '"' for cell in row))
        else:
            write("\t".join(cell.replace("\t", " ") for cell in row))

    return write_row
