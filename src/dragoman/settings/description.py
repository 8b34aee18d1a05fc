"""The list of all settings, as `dragoman train --list-settings` prints it."""

from __future__ import annotations

import json
import textwrap
from typing import Any, Literal, get_args, get_origin

from dragoman.settings.config import Config
from dragoman.settings.presets import PRESETS


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
        for name, setting in field.annotation.model_fields.items():
            lines += [f"  # {line}" for line in textwrap.wrap((setting.description or "").replace("None", "null"), 110)]
            choices = _choices(setting.annotation)
            lines.append(f"  #{name}: {json.dumps(setting.default)}" + (f"  # {', '.join(choices)}" if choices else ""))
    return "\n".join(lines)


def _choices(annotation: Any) -> tuple[str, ...]:
    """Return the values that a setting may have, if these are a few words."""
    literals = [part for part in (annotation, *get_args(annotation)) if get_origin(part) is Literal]
    return get_args(literals[0]) if literals else ()
