"""Functions that helper processes call: each reads what a stranger sent, and takes as long as that is made to take.

They are called with what the processes share: the stages of a model, or nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from dragoman.documents import SegmentText, parse_document
from dragoman.documents.document import Bilingual, Document
from dragoman.errors import DataError, DeadlineError
from dragoman.server.document_report import document_report
from dragoman.settings.search_config import SearchConfig
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Candidate, Request, Translation, in_document
from dragoman.translator.pipeline import Pipeline, SearchWanted, Stages, advance
from dragoman.translator.two_steps import first_request, joined, second_requests

#: Portions of requests whose stages a process keeps between searches; of the others, it repeats the earlier stages.
_MOST_OPEN = 256

Found = Sequence[Sequence[Candidate]] | DeadlineError


class OpenStages:
    """The stages of one model, on their way from search to search."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        #: By the number of their portion, with the searches that they have got.
        self.open: OrderedDict[int, tuple[int, Stages]] = OrderedDict()


def go_on(
    all_stages: OpenStages,
    number: int,
    requests: Sequence[Request],
    config: SearchConfig | None,
    found: Sequence[Found],
) -> SearchWanted | list[Translation]:
    """Go on with the stages of a portion of requests to the next search, or to the end.

    Args:
        number: of the portion.
        found: by all of its searches so far.

    Raises:
        DragomanError: as `advance`.
    """
    n_given, stages = all_stages.open.pop(number, (0, None))
    if stages is None:
        stages = all_stages.pipeline.stages(requests, config)
        outcome = advance(stages, None)
    for one in found[n_given:]:
        outcome = advance(stages, one)
    if isinstance(outcome, SearchWanted):
        all_stages.open[number] = len(found), stages
        if len(all_stages.open) > _MOST_OPEN:
            all_stages.open.popitem(last=False)
    return outcome


def segments(all_stages: OpenStages, requests: Sequence[Request]) -> list[list[str]]:
    """Cut texts into the segments that a model reads at once."""
    return [text.readable for text in all_stages.pipeline.plan(requests).texts]


def first_steps(_: None, lines: Sequence[Request], middle: str) -> list[Request]:
    """Return the requests for the translations of lines into the language in the middle."""
    return [first_request(line, middle) for line in lines]


def second_steps(
    _: None, lines: Sequence[Request], middle: str, firsts: Sequence[Translation], n_best: int
) -> list[list[Request]]:
    """Return the requests for the translations of these translations, some for each line."""
    return [second_requests(line, middle, first, n_best) for line, first in zip(lines, firsts, strict=True)]


def join_steps(
    _: None,
    lines: Sequence[Request],
    languages: tuple[str, str, str],
    firsts: Sequence[Translation],
    seconds: Sequence[Translation],
    counts: Sequence[int],
) -> list[Translation]:
    """Return the translations of lines in two steps.

    Args:
        languages: source, middle and target.
        counts: the number of each line's second translations.
    """
    source, middle, target = languages
    remaining = iter(seconds)
    return [
        joined(line, (source, target), middle, first, list(islice(remaining, count)))
        for line, first, count in zip(lines, firsts, counts, strict=True)
    ]


def form_fields(_: None, body: bytes, most: int) -> list[tuple[str, str]]:
    """Return the fields of a form. Megabytes of `%` take seconds, and half a gigabyte of RAM.

    Raises:
        ValueError: it has more than `most`.
    """
    return parse_qsl(body.decode(errors="replace"), keep_blank_values=True, max_num_fields=most)


class SentDocument(NamedTuple):
    """A document that a client has sent.

    Args:
        format: a suffix of `FORMATS` without its dot.
        languages: source, if it is known, and target; None if the document is in one language by nature.
        keeps_ellipses: see `SegmentText`.
    """

    content: bytes
    format: str
    name: str
    columns: str | None = None
    languages: tuple[str | None, str] | None = None
    keeps_ellipses: bool = False

    def parse(self) -> tuple[Document, Sequence[MarkedText]]:
        """Return the document and its segments.

        Raises:
            DataError: it cannot be read.
        """
        document = parse_document(self.content, self.format, self.name, self.columns)
        if self.languages and isinstance(document, Bilingual):
            document.set_languages(*self.languages)
        return document, document.segments()

    def text_of(self, segment: MarkedText) -> SegmentText:
        """Return what is translated of a segment."""
        return SegmentText.of(segment, keeps_ellipses=self.keeps_ellipses)


class WrittenDocument(NamedTuple):
    """A translated document, and what a person should check of it: see `document_report`."""

    content: bytes
    report: dict[str, Any]


def read_documents(_: None, documents: Sequence[SentDocument], most: int) -> list[list[Request]]:
    """Return the lines to translate of each document: its segments that have words.

    Args:
        most: lines of all documents.

    Raises:
        DataError: one cannot be read, or they have too many lines.
    """
    lines = []
    for document in documents:
        texts = [document.text_of(segment) for segment in document.parse()[1] if segment.has_words]
        most -= len(texts)
        if most < 0:
            raise DataError(f"{document.name} has {-most:,} texts too many", advice="send it in parts")
        lines.append(list(in_document(each.request(Request("")) for each in texts)))
    return lines


def write_documents(
    _: None, documents: Sequence[SentDocument], translations: Sequence[Sequence[Translation] | None], target: str
) -> list[WrittenDocument]:
    """Return the documents with a translation in place of each line.

    Args:
        translations: of the lines that `read_documents` returned; None for a document that stays.
    """
    return [_written(*each, target) for each in zip(documents, translations, strict=True)]


def _written(sent: SentDocument, translations: Sequence[Translation] | None, target: str) -> WrittenDocument:
    document, parts = sent.parse()
    given = iter(translations or ())
    written = [
        sent.text_of(segment).finish(next(given), target)
        if translations is not None and segment.has_words
        else Translation(segment.text, 0.0, ())
        for segment in parts
    ]
    return WrittenDocument(document.rebuild(written, target), document_report(document, parts, written))
