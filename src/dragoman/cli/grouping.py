"""Groups of options: a command takes a dataclass, and the terminal sees one option for each of its fields.

A field may be a group itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for each field of the groups among its parameters."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        group = groups.get(parameter.name)
        parameters += [_option(parameter, hints[parameter.name])] if group is None else _options(group)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = _build(kind, values)
        command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _option(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)


@functools.cache
def _hints(group: Any) -> dict[str, Any]:
    """Return the type of each field of a group, read once: a command that runs compiles nothing."""
    return get_type_hints(group, include_extras=True)


def _options(group: Any) -> list[inspect.Parameter]:
    """Return an option for each field of a group and of the groups in it."""
    hints, keyword = _hints(group), inspect.Parameter.KEYWORD_ONLY
    options: list[inspect.Parameter] = []
    for field in fields(group):
        hint = hints[field.name]
        option = inspect.Parameter(field.name, keyword, default=field.default, annotation=hint)
        options += _options(hint) if is_dataclass(hint) else [option]
    return options


def _build(group: Any, values: dict[str, Any]) -> Any:
    """Return a group, and take the values of its options out of `values`."""
    hints = _hints(group)
    return group(
        **{
            field.name: _build(hints[field.name], values) if is_dataclass(hints[field.name]) else values.pop(field.name)
            for field in fields(group)
        }
    )
