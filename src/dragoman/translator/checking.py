"""Checks of the arguments of callers. A `ConfigError` names the wrong value, counted from 1, and says what to give."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, TypeVar, cast

from dragoman.errors import ConfigError, counted
from dragoman.memories import TranslationMemory
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section
from dragoman.translator.options import AllOptions, SearchOptions

T = TypeVar("T")
_BYTES = bytes | bytearray | memoryview


def string(value: Any, name: str) -> str:
    """Return a string as it is."""
    if type(value) is str:  # each of many texts
        return value
    advice = "decode them" if isinstance(value, _BYTES) else "give strings"
    return _checked(value, name, str, advice)


def flag(value: Any, name: str) -> bool:
    """Return True or False."""
    if value is True or value is False:
        return value
    return _checked(value, name, bool, "give True or False")


def positive(value: Any, name: str) -> int:
    """Return a whole number of one or more."""
    return _checked(value, name, int, "give a whole number, 1 or more", lambda number: number > 0)


def positive_seconds(value: Any, name: str) -> float:
    """Return a number of seconds over 0."""
    return _checked(value, name, float, "give seconds, more than 0", lambda number: number > 0)


def share(value: Any, name: str) -> float:
    """Return a number from 0 to 1."""
    return _checked(value, name, float, "give a number from 0 to 1", lambda number: 0 <= number <= 1)


def translation_memory(value: Any, name: str) -> None:
    """Check a memory, or None."""
    if value is not None:
        _checked(value, name, TranslationMemory, "give a TranslationMemory, such as TranslationMemory.open(path)")


def string_list(values: Sequence[str], name: str) -> list[str]:
    """Return the strings of a list, a tuple, or another sequence: an array, a column.

    Args:
        name: of one of them, for the message: "text".
    """
    if type(values) not in (list, tuple):
        _check_list(values, name)
    return [string(value, f"{name} {number}") for number, value in enumerate(values, 1)]


def prefix_list(prefixes: str | Sequence[str] | None, n_texts: int) -> list[str]:
    """Return the prefix of each translation, given one for all or one for each."""
    if prefixes is None or isinstance(prefixes, str):
        return [prefixes or ""] * n_texts
    checked = string_list(prefixes, "prefix")
    if len(checked) != n_texts:
        problem = f"{counted(len(checked), 'prefix', 'prefixes')} for {counted(n_texts, 'text')}"
        raise ConfigError(problem, advice="give one, or one for each")
    return checked


def string_stream(values: Iterable[str], name: str) -> Iterable[str]:
    """Return an iterable of strings as it is; its strings are checked as they come."""
    if isinstance(values, str | _BYTES | Mapping) or not isinstance(values, Iterable):
        raise ConfigError(f"the {name}s are {kind(values)}", advice="give a list or a generator of strings")
    return values


def checked_stretches(values: Any, n_characters: int, name: str) -> None:
    """Check that stretches are pairs of whole numbers, not empty, and inside a text of `n_characters`."""
    advice = f"give pairs (start, end) with 0 <= start < end <= {n_characters}"
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise ConfigError(f"{name} is {kind(values)}", advice=advice)
    for value in values:
        is_pair = isinstance(value, Sequence) and len(value) == 2 and all(type(number) is int for number in value)
        if not is_pair or not 0 <= value[0] < value[1] <= n_characters:
            raise ConfigError(f"{name} has {value!r}", advice=advice)


def model_names(names: Sequence[Any]) -> Sequence[str | Path]:
    """Return the names of models as they are: at least one, strings and paths."""
    if not names:
        raise ConfigError("no model given", advice="name a bundle or a run folder")
    for number, name in enumerate(names, 1):
        if not isinstance(name, str | Path):
            is_list = isinstance(name, list | tuple)
            advice = "give names one by one: load('a', 'b')" if is_list else "give a name or a path"
            raise ConfigError(f"model {number} is {kind(name)}", advice=advice)
    return names


def changed_search(search: SearchConfig, options: SearchOptions) -> SearchConfig:
    """Return a search with some options changed; None changes nothing.

    Raises:
        ConfigError: an option does not exist, or is out of range.
    """
    for name in options:
        if name not in SearchOptions.__annotations__:
            similar = difflib.get_close_matches(name, AllOptions.__annotations__, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else "`help(dragoman.Translator.translate)` has them"
            raise ConfigError(f"unknown option {name!r} ({hint})")
    values = {name: _plain_number(value) for name, value in options.items() if value is not None}
    return parse_section(SearchConfig, {**search.model_dump(), **values})


def kind(value: Any) -> str:
    """Describe a value in a message: None, a number as it is, or the type of anything else."""
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int | float | complex):
        return f"{value!r}, a number"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}" if name != "bytes" else "bytes"


def _check_list(values: Any, name: str) -> None:
    names, advice = f"{name}es" if name.endswith("x") else f"{name}s", "give a string, or a list of strings"
    if isinstance(values, str):
        advice = "give a list of strings"
    elif name == "text" and isinstance(values, Iterable) and not hasattr(values, "__len__"):
        advice = "translate_stream takes them one by one; or make a list of them"
    # An array of no dimensions has `__len__`, but no length.
    is_list = hasattr(values, "__len__") and getattr(values, "ndim", 1) != 0 and not isinstance(values, str | _BYTES)
    if not is_list or not isinstance(values, Iterable) or isinstance(values, Mapping | Set):
        raise ConfigError(f"the {names} are {kind(values)}", advice=advice)


def _checked(value: Any, name: str, of: type[T], advice: str, is_right: Callable[[T], bool] = lambda _: True) -> T:
    """Return a value of a type, a number of NumPy or PyTorch as Python's own; a whole number is a float, too."""
    value = _plain_number(value)
    is_of_type = isinstance(value, (int, float) if of is float else of) and (of is bool or not isinstance(value, bool))
    if not is_of_type or not is_right(value):
        raise ConfigError(f"{name} is {kind(value)}", advice=advice)
    return cast(T, value)


def _plain_number(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value
