"""Endpoints for those who run the server: numbers, and if it is alive and ready."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

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

    return router
