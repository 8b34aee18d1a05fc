"""Special ids: padding, the unknown token, the start and the end of a sentence. They are data of each vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class SpecialIds:
    """The special ids of one side.

    The start may be equal to the padding, as in Marian's models, or to the end. A source whose end nothing marks, as in
    OpenNMT-py's models, has an end that is the padding: the mask hides it. All others differ.

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
        if self.unknown in (self.pad, self.start, self.end):
            raise ValueError("two special ids are equal")

    @property
    def has_end(self) -> bool:
        """True if a mark ends a text; that of a target always does."""
        return self.end != self.pad

    def ended(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of a source with its end; one that would be padding alone has an unknown token."""
        return [*ids, self.end] if ids or self.has_end else [self.unknown, self.end]

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
        return {self.start: "<sos>", self.end: "<eos>", self.pad: "<pad>", self.unknown: "<unk>"}


@dataclass(frozen=True)
class SpecialIdPair:
    """The special ids of a source and of a target vocabulary.

    Raises:
        ValueError: nothing would end a target.
    """

    source: SpecialIds = SpecialIds()
    target: SpecialIds = SpecialIds()

    def __post_init__(self) -> None:
        if not self.target.has_end:
            raise ValueError("the end of a target is its padding")
