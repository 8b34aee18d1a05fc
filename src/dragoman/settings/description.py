"""The list of all settings, as `dragoman train --list-settings` prints it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

from dragoman.settings.config import Config
from dragoman.settings.presets import PRESETS
from dragoman.settings.sections import Section


def describe_settings() -> str:
    """Return every setting with its meaning and default, as a recipe whose lines are all comments."""
    lines = [
        "# Every setting, with its default. Remove the # from the lines that you change; dragoman chooses the others."
    ]
    for section, field in Config.model_fields.items():
        assert isinstance(field.annotation, type)
        lines += ["", f"{section}:"]
        if section == "model":
            lines += ["  # Sizes known to work, which the settings below adjust.", f"  #preset: {', '.join(PRESETS)}"]
        meanings = _docstrings(field.annotation)
        for name, setting in field.annotation.model_fields.items():
            lines += [f"  # {line}" for line in textwrap.wrap(meanings.get(name, "").replace("None", "null"), 110)]
            choices = _choices(setting.annotation)
            lines.append(f"  #{name}: {json.dumps(setting.default)}" + (f"  # {', '.join(choices)}" if choices else ""))
    return "\n".join(lines)


def _docstrings(section: type) -> dict[str, str]:
    """Return the string below each setting of a section and of its base classes.

    Pydantic can note them, too (`use_attribute_docstrings`), but reads the source whenever the module is imported.
    """
    found: dict[str, str] = {}
    for base in reversed(section.__mro__[: section.__mro__.index(Section)]):
        (definition,) = ast.parse(inspect.getsource(base)).body
        assert isinstance(definition, ast.ClassDef)
        for setting, below in pairwise(definition.body):
            if isinstance(setting, ast.AnnAssign) and isinstance(below, ast.Expr):
                assert isinstance(setting.target, ast.Name)
                assert isinstance(below.value, ast.Constant)
                found[setting.target.id] = inspect.cleandoc(str(below.value.value))
    return found


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the values that a setting may have, if these are a few words."""
    literals = [part for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal]
    return get_args(literals[0]) if literals else ()
