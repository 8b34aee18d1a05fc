"""Endpoints for those who run the server: numbers, and if it is alive and ready."""

from __future__ import annotations

import html
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse, JSONResponse

from dragoman.server.api_errors import ApiError
from dragoman.server.server_parts import ServerParts, bearer_token


def operations_routes(parts: ServerParts) -> APIRouter:
    """Return the endpoints."""
    router, config = APIRouter(tags=["operations"]), parts.config

    @router.get("/metrics", summary="Numbers for Prometheus")
    async def metrics(request: Request) -> Response:
        if not config.metrics:
            raise ApiError(404, "Not Found")
        if config.metrics_key is not None:
            parts.compare_keys(request, bearer_token(request), [config.metrics_key], ApiError(401, "Unauthorized"))
        return Response(parts.measures.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @router.get("/v1/health/live", summary="Say that the process answers")
    async def live() -> Response:
        return JSONResponse({"status": "ok"})

    @router.get("/v1/health/ready", summary="Say if requests are accepted: 200, or 503")
    async def ready() -> Response:
        if parts.service.queue.is_closed:
            raise ApiError(503, "the server stops")
        if not parts.shelf.directory.languages:
            raise ApiError(503, "there is no model")
        parts.pulse.require()
        return JSONResponse({"status": "ok"})

    @router.get("/docs", summary="This list", include_in_schema=False)
    async def endpoints(request: Request) -> Response:
        return HTMLResponse(_page(request.app.openapi()))

    return router


def _page(schema: dict[str, Any]) -> str:
    """Return a page with all endpoints and the options of each. It has no script, and needs nothing from elsewhere."""
    named = schema.get("components", {}).get("schemas", {})
    rows = []
    for path, methods in schema["paths"].items():
        for method, endpoint in methods.items():
            content = endpoint.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            fields = ", ".join(named.get(name, {}).get("properties", {}))
            cells = (f"{method.upper()} {path}", endpoint.get("summary", ""), fields)
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "<tr><th>endpoint</th><th>does</th><th>fields of its JSON</th></tr>"
    title = html.escape(schema["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>{title}</h1>'
        f'<p>The whole schema is <a href="spec">OpenAPI</a>.</p><table>{head}{"".join(rows)}</table></html>'
    )
