"""python-pptx, odfpy and openpyxl write files and read their translations by code of their own: all are oracles."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from extras import import_foreign
from office_files import changed, open_text, saved, slides, workbook

from dragoman.documents import parse_document
from dragoman.translator import Translation


def test_python_pptx_reads_the_same_runs_in_capitals() -> None:
    pptx = import_foreign("pptx", "python-pptx")

    def paragraphs(content: bytes) -> Iterator[Any]:
        (slide,) = pptx.Presentation(io.BytesIO(content)).slides
        for shape in [*slide.shapes, *slide.notes_slide.shapes]:
            frames = [shape.text_frame] if shape.has_text_frame else []
            frames += [cell.text_frame for cell in shape.table.iter_cells()] if shape.has_table else []
            for frame in frames:
                yield from frame.paragraphs

    content = slides()
    written = changed(content, "pptx", "de")
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
    content = open_text()
    before, after = (odf.load(io.BytesIO(one)) for one in (content, changed(content, "odt", "de")))
    for kind in (text.P, text.H, text.A, text.Span, text.NoteBody):
        shown = [[teletype.extractText(one) for one in file.getElementsByType(kind)] for file in (before, after)]
        assert [one.upper().replace("  ", " ") for one in shown[0]] == [one for one in shown[1] if one.strip()]


def test_openpyxl_reads_the_same_cells_in_capitals() -> None:
    openpyxl = import_foreign("openpyxl", "openpyxl")
    content = workbook()
    before, after = (
        openpyxl.load_workbook(io.BytesIO(one), rich_text=True).active
        for one in (content, changed(content, "xlsx", "he"))
    )
    kept = {"yes", before["C4"].value}
    for row, new_row in zip(before.iter_rows(), after.iter_rows(), strict=True):
        for old, new in zip(row, new_row, strict=True):
            assert type(new.value) is type(old.value)
            is_kept = isinstance(old.value, int | float) or str(old.value) in kept
            assert str(new.value) == (str(old.value) if is_kept else str(old.value).upper().replace("B>", "b>"))
    assert (after["B3"].value[1].text, after["B3"].value[1].font.b) == ("BLUE", True)
    assert after["A2"].comment.text == "THE MILL IS OLD.\nSPEAK SLOWLY."
    assert after.sheet_view.rightToLeft
    assert [column.name for column in after.tables["Stock"].tableColumns] == [cell.value for cell in after[1]]
    assert [rule.formula1 for rule in after.data_validations.dataValidation] == ['"yes,no"']
