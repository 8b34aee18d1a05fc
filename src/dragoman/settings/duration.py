"""Durations as people write them: 90s, 30m, 1h30m."""

from __future__ import annotations

import re

from dragoman.errors import ConfigError

_FORM = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?")
_SECONDS = (3600, 60, 1)
#: Fewest seconds between two lines about the progress of a command.
PROGRESS_EVERY = 10.0


def parse_duration(text: str) -> float:
    """Return the seconds that a duration says.

    Raises:
        ConfigError: it is of another form, or nothing.
    """
    found = _FORM.fullmatch(text.strip())
    parts = found.groups() if found else (None,) * len(_SECONDS)
    seconds = sum(int(part) * unit for part, unit in zip(parts, _SECONDS, strict=True) if part is not None)
    if not seconds:
        raise ConfigError(f"{text[:40]!r} is no duration", advice="write it as 90s, 30m, 2h or 1h30m")
    return float(seconds)


def duration_text(seconds: float) -> str:
    """Return a duration as `parse_duration` reads it, to the second."""
    rest, parts = round(seconds), []
    for unit, name in zip(_SECONDS, "hms", strict=True):
        number, rest = divmod(rest, unit)
        if number:
            parts.append(f"{number}{name}")
    return "".join(parts) or "0s"


def speed_text(n_done: int, seconds: float) -> str:
    """Return a speed to follow a count; nothing if it took less than a second, or is below 0.1 a second.

    >>> speed_text(76, 20), speed_text(9_000, 2), speed_text(1, 0.01), speed_text(1, 30)
    (', 3.8 a second', ', 4,500 a second', '', '')
    """
    speed = n_done / seconds if seconds >= 1 else 0.0
    return f", {speed:,.{0 if speed >= 10 else 1}f} a second" if speed >= 0.1 else ""
