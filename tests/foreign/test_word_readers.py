"""python-docx writes and reads files of Word by its own code, and LibreOffice shows them: both are oracles."""

from __future__ import annotations

import io
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from extras import import_foreign, require_program
from word_samples import word_file

from dragoman.documents import parse_document
from dragoman.translator import Translation

docx = import_foreign("docx", "python-docx")
WORDS = {"The": "Die", "old": "alte", "blue": "blaue", "mill": "Mühle", "door": "Tür", "is": "ist", "open": "offen"}


def letter() -> bytes:
    document = docx.Document()
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
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def in_german(text: str) -> Translation:
    words = text.split(" ")
    links = tuple((number, number) for number in range(len(words)))
    return replace(Translation(" ".join(WORDS[word] for word in words), 0.0, ()), alignment=links)


def translated(content: bytes) -> bytes:
    document = parse_document(content, "docx")
    return document.rebuild([in_german(segment.text) for segment in document.segments()], "de")


def paragraphs(file: Any) -> list[Any]:
    section = file.sections[0]
    found = [*file.paragraphs, *section.header.paragraphs, *section.footer.paragraphs]
    waiting = [*file.tables]
    while waiting:
        for cell in (cell for row in waiting.pop().rows for cell in row.cells):
            found += cell.paragraphs
            waiting += cell.tables
    return found


def test_another_program_reads_the_same_paragraphs_styles_and_runs() -> None:
    content = letter()
    before, after = (docx.Document(io.BytesIO(one)) for one in (content, translated(content)))
    for old, new in zip(paragraphs(before), paragraphs(after), strict=True):
        parts = ["" if not part else in_german(part).text for part in old.text.split("\t")]
        assert new.text == "\t".join(parts)
        assert new.style.name == old.style.name
        shown = [(run.text, run.bold) for run in old.runs if run.text.strip()]
        expected = [(part.strip(), bold) for text, bold in shown for part in text.split("\t")]
        assert [(run.text.strip(), run.bold) for run in new.runs if run.text.strip()] == [
            (in_german(text).text, bold) for text, bold in expected
        ]


@pytest.mark.parametrize("number", range(40))
def test_another_program_reads_what_samples_become(number: int) -> None:
    content = word_file(random.Random(number))
    document = parse_document(content, "docx")
    added = [Translation(f"{segment.text} Zusatz", 0.0, ()) for segment in document.segments()]
    before, after = (docx.Document(io.BytesIO(one)) for one in (content, document.rebuild(added, "de")))
    for old, new in zip(paragraphs(before), paragraphs(after), strict=True):
        assert new._p.style == old._p.style
        assert [link._hyperlink.rId for link in new.hyperlinks] == [link._hyperlink.rId for link in old.hyperlinks]


def test_libreoffice_shows_the_translation(tmp_path: Path) -> None:
    program = require_program("soffice", "libreoffice-writer")
    (tmp_path / "brief.docx").write_bytes(translated(letter()))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = [program, profile, "--headless", "--convert-to", "txt:Text", "--outdir", str(tmp_path), "brief.docx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = (tmp_path / "brief.txt").read_text("utf-8-sig")
    assert "Die blaue Tür ist offen" in text
    assert "Die alte Mühle" in text
