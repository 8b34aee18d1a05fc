"""Documents, whose translations are files of the same form.

    document = open_document(Path("page.html"))
    translations = list(translate_document(document, translator, target_lang="de"))
    content = document.rebuild(translations, "de")

To add a format, write a module with its parser, and add a line to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from dragoman.documents.marked_text import MarkedText
from dragoman.documents.plain_text import parse_text
from dragoman.documents.translating import translate_document
from dragoman.errors import ConfigError, DataError
from dragoman.translator import Translation

__all__ = ["FORMATS", "Document", "MarkedText", "open_document", "parse_document", "translate_document"]

#: A document is read at once.
MAX_BYTES = 64 * 2**20


class Document(Protocol):
    """Text to translate, and the content around it, which stays."""

    def segments(self) -> Sequence[MarkedText]:
        """Return the texts to translate, in order."""

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the document with a translation in place of each segment.

        A segment that is its own translation changes nothing.

        Args:
            target_lang: the code of their language, which some formats name.
        """


def _parse_html(content: bytes, name: Path) -> Document:
    from dragoman.documents.html_page import parse_html

    return parse_html(content, name)


def _parse_markdown(content: bytes, name: Path) -> Document:
    from dragoman.documents.markdown_file import parse_markdown

    return parse_markdown(content, name)


def _parse_po(content: bytes, name: Path) -> Document:
    from dragoman.documents.po_file import parse_po

    return parse_po(content, name)


def _parse_subtitles(content: bytes, name: Path) -> Document:
    from dragoman.documents.subtitles import parse_subtitles

    return parse_subtitles(content, name)


#: Parsers of the content of a file by its suffix; they raise DataError for a content that they cannot read. Markdown
#: and PO need the packages of the extra `documents`.
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
}


def open_document(path: Path, format: str | None = None) -> Document:
    """Read a document.

    Args:
        format: a suffix of `FORMATS` without its dot; None is that of the file.

    Raises:
        ConfigError: the format is none of these.
        DataError: it cannot be read.
    """
    if path.is_dir():
        raise DataError("this is a folder, not a file", path, advice="give a file")
    suffix = path.suffix.lower() if format is None else f".{format}"
    if suffix not in FORMATS:
        names = ", ".join(suffix.removeprefix(".") for suffix in FORMATS)
        advice = f"the formats are {names}" + ("" if format else "; --format names one")
        raise ConfigError(f"unknown kind of document {suffix!r}", path, advice=advice)
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise DataError(f"{size:,} bytes, but a document has at most {MAX_BYTES:,}", path, advice="split it")
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="check the path") from None
    return FORMATS[suffix](content, path)


def parse_document(content: bytes, format: str, name: str = "the document") -> Document:
    """Read a document from memory; see `open_document`.

    Args:
        name: of the document, for messages.

    Raises:
        ConfigError: the format is unknown.
        DataError: the content is too large, or cannot be read.
    """
    if (parse := FORMATS.get(f".{format}")) is None:
        names = ", ".join(suffix.removeprefix(".") for suffix in FORMATS)
        raise ConfigError(f"unknown format {format!r}", advice=f"the formats are {names}")
    if len(content) > MAX_BYTES:
        raise DataError(f"{len(content):,} bytes, but a document has at most {MAX_BYTES:,}", name, advice="split it")
    return parse(content, Path(name))
