"""python-pptx and odfpy write files and read their translations by code of their own: both are oracles."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from extras import import_foreign

from dragoman.documents import parse_document
from dragoman.translator import Translation


def in_capitals(content: bytes, format: str, language: str) -> bytes:
    """A file in capitals, each word aligned with itself."""
    document = parse_document(content, format)
    return document.rebuild(
        [
            replace(
                Translation(one.text.upper(), 0.0, ()),
                alignment=tuple((number, number) for number in range(len(one.text.split()))),
            )
            for one in document.segments()
        ],
        language,
    )


def saved(document: Any) -> bytes:
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def test_python_pptx_reads_the_same_runs_in_capitals() -> None:
    pptx = import_foreign("pptx", "python-pptx")
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "The old mill"
    frame = slide.placeholders[1].text_frame
    frame.text = "The mill\tis old"
    for text, is_bold, link in (
        ("We saw ", None, None),
        ("the blue", True, None),
        (" door of ", None, None),
        ("the mill", None, "https://a.org/"),
    ):
        run = (frame.paragraphs[1] if len(frame.paragraphs) > 1 else frame.add_paragraph()).add_run()
        run.text, run.font.bold, run.hyperlink.address = text, is_bold, link
    frame.paragraphs[1].add_line_break()
    frame.paragraphs[1].add_run().text = "It is closed."
    table = slide.shapes.add_table(1, 2, 0, 0, 9, 9).table
    table.cell(0, 0).text, table.cell(0, 1).text = "A door", "12"
    slide.notes_slide.notes_text_frame.text = "Speak slowly."

    def paragraphs(content: bytes) -> Iterator[Any]:
        (slide,) = pptx.Presentation(io.BytesIO(content)).slides
        for shape in [*slide.shapes, *slide.notes_slide.shapes]:
            frames = [shape.text_frame] if shape.has_text_frame else []
            frames += [cell.text_frame for cell in shape.table.iter_cells()] if shape.has_table else []
            for frame in frames:
                yield from frame.paragraphs

    content = saved(presentation)
    written = in_capitals(content, "pptx", "de")
    for old, new in zip(paragraphs(content), paragraphs(written), strict=True):
        assert new.text == old.text.upper()
        shown = [(part.strip().upper(), run.font.bold, run.hyperlink.address) for run in old.runs
                 for part in run.text.split("\t")]  # fmt: skip
        assert [
            (run.text.strip(), run.font.bold, run.hyperlink.address) for run in new.runs if run.text.strip()
        ] == shown


def test_python_pptx_reads_directions_and_sides_whatever_the_masters_say() -> None:
    pptx = import_foreign("pptx", "python-pptx")
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "The mill", "The door"
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "A box"
    slide.shapes.add_table(1, 1, 0, 0, 9, 9).table.cell(0, 0).text = "A cell"
    slide.notes_slide.notes_text_frame.text = "A note"

    def shown(content: bytes) -> list[tuple[Any, str | None]]:
        """The own side and direction of the title, the body, the box, the cell and the note."""
        (slide,) = pptx.Presentation(io.BytesIO(content)).slides
        *shapes, table = slide.shapes
        frames = [*shapes, table.table.cell(0, 0), slide.notes_slide.notes_placeholder]
        paragraphs = [frame.text_frame.paragraphs[0] for frame in frames]
        return [(one.alignment and str(one.alignment).split()[0], one._p.pPr.get("rtl")) for one in paragraphs]

    def turned(content: bytes, source: str, target: str) -> bytes:
        document: Any = parse_document(content, "pptx")
        document.set_languages(source, target)
        return bytes(document.rebuild([Translation(f"{one.text} x", 0.0, ()) for one in document.segments()], target))

    written = turned(saved(presentation), "en", "ar")  # its titles are in the middle
    assert shown(written) == [(None, "1"), *[("RIGHT", "1")] * 4]
    assert shown(turned(written, "ar", "de")) == [(None, "0"), *[("LEFT", "0")] * 4]
    for master in (presentation.slide_masters[0], presentation):
        for level in master.element.iter():
            if level.get("rtl") == "0":
                level.set("rtl", "1")
                level.set("algn", level.get("algn").replace("l", "r"))
    assert shown(turned(saved(presentation), "ar", "de"))[:4] == [(None, "0"), *[("LEFT", "0")] * 3]


def test_odfpy_reads_the_same_texts_in_capitals() -> None:
    text = import_foreign("odf.text", "odfpy")
    odf = import_foreign("odf.opendocument", "odfpy")
    teletype = import_foreign("odf.teletype", "odfpy")
    document = odf.OpenDocumentText()
    paragraphs = [text.H(outlinelevel=1, text="The old mill"), text.P(), text.P(text="The door"), text.P(text="12")]
    teletype.addTextToElement(paragraphs[1], "The  blue door\tis open.\nIt is closed.")
    note = text.Note(noteclass="footnote")
    note.addElement(text.NoteCitation(text="1"))
    body = text.NoteBody()
    body.addElement(text.P(text="A note"))
    note.addElement(body)
    link = text.A(href="https://a.org/")
    link.addElement(text.Span(stylename="Strong", text="of the mill"))
    paragraphs[2].addElement(note)
    paragraphs[2].addText(" ")
    paragraphs[2].addElement(link)
    for paragraph in paragraphs:
        document.text.addElement(paragraph)
    content = saved(document)
    before, after = (odf.load(io.BytesIO(one)) for one in (content, in_capitals(content, "odt", "de")))
    for kind in (text.P, text.H, text.A, text.Span, text.NoteBody):
        shown = [[teletype.extractText(one) for one in file.getElementsByType(kind)] for file in (before, after)]
        assert [one.upper().replace("  ", " ") for one in shown[0]] == [one for one in shown[1] if one.strip()]
