"""Checks of the arguments of callers; an error names the wrong value, counted from 1."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from dragoman.errors import ConfigError, counted
from dragoman.memories import TranslationMemory
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import parse_section
from dragoman.translator.options import AllOptions, SearchOptions


def string_list(values: Sequence[str], name: str) -> list[str]:
    """Return the strings of a list, a tuple, or another sequence of fixed length: an array, a column.

    Args:
        name: of one of them, for the message: "text".

    Raises:
        ConfigError: it is something else, or a value is no string; the message has the value's number, from 1.
    """
    names, advice = f"{name}es" if name.endswith("x") else f"{name}s", "give a string, or a list of strings"
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping | Set):
        advice = "give a list of strings" if isinstance(values, str) else advice
        raise ConfigError(f"the {names} are {kind(values)}", advice=advice)
    try:
        n_values = len(values)
        texts = list(values)
    except TypeError:
        if isinstance(values, Iterable) and name == "text":
            advice = "translate_stream takes them one by one; or make a list of them"
        raise ConfigError(f"the {names} are {kind(values)}", advice=advice) from None
    if len(texts) != n_values:
        raise ConfigError(f"the {names} are {kind(values)} of no fixed length", advice=advice)
    return [string(value, f"{name} {number}") for number, value in enumerate(texts, 1)]


def prefix_list(prefixes: str | Sequence[str] | None, n_texts: int) -> list[str]:
    """Return the prefix of each translation, given one for all or one for each.

    Raises:
        ConfigError: one is no string, or there are more or fewer than texts.
    """
    if prefixes is None or isinstance(prefixes, str):
        return [prefixes or ""] * n_texts
    checked = string_list(prefixes, "prefix")
    if len(checked) != n_texts:
        raise ConfigError(
            f"{counted(len(checked), 'prefix', 'prefixes')} for {counted(n_texts, 'text')}",
            advice="give one, or one for each",
        )
    return checked


def string(value: Any, name: str) -> str:
    """Return a string as it is.

    Args:
        name: the value's name in the message: "text 2".

    Raises:
        ConfigError: it is something else.
    """
    if isinstance(value, str):
        return value
    advice = "decode them" if isinstance(value, bytes | bytearray | memoryview) else "give strings"
    raise ConfigError(f"{name} is {kind(value)}", advice=advice)


def checked_stretches(values: Any, n_characters: int, name: str) -> None:
    """Check the stretches of a text.

    Args:
        n_characters: of the text.
        name: of the stretches, for the message.

    Raises:
        ConfigError: one is no pair of whole numbers, is empty, or leaves the text.
    """
    advice = f"give pairs (start, end) with 0 <= start < end <= {n_characters}"
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise ConfigError(f"{name} is {kind(values)}", advice=advice)
    for value in values:
        is_pair = isinstance(value, Sequence) and len(value) == 2 and all(type(number) is int for number in value)
        if not is_pair or not 0 <= value[0] < value[1] <= n_characters:
            raise ConfigError(f"{name} has {value!r}", advice=advice)


def translation_memory(value: Any, name: str) -> None:
    """Check a memory, or None.

    Raises:
        ConfigError: it is something else.
    """
    if not isinstance(value, TranslationMemory | None):
        advice = "give a TranslationMemory, such as TranslationMemory.open(path)"
        raise ConfigError(f"{name} is {kind(value)}", advice=advice)


def string_stream(values: Iterable[str], name: str) -> Iterable[str]:
    """Return an iterable of strings as it is; its strings are checked as they come.

    Raises:
        ConfigError: it is one string, a mapping, or cannot be iterated over.
    """
    if isinstance(values, str | bytes | bytearray | memoryview | Mapping) or not isinstance(values, Iterable):
        raise ConfigError(f"the {name}s are {kind(values)}", advice="give a list or a generator of strings")
    return values


def flag(value: Any, name: str) -> bool:
    """Return True or False as it is.

    Raises:
        ConfigError: it is something else.
    """
    value = plain_number(value)
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} is {kind(value)}", advice="give True or False")


def positive(value: Any, name: str) -> int:
    """Return a whole number of one or more as it is.

    Raises:
        ConfigError: it is something else.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ConfigError(f"{name} is {kind(value)}", advice="give a whole number, 1 or more")
    if number < 1:
        raise ConfigError(f"{name} is {number}", advice="give 1 or more")
    return number


def positive_seconds(value: Any, name: str) -> float:
    """Return a number of seconds over 0 as it is.

    Raises:
        ConfigError: it is something else.
    """
    value = plain_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ConfigError(f"{name} is {kind(value)}", advice="give seconds, more than 0")
    return value


def share(value: Any, name: str) -> float:
    """Return a number from 0 to 1 as it is.

    Raises:
        ConfigError: it is something else.
    """
    value = plain_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError(f"{name} is {kind(value)}", advice="give a number from 0 to 1")
    return value


def plain_number(value: Any) -> Any:
    """Return a number of NumPy or PyTorch as Python's own, and anything else as it is."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def model_names(names: Sequence[Any]) -> Sequence[str | Path]:
    """Return the names of models as they are.

    Raises:
        ConfigError: there is none, or one is neither a string nor a path.
    """
    if not names:
        raise ConfigError("no model given", advice="name a bundle or a run folder")
    for number, name in enumerate(names, 1):
        if not isinstance(name, str | Path):
            is_list = isinstance(name, list | tuple)
            advice = "give names one by one: load('a', 'b')" if is_list else "give a name or a path"
            raise ConfigError(f"model {number} is {kind(name)}", advice=advice)
    return names


def kind(value: Any) -> str:
    """Describe a value in a message: None, a number as it is, or the type of anything else."""
    if value is None:
        return "None"
    if isinstance(value, int | float | complex):
        return f"{value!r}, a number" if not isinstance(value, bool) else repr(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}" if name != "bytes" else "bytes"


def changed_search(search: SearchConfig, options: SearchOptions) -> SearchConfig:
    """Return a search with some options changed; None changes nothing.

    Raises:
        ConfigError: an option is out of range.
    """
    _refuse_unknown(options)
    values = {name: plain_number(value) for name, value in options.items() if value is not None}
    return parse_section(SearchConfig, {**search.model_dump(), **values})


def _refuse_unknown(options: Iterable[str]) -> None:
    """Raise a ConfigError for an option that does not exist; it names a similar one of `Translator.translate`."""
    for name in options:
        if name not in SearchOptions.__annotations__:
            similar = difflib.get_close_matches(name, AllOptions.__annotations__, n=1)
            hint = f"did you mean {similar[0]!r}?" if similar else "`help(dragoman.Translator.translate)` has them"
            raise ConfigError(f"unknown option {name!r} ({hint})")
