"""python-docx writes and reads files of Word by its own code: it is an oracle."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from typing import Any

import pytest
from extras import import_foreign
from office_files import letter
from word_samples import word_file

from dragoman.documents import parse_document
from dragoman.translator import Translation

docx = import_foreign("docx", "python-docx")
WORDS = {"The": "Die", "old": "alte", "blue": "blaue", "mill": "Mühle", "door": "Tür", "is": "ist", "open": "offen"}


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
