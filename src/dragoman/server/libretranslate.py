"""LibreTranslate's endpoints, for every client that speaks to such a server."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from dragoman.documents import FORMATS
from dragoman.documents.table_columns import UnnamedColumnsError
from dragoman.errors import counted
from dragoman.memories import Unit
from dragoman.server.api_errors import ApiError
from dragoman.server.connection import answered
from dragoman.server.downloads import content_disposition, media_type
from dragoman.server.libretranslate_input import Parameters, check_limits, shown
from dragoman.server.preparing import SentDocument
from dragoman.server.server_memory import FullError
from dragoman.server.server_parts import ServerParts
from dragoman.server.term_lists import with_terms
from dragoman.server.text_lines import split_lines
from dragoman.server.texts import (
    AUTO,
    AskedText,
    detect_sources,
    read_lines,
    require_language,
    translate_documents,
    translate_pages,
    translate_texts,
    without_markup,
)
from dragoman.text.languages import english_name
from dragoman.translator import Request as TextRequest

#: Seconds after which LibreTranslate's page gives up.
_PAGE_SECONDS = 500
_require_language = partial(require_language, advises=False)
_NO_FILES = "Files translation are disabled on this server."


def libretranslate_routes(parts: ServerParts) -> APIRouter:
    """Return the endpoints."""
    router, config = APIRouter(tags=["LibreTranslate"]), parts.config

    @router.post("/translate", summary="Translate a text, or a list of texts")
    async def translate(request: Request) -> Response:
        parameters = await _open(parts, request)
        return JSONResponse(await answered(parts, request, _translate(parts, request, parameters)))

    @router.post("/detect", summary="Detect the language of a text")
    async def detect(request: Request) -> Response:
        parameters = await _open(parts, request)
        texts, _ = parameters.require_texts(config.batch_limit)
        check_limits(texts, config)
        parts.take(request, texts)
        languages = parts.shelf.directory.languages
        found = await parts.service.in_thread(lambda: parts.detector.detect("\n".join(texts), languages))
        return JSONResponse([each._asdict() for each in found])

    @router.post("/suggest", summary="Suggest a better translation, which is used from now on")
    async def suggest(request: Request) -> Response:
        if not parts.memory.takes_suggestions:
            raise ApiError(403, "Suggestions are disabled on this server.")
        await _suggest(parts, request, await _open(parts, request))
        return JSONResponse({"success": True})

    _add_facts(router, parts)
    _add_files(router, parts)
    return router


def _add_facts(router: APIRouter, parts: ServerParts) -> None:
    """Add the endpoints that tell about the server."""

    @router.get("/languages", summary="List the languages")
    async def languages() -> Response:
        return JSONResponse(parts.shelf.directory.describe())

    @router.get("/health", summary="Say that the server answers: 200, or 503")
    async def health() -> Response:
        parts.pulse.require()
        return JSONResponse({"status": "ok"})

    @router.get("/frontend/settings", summary="List what a page needs to know")
    async def settings() -> Response:
        return JSONResponse(_page_settings(parts))


def _add_files(router: APIRouter, parts: ServerParts) -> None:
    """Add the endpoints for files."""
    is_disabled = parts.config.disable_files_translation

    @router.post("/translate_file", summary="Translate a text file")
    async def translate_file(request: Request) -> Response:
        if is_disabled:
            raise ApiError(403, _NO_FILES)
        parameters = await _open(parts, request)
        with_report = parameters.optional_flag("report")
        name, report = await answered(parts, request, _translate_file(parts, request, parameters))
        answer = {"translatedFileUrl": str(request.url_for("download_file", name=name))}
        return JSONResponse(answer | ({"report": report} if with_report else {}))

    @router.get("/download_file/{name}", summary="Fetch a translated file")
    async def download_file(name: str) -> Response:
        if is_disabled:
            raise ApiError(400, _NO_FILES)
        if (found := parts.downloads.get(name)) is None:
            raise ApiError(404, "there is no such file (any more)")
        headers = {"content-disposition": content_disposition(found[0])}
        return Response(found[1], media_type=media_type(found[0]), headers=headers)


async def _open(parts: ServerParts, request: Request) -> Parameters:
    parts.require_client(request)
    parameters = await Parameters.read(request, parts)
    parts.require_key(request, parameters.get("api_key"))
    return parameters


async def _translate(parts: ServerParts, request: Request, parameters: Parameters) -> dict[str, Any]:
    """Answer /translate."""
    config = parts.config
    texts, is_list = parameters.require_texts(config.batch_limit)
    source, target = parameters.require_language("source"), parameters.require_language("target")
    n_alternatives = parameters.n_alternatives(config.alternatives_limit)
    check_limits(texts, config)
    parts.take(request, texts)
    directory = parts.shelf.directory
    known = None if source == AUTO else _require_language(directory, source)
    target = _require_language(directory, target)
    if (format := parameters.get("format") or "text") not in ("text", "html"):
        raise ApiError(400, f"{shown(format)} format is not supported")
    seen = [without_markup(text) for text in texts] if format == "html" else texts
    detected = [] if known else await detect_sources(parts, seen, target)
    sources = [known] * len(texts) if known else [each.language for each in detected]
    if format == "html":
        answers = [[page] for page in await translate_pages(parts, texts, sources, target)]
    else:
        options = {"n_best": n_alternatives + 1} if n_alternatives else {}
        pairs = zip(texts, sources, strict=True)
        asked = [AskedText(TextRequest(text), source, target, options) for text, source in pairs]
        answers = [[one.text, *one.alternatives()] for one in await translate_texts(parts, asked)]
    values: dict[str, list[Any]] = {"translatedText": [best for best, *_ in answers]}
    if detected:
        values["detectedLanguage"] = [each._asdict() for each in detected]
    if n_alternatives:
        values["alternatives"] = [others[:n_alternatives] for _, *others in answers]
    return {name: value if is_list else value[0] for name, value in values.items()}


async def _suggest(parts: ServerParts, request: Request, parameters: Parameters) -> None:
    """Keep a suggestion line by line, because texts are translated so."""
    text, translation = parameters.require_text("q"), parameters.require_text("s")
    source, target = parameters.require_language("source"), parameters.require_language("target")
    check_limits([text, translation], parts.config)
    parts.take(request, [text, translation])
    target = _require_language(parts.shelf.directory, target)
    if source == AUTO:
        source = (await detect_sources(parts, [text], target))[0].language
    source = _require_language(parts.shelf.directory, source)
    lines, written = (split_lines(one).lines for one in (text, translation))
    if not lines or len(lines) != len(written):
        raise ApiError(400, f"q has {counted(len(lines), 'line')} with words, and s has {len(written):,}; send as many")
    units = [Unit(*pair, source, target) for pair in zip(lines, written, strict=True)]
    try:
        await asyncio.to_thread(parts.memory.suggest, units)
    except FullError:
        raise ApiError(403, "the memory of suggestions is full") from None


async def _translate_file(parts: ServerParts, request: Request, parameters: Parameters) -> tuple[str, dict[str, Any]]:
    """Translate a file.

    Returns:
        The name to fetch it by, and a report; see `document_report`.
    """
    name, content = parameters.require_file()
    source, target = parameters.require_language("source"), parameters.require_language("target")
    path = PurePath(name)
    if (suffix := path.suffix.lower()) not in FORMATS:
        raise ApiError(400, f"Invalid request: file format not supported; this server reads {' '.join(FORMATS)}")
    directory = parts.shelf.directory
    target = _require_language(directory, target)
    languages = None if source == AUTO else source, target
    columns, terms = parameters.optional_text("columns"), parameters.optional_text("terms")
    document = SentDocument(
        content, suffix.removeprefix("."), path.name, columns, languages, keeps_ellipses=not parts.memory.is_empty
    )
    try:
        (lines,) = await read_lines(parts, [document])
    except UnnamedColumnsError as error:
        raise error.for_form() from None
    except ModuleNotFoundError as error:
        raise ApiError(400, f"this server cannot read such files: {error.name} is not installed") from None
    texts = [line.text for line in lines]
    for text in texts:
        check_limits([text], parts.config)
    parts.take(request, texts)
    if source == AUTO:
        source = (await detect_sources(parts, ["\n".join(texts[:100])], target))[0].language
    source = _require_language(directory, source)
    if terms:
        lines = await parts.service.in_thread(partial(with_terms, lines, terms))
    ((content, report),) = await translate_documents(parts, [document], [source], target, [lines])
    return parts.downloads.add(f"{path.stem}_{target}{path.suffix}", content), report


def _page_settings(parts: ServerParts) -> dict[str, Any]:
    config, codes = parts.config, parts.shelf.directory.languages
    with_files = not config.disable_files_translation
    target = next(iter(parts.shelf.directory.targets(codes[0])[:1]), "en") if codes else "en"
    return {
        "charLimit": config.char_limit,
        "frontendTimeout": _PAGE_SECONDS,
        "apiKeys": bool(config.api_keys),
        "keyRequired": bool(config.api_keys),
        "suggestions": parts.memory.takes_suggestions,
        "filesTranslation": with_files,
        "supportedFilesFormat": list(FORMATS) if with_files else [],
        "language": {
            "source": {"code": AUTO, "name": "Auto Detect"},
            "target": {"code": target, "name": english_name(target)},
        },
    }
