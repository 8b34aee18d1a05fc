"""Whole texts for the endpoints: cut into lines, sent on their ways, and joined."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dragoman.errors import some_of
from dragoman.server.api_errors import ApiError
from dragoman.server.detection import UNDETECTABLE, Detection, Detector
from dragoman.server.preparing import SentDocument, WrittenDocument, read_documents, write_documents
from dragoman.server.routing import Directory, Leg
from dragoman.server.server_parts import ServerParts
from dragoman.server.term_lists import terms_in, with_terms_of
from dragoman.server.text_lines import TextLines, split_lines
from dragoman.server.xml_texts import TagKinds, xml_pages
from dragoman.text.languages import english_name
from dragoman.text.terms import TermList
from dragoman.translator import Request, Translation, in_document

#: A tag of a page or of XML.
_TAG = re.compile(r"<[^<>]*>")
#: The source language of a text whose language is to be detected, and the characters below which it is too short alone.
AUTO, _SHORT = "auto", 40


@dataclass(frozen=True)
class AskedText:
    """A text to translate, and what belongs to the call: languages, options of the search, term lists."""

    #: The prefix is for the first line. A request gets its languages when a model gets it.
    request: Request
    source: str
    target: str
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Where a source is in several, the first counts.
    lists: Sequence[TermList] = ()
    #: The languages of the models that may translate it; None is all of the server.
    directory: Directory | None = None

    def part(self, text: str, *, is_first: bool) -> Request:
        """Return the request for a line of the text, or a part of one, with the terms that it has."""
        terms = terms_in(text, self.lists)
        prefix = self.request.prefix if is_first else ""
        return replace(self.request, text=text, prefix=prefix, terms=TermList(terms) if terms else None)

    def of_lines(self, lines: Sequence[str]) -> list[Request]:
        """Return the requests for the lines of the text, each with those before it as its context."""
        return list(in_document(self.part(line, is_first=not number) for number, line in enumerate(lines)))


@dataclass(frozen=True)
class TranslatedText:
    """A translated text."""

    legs: Sequence[Leg]
    lines: TextLines
    #: Of each line that was translated.
    translations: Sequence[Translation]

    @property
    def text(self) -> str:
        """The whole translation."""
        if not self.legs:
            return self.lines.join(self.lines.lines)
        return self.lines.join([one.text for one in self.translations])

    def alternatives(self) -> list[str]:
        """Return other translations of the whole text, the best first; the k-th has the k-th one of each line."""
        ranked = zip(*(one.alternatives for one in self.translations), strict=False)
        texts = [self.lines.join([each.text for each in row]) for row in ranked] if self.legs else []
        return [text for text in dict.fromkeys(texts) if text != self.text]


async def translate_texts(parts: ServerParts, texts: Sequence[AskedText]) -> list[TranslatedText]:
    """Translate texts, all at the same time.

    Raises:
        ApiError: there is no way between two languages, or the server is busy.
        DragomanError: as `TranslationService.translate`.
    """
    routes = [require_route(text.directory or parts.shelf.directory, text.source, text.target) for text in texts]
    lines = [split_lines(text.request.text) for text in texts]
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, (text, route) in enumerate(zip(texts, routes, strict=True)):
        if route:
            groups.setdefault((*route, *sorted(text.options.items())), []).append(index)
    found: dict[int, list[Translation]] = {}

    async def translate(indices: Sequence[int]) -> None:
        requests = await _requests(parts, [(texts[index], lines[index]) for index in indices])
        first = indices[0]
        one_by_one = iter(await parts.service.translate(routes[first], requests, texts[first].options))
        for index in indices:
            found[index] = [next(one_by_one) for _ in lines[index].lines]

    try:
        async with asyncio.TaskGroup() as tasks:
            for indices in groups.values():
                tasks.create_task(translate(indices))
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return [TranslatedText(routes[index], lines[index], found.get(index, ())) for index in range(len(texts))]


async def translate_documents(
    parts: ServerParts,
    documents: Sequence[SentDocument],
    sources: Sequence[str],
    target: str,
    lines: Sequence[Sequence[Request]],
) -> list[WrittenDocument]:
    """Return translated documents.

    Args:
        sources: the language of each.
        lines: of each, as `read_documents` returned them.

    Raises:
        ApiError: the server is busy.
        DragomanError: as `TranslationService.translate`.
    """
    translated: list[Sequence[Translation] | None] = []
    for source, each in zip(sources, lines, strict=True):
        route = require_route(parts.shelf.directory, source, target)
        found = await parts.service.translate(route, each, {}) if each and route else []
        translated.append(found if route else None)
    return await parts.service.helpers.call(write_documents, documents, translated, target, stop=parts.service.stop())


async def translate_pages(
    parts: ServerParts, texts: Sequence[str], sources: Sequence[str], target: str, lists: Sequence[TermList] = ()
) -> list[str]:
    """Translate HTML: pages or parts of them, which have no alternatives.

    Args:
        sources: the language of each.
        lists: see `AskedText`.

    Raises:
        ApiError, DragomanError: as `translate_documents`.
    """
    keeps_ellipses = not parts.memory.is_empty
    pages = [
        SentDocument(text.encode(errors="replace"), "html", "q", None, (source, target), keeps_ellipses)
        for text, source in zip(texts, sources, strict=True)
    ]
    lines = await read_lines(parts, pages)
    if lists:
        lines = await parts.service.in_thread(lambda: [[with_terms_of(line, lists) for line in page] for page in lines])
    return [page.content.decode() for page in await translate_documents(parts, pages, sources, target, lines)]


async def translate_xml(
    parts: ServerParts,
    texts: Sequence[str],
    kinds: TagKinds,
    sources: Sequence[str],
    target: str,
    lists: Sequence[TermList] = (),
) -> list[str]:
    """Translate texts with tags of XML.

    Args:
        sources, lists: as for `translate_pages`.

    Raises:
        ApiError, DragomanError: as `translate_documents`.
        DataError: a text is not well-formed.
    """
    pages = await parts.service.helpers.call(xml_pages, texts, kinds, stop=parts.service.stop())
    found = await translate_pages(parts, [each.page for each in pages], sources, target, lists)
    return [page.restored(translation) for page, translation in zip(pages, found, strict=True)]


async def read_lines(parts: ServerParts, documents: Sequence[SentDocument]) -> list[list[Request]]:
    """Return the lines to translate of each document; see `read_documents`."""
    service = parts.service
    return await service.helpers.call(read_documents, documents, parts.config.queue_limit, stop=service.stop())


async def _requests(parts: ServerParts, texts: Sequence[tuple[AskedText, TextLines]]) -> list[Request]:
    """Return the requests for the lines of texts; terms are looked for in a thread."""

    def requests() -> list[Request]:
        return [request for text, cut in texts for request in text.of_lines(cut.lines)]

    return await parts.service.in_thread(requests) if any(text.lists for text, _ in texts) else requests()


def require_language(directory: Directory, code: str, *, advises: bool = True) -> str:
    """Return a language as the models name it.

    Args:
        advises: False gives the error in LibreTranslate's words alone, which its clients may compare.

    Raises:
        ApiError: no model has it.
    """
    if (found := directory.find(code)) is None:
        languages = some_of(directory.languages) or "none"
        advice = f"; the languages are {languages}; `dragoman get` fetches models of others"
        raise ApiError(400, f"{code[:100]} is not supported{advice if advises else ''}")
    return found


def require_route(directory: Directory, source: str, target: str) -> list[Leg]:
    """Return the translations that lead from one language to another.

    Raises:
        ApiError: there are none.
    """
    if (route := directory.route(source, target)) is None:
        names = [f"{english_name(code)} ({code})" for code in (target, source)]
        raise ApiError(400, f"{names[0]} is not available as a target language from {names[1]}")
    return route


def without_markup(text: str) -> str:
    """Return a text of HTML or XML without its tags, whose names and attributes are in no language."""
    return _TAG.sub(" ", text)


async def detect_sources(
    parts: ServerParts, texts: Sequence[str], target: str, directory: Directory | None = None
) -> list[Detection]:
    """Return the most likely language of each text in a thread; see `likely_sources`.

    Args:
        directory: None is that of all models.
    """
    directory = directory or parts.shelf.directory
    return await parts.service.in_thread(partial(likely_sources, parts.detector, directory, texts, target))


def likely_sources(detector: Detector, directory: Directory, texts: Sequence[str], target: str) -> list[Detection]:
    """Return the most likely language of each text, among those that can be translated into the target.

    A text that is clearly in another language has that one; `require_route` then says that there is no way from it.
    Short texts are judged together, as LibreTranslate does.
    """
    languages = [code for code in directory.languages if directory.route(code, target) is not None]
    together = _first(detector, " ".join(text[:1_000] for text in texts[:20]), languages)
    return [_first(detector, text, languages) if len(text) > _SHORT else together for text in texts]


def _first(detector: Detector, text: str, languages: Sequence[str]) -> Detection:
    found = detector.detect(text, languages)[0]
    return UNDETECTABLE._replace(language=languages[0]) if found is UNDETECTABLE else found
