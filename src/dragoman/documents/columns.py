"""Lines with columns, such as the options in a help text: the spaces between the columns stay.

-o, --output FILE    write the result to a file
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_GAP = re.compile(r"(?<=\S)(?: {2,}|[ ]*\t[ \t]*)(?=\S)")
_SENTENCE_END = re.compile(r"[.!?;…][\"'»”’)\]]*\Z")
#: The fewest spaces between columns.
_NARROW = 2
_OPTION = re.compile(r"--?[A-Za-z0-9?]")


@dataclass(frozen=True)
class Cell:
    """A text of a line, and the spaces after it."""

    text: str
    gap: str

    @property
    def is_translated(self) -> bool:
        """True if it is text, not a number, or options with their values."""
        return any(map(str.isalpha, self.text)) and not (self.gap and _OPTION.match(self.text))

    def padded(self, text: str) -> str:
        """Return another text with spaces up to the next column, at least two."""
        if not self.gap or "\t" in self.gap:
            return text + self.gap
        return text + " " * max(_NARROW, len(self.text) + len(self.gap) - _columns(text))


def split_columns(lines: Sequence[str]) -> list[list[Cell]]:
    """Return the cells of each line, without its indentation and the spaces at its end; one cell for most lines.

    Spaces part columns after an option, before a number that ends the line, or if a cell of the next line or the one
    before begins in the same column. A tab always does.

    >>> [[cell.text for cell in cells] for cells in split_columns(["  -h, --help  show it", "An end.  A start"])]
    [['-h, --help', 'show it'], ['An end.  A start']]
    """
    gaps = [[*_gaps(line.rstrip())] for line in lines]
    if not any(gaps):
        return [[Cell(line.strip(), "")] for line in lines]
    starts = [{end for _, end in places} for places in gaps]
    indents = [{len(line) - len(line.lstrip())} - {0} for line in lines]
    cells = []
    for number, line in enumerate(lines):
        near = [near for near in (number - 1, number + 1) if 0 <= near < len(lines)]
        around = set().union(*(starts[each] for each in near))
        around_wide = around.union(*(indents[each] for each in near))
        core = line.rstrip()
        at = len(core) - len(core.lstrip())
        last_letter = next((at for at in range(len(core) - 1, -1, -1) if core[at].isalpha()), -1)
        row: list[Cell] = []
        for start, end in gaps[number]:
            gap = core[start:end]
            is_below = end in (around if len(gap) == _NARROW else around_wide)
            if is_below or "\t" in gap or end > last_letter or _OPTION.match(core, at):
                row.append(Cell(core[at:start], gap))
                at = end
        cells.append([*row, Cell(core[at:], "")])
    return cells


def _gaps(line: str) -> Iterator[tuple[int, int]]:
    """Yield the gaps of a line, except two spaces between sentences."""
    indentation = len(line) - len(line.lstrip())
    for match in _GAP.finditer(line, indentation):
        if match[0] != " " * _NARROW or not _SENTENCE_END.search(line, max(0, match.start() - 9), match.start()):
            yield match.span()


def _columns(text: str) -> int:
    """Return the columns that a text takes in a terminal; those of Chinese are two wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
