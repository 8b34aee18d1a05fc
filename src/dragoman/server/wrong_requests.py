"""One line about a request that has not the right form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: Parts of a place that a request has: names of fields, and indices. The others are kinds of values that were tried.
_FIELD = re.compile(r"(?!str\Z|int\Z|float\Z|bool\Z)[a-z][a-z0-9_]*")
_NO_OBJECT = ("model_attributes_type", "model_type")
#: Messages for pydantic's own, which name its classes.
_MESSAGES = {**dict.fromkeys(_NO_OBJECT, "it must be an object"), "extra_forbidden": "there is no such option"}


def describe(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong: of all errors, one kind of value for each, the first of those that are deepest inside.

    Args:
        errors: as pydantic lists them; at least one.
    """
    places = [_place(error) for error in errors]
    number = max(range(len(errors)), key=lambda index: (len(places[index]), -index))
    error, place = errors[number], ".".join(places[number])
    if not place and error["type"] in _NO_OBJECT:  # a form, for one: curl without -H
        return "the body is no JSON object; send one, with the header Content-Type: application/json"
    if not place and error["type"] == "missing":
        return "the body is empty; send a JSON object, with the header Content-Type: application/json"
    if error["type"] == "missing":
        return f"{place} is missing"
    message = _MESSAGES.get(error["type"], str(error["msg"]))
    return f"{place}: {message}" if place else message


def _place(error: Mapping[str, Any]) -> list[str]:
    *inside, last = [str(part) for part in error["loc"]]
    is_name = error["type"] == "extra_forbidden"  # whatever the client calls it
    parts = [*(part for part in inside if _is_field(part)), *([last] if is_name or _is_field(last) else [])]
    return parts[1:] if parts[:1] == ["body"] else parts


def _is_field(part: str) -> bool:
    return part.isdecimal() or _FIELD.fullmatch(part) is not None
