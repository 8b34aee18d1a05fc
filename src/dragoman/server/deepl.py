"""DeepL's endpoints for texts and glossaries, for programs that speak to such a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from dragoman.server.api_errors import ApiError
from dragoman.server.connection import answered
from dragoman.server.glossaries import Glossaries, Glossary, read_entries
from dragoman.server.libretranslate_input import Parameters, check_limits, shown
from dragoman.server.server_parts import ServerParts, sent_key
from dragoman.server.texts import (
    AskedText,
    detect_sources,
    require_language,
    require_route,
    translate_pages,
    translate_texts,
    translate_xml,
    without_markup,
)
from dragoman.server.xml_texts import TagKinds
from dragoman.text.languages import base_language, english_name
from dragoman.translator import Request as TextRequest

#: Targets that DeepL's own clients send in place of these, which they refuse.
_VARIANTS = {"EN": ("EN-GB", "EN-US"), "PT": ("PT-PT",)}
#: Parameters that would change the translation, and that are not known here.
_UNKNOWN = ("glossary_ids", "style_id", "custom_instructions", "translation_memory_id")
#: DeepL's number for a client without a limit.
_NO_LIMIT = 10**12
_LONGEST_NAME = 200
_LINE_ENDS = re.compile(r"[\r\n]+")


def deepl_routes(parts: ServerParts) -> APIRouter:
    """Return the endpoints."""
    router, glossaries = APIRouter(prefix="/v2", tags=["DeepL"]), Glossaries()

    @router.post("/translate", summary="Translate texts")
    async def translate(request: Request) -> Response:
        own = glossaries.of(_require(parts, request))
        parameters = await Parameters.read(request, parts)
        return JSONResponse(await answered(parts, request, _translate(parts, request, parameters, own)))

    @router.get("/languages", summary="List the languages")
    async def languages(request: Request) -> Response:
        _require(parts, request)
        parameters = await Parameters.read(request, parts)  # DeepL's own client sends a form with GET
        return JSONResponse(_languages(parts, is_target=parameters.get("type") == "target"))

    @router.get("/usage", summary="Say that there is no quota")
    async def usage(request: Request) -> Response:
        _require(parts, request)
        return JSONResponse({"character_count": 0, "character_limit": _NO_LIMIT})

    _add_glossaries(router, parts, glossaries)
    return router


def _add_glossaries(router: APIRouter, parts: ServerParts, glossaries: Glossaries) -> None:
    """Add the endpoints for glossaries."""

    @router.get("/glossary-language-pairs", summary="List the directions of glossaries")
    async def pairs(request: Request) -> Response:
        _require(parts, request)
        each = parts.shelf.directory.pairs()
        listed = [{"source_lang": source.lower(), "target_lang": target.lower()} for source, target in each]
        return JSONResponse({"supported_languages": listed})

    @router.post("/glossaries", summary="Keep a glossary", status_code=201)
    async def create(request: Request) -> Response:
        owner = _require(parts, request)
        parameters = await Parameters.read(request, parts)
        parts.take(request, [parameters.require_text("name")])
        glossary = await _glossary(parts, parameters)
        glossaries.add(owner, glossary)
        return JSONResponse(_described(glossary), 201)

    @router.get("/glossaries", summary="List the glossaries")
    async def list_all(request: Request) -> Response:
        owner = _require(parts, request)
        return JSONResponse({"glossaries": [_described(each) for each in glossaries.of(owner)]})

    @router.get("/glossaries/{number}", summary="Describe a glossary")
    async def describe(request: Request, number: str) -> Response:
        return JSONResponse(_described(glossaries.get(_require(parts, request), number)))

    @router.get("/glossaries/{number}/entries", summary="List the entries of a glossary")
    async def entries(request: Request, number: str) -> Response:
        glossary = glossaries.get(_require(parts, request), number)
        return Response(glossary.tsv(), media_type="text/tab-separated-values")

    @router.delete("/glossaries/{number}", summary="Delete a glossary", status_code=204)
    async def delete(request: Request, number: str) -> Response:
        glossaries.remove(_require(parts, request), number)
        return Response(status_code=204)


def _require(parts: ServerParts, request: Request) -> str:
    """Refuse a request without a valid key before it is read; return the key, to which glossaries belong."""
    parts.require_client(request)
    parts.require_key(request, None)
    return sent_key(request) if parts.config.api_keys else ""


async def _translate(
    parts: ServerParts, request: Request, parameters: Parameters, glossaries: Sequence[Glossary]
) -> dict[str, Any]:
    """Answer /v2/translate."""
    texts, _ = parameters.require_texts(parts.config.batch_limit, "text")
    target = require_language(parts.shelf.directory, parameters.require_language("target_lang"))
    given, number = parameters.optional_text("source_lang"), parameters.optional_text("glossary_id")
    source = require_language(parts.shelf.directory, given) if given else None
    tags, is_joined = _form(parameters)
    kinds = TagKinds(*(_names(parameters, name) for name in ("splitting_tags", "non_splitting_tags", "ignore_tags")))
    check_limits(texts, parts.config)
    parts.take(request, texts)
    glossary = next((each for each in glossaries if each.number == number), None)
    if number and not glossary:
        raise ApiError(404, f"there is no glossary {number[:100]}")
    if glossary and (glossary.source, glossary.target) != (source, target):
        raise ApiError(400, f"the glossary is for source_lang {glossary.source} and target_lang {glossary.target}")
    lists = [glossary.terms] if glossary else []
    seen = [without_markup(text) for text in texts] if tags else texts
    sources = [source] * len(texts) if source else [each.language for each in await detect_sources(parts, seen, target)]
    if tags == "xml":
        answers = await translate_xml(parts, texts, kinds, sources, target, lists)
    elif tags:
        answers = await translate_pages(parts, texts, sources, target, lists)
    else:
        lines = [_LINE_ENDS.sub(" ", text) for text in texts] if is_joined else texts
        context = tuple(filter(None, [parameters.optional_text("context")]))
        asked = [
            AskedText(TextRequest(text, context=context), code, target, {}, lists)
            for text, code in zip(lines, sources, strict=True)
        ]
        answers = [one.text for one in await translate_texts(parts, asked)]
    translations: list[dict[str, Any]] = [
        {"detected_source_language": base_language(code).upper(), "text": answer}
        for code, answer in zip(sources, answers, strict=True)
    ]
    if parameters.optional_flag("show_billed_characters"):
        for translation, text in zip(translations, texts, strict=True):
            translation["billed_characters"] = len(text)
    return {"translations": translations}


def _form(parameters: Parameters) -> tuple[str | None, bool]:
    """Return the kind of tags in the texts, and True if line ends are spaces.

    Raises:
        ApiError: a parameter has an unknown value, or demands what the server cannot do.
    """
    for name in _UNKNOWN:
        if parameters.get(name):
            raise ApiError(400, f"this server does not know {name}; leave it out")
    formality, tags = parameters.optional_text("formality"), parameters.optional_text("tag_handling")
    if formality not in (None, "default", "prefer_more", "prefer_less"):
        raise ApiError(400, f"formality {shown(formality)} is not supported; prefer_more and prefer_less are ignored")
    if tags not in (None, "html", "xml"):
        raise ApiError(400, f"tag_handling {shown(tags)} is not supported; it is html or xml")
    if tags != "xml" and parameters.get("ignore_tags"):
        raise ApiError(400, 'ignore_tags is for tag_handling xml; HTML says translate="no"')
    split = parameters.get("split_sentences")
    if split not in (None, "", 0, 1, "0", "1", "nonewlines"):
        raise ApiError(400, f"split_sentences {shown(split)} is not supported; it is 0, 1 or nonewlines")
    return tags, split in (0, "0", "nonewlines")


def _names(parameters: Parameters, name: str) -> frozenset[str]:
    """Return the names of elements: a list, or a string with commas between them.

    Raises:
        ApiError: the parameter is something else.
    """
    value = parameters.get(name) or []
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise ApiError(400, f"{name} is no list of names")
    return frozenset(map(str.strip, names))


def _languages(parts: ServerParts, *, is_target: bool) -> list[dict[str, Any]]:
    directory = parts.shelf.directory
    if not is_target:
        codes = [code for code in directory.languages if directory.targets(code) != [code]]
        return [{"language": code.upper(), "name": english_name(code)} for code in codes]
    return [
        {"language": variant, "name": english_name(code), "supports_formality": False}
        for code in directory.goals()
        for variant in _VARIANTS.get(code.upper(), (code.upper(),))
    ]


async def _glossary(parts: ServerParts, parameters: Parameters) -> Glossary:
    """Return the glossary of a request.

    Raises:
        ApiError: it is none, or there is no way between its languages.
    """
    name, text = parameters.require_text("name"), parameters.require_text("entries")
    if len(name) > _LONGEST_NAME:
        raise ApiError(400, f"the name of the glossary has more than {_LONGEST_NAME} characters")
    directory = parts.shelf.directory
    source, target = (
        require_language(directory, parameters.require_language(name)) for name in ("source_lang", "target_lang")
    )
    require_route(directory, source, target)
    format, service = parameters.optional_text("entries_format") or "tsv", parts.service
    read = await service.helpers.call(read_entries, text, format, stop=service.stop())
    return Glossary(name, source, target, *read)


def _described(glossary: Glossary) -> dict[str, Any]:
    return {
        "glossary_id": glossary.number,
        "name": glossary.name,
        "ready": True,
        "source_lang": glossary.source.lower(),
        "target_lang": glossary.target.lower(),
        "creation_time": glossary.created,
        "entry_count": len(glossary.entries),
    }
