"""Documents, whose translations are files of the same form.

    document = open_document(Path("page.html"))
    translations = list(translate_document(document, translator, target_lang="de"))
    content = document.rebuild(translations, "de")

To add a format, write a module with its parser, and add a line to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dragoman.data.text_files.whole_files import MAX_BYTES, check_size
from dragoman.documents.document import Document, Tabular
from dragoman.documents.plain_text import parse_text
from dragoman.documents.segment_text import SegmentText
from dragoman.documents.translating import translate_document
from dragoman.errors import ConfigError, DataError, reading_problem
from dragoman.text.marked_text import MarkedText

__all__ = [
    "FORMATS",
    "TABLES",
    "Document",
    "MarkedText",
    "SegmentText",
    "open_document",
    "parse_document",
    "translate_document",
]


def _parse_docx(content: bytes, name: Path) -> Document:
    from dragoman.documents.word_file import parse_docx

    return parse_docx(content, name)


def _parse_html(content: bytes, name: Path) -> Document:
    from dragoman.documents.html_page import parse_html

    return parse_html(content, name)


def _parse_markdown(content: bytes, name: Path) -> Document:
    from dragoman.documents.markdown_file import parse_markdown

    return parse_markdown(content, name)


def _parse_po(content: bytes, name: Path) -> Document:
    from dragoman.documents.po_file import parse_po

    return parse_po(content, name)


def _parse_xliff(content: bytes, name: Path) -> Document:
    from dragoman.documents.xliff_file import parse_xliff

    return parse_xliff(content, name)


def _parse_tmx(content: bytes, name: Path) -> Document:
    from dragoman.documents.tmx_file import parse_tmx

    return parse_tmx(content, name)


def _parse_subtitles(content: bytes, name: Path) -> Document:
    from dragoman.documents.subtitles import parse_subtitles

    return parse_subtitles(content, name)


def _parse_csv(content: bytes, name: Path) -> Document:
    from dragoman.documents.table_file import parse_csv

    return parse_csv(content, name)


def _parse_tsv(content: bytes, name: Path) -> Document:
    from dragoman.documents.table_file import parse_tsv

    return parse_tsv(content, name)


#: Parsers of the content of a file by its suffix; they raise DataError for a content that they cannot read. Markdown
#: and PO need the packages of the extra `documents`; files of Word need none.
FORMATS: dict[str, Callable[[bytes, Path], Document]] = {
    ".txt": parse_text,
    ".html": _parse_html,
    ".htm": _parse_html,
    ".xhtml": _parse_html,
    ".md": _parse_markdown,
    ".markdown": _parse_markdown,
    ".po": _parse_po,
    ".pot": _parse_po,
    ".srt": _parse_subtitles,
    ".vtt": _parse_subtitles,
    ".xlf": _parse_xliff,
    ".xliff": _parse_xliff,
    ".sdlxliff": _parse_xliff,
    ".mqxliff": _parse_xliff,
    ".mxliff": _parse_xliff,
    ".tmx": _parse_tmx,
    ".docx": _parse_docx,
    ".csv": _parse_csv,
    ".tsv": _parse_tsv,
}
#: Formats that need the names of the columns to translate.
TABLES = frozenset((".csv", ".tsv"))


def open_document(path: Path, format: str | None = None, columns: str | None = None) -> Document:
    """Read a document.

    Args:
        format: a suffix of `FORMATS` without its dot; None is that of the file.
        columns: those of a table (CSV, TSV) to translate: names of its first row, which stays, or numbers from 1, with
            commas between them. `name=name_de` fills the empty cells of another column, or a new one.

    Raises:
        ConfigError: the format is none of these.
        DataError: it is too large, or cannot be read.
    """
    if path.is_dir():
        raise DataError("this is a folder, not a file", path, advice="give a file")
    if format is None and path.suffix.lower() not in FORMATS:
        raise ConfigError(f"unknown kind of document {path.suffix!r}", path, advice=f"{_formats()}; --format names one")
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(reading_problem(error), path, advice="check the path") from None
    return parse_document(content, format or path.suffix.lower().removeprefix("."), path, columns)


def parse_document(
    content: bytes, format: str, name: str | Path = "the document", columns: str | None = None
) -> Document:
    """Read a document from memory; see `open_document`.

    Args:
        name: of the document, for messages.

    Raises:
        ConfigError: the format is unknown.
        DataError: the content is too large, or cannot be read.
    """
    if (parse := FORMATS.get(f".{format}")) is None:
        raise ConfigError(f"unknown format {format!r}", name, advice=_formats())
    check_size(content, name)
    document = parse(content, Path(name))
    if isinstance(document, Tabular):
        document.choose_columns(columns)
    return document


def _formats() -> str:
    return f"the formats are {', '.join(suffix.removeprefix('.') for suffix in FORMATS)}"
