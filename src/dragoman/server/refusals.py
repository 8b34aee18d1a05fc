"""The answers to requests that are refused, in the form of each protocol: LibreTranslate's is also ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Scope

from dragoman.server.api_errors import ApiError, KeyRefusedError, UnknownModelError

#: The beginnings of paths below /v1 that are this server's own; the others are OpenAI's, or would be.
_OWN = ("/v1/translate", "/v1/terms", "/v1/health")
_DEEPL, _APERTIUM = ("/v2/", "/v3/"), "/apertium/"
#: OpenAI's statuses with a code of their own.
_OPENAI_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def path_of(scope: Scope, prefix: str) -> str:
    """Return the path of a request without what the server's paths begin with.

    Args:
        prefix: that of the server's settings.
    """
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).removeprefix(prefix)


def refusal(scope: Scope, prefix: str, error: ApiError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the answer that refuses a request.

    Args:
        prefix: see `path_of`.
        headers: in addition to those that the error has.
    """
    path, status, is_key = path_of(scope, prefix), error.status, isinstance(error, KeyRefusedError)
    content: dict[str, Any] = {"error": error.message}
    if _is_openais(path, scope["method"]):
        status = 401 if is_key else status
        content = openai_error(error, status)
    elif path.startswith(_DEEPL):
        status = 403 if is_key else status
        content = {"message": error.message}
    elif path.startswith(_APERTIUM):
        content = {"status": "error", "code": status, "message": error.message, "explanation": error.message}
    return JSONResponse(content, status, {**(headers or {}), **_headers(error)})


def openai_error(error: ApiError, status: int) -> dict[str, Any]:
    """Return the content of an error for clients of OpenAI."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    code = "model_not_found" if isinstance(error, UnknownModelError) else _OPENAI_CODES.get(status)
    return {"error": {"message": error.message, "type": kind, "param": None, "code": code}}


def _is_openais(path: str, method: str) -> bool:
    """Return True for a request that a client of OpenAI sends; who loads and unloads models does it by our own API."""
    is_admins = path.startswith("/v1/models") and method != "GET"
    return path.startswith("/v1/") and not (is_admins or path.startswith(_OWN))


def _headers(error: ApiError) -> dict[str, str]:
    """Return the headers of an answer that refuses; the connection closes if the body was not read."""
    headers = {"retry-after": str(error.retry_after)} if error.retry_after is not None else {}
    return headers | ({"connection": "close"} if error.status in (408, 413) else {})
