"""Files of parallel text: the request to open one, and the pairs that a format finds in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

from dragoman.data.formats.column_names import Languages
from dragoman.data.text_files.compression import read_head
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import Line, read_lines
from dragoman.errors import DataError

#: (line, source, target): a pair, and the line of the file where it begins.
LocatedPair = tuple[int, Line, Line]
InvalidUtf8 = Literal["error", "drop"]

#: The sample by which a file is judged.
SAMPLE_LINES, SAMPLE_CHARACTERS = 20_000, 4_000_000


@dataclass(frozen=True)
class PairFile:
    """Parallel text that can be read again and again.

    Args:
        read: starts reading; yields every pair, also one with an unreadable side.
        count: counts the pairs.
        languages: of source and target, as far as the file states them.
        notes: lines for people about how the file is read.
        is_line_by_line: True if the pair at index i begins on line i + 1.
        count_by_machine: counts the pairs that are left out, because the file says that a machine translated them.
        left_out: returns lines for people about what the last pass left out.
    """

    read: Callable[[], Iterator[LocatedPair]]
    count: Callable[[], int]
    languages: Languages = (None, None)
    notes: tuple[str, ...] = ()
    is_line_by_line: bool = False
    count_by_machine: Callable[[], int] = lambda: 0
    left_out: Callable[[], tuple[str, ...]] = tuple


@dataclass(frozen=True)
class TextFile:
    """The lines of a text file, the same in every pass.

    Args:
        state: of the file when it was opened; a later pass refuses a file that has changed.
    """

    path: Path
    invalid_utf8: InvalidUtf8
    state: os.stat_result

    def lines(self) -> Iterator[Line]:
        """Read the lines.

        Raises:
            DataError: as `read_lines`.
        """
        return read_lines(self.path, self.invalid_utf8, self.state, allow_json=True)


@dataclass(frozen=True)
class PairRequest:
    """A file of pairs, with the languages and columns that the user names.

    Args:
        languages: of source and target, as far as they are known.
        columns: the two columns, by number or name ("2,4", "en,de"); None finds them.
    """

    text: TextFile
    languages: Languages = (None, None)
    columns: str | None = None

    @property
    def path(self) -> Path:
        """Return the path of the file."""
        return self.text.path

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the file, unpacked; none if it cannot be read."""
        return read_head(self.path)

    @cached_property
    def sample(self) -> list[str]:
        """The first lines of text, "" for one that cannot be read; an empty list if all are blank.

        Raises:
            DataError: the file is not text, or cannot be read.
        """
        refuse_documents(self.path, allow_tables=True)
        lines: list[str] = []
        n_characters = 0
        for line in islice(self.text.lines(), SAMPLE_LINES):
            lines.append(line if isinstance(line, str) else "")  # so that a line keeps its number
            n_characters += len(lines[-1])
            if n_characters > SAMPLE_CHARACTERS:
                break
        return lines if any(map(str.strip, lines)) else []


def open_blank(text: TextFile) -> PairFile:
    """Return a file whose first lines are all blank or unreadable: its lines count as empty pairs."""

    def read() -> Iterator[LocatedPair]:
        for number, line in enumerate(text.lines(), start=1):
            if isinstance(line, str) and line.strip():
                raise DataError(f"only blank lines before this, the first {SAMPLE_LINES:,}", text.path, line=number)
            side = "" if isinstance(line, str) else line
            yield number, side, side

    return PairFile(read, lambda: sum(1 for _ in read()))
