"""The server as an ASGI application, for `dragoman serve` and for any other host."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from dragoman.errors import ConfigError, DragomanError
from dragoman.server.apertium import apertium_routes
from dragoman.server.api_errors import ApiError, describe
from dragoman.server.connection import ClientGoneError
from dragoman.server.deepl import deepl_routes
from dragoman.server.gate import Gate
from dragoman.server.libretranslate import libretranslate_routes
from dragoman.server.native_api import native_routes
from dragoman.server.operator_endpoints import operations_routes
from dragoman.server.refusals import path_of, refusal
from dragoman.server.server_parts import ServerParts
from dragoman.server.web_page import page_routes
from dragoman.settings.server_config import ServerConfig
from dragoman.settings.server_sources import read_server_config

#: The version of the endpoints below /v1.
API_VERSION = "1.0"


def app(config: ServerConfig | None = None) -> FastAPI:
    """Load the models, and return the application.

    Args:
        config: None reads the environment; see `read_server_config`.

    Raises:
        ConfigError: a setting is wrong, or there is no model.
        BundleError: a model cannot be loaded.
    """
    config = read_server_config({}, os.environ) if config is None else config
    if not config.models:
        raise ConfigError("a server without a model", advice="name one: --model everyday, or DRAGOMAN_SERVE_MODELS")
    parts = ServerParts(config)
    for name in config.models:
        parts.shelf.add(name)
    parts.memory.load({direction for model in parts.shelf.models() for direction in model.directions})

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        parts.service.close()
        parts.shelf.close()

    api = FastAPI(
        title="dragoman",
        version=API_VERSION,
        description="A translation server: the APIs of LibreTranslate, OpenAI, DeepL and Apertium, and one of its own.",
        openapi_url=f"{config.url_prefix}/spec",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        # It would send query strings, which may have texts, to whatever the host's OpenTelemetry is told to.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    for routes in (page_routes, libretranslate_routes, native_routes, deepl_routes, apertium_routes, operations_routes):
        api.include_router(routes(parts), prefix=config.url_prefix)
    _add_errors(api, parts)
    api.add_middleware(Gate, parts=parts)
    return api


def _add_errors(api: FastAPI, parts: ServerParts) -> None:
    """Answer every error with its status and a line, in the form of its protocol."""
    prefix = parts.config.url_prefix

    @api.exception_handler(ApiError)
    async def refuse(request: Request, error: ApiError) -> Response:
        return refusal(request.scope, prefix, error)

    @api.exception_handler(DragomanError)
    async def refuse_by_translator(request: Request, error: DragomanError) -> Response:
        return await refuse(request, parts.refusal_of(error))

    @api.exception_handler(RequestValidationError)
    async def refuse_types(request: Request, error: RequestValidationError) -> Response:
        return await refuse(request, ApiError(400, describe(error.errors())))

    @api.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> Response:
        problem, path = str(error.detail), path_of(request.scope, prefix)
        if error.status_code in (404, 405):
            problem = f"there is no {request.method} {path[:100]} here; {prefix}/spec lists the endpoints"
        return refusal(request.scope, prefix, ApiError(error.status_code, problem), error.headers)

    @api.exception_handler(ClientGoneError)
    async def end(_: Request, __: ClientGoneError) -> Response:
        return Response(status_code=499)
