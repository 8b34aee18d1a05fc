"""Errors of requests: a status of HTTP, and a line for a person or a program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.errors import BundleError, ConfigError, DataError, DragomanError, FullDiskError, StoppedError

#: Parts of a place that a request has: names of fields, and indices. The others are kinds of values that were tried.
_FIELD = re.compile(r"(?!str\Z|int\Z|float\Z|bool\Z)[a-z][a-z0-9_]*")
#: Options of the command line, which documents name in their errors and clients lack.
_LANGUAGE_OPTION = re.compile(r"--(source|target)-lang\b")
_NO_OBJECT = ("model_attributes_type", "model_type")
#: Messages for pydantic's own, which name its classes.
_MESSAGES = {**dict.fromkeys(_NO_OBJECT, "it must be an object"), "extra_forbidden": "there is no such option"}


class ApiError(Exception):
    """A request that is not answered as its sender wished.

    Args:
        status: of HTTP.
        message: one line; halves of surrogate pairs in it are replaced.
        retry_after: seconds after which the same request may succeed.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = _LANGUAGE_OPTION.sub(r"the \1 language", message.encode(errors="replace").decode())
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        """Come back from another process as it was."""
        return type(self), (self.status, self.message, self.retry_after)


class UnknownModelError(ApiError):
    """A request for a model that the server does not have."""


class KeyRefusedError(ApiError):
    """A request without a valid key. Each protocol has a status of its own for it."""


def missing(name: str) -> ApiError:
    """Return LibreTranslate's error for a parameter that a request lacks."""
    return ApiError(400, f"Invalid request: missing {name} parameter")


def api_error(error: DragomanError, busy_seconds: int) -> ApiError:
    """Return the answer to a request that the translator refused.

    Args:
        busy_seconds: seconds after which the server may have time again.
    """
    if isinstance(error, ConfigError | DataError | BundleError):
        return ApiError(400, error.message)
    if isinstance(error, StoppedError):
        return ApiError(503, error.message, busy_seconds)
    if isinstance(error, FullDiskError):
        return ApiError(507, "the server's disk is full")
    return ApiError(503, "the translation failed; try it again", busy_seconds)


def describe(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return what is wrong with the form of a request: of all errors, one kind of value for each, the deepest inside.

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
