"""OpenAI's API, for programs that speak to such a server: models, and chats whose last message is translated."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, FailFast, Field
from starlette.responses import JSONResponse, StreamingResponse

from dragoman.alignment.word_spans import words
from dragoman.errors import DragomanError, some_of
from dragoman.server.api_errors import ApiError, UnknownModelError
from dragoman.server.connection import answered
from dragoman.server.libretranslate_input import check_limits
from dragoman.server.native_schema import ListedModel, ModelList, Whole
from dragoman.server.refusals import openai_error
from dragoman.server.routing import Directory
from dragoman.server.server_parts import ServerParts
from dragoman.server.streaming import TextStream, open_stream
from dragoman.server.text_lines import whole
from dragoman.server.texts import AUTO, AskedText, detect_sources, require_language, translate_texts
from dragoman.translator import Request as TextRequest
from dragoman.translator.request import MOST_CONTEXT

#: The name of all models together.
ALL = "dragoman"
#: Between the name of a model and its languages.
_COLON = ":"
#: The code of one language, with its script and its region.
_ONE_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Z][a-z]{3})?([-_]([A-Z]{2}|[0-9]{3}))?")


class ChatMessage(BaseModel):
    """A message; only the last one of the user is translated. Those before it are its context."""

    role: str
    content: Any = None


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool | None = None


class ChatRequest(BaseModel):
    """A text to translate. Other fields of OpenAI's requests are ignored."""

    model: Whole = Field(description="A model, or dragoman for all of them; with its languages: everyday:en-de.")
    messages: Annotated[list[ChatMessage], Field(min_length=1), FailFast()]
    source_lang: Whole | None = Field(None, description="A language code, or auto.")
    target_lang: Whole | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    response_format: Any = None


def openai_routes(parts: ServerParts, route_class: type[APIRoute]) -> APIRouter:
    """Return the endpoints.

    Args:
        route_class: checks a request before it is validated.
    """
    router = APIRouter(prefix="/v1", tags=["OpenAI"], route_class=route_class)

    @router.get("/models", summary="List the models", responses={200: {"model": ModelList}})
    async def models() -> Response:
        listed = [
            _entry(parts, name, directory, target=code)
            for name, directory in _directories(parts).items()
            for code in (*_goals(directory), "")
        ]
        return JSONResponse({"object": "list", "data": listed})

    @router.get("/models/{name}", summary="Describe a model", responses={200: {"model": ListedModel}})
    async def model(name: str) -> Response:
        own, directory, *codes = _chosen(parts, name)
        source, target = (code and require_language(directory, code) for code in codes)
        return JSONResponse(_entry(parts, own, directory, id=name, source=source, target=target))

    @router.post("/chat/completions", summary="Translate the last message of the user")
    async def complete(request: Request, body: ChatRequest) -> Response:
        if not body.stream:
            return JSONResponse(await answered(parts, request, _complete(parts, request, body)))
        chunks = await answered(parts, request, _open(parts, request, body))
        return StreamingResponse(chunks, media_type="text/event-stream")

    return router


def _goals(directory: Directory) -> list[str]:
    """Return the languages to translate into, the first source last: programs often take the first model of a list."""
    first = directory.languages[:1]
    return sorted(directory.goals(), key=lambda code: code in first)


def _directories(parts: ServerParts) -> dict[str, Directory]:
    """Return the languages of each model by its name, and last those of all together, if no model has their name."""
    own = parts.shelf.directories()
    return own | ({} if ALL in own else {ALL: parts.shelf.directory})


def _entry(
    parts: ServerParts, name: str, directory: Directory, *, id: str = "", source: str = "", target: str = ""
) -> dict[str, Any]:
    """Return the entry of a model in a list.

    Args:
        id: its name as it is asked for.
        source, target: its languages, if they are named; the entry has only directions that begin and end there.
    """
    known = parts.shelf.models()
    models = [model for model in known if model.name == name] or known
    entry = ListedModel(
        id=id or f"{name}{_COLON}{target}".removesuffix(_COLON),
        name=name,
        directions=directory.directions(source, target),
        loaded=all(model.loaded for model in models),
        megabytes=round(sum(model.n_bytes for model in models) / 1e6, 1),
    )
    return entry.model_dump(mode="json")


async def _complete(parts: ServerParts, request: Request, body: ChatRequest) -> dict[str, Any]:
    asked = await _asked(parts, request, body)
    (answer,) = await translate_texts(parts, [asked])
    message = {"role": "assistant", "content": answer.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {**_head("chat.completion", body), "choices": [choice], "usage": _usage(asked, answer.text)}


async def _open(parts: ServerParts, request: Request, body: ChatRequest) -> AsyncIterator[str]:
    asked = await _asked(parts, request, body)
    return _chunks(parts, body, asked, await open_stream(parts, asked))


async def _chunks(parts: ServerParts, body: ChatRequest, asked: AskedText, stream: TextStream) -> AsyncIterator[str]:
    """Yield the events of a translation, each with what is new."""
    head, written = _head("chat.completion.chunk", body), list[str]()

    def chunk(delta: dict[str, str], reason: str | None = None) -> str:
        return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    try:
        yield chunk({"role": "assistant", "content": ""})
        async for text in stream.written():
            written.append(text)
            yield chunk({"content": text})
        yield chunk({}, "stop")
        if body.stream_options and body.stream_options.include_usage:
            yield _event({**head, "choices": [], "usage": _usage(asked, "".join(written))})
        yield "data: [DONE]\n\n"
    except (ApiError, DragomanError) as error:
        problem = parts.refusal_of(error)
        yield _event(openai_error(problem, problem.status))


async def _asked(parts: ServerParts, request: Request, body: ChatRequest) -> AskedText:
    """Check a request, and detect the language of its text if it is open.

    Raises:
        ApiError: it asks for what the server cannot do, or a model or a language is unknown.
    """
    if body.n not in (None, 1):
        raise ApiError(400, "n must be 1; /v1/translate has several translations of a text")
    if isinstance(body.response_format, dict) and body.response_format.get("type") != "text":
        raise ApiError(400, "response_format must be text: the answer is a translation")
    text = _text(body)
    check_limits([text], parts.config)
    parts.take(request, [text])
    name, directory, source, target = _chosen(parts, body.model)
    goals = directory.goals()
    source = body.source_lang or source or AUTO
    target = body.target_lang or target or (goals[0] if len(goals) == 1 else "")
    if not target:
        problem = f"the model {name} translates into several languages: {some_of(goals)}"
        raise ApiError(400, f'{problem}; name one of them, such as "model": "{name}{_COLON}{_goals(directory)[0]}"')
    target = require_language(directory, target)
    if source == AUTO:
        source = (await detect_sources(parts, [text], target, directory))[0].language
    *earlier, _ = [each.content for each in body.messages if each.role == "user"]
    context = tuple(whole(content) for content in earlier[-MOST_CONTEXT:] if isinstance(content, str))
    asked = TextRequest(text, context=context)
    return AskedText(asked, require_language(directory, source), target, directory=directory)


def _text(body: ChatRequest) -> str:
    """Return the last message of the user: a string, or the texts of its parts."""
    content = next((each.content for each in reversed(body.messages) if each.role == "user"), None)
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    shown = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    texts = [text for text in shown if isinstance(text, str)]
    if not texts or len(texts) < len(parts):
        raise ApiError(400, "the last message of the user has no text, or something besides text")
    return whole("\n".join(texts))


def _chosen(parts: ServerParts, model: str) -> tuple[str, Directory, str, str]:
    """Return the name of a model without its languages, all that it has, and the source and the target that are named.

    Raises:
        ApiError: there is no such model or language.
    """
    known = _directories(parts)
    name, _, languages = (model, "", "") if model in known else model.rpartition(_COLON)
    if (directory := known.get(name)) is None:
        raise UnknownModelError(404, f"there is no model {model[:100]} (the server's: {', '.join(known)})")
    return name, directory, *_pair(languages, directory)


def _pair(languages: str, directory: Directory) -> tuple[str, str]:
    """Return source and target of languages such as "en-de"; the source of "de" or "zh-Hans" alone is open.

    Raises:
        ApiError: they are neither.
    """
    known = {code.lower(): code for code in ("", *directory.languages)}
    if languages.lower() in known:
        return "", known[languages.lower()]
    codes = languages.split("-")
    for at in range(1, len(codes)):
        pair = directory.find("-".join(codes[:at])), directory.find("-".join(codes[at:]))
        if None not in pair and pair[0] != pair[1]:
            return str(pair[0]), str(pair[1])
    language = directory.find(languages) if _ONE_LANGUAGE.fullmatch(languages) else None
    if language is None:
        known_ones = some_of(directory.languages)
        raise UnknownModelError(404, f"the model does not know {languages[:100]}; its languages are {known_ones}")
    return "", language


def _head(kind: str, body: ChatRequest) -> dict[str, Any]:
    number = f"chatcmpl-{uuid.uuid4().hex}"
    return {"id": number, "object": kind, "created": int(time.time()), "model": body.model}


def _usage(asked: AskedText, translation: str) -> dict[str, int]:
    """Return the numbers of words, as alignments number them: tokens are different ones for each model."""
    counts = len(words(asked.request.text)), len(words(translation))
    return {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
