"""Errors of requests: a status of HTTP, and a line for a person or a program."""

from __future__ import annotations

from dragoman.errors import BundleError, ConfigError, DataError, DragomanError, FullDiskError, StoppedError


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
        self.message = message.encode(errors="replace").decode()
        self.retry_after = retry_after


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
