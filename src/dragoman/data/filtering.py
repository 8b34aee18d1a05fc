"""Filters: the reasons to drop a pair, and the number of pairs dropped for each reason.

Pairs with control characters except tab are dropped; those from U+0080 on mostly come from Windows-1252 read as
Latin-1. So are pairs with halves of surrogate pairs, which JSON can spell. Invisible characters, such as zero-width
spaces and direction marks, do not matter: no tokenizer reads them, and a side of nothing else is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from dragoman.data.text_files.lines import Line, Unreadable
from dragoman.errors import counted
from dragoman.settings.data_config import DataConfig
from dragoman.text.cleaning import NOT_TEXT
from dragoman.text.invisible import is_blank

#: Tokens that are added to the shorter side before the ratio counts: "Ja." may be six words in another language.
_RATIO_ALLOWANCE = 2


@dataclass
class Counts:
    """Number of pairs kept, and of those dropped for each reason."""

    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    #: The first line of the corpus with each reason.
    first: dict[str, int] = field(default_factory=dict)

    @property
    def seen(self) -> int:
        """Number of pairs, kept and dropped."""
        return self.kept + self.dropped.total()

    def drop(self, reason: str, line: int, n_pairs: int = 1) -> None:
        """Count dropped pairs, the first of them on this line."""
        self.dropped[reason] += n_pairs
        self.first[reason] = min(line, self.first.get(reason, line))

    def add(self, other: Counts) -> None:
        """Add the counts of another."""
        self.kept += other.kept
        for reason, n_pairs in other.dropped.items():
            self.drop(reason, other.first[reason], n_pairs)

    def reasons(self) -> str:
        """Return the reasons for people: `empty 12 (from line 7), ratio 1 (line 840)`."""
        return ", ".join(f"{reason} {n_pairs:,} ({place})" for reason, n_pairs, place in self.rows())

    def rows(self) -> Iterator[tuple[str, int, str]]:
        """Yield each reason with its number of pairs, and the place of the first: `from line 7`, or `line 840`."""
        for reason, n_pairs in sorted(self.dropped.items()):
            yield reason, n_pairs, f"{'from ' if n_pairs > 1 else ''}line {self.first[reason]:,}"

    def line(self) -> str:
        """Return a line for people: `kept 28,950 of 28,951 pairs; dropped: ratio 1 (line 840)`."""
        dropped = f"; dropped: {self.reasons()}" if self.dropped else ""
        return f"kept {self.kept:,} of {counted(self.seen, 'pair')}{dropped}"


def text_problem(source: Line, target: Line) -> str | None:
    """Return the reason to drop a pair for its text, or None."""
    for side in (source, target):
        if isinstance(side, Unreadable):
            return side.value
        if is_blank(side):
            return "empty"
        if not side.isprintable() and NOT_TEXT.search(side):  # the quicker test first; it also fails for a tab
            return "control characters"
    return None


def length_problem(n_source: int, n_target: int, data: DataConfig) -> str | None:
    """Return the reason to drop a pair for its lengths in tokens, or None."""
    shorter, longer = sorted((n_source, n_target))
    if not shorter:
        return "empty"
    if longer > data.max_length:
        return "too long"
    return "ratio" if longer > data.max_ratio * (shorter + _RATIO_ALLOWANCE) else None
