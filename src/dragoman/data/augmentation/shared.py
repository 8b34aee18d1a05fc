"""Stretches of text that stand on both sides of a pair."""

from __future__ import annotations

from typing import Literal, NamedTuple

from dragoman.data.augmentation.names import NameKind
from dragoman.text.spans import Kind

#: Source and target.
Pair = tuple[str, str]
#: Codes of source and target in their shortest form, as `base_language` returns them.
Languages = tuple[str, str]
#: Start and end.
Place = tuple[int, int]


class Shared(NamedTuple):
    """A name, number or other span that stands on both sides, at the same number of places on each.

    A "day" is a date, a month or a weekday.
    """

    kind: NameKind | Kind | Literal["day"]
    places: tuple[tuple[Place, ...], tuple[Place, ...]]
