"""Arguments that callers give, refused with the place of what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from dragoman.errors import ConfigError


def string_list(values: Sequence[str], name: str) -> list[str]:
    """Return the strings of a list, a tuple, or anything else of a length and in an order: an array, a column.

    Args:
        name: of one of them, for the message: "text".

    Raises:
        ConfigError: it is something else, or one of its values is no string; the message has its place, from 1.
    """
    names, advice = f"{name}es" if name.endswith("x") else f"{name}s", "give a string, or a list of strings"
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping | Set):
        raise ConfigError(f"the {names} are {_kind(values)}", advice=advice)
    try:
        n_values = len(values)
        found = list(values)
    except TypeError:
        if isinstance(values, Iterable):
            advice = "translate_stream takes them one by one; or make a list of them"
        raise ConfigError(f"the {names} are {_kind(values)}", advice=advice) from None
    if len(found) != n_values:
        raise ConfigError(f"the {names} are {_kind(values)} of no fixed length", advice=advice)
    return [string(value, f"{name} {number}") for number, value in enumerate(found, 1)]


def prefix_list(prefixes: str | Sequence[str] | None, n_texts: int) -> list[str]:
    """Return the beginning of each translation, from one for all or one for each.

    Raises:
        ConfigError: one is no string, or there are more or fewer than texts.
    """
    if prefixes is None or isinstance(prefixes, str):
        return [prefixes or ""] * n_texts
    found = string_list(prefixes, "prefix")
    if len(found) != n_texts:
        raise ConfigError(f"{len(found)} prefixes for {n_texts} texts", advice="give one, or one for each")
    return found


def string(value: Any, place: str) -> str:
    """Return a string as it is.

    Args:
        place: the value's name in the message: "text 2".

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(value, str):
        return value
    advice = "decode them" if isinstance(value, bytes | bytearray | memoryview) else "give strings"
    raise ConfigError(f"{place} is {_kind(value)}", advice=advice)


def string_stream(values: Iterable[str], name: str) -> Iterable[str]:
    """Return an iterable of strings as it is; its strings are checked as they come.

    Raises:
        ConfigError: it is one string, a mapping, or nothing that can be read one by one.
    """
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping) or not isinstance(values, Iterable):
        raise ConfigError(f"the {name}s are {_kind(values)}", advice="give a list or a generator of strings")
    return values


def flag(value: Any, name: str) -> bool:
    """Return True or False as it is.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} is {_kind(value)}", advice="give True or False")


def positive(value: Any, name: str) -> int:
    """Return a whole number of one or more as it is.

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ConfigError(f"{name} is {_kind(value)}", advice="give a whole number, 1 or more")
    if value < 1:
        raise ConfigError(f"{name} is {value}", advice="give 1 or more")
    return int(value)


def _kind(value: Any) -> str:
    """A value in the words of a message: None, or its type, or a number itself."""
    if value is None:
        return "None"
    if isinstance(value, int | float | complex):
        return f"{value!r}, a number" if not isinstance(value, bool) else repr(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}" if name != "bytes" else "bytes"
