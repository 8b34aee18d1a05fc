"""A number, a date, an amount of money or the like in a text."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple

#: The field calls these semiotic classes.
Kind = Literal["cardinal", "decimal", "percent", "money", "measure", "date", "time", "weekday"]
#: Numbers; for money an ISO 4217 code and for a measure a CLDR unit beside one; (year, month, day) with None for what
#: is not said; minutes of the day; 0 for Monday.
Value = Decimal | tuple[Decimal, str] | tuple[int | None, int, int | None] | int


class Entity(NamedTuple):
    """A stretch of a text with a value that does not depend on its language."""

    kind: Kind
    start: int
    end: int
    value: Value
