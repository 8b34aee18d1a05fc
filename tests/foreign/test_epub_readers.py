"""EbookLib writes and reads books by its own code, and Babel knows the directions of languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from extras import import_foreign

from dragoman.documents import open_document
from dragoman.documents.document import Bilingual
from dragoman.text.languages import is_right_to_left
from dragoman.translator import Translation


def write_book(path: Path) -> None:
    epub = import_foreign("ebooklib.epub", "ebooklib")
    book = epub.EpubBook()
    book.set_identifier("urn:uuid:12345678-1234-1234-1234-123456789012")
    book.set_title("The blue door & the mill")
    book.set_language("en")
    book.add_author("Ann Mill")
    chapters = [epub.EpubHtml(title=f"The door {n}", file_name=f"text/{n}.xhtml", lang="en") for n in (1, 2)]
    for chapter in chapters:
        chapter.content = "<h1>The door</h1><p>The <b>blue</b> door<br/>is <i xml:lang='fr'>bleue</i> &amp; old.</p>"
        book.add_item(chapter)
    book.add_item(epub.EpubItem(uid="s", file_name="a.css", media_type="text/css", content=b"p {color: blue}"))
    book.toc = chapters
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = ["nav", *chapters]
    epub.write_epub(str(path), book)


def in_capitals(text: str) -> Translation:
    words = [word.upper() if word.isalpha() else word for word in text.split(" ")]
    links = tuple((number, number) for number in range(len(words)))
    return replace(Translation(" ".join(words), 0.0, ()), alignment=links)


@pytest.fixture
def translated(tmp_path: Path) -> Path:
    """A book and its translation into Arabic, in capitals."""
    write_book(tmp_path / "book.epub")
    document = open_document(tmp_path / "book.epub")
    assert isinstance(document, Bilingual)
    document.set_languages("en", "ar")
    content = document.rebuild([in_capitals(segment.text) for segment in document.segments()], "ar")
    (tmp_path / "kitab.epub").write_bytes(content)
    return tmp_path


def test_ebooklib_reads_a_translated_book(translated: Path) -> None:
    epub = import_foreign("ebooklib.epub", "ebooklib")
    before, after = (epub.read_epub(str(translated / name)) for name in ("book.epub", "kitab.epub"))
    assert after.get_metadata("DC", "language") == [("ar", {})]
    assert after.get_metadata("DC", "title") == [("THE BLUE DOOR & THE MILL", {})]
    assert after.get_metadata("DC", "creator") == before.get_metadata("DC", "creator")
    assert after.direction == "rtl"
    assert [link.title for link in after.toc] == ["THE DOOR 1", "THE DOOR 2"]
    items: list[Any] = [*after.get_items()]
    assert [item.get_name() for item in items] == [item.get_name() for item in before.get_items()]
    (page,) = (item.get_content().decode() for item in items if item.get_name() == "text/1.xhtml")
    assert '<b>BLUE</b> DOOR<br/>IS <i xml:lang="fr">bleue</i> &amp; old.' in page


def test_babel_knows_the_same_directions() -> None:
    babel = import_foreign("babel", "babel")
    codes = babel.localedata.locale_identifiers()
    right_to_left = [code for code in codes if babel.Locale.parse(code).character_order == "right-to-left"]
    assert right_to_left == [code for code in codes if is_right_to_left(code)]
