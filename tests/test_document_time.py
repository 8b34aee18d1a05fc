"""Hostile documents: each is read, or refused in one line, in a time that grows with its length and no faster."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from document_samples import require_documents

from dragoman.documents import parse_document
from dragoman.documents.mark_projection import project
from dragoman.documents.subtitles import parse_subtitles
from dragoman.documents.translating import Ellipses, put_ellipses
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedTextBuilder
from dragoman.translator import Translation

require_documents()

#: Of processor time: a bound that no busy machine reaches. Each case takes two seconds at most, and `make thorough`
#: measures how time grows.
MOST_SECONDS = 30.0
XLIFF = "<xliff version='1.2'><file><trans-unit><source>{}</source></trans-unit></file></xliff>"
CUE = "00:00:01,000 --> 00:00:02,000\n"


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("md", "---\r\n" + "a\r\n" * 28),  # no end of the front matter
        ("md", "a**b" * 60_000),
        ("md", "$$a\n" * 5_000),
        ("md", "> $$a\n" * 3_000),
        ("md", "- $$a\n" * 5_000),
        ("md", "<kbd>" * 16_000),
        ("txt", "1   " * 60_000 + "\na" + "   b" * 60_000),
        ("srt", f"{CUE}a{' ' * 30_000}b\n"),
        ("srt", f"{CUE}{'</i>' * 20_000}x\n"),
        ("srt", f"{CUE}b <{'a' * 60_000}\n"),
        ("html", "<p>" + '"<a b=">' * 10_000),
        ("html", "<p>" + "<!-- >" * 50_000),
        ("xlf", XLIFF.format("<mrk mtype='seg'>" * 900 + "a" + "</mrk>" * 900)),
        ("xlf", XLIFF.format("<g>" * 900 + "a" + "</g>" * 900)),
        ("xlf", XLIFF.format("<bpt id='1'/>a <ept id='2'/>" * 3_000)),
        ("xlf", XLIFF.format("<x id='1'/> a " * 3_000)),
        ("xlf", XLIFF.format(f"a</source><target{' ' * 60_000}></target><source>")),
        ("xlf", XLIFF.format("a</source></trans-unit><trans-unit><source>" * 10_000)),
        ("xlf", XLIFF.format("<![CDATA[a]]>" * 20_000)),
        ("po", 'msgid ""\nmsgstr ""\n\nmsgid "' + "%s **a** " * 15_000 + '"\nmsgstr ""\n'),
    ],
    ids=lambda value: value[:40],
)
def test_a_document_is_read_or_refused_in_time(format: str, content: str) -> None:
    start = time.process_time()
    with contextlib.suppress(DataError):
        document = parse_document(content.encode(), format)
        assert document.rebuild([Translation(one.text, 0.0, ()) for one in document.segments()]).strip()
    assert time.process_time() - start < MOST_SECONDS


def test_many_marks_are_placed_in_time() -> None:
    points, wrapping = MarkedTextBuilder(), MarkedTextBuilder()
    for _ in range(3_000):
        points.add_text("a ")
        points.add_point("<img>")
        wrapping.open("b", "<b>")
        wrapping.add_text("a")
        wrapping.close("b", "</b>")
        wrapping.add_text(" ")
    start = time.process_time()
    assert project(points.build(), "b " * 3_000, None).count("<img>") == 3_000
    assert project(wrapping.build(), "b " * 3_000, [(0, word) for word in range(3_000)]).count("</b>") == 3_000
    assert time.process_time() - start < 2 * MOST_SECONDS


def test_a_cue_of_many_lines_is_broken_in_time() -> None:
    document = parse_subtitles((CUE + "a b\n" * 10_000).encode(), Path("a.srt"))
    start = time.process_time()
    written = document.rebuild([Translation("c " * 20_000, 0.0, ())])
    assert written.count(b"\n") == 10_001
    assert time.process_time() - start < MOST_SECONDS


def test_an_ellipsis_replaces_an_end_in_time() -> None:
    start = time.process_time()
    assert put_ellipses("a" + "." * 50_000 + "b. ", Ellipses("", "…"), "de").endswith(".b…")
    assert time.process_time() - start < MOST_SECONDS


def test_front_matter_is_kept_with_either_line_end() -> None:
    for end in ("\n", "\r\n"):
        text = end.join(["---", "title: a b", "", "x: y", "---", "A b.", ""])
        assert [segment.text for segment in parse_document(text.encode(), "md").segments()] == ["A b."]
