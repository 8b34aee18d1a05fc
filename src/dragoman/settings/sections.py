"""Sections of settings: frozen, strict, typed. All problems of a section are reported at once, one a line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from dragoman.errors import ConfigError

S = TypeVar("S", bound="Section")

#: The most problems that are explained at once.
MOST_PROBLEMS = 100

#: Demands that pydantic words in Python's terms.
_DEMANDS = {
    "tuple_type": "input should be a list",
    "model_type": "input should be settings with names, such as {name: value}",
    "dict_type": "input should be settings with names, such as {name: value}",
}


class ContradictionError(ValueError):
    """Settings that are valid alone, but not together."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


class Section(BaseModel):
    """A part of the configuration: unknown keys, invalid types and numbers that are not finite are errors."""

    # What a translation does not need is not built: `defer_build`.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    #: Keys that a recipe may have here besides the settings.
    also_known: ClassVar[tuple[str, ...]] = ()
    #: The command that lists all settings, for a message.
    listed_by: ClassVar[str] = "dragoman train --list-settings"

    def contradictions(self) -> Iterator[str]:
        """Yield a message for each contradiction between settings."""
        yield from ()

    @model_validator(mode="after")
    def _go_together(self) -> Self:
        if contradictions := list(self.contradictions()):
            raise ContradictionError(contradictions)
        return self


def parse_section(section: type[S], settings: Mapping[str, Any], location: str | Path | None = None) -> S:
    """Check the settings of one section, and return it.

    Raises:
        ConfigError: lists every problem found.
    """
    settings = _tuples(settings)
    try:
        return section.model_validate(settings)
    except ValidationError:
        problems = problems_of(section, settings)
        raise ConfigError(problems[0], location, details=problems[1:]) from None


def problems_of(section: type[Section], settings: Mapping[str, Any]) -> list[str]:
    """Return a line for each problem of the settings of a section.

    Pydantic looks for contradictions in those sections where all settings are valid.
    """
    try:
        section.model_validate(_tuples(settings))
    except ValidationError as error:
        lines = (line for each in error.errors() for line in _explanations(section, each))
        # A suggestion takes time; a stranger's file may need a hundred thousand.
        return list(islice(lines, MOST_PROBLEMS))
    return []


def setting_name(path: Sequence[str | int]) -> str:
    """Return the name of a setting for people, given its path; elements of lists are counted from 1.

    >>> setting_name(("training", "lr")), setting_name(("data", "corpora", 0, "weight"))
    ('training.lr', 'data.corpora, entry 1, weight')
    """
    groups: list[list[str]] = [[]]
    for name in path:
        if isinstance(name, int):
            groups += [[f"entry {name + 1}"], []]
        else:
            groups[-1].append(name)
    return ", ".join(".".join(group) for group in groups if group)


def _explanations(section: type[Section], error: ErrorDetails) -> Iterator[str]:
    """Yield a line for each problem of an error of pydantic's."""
    if error["type"] == "value_error":
        start = f"{setting_name(error['loc'])}: " if error["loc"] else ""
        yield from (start + message for message in error["ctx"]["error"].messages)
    else:
        yield _explain(section, error)


def _tuples(value: Any) -> Any:
    """Turn lists into tuples, as strict fields want them."""
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _explain(section: type[Section], problem: ErrorDetails) -> str:
    """Return one line for one problem that pydantic found."""
    path = [str(part) for part in problem["loc"]]
    key = setting_name(problem["loc"])
    if problem["type"] == "extra_forbidden":
        close = _close_keys(section, path, problem["loc"])
        return f"unknown key {key!r} " + (
            f"(did you mean {close[0]!r}?)" if close else f"(`{section.listed_by}` has them all)"
        )
    shown = repr(list(problem["input"]) if isinstance(problem["input"], tuple) else problem["input"])
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    demand = _DEMANDS.get(problem["type"]) or problem["msg"][:1].lower() + problem["msg"][1:]
    return f"{key}: {demand}, got {shown}" if key else f"{demand}, got {shown}"


def _close_keys(section: type[Section], path: Sequence[str], location: Sequence[str | int]) -> list[str]:
    """Return the full name of the key that an unknown one may stand for: the same in another section, a similar one
    beside it, or a similar one anywhere; none if nothing is close."""
    everywhere = {key: f"{name}.{key}" for name in section.model_fields for key in _keys(section, [name])}
    lists = {
        key: f"{name}.{field}, entry 1, {key}"
        for name in section.model_fields
        for field in _keys(section, [name])
        for key in _keys(section, [name, field])
    }
    known = {**lists, **everywhere}
    if path[-1] in known:
        return [known[path[-1]]]
    beside = difflib.get_close_matches(path[-1], _keys(section, path[:-1]), n=1)
    if beside:
        return [setting_name([*location[:-1], *beside])]
    return [known[key] for key in difflib.get_close_matches(path[-1], known, n=1, cutoff=0.8)]


def _keys(section: type[Section], path: Sequence[str]) -> list[str]:
    """Return the keys that are known at `path`."""
    for name in path:
        if name.isdigit():  # an element of a list
            continue
        field = section.model_fields.get(name)
        annotations = [field.annotation, *get_args(field.annotation)] if field else []
        inner = [
            annotation for annotation in annotations if isinstance(annotation, type) and issubclass(annotation, Section)
        ]
        if not inner:
            return []
        section = inner[0]
    return [*section.model_fields, *section.also_known]
