"""The EPUB and the PDF of the book, as `make book` wrote them: epubcheck, texts of figures, and every page's text."""

import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest
from extras import import_foreign, require_program

FILES = Path(__file__).resolve().parents[2] / "build" / "book"


def file_of_the_book(language: str, kind: str) -> Path:
    path = FILES / f"the-book-of-the-transformer-{language}.{kind}"
    if not path.is_file():
        pytest.skip(f"no {path.name}: run `make book` first")
    return path


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_epubcheck_finds_nothing(language: str) -> None:
    path = file_of_the_book(language, "epub")
    epubcheck = import_foreign("epubcheck", "epubcheck")
    require_program("java", "default-jre-headless")
    assert [str(message) for message in epubcheck.EpubCheck(path).messages] == []


def test_every_picture_of_the_epub_has_its_text(language: str) -> None:
    with ZipFile(file_of_the_book(language, "epub")) as epub:
        pages = {name: epub.read(name).decode() for name in epub.namelist() if name.endswith(".xhtml")}
    images = [(name, image) for name, page in pages.items() for image in re.findall(r"<img\b[^>]*>", page)]
    assert len(images) >= 8
    for name, image in images:
        text = re.search(r'alt="([^"]+)"', image)
        assert text, (name, image)
        assert not text[1].endswith((".svg", ".png")), (name, image)
    drawings = [svg for page in pages.values() for svg in re.findall(r"<svg\b.*?</svg>", page, re.S)]
    assert len(drawings) >= 20
    assert all(re.search(r"<title[^>]*>[^<]+<", svg) for svg in drawings)


def test_the_pdf_has_every_chapter_and_its_letters(language: str) -> None:
    path = file_of_the_book(language, "pdf")
    program = require_program("pdftotext", "poppler-utils")
    text = subprocess.run([program, str(path), "-"], check=True, capture_output=True, timeout=120).stdout.decode()
    lines = {" ".join(line.split()) for line in text.splitlines()}
    missing = [number for number in range(1, 24) if not any(line.startswith(f"{number}. ") for line in lines)]
    assert missing == []
    if language == "zh":
        assert text.count("注意力") >= 100
    # The book prints some such signs on purpose. The printed page may show no more of them.
    with ZipFile(file_of_the_book(language, "epub")) as epub:
        on_purpose = sum(
            epub.read(name).decode().count("\ufffd") for name in epub.namelist() if name.endswith(".xhtml")
        )
    assert text.count("\ufffd") == on_purpose
