"""The gate that each request passes: limits on its body, headers of its answer, its line in the log, its numbers."""

from __future__ import annotations

import json
import logging
import time
import traceback
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dragoman.server.api_errors import ApiError
from dragoman.server.helpers import CLIENT
from dragoman.server.refusals import path_of, refusal
from dragoman.server.server_parts import RequestFacts, ServerParts

#: LibreTranslate's endpoints for programs, which pages of other sites may call too; no other endpoint lets them.
OPEN_PATHS = frozenset(
    ("/translate", "/detect", "/languages", "/health", "/frontend/settings", "/suggest", "/translate_file", "/spec")
)
CROSS_ORIGIN = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "Authorization, Content-Type",
    "access-control-expose-headers": "Authorization",
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-credentials": "true",
    "access-control-max-age": "1728000",
}
SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}

_log = logging.getLogger(__name__)


class Gate:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, parts: ServerParts) -> None:
        self._app = app
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, passage = time.perf_counter(), _Passage(send, self._is_open(scope))
        scope["dragoman"] = RequestFacts()
        CLIENT.set(scope["client"][0] if scope.get("client") else "")
        self._parts.measures.in_flight.inc()
        try:
            await self._answer(scope, receive, passage)
        finally:
            self._parts.measures.in_flight.dec()
            self._note(scope, passage.status, time.perf_counter() - start)

    async def _answer(self, scope: Scope, receive: Receive, passage: _Passage) -> None:
        if scope["method"] == "OPTIONS" and passage.is_open:
            await Response()(scope, receive, passage.send)
            return
        try:
            with self._parts.bodies.open(scope, receive) as body:
                await self._app(scope, body.receive, passage.send)
        except ClientDisconnect:  # in the middle of its request
            pass
        except ApiError as error:
            await self._refusal(scope, error)(scope, receive, passage.send)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            _log.error(f"internal error: {type(error).__name__} in {frame.filename}:{frame.lineno}")
            _log.debug("its traceback", exc_info=error)
            if passage.status:
                raise
            await self._refusal(scope, ApiError(500, "internal error"))(scope, receive, passage.send)

    def _refusal(self, scope: Scope, error: ApiError) -> Response:
        return refusal(scope, self._parts.config.url_prefix, error)

    def _is_open(self, scope: Scope) -> bool:
        path = path_of(scope, self._parts.config.url_prefix)
        return path in OPEN_PATHS or path.startswith("/download_file/")

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request, and write its line in the log. The query string may have a text, so it is left out."""
        measures, facts = self._parts.measures, scope["dragoman"]
        endpoint = getattr(scope.get("route"), "path", "other")
        measures.seconds.labels(endpoint, str(status or 499)).observe(seconds)
        if status in (403, 408, 413, 429, 503):
            measures.refused.labels(str(status)).inc()
        if self._parts.config.log_requests:
            line: dict[str, Any] = {"method": scope["method"], "endpoint": endpoint, "status": status or 499}
            line |= {"ms": round(1000 * seconds, 1), "texts": facts.n_texts, "characters": facts.n_characters}
            _log.info(json.dumps(line))


class _Passage:
    """The way back to the client: it adds headers, and remembers the status."""

    def __init__(self, send: Send, is_open: bool) -> None:
        self._send = send
        self.is_open = is_open
        self.status = 0

    async def send(self, message: Message) -> None:
        """Send a message to the client."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in (SECURITY | (CROSS_ORIGIN if self.is_open else {})).items():
                headers.setdefault(name, value)
        await self._send(message)
