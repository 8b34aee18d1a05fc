"""The answers to requests that are refused, in the form of each protocol: LibreTranslate's is also ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Scope

from dragoman.server.api_errors import ApiError, KeyRefusedError

#: The beginnings of the paths of other protocols.
_OPENAI, _DEEPL, _APERTIUM = "/v1/chat/", ("/v2/", "/v3/"), "/apertium/"
#: OpenAI's statuses with a code of their own.
_OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def path_of(scope: Scope, prefix: str) -> str:
    """Return the path of a request without what the server's paths begin with.

    Args:
        prefix: that of the server's settings.
    """
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).removeprefix(prefix)


def refusal(path: str, error: ApiError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the answer that refuses a request.

    Args:
        path: as `path_of` returns it.
        headers: in addition to those that the error has.
    """
    status, is_key = error.status, isinstance(error, KeyRefusedError)
    content: dict[str, Any] = {"error": error.message}
    if path.startswith(_OPENAI):
        status = 401 if is_key else status
        content = openai_error(error.message, status)
    elif path.startswith(_DEEPL):
        status = 403 if is_key else status
        content = {"message": error.message}
    elif path.startswith(_APERTIUM):
        content = {"status": "error", "code": status, "message": error.message, "explanation": error.message}
    return JSONResponse(content, status, {**(headers or {}), **_headers(error)})


def openai_error(message: str, status: int) -> dict[str, Any]:
    """Return the content of an error for clients of OpenAI."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": _OPENAI_CODES.get(status)}}


def _headers(error: ApiError) -> dict[str, str]:
    """Return the headers of an answer that refuses; the connection closes if the body was not read."""
    headers = {"retry-after": str(error.retry_after)} if error.retry_after is not None else {}
    return headers | ({"connection": "close"} if error.status in (408, 413) else {})
