"""Special ids: padding, the unknown token, the start and the end of a sentence. They are data of each vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class SpecialIds:
    """The special ids of one side.

    The start may be equal to the padding, as in Marian's models, or to the end. All others differ.

    Raises:
        ValueError: an id is negative, or two are equal that must differ.
    """

    pad: int = 0
    unknown: int = 1
    start: int = 2
    end: int = 3

    def __post_init__(self) -> None:
        if min(self.pad, self.unknown, self.start, self.end) < 0:
            raise ValueError("a special id is negative")
        if len({self.pad, self.unknown, self.end}) < 3 or self.start == self.unknown:
            raise ValueError("two special ids are equal")

    def require_size(self, vocab_size: int) -> None:
        """Raise a ValueError if a special id lies outside a vocabulary of this size."""
        if max(self.names) >= vocab_size:
            raise ValueError(f"the special id {max(self.names)} lies outside a vocabulary of {vocab_size}")

    @cached_property
    def marks(self) -> frozenset[int]:
        """Padding, start and end: the ids that stand for no text."""
        return frozenset((self.pad, self.start, self.end))

    @cached_property
    def names(self) -> dict[int, str]:
        """Display name of each special id."""
        return {self.start: "<sos>", self.pad: "<pad>", self.unknown: "<unk>", self.end: "<eos>"}


@dataclass(frozen=True)
class SpecialIdPair:
    """The special ids of a source and of a target vocabulary."""

    source: SpecialIds = SpecialIds()
    target: SpecialIds = SpecialIds()
