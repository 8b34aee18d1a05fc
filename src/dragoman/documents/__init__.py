"""Documents, whose translations are files of the same form.

To add a format, write a module with its parser, and add a line to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from dragoman.documents.plain_text import parse_text
from dragoman.errors import ConfigError, DataError


class Document(Protocol):
    """Text to translate, and the content around it, which stays."""

    def segments(self) -> Sequence[str]:
        """Return the texts to translate, in order, none of them with a line break."""

    def rebuild(self, translations: Sequence[str]) -> bytes:
        """Return the document with a translation in place of each segment; `rebuild(segments())` changes nothing."""


#: Parsers of the content of a file by its suffix; they raise DataError for a content that they cannot read.
FORMATS: dict[str, Callable[[bytes, Path], Document]] = {
    ".txt": parse_text,
}


def open_document(path: Path) -> Document:
    """Read a document in the format of its suffix.

    Raises:
        ConfigError: its suffix names none of these formats.
        DataError: it cannot be read.
    """
    if path.is_dir():
        raise DataError("this is a folder, not a file", path, advice="give a text file")
    parse = FORMATS.get(path.suffix.lower())
    if parse is None:
        advice = f"its name must end in {' or '.join(FORMATS)}"
        raise ConfigError(f"unknown kind of document {path.suffix!r}", path, advice=advice)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read ({error.strerror})", path, advice="check the path") from None
    return parse(content, path)
