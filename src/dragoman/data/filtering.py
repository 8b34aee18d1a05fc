"""Which pairs are kept: every reason for dropping one is decided and counted here.

The ASCII control characters except tab are in no sentence, nor are halves of surrogate pairs (which JSON can spell):
their pairs are dropped. Joiners, zero-width and direction marks belong to the writing of many languages and are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from dragoman.config import DataConfig
from dragoman.data.lines import Line, Unreadable

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")

#: Tokens that the shorter side gets for free before the ratio counts: "Ja." may well be six words elsewhere.
_RATIO_ALLOWANCE = 2


@dataclass
class Counts:
    """How many pairs were seen, how many kept, and why the others were dropped."""

    seen: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Count what another has counted too."""
        self.seen += other.seen
        self.kept += other.kept
        self.dropped.update(other.dropped)

    def line(self) -> str:
        """One line for people: `kept 28,950 of 29,000 pairs; dropped: empty 12, too long 30, ratio 8`."""
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.dropped.items()) if count)
        return f"kept {self.kept:,} of {self.seen:,} pairs" + (f"; dropped: {reasons}" if reasons else "")


def text_problem(source: Line, target: Line) -> str | None:
    """Why a pair is dropped for its text alone, or None."""
    for side in (source, target):
        if isinstance(side, Unreadable):
            return side.value
        if not side or side.isspace():
            return "empty"
        if not side.isprintable() and _CONTROL.search(side):  # the quicker question first; it also minds a tab
            return "control characters"
    return None


def length_problem(n_source: int, n_target: int, data: DataConfig) -> str | None:
    """Why a pair is dropped for its lengths in tokens, or None."""
    shorter, longer = sorted((n_source, n_target))
    if not shorter:
        return "empty"
    if longer > data.max_length:
        return "too long"
    return "ratio" if longer > data.max_ratio * (shorter + _RATIO_ALLOWANCE) else None
