"""A long text, translated part by part: each part is sent as soon as it and those before it are done."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dragoman.errors import DragomanError
from dragoman.server.api_errors import ApiError
from dragoman.server.routing import Leg
from dragoman.server.server_parts import ServerParts
from dragoman.server.text_lines import TextLines, split_lines
from dragoman.server.texts import AskedText, require_route
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.translator.request import MOST_CONTEXT

#: Parts that are translated at the same time.
_AT_ONCE = 8


class _Part(NamedTuple):
    """A part of a line."""

    line: int
    source: str


async def events(parts: ServerParts, asked: AskedText) -> AsyncIterator[str]:
    """Return the events of a translation, as EventSource reads them: `part`, `part`, ..., and `done` or `error`.

    They have no alignments and no doubtful words.

    Raises:
        ApiError: there is no way between the languages, or the server is busy.
    """
    return (await open_stream(parts, asked)).send()


async def open_stream(parts: ServerParts, asked: AskedText) -> TextStream:
    """Return a text on its way; see `events`."""
    asked = replace(asked, request=replace(asked.request, align=False, doubts=False))
    legs = require_route(asked.directory or parts.shelf.directory, asked.source, asked.target)
    lines = split_lines(asked.request.text)
    cut = (
        await parts.service.segments(legs[0], lines.lines, plain=asked.request.plain)
        if legs
        else [[line] for line in lines.lines]
    )
    pieces = [_Part(number, segment) for number, line in enumerate(cut) for segment in line]
    parts.service.queue.require_room(len(pieces))
    return TextStream(parts, asked, legs, lines, pieces)


@dataclass(frozen=True)
class TextStream:
    """A text on its way."""

    parts: ServerParts
    asked: AskedText
    legs: Sequence[Leg]
    lines: TextLines
    pieces: Sequence[_Part]

    async def send(self) -> AsyncIterator[str]:
        """Yield the events."""
        start, done = time.perf_counter(), list[str]()
        try:
            async for text in self._in_order():
                piece = self.pieces[len(done)]
                done.append(text)
                yield _event("part", {"line": piece.line, "source": piece.source, "text": text})
            text = self.lines.join(_joined(self.pieces, done, self.lines, self.asked.target))
            yield _event("done", {"text": text, "seconds": round(time.perf_counter() - start, 4)})
        except (ApiError, DragomanError) as error:
            yield _event("error", {"error": self.parts.refusal_of(error).message})

    async def written(self) -> AsyncIterator[str]:
        """Yield the translation bit by bit: together they are the whole text.

        Raises:
            ApiError, DragomanError: as `TranslationService.translate`.
        """
        texts, between = self._in_order(), _between(self.asked.target)
        n_pieces, number = Counter(piece.line for piece in self.pieces), 0
        for part, is_line in self.lines.parts:
            if not is_line:
                yield part
                continue
            space = ""
            for _ in range(n_pieces[number]):
                if text := await anext(texts):
                    yield space + text
                    space = between
            number += 1

    async def _in_order(self) -> AsyncIterator[str]:
        """Yield the translation of each part; the next ones are on their way meanwhile."""
        todo, waiting = enumerate(self.pieces), deque[asyncio.Task[str]]()
        try:
            for _ in self.pieces:
                while len(waiting) < _AT_ONCE and (following := next(todo, None)) is not None:
                    waiting.append(asyncio.create_task(self._translate(*following)))
                yield await waiting.popleft()
        finally:
            for task in waiting:
                task.cancel()

    async def _translate(self, number: int, piece: _Part) -> str:
        if not self.legs:
            return piece.source
        request = self.asked.part(piece.source, is_first=not number)
        earlier = (one.source for one in self.pieces[max(0, number - MOST_CONTEXT) : number])
        request = replace(request, context=(*request.context, *earlier))
        # Only the parts on their way are counted: a client that stops to read must not fill the queue for others.
        with self.parts.service.queue.hold(1):
            (found,) = await self.parts.service.translate_accepted(self.legs, [request], self.asked.options)
        return found.text


def _joined(pieces: Sequence[_Part], done: Sequence[str], lines: TextLines, target: str) -> list[str]:
    """Return the translation of each line."""
    by_line: list[list[str]] = [[] for _ in lines.lines]
    for piece, text in zip(pieces, done, strict=True):
        by_line[piece.line] += [text] if text else []
    return [_between(target).join(texts) for texts in by_line]


def _between(target: str) -> str:
    """Return what stands between the translations of two parts of a line."""
    return "" if base_language(target) in WITHOUT_SPACES else " "


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
