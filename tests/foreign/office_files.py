"""Files that other libraries write, with text, formatting, tables and notes."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from extras import import_foreign

from dragoman.documents import parse_document
from dragoman.translator import Translation


def saved(document: Any) -> bytes:
    """A file of any of them."""
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def letter() -> bytes:
    """A document of Word, by python-docx."""
    document = import_foreign("docx", "python-docx").Document()
    document.add_heading("The old mill", 0)
    paragraph = document.add_paragraph("The ")
    paragraph.add_run("blue").bold = True
    paragraph.add_run(" door is open")
    document.add_paragraph("The mill is old", style="List Number")
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text = "The door"
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "The mill"
    document.sections[0].header.paragraphs[0].text = "The mill\tThe door"
    document.sections[0].footer.paragraphs[0].text = "The old door"
    return saved(document)


def slides() -> bytes:
    """A presentation, by python-pptx."""
    presentation = import_foreign("pptx", "python-pptx").Presentation()
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
    return saved(presentation)


def open_text() -> bytes:
    """A text of OpenDocument, by odfpy."""
    text = import_foreign("odf.text", "odfpy")
    odf = import_foreign("odf.opendocument", "odfpy")
    teletype = import_foreign("odf.teletype", "odfpy")
    style = import_foreign("odf.style", "odfpy")
    document = odf.OpenDocumentText()
    left = style.Style(name="P1", family="paragraph")
    left.addElement(style.ParagraphProperties(textalign="left"))
    document.automaticstyles.addElement(left)
    paragraphs = [
        text.H(outlinelevel=1, text="The old mill"),
        text.P(stylename=left),
        text.P(text="The door"),
        text.P(text="12"),
    ]
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
    return saved(document)


def workbook() -> bytes:
    """A workbook, by openpyxl, with a table whose columns stay."""
    openpyxl = import_foreign("openpyxl", "openpyxl")
    rich_text = import_foreign("openpyxl.cell.rich_text", "openpyxl")
    font = import_foreign("openpyxl.cell.text", "openpyxl").InlineFont(b=True)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["PRODUCT", "TEXT", "COUNT"])
    sheet.append(["The old mill", "It is closed.\nThe door & the mill.", 3])
    sheet.append(["A-300", rich_text.CellRichText("The ", rich_text.TextBlock(font, "blue"), " door"), 2.5])
    sheet.append(["A <b>small</b> door", "yes", '=IF(B4="yes",C2*C3,0)'])
    sheet.add_table(openpyxl.worksheet.table.Table(displayName="Stock", ref="A1:C4"))
    sheet["A2"].comment = openpyxl.comments.Comment("The mill is old.\nSpeak slowly.", "Ann")
    chart = openpyxl.chart.BarChart()
    chart.title = "The mills"
    chart.add_data(openpyxl.chart.Reference(sheet, min_col=3, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    validation = openpyxl.worksheet.datavalidation.DataValidation(type="list", formula1='"yes,no"')
    validation.add("B4")
    sheet.add_data_validation(validation)
    return saved(book)


def changed(content: bytes, format: str, language: str, change: Callable[[str], str] = str.upper) -> bytes:
    """A file with another text, in capitals by default, each word aligned with itself."""
    document = parse_document(content, format)
    return document.rebuild(
        [
            replace(
                Translation(change(one.text), 0.0, ()),
                alignment=tuple((number, number) for number in range(len(one.text.split()))),
            )
            for one in document.segments()
        ],
        language,
    )
