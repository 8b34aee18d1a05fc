"""The endpoints below /v1: translations with options, scores and alignments, part by part, and the models."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse, StreamingResponse

from dragoman.alignment.word_spans import words
from dragoman.inspection.inside import Inside
from dragoman.server.api_errors import ApiError
from dragoman.server.checked_route import checked_routes
from dragoman.server.connection import answered
from dragoman.server.libretranslate_input import check_limits
from dragoman.server.model_shelf import KnownModel
from dragoman.server.native_schema import (
    AlternativeAnswer,
    LineAnswer,
    ModelAnswer,
    ModelRequest,
    PartAnswer,
    StreamRequest,
    Text,
    TextAnswer,
    TextOptions,
    TranslateAnswer,
    TranslateRequest,
)
from dragoman.server.openai_api import openai_routes
from dragoman.server.server_parts import ServerParts, bearer_token
from dragoman.server.streaming import events
from dragoman.server.term_lists import WantedLists
from dragoman.server.texts import AUTO, AskedText, TranslatedText, detect_sources, require_language, translate_texts
from dragoman.translator import Request as TextRequest
from dragoman.translator import Translation

#: The most lines of a request whose matches are shown.
_MOST_MATCHED = 100
#: By which weights are multiplied, so that they are short in JSON.
_SCALE = 10_000


def native_routes(parts: ServerParts) -> APIRouter:
    """Return the endpoints."""
    router = APIRouter()
    guards = partial(_require_client, parts), partial(_require_admin, parts)
    kinds = [checked_routes(guard, parts.config, parts.bodies) for guard in guards]
    # The prefix is that of the inner routes, because the log names the endpoint by them.
    clients, admin = (APIRouter(prefix="/v1", tags=["dragoman"], route_class=kind) for kind in kinds)

    @clients.post("/translate", summary="Translate texts", responses={200: {"model": TranslateAnswer}})
    async def translate(request: Request, body: TranslateRequest) -> Response:
        answer = await answered(parts, request, _translate(parts, request, body))
        content = await asyncio.to_thread(answer.model_dump_json) if body.inside else answer.model_dump_json()
        return Response(content, media_type="application/json")

    @clients.post("/translate/stream", summary="Translate a text, and send each part as soon as it is done")
    async def stream(request: Request, body: StreamRequest) -> Response:
        sent = await answered(parts, request, _events(parts, request, body))
        return StreamingResponse(sent, media_type="text/event-stream")

    @clients.get("/terms", summary="List the term lists, with their numbers of terms")
    async def term_lists() -> Response:
        return JSONResponse({name: len(terms) for name, terms in parts.term_lists.items()})

    @admin.post("/models", summary="Load a model (needs the admin key)", responses={200: {"model": ModelAnswer}})
    async def load(body: ModelRequest) -> Response:
        return JSONResponse(_described(await asyncio.to_thread(parts.shelf.add, body.model)))

    @admin.delete("/models/{name}", summary="Unload a model and forget it (needs the admin key)")
    async def unload(name: str) -> Response:
        if not parts.shelf.remove(name):
            raise ApiError(404, f"there is no model {name[:100]}")
        return JSONResponse({"removed": name})

    for routes in (clients, admin, openai_routes(parts, kinds[0])):
        router.include_router(routes)
    return router


def _require_client(parts: ServerParts, request: Request) -> None:
    parts.require_client(request)
    parts.require_key(request, None)


def _require_admin(parts: ServerParts, request: Request) -> None:
    key = parts.config.admin_key
    if key is None:
        raise ApiError(403, "this server has no admin key; start it with DRAGOMAN_SERVE_ADMIN_KEY set")
    parts.compare_keys(request, bearer_token(request), [key], ApiError(401, "the admin key is missing or wrong"))


def _described(model: KnownModel) -> dict[str, object]:
    size = round(model.n_bytes / 1e6, 1)
    answer = ModelAnswer(
        name=model.name, directions=list(model.directions), loaded=model.loaded is not None, megabytes=size
    )
    return answer.model_dump(mode="json")


async def _events(parts: ServerParts, request: Request, body: StreamRequest) -> AsyncIterator[str]:
    """Answer /v1/translate/stream: return its events."""
    (asked,), _ = await _asked(parts, request, [body])
    return await events(parts, asked)


async def _translate(parts: ServerParts, request: Request, body: TranslateRequest) -> TranslateAnswer:
    """Answer /v1/translate."""
    start = time.perf_counter()
    names = (*TextOptions.model_fields, "target")
    defaults = {name: value for name in names if (value := getattr(body, name)) is not None} | {"source": body.source}
    texts = []
    for given in body.texts:
        text = given if isinstance(given, Text) else Text(text=given)
        open_values = {name: value for name, value in defaults.items() if getattr(text, name) is None}
        texts.append(text.model_copy(update=open_values))
    if body.inside and len(texts) > 1:
        raise ApiError(400, "inside is for a request with one text")
    asked, confidences = await _asked(parts, request, texts)
    answers = await translate_texts(parts, asked)
    translations = [_text_answer(*each) for each in zip(asked, answers, confidences, strict=True)]
    if body.matches:
        await _add_matches(parts, translations)
    if body.inside:
        translations[0].inside = await _inside_answer(parts, asked[0], answers[0])
    return TranslateAnswer(translations=translations, seconds=round(time.perf_counter() - start, 4))


async def _add_matches(parts: ServerParts, answers: Sequence[TextAnswer]) -> None:
    """Add what the memory has for each line.

    Raises:
        ApiError: there are too many lines.
    """
    if (n_lines := sum(len(answer.lines) for answer in answers)) > _MOST_MATCHED:
        raise ApiError(400, f"matches are for {_MOST_MATCHED} lines of a request, and this has {n_lines}")
    for answer in answers:
        for line in answer.lines:
            find = partial(parts.memory.matches, line.source, answer.source, answer.target)
            line.memory = await parts.service.in_thread(find)


async def _asked(
    parts: ServerParts, request: Request, texts: Sequence[Text]
) -> tuple[list[AskedText], list[float | None]]:
    """Check texts, and detect the languages of those that are open.

    Returns:
        The texts, and the confidence in each detected language.

    Raises:
        ApiError: there are too many or too long texts, or a language or a term list is unknown.
        ConfigError: as `Request.checked`.
    """
    for strings in ([text.text for text in texts], [text.prefix for text in texts], [text.context for text in texts]):
        check_limits(strings, parts.config)
    parts.take(request, [text.text for text in texts])
    asked: list[AskedText] = []
    confidences: list[float | None] = []
    lists = WantedLists(parts.term_lists)
    for text in texts:
        align, doubts, plain, off = bool(text.align), bool(text.doubts), bool(text.plain), tuple(text.off or ())
        context = tuple(filter(None, [text.context]))
        wanted = TextRequest(
            text.text, text.prefix, align=align, doubts=doubts, plain=plain, off=off, context=context
        ).checked("")
        if not text.target:
            raise ApiError(400, "target is missing")
        target = require_language(parts.shelf.directory, text.target)
        source, confidence = text.source or AUTO, None
        if source == AUTO:
            (detected,) = await detect_sources(parts, [text.text], target)
            source, confidence = detected.language, detected.confidence
        source = require_language(parts.shelf.directory, source)
        terms = await parts.service.in_thread(partial(lists.of, text))
        if wanted.plain and terms:
            raise ApiError(400, "plain and terms contradict each other; leave one of them out")
        asked.append(AskedText(wanted, source, target, text.given(), terms))
        confidences.append(confidence)
    return asked, confidences


def _text_answer(asked: AskedText, answer: TranslatedText, confidence: float | None) -> TextAnswer:
    lines = [
        _line_answer(line, translation)
        for line, translation in zip(answer.lines.lines, answer.translations, strict=False)
    ]
    return TextAnswer(
        text=answer.text,
        source=asked.source,
        target=asked.target,
        via=None if len(answer.legs) < 2 else answer.legs[0].target,
        models=[leg.model for leg in answer.legs],
        detected_confidence=confidence,
        confidence=min((line.confidence for line in lines if line.confidence is not None), default=None),
        flags=list(dict.fromkeys(flag for line in lines for flag in line.flags)),
        lines=lines,
    )


def _line_answer(line: str, translation: Translation) -> LineAnswer:
    alternatives = [
        AlternativeAnswer(
            text=each.text,
            score=each.score,
            log_prob=each.log_prob,
            parts=[PartAnswer(**part._asdict()) for part in each.parts],
            alignment=list(each.alignment) if each.alignment is not None else None,
            words=words(each.text) if each.alignment is not None else None,
        )
        for each in translation.alternatives
    ]
    return LineAnswer(
        source=line,
        words=words(line) if alternatives and alternatives[0].words is not None else None,
        text=translation.text,
        alternatives=alternatives,
        flags=list(translation.flags),
        missing_terms=list(translation.missing_terms),
        repairs=list(translation.repairs),
        segments=translation.n_parts,
        confidence=translation.confidence,
        doubtful=list(translation.doubtful) if translation.doubtful is not None else None,
        middle=translation.pivot.text if translation.pivot is not None else None,
        memory=list(translation.memory),
        recalled=list(translation.recalled),
    )


async def _inside_answer(parts: ServerParts, asked: AskedText, answer: TranslatedText) -> dict[str, Any] | None:
    """Look inside the translation of a text: of its first line's first segment.

    Returns:
        None if nothing can be shown; see `look_inside`. Through a third language, and of a line with terms, nothing is.

    Raises:
        ApiError, DeadlineError: as `TranslationService.translate`.
    """
    if len(answer.legs) != 1 or not answer.lines.lines:
        return None
    line = asked.part(answer.lines.lines[0], is_first=True)
    if line.terms:
        return None  # the shown search would differ from the one that made the translation
    line = replace(line, align=False, doubts=False)
    return await parts.service.look_inside(answer.legs[0], line, asked.options, _shown)


def _shown(inside: Inside, beam_size: int) -> dict[str, Any]:
    return {
        "source_text": inside.source_text,
        "target_text": inside.target_text,
        "source": inside.source,
        "read": inside.read,
        "written": inside.written,
        "attention": (inside.weights * _SCALE).round().astype(int).tolist(),
        "beam_size": beam_size,
        "nodes": [
            {**node._asdict(), "token": token} for node, token in zip(inside.nodes, inside.node_tokens, strict=True)
        ],
        "hypotheses": [
            {
                "ids": one.ids,
                "finished": one.finished,
                "score": one.score,
                "log_prob": one.log_prob,
                "log_probs": one.token_log_probs,
            }
            for one in inside.hypotheses
        ],
    }
