"""Endpoints of Apertium's server (APy), for programs of translators: OmegaT, Weblate and others."""

from __future__ import annotations

import json
import re
from html import escape, unescape
from typing import Any

from fastapi import APIRouter, Request, Response

from dragoman.errors import DataError
from dragoman.server.api_errors import ApiError
from dragoman.server.connection import answered
from dragoman.server.libretranslate_input import Parameters, check_limits, shown
from dragoman.server.server_parts import ServerParts
from dragoman.server.texts import AskedText, require_language, translate_pages, translate_texts, translate_xml
from dragoman.server.xml_texts import TagKinds
from dragoman.translator import Request as TextRequest

#: A tag that OmegaT has in place of a document's own. The text around it is no XML: "&" stands for itself.
_TAG = re.compile(r"(</?[A-Za-z]+[0-9]+/?>)")


def apertium_routes(parts: ServerParts) -> APIRouter:
    """Return the endpoints."""
    router = APIRouter(prefix="/apertium", tags=["Apertium"])

    @router.get("/listPairs", summary="List the directions")
    async def pairs() -> Response:
        listed = [
            {"sourceLanguage": source, "targetLanguage": target} for source, target in parts.shelf.directory.pairs()
        ]
        return _answer(listed)

    @router.get("/translate", summary="Translate a text")
    @router.post("/translate", summary="Translate a text")
    async def translate(request: Request) -> Response:
        parts.require_client(request)
        parameters = await Parameters.read(request, parts)
        parts.require_key(request, parameters.get("key"))
        return _answer({"translatedText": await answered(parts, request, _translate(parts, request, parameters))})

    return router


def _answer(data: Any) -> Response:
    """Return an answer as Apertium writes it: OmegaT 3 needs the spaces, and no character beyond ASCII."""
    content = json.dumps({"responseData": data, "responseDetails": None, "responseStatus": 200})
    return Response(content, media_type="application/json")


async def _translate(parts: ServerParts, request: Request, parameters: Parameters) -> str:
    """Answer /apertium/translate."""
    text = parameters.require_lines("q")
    pair = parameters.require_text("langpair")
    codes, format = pair.split("|"), parameters.optional_text("format") or "txt"
    if len(codes) != 2:
        raise ApiError(400, f"langpair {shown(pair)} is no pair of languages; send two codes with | between them")
    if format not in ("txt", "html"):
        raise ApiError(400, f"format {shown(format)} is not supported; it is txt or html")
    check_limits([text], parts.config)
    parts.take(request, [text])
    source, target = (require_language(parts.shelf.directory, code) for code in codes)
    if format == "html":
        (answer,) = await translate_pages(parts, [text], [source], target)
        return answer
    if len(pieces := _TAG.split(text)) > 1:
        pieces[::2] = [escape(piece, quote=False) for piece in pieces[::2]]
        lines = "".join(pieces).split("\n")  # in XML, a line break is a space
        try:
            answers = await translate_xml(parts, lines, TagKinds(), [source] * len(lines), target)
            return unescape("\n".join(answers))
        except DataError:  # a tag lacks the one that ends it: it stands in another line or segment
            pass
    (found,) = await translate_texts(parts, [AskedText(TextRequest(text), source, target)])
    return found.text
