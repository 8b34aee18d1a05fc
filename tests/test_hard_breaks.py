"""Lines that hard breaks part are segments of their own, except in a sentence that goes on; the breaks stay."""

from __future__ import annotations

import pytest
from document_samples import require_documents
from word_samples import package, run

from dragoman.documents import Document, parse_document
from dragoman.documents.hard_breaks import sentence_lines
from dragoman.translator import Translation

require_documents()

#: Lines, and the segments that they make.
CASES = [
    (["Roses are red", "Violets are blue"], ["Roses are red", "Violets are blue"]),
    (["roses are red", "violets are blue"], ["roses are red", "violets are blue"]),
    (["Monday: 9 am - 5 pm", "Tuesday: closed"], ["Monday: 9 am - 5 pm", "Tuesday: closed"]),
    (["Ann Green", "12 Main Street", "London"], ["Ann Green", "12 Main Street", "London"]),
    (["This is a long", "sentence that goes on."], ["This is a long sentence that goes on."]),
    (["This, as you see,", "is long, and", "goes on."], ["This, as you see, is long, and goes on."]),
    (["Line one is long.", "line two.", "line three."], ["Line one is long.", "line two.", "line three."]),
    (["Tea 2 €", "coffee 3 €."], ["Tea 2 €", "coffee 3 €."]),
    (["Welcome to", "the old town"], ["Welcome to", "the old town"]),
    (["A title", "It goes", "on here.", "The end"], ["A title", "It goes on here.", "The end"]),
    (["春天来了", "花开了"], ["春天来了", "花开了"]),
]


def document_of(format: str, lines: list[str], line_break: str) -> Document:
    if format == "docx":
        return parse_document(package(f"<w:p>{line_break.join(map(run, lines))}</w:p>"), format)
    if format == "csv":
        return parse_document(f'text\n"{line_break.join(lines)}"\n'.encode(), format, columns="text")
    text = line_break.join(lines)
    return parse_document((f"<p>{text}</p>" if format == "html" else f"{text}\n").encode(), format)


@pytest.mark.parametrize(
    ("format", "line_break"),
    [
        ("html", "<br>"),
        ("html", " <br/>\n  "),
        ("md", "  \n"),
        ("md", "\\\n"),
        ("md", "<br>"),
        ("docx", "<w:r><w:br/></w:r>"),
        ("csv", "<br>"),
    ],
)
@pytest.mark.parametrize(("lines", "segments"), CASES)
def test_each_line_is_a_segment_unless_a_sentence_goes_on(
    format: str, line_break: str, lines: list[str], segments: list[str]
) -> None:
    document = document_of(format, lines, line_break)
    found = [segment.text for segment in document.segments()]
    assert found == segments
    links = tuple((number, number) for number in range(20))
    written = document.rebuild([Translation(text.upper(), 0.0, (), alignment=links) for text in found])
    if format == "docx":
        again = parse_document(written, "docx").segments()
        assert " ".join(segment.text for segment in again) == " ".join(lines).upper()
        return
    assert written.decode().count("<br" if "<br" in line_break else line_break) == len(lines) - 1
    upper = document_of(format, [line.upper() for line in lines], line_break)
    if len(segments) == len(lines):
        same = [Translation(segment.text, 0.0, ()) for segment in upper.segments()]
        assert written == upper.rebuild(same)


@pytest.mark.parametrize(("lines", "segments"), CASES)
def test_lines_of_a_segment_are_in_their_order(lines: list[str], segments: list[str]) -> None:
    assert [" ".join(lines[first:last]) for first, last in sentence_lines(lines)] == segments


def test_several_breaks_and_marks_over_breaks_stay() -> None:
    page = "<p><b>The dog.<br><br>The cat</b> is <i>here<br/>Now</i> go.</p>"
    document = parse_document(page.encode(), "html")
    texts = [segment.text for segment in document.segments()]
    assert texts == ["The dog.", "The cat is here", "Now go."]
    links = tuple((number, number) for number in range(9))
    written = document.rebuild([Translation(text.upper(), 0.0, (), alignment=links) for text in texts]).decode()
    assert written == "<p><b>THE DOG.<br><br>THE CAT</b> IS <i>HERE<br/>NOW</i> GO.</p>"


def test_a_cell_of_markdown_has_lines() -> None:
    text = "| a | b |\n|---|---|\n| One thing<br>Two \\| things | x |\n"
    document = parse_document(text.encode(), "md")
    texts = [segment.text for segment in document.segments()]
    assert texts == ["a", "b", "One thing", "Two | things", "x"]
    written = document.rebuild([Translation(one.upper(), 0.0, ()) for one in texts]).decode()
    assert written == text.upper().replace("<BR>", "<br>")


def test_a_link_over_a_break_of_word_stays_whole() -> None:
    link = f'<w:hyperlink r:id="r9">{run("The dog.")}<w:r><w:br/></w:r>{run("The cat.")}</w:hyperlink>'
    document = parse_document(package(f"<w:p>{run('See ')}{link}{run(' Go!')}</w:p>"), "docx")
    texts = [segment.text for segment in document.segments()]
    assert texts == ["See The dog.", "The cat. Go!"]
    written = document.rebuild([Translation(one.upper(), 0.0, ()) for one in texts], "de")
    assert [segment.text for segment in parse_document(written, "docx").segments()] == [one.upper() for one in texts]
