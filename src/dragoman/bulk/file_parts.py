"""Parts of files: the units of work that are translated, kept and repeated by themselves."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal

from dragoman.bulk.input_files import InputFile
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import MAX_INPUT_BYTES, Line, input_text
from dragoman.documents import read_document

_log = logging.getLogger(__name__)

#: Lines of a part: a minute or so of one slow core, so that little is lost with it, and enough to sort by length.
PART_LINES = 5_000


@dataclass(frozen=True)
class Lines:
    """Lines of a text; `first` is the number of the first, from 0."""

    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class DocumentContent:
    """A whole document; its name is for messages."""

    content: bytes
    format: str
    name: str


@dataclass(frozen=True)
class Part:
    """A part of a file: its number in the file, from 0, and what is to be translated."""

    file: InputFile
    index: int
    work: Lines | DocumentContent

    @cached_property
    def key(self) -> str:
        """A name that says what the part holds, so that its translation is never taken for that of another text."""
        work = self.work
        content = json.dumps(work.lines).encode() if isinstance(work, Lines) else work.content
        return f"{self.index:08}-{hashlib.sha256(content).hexdigest()[:24]}"


def read_parts(file: InputFile, invalid_utf8: Literal["error", "replace"], n_lines: int = PART_LINES) -> Iterator[Part]:
    """Yield the parts of a file as it is read: a document is one, a text is cut after every `n_lines` lines.

    Lines that are too long are translated as empty ones. An empty text has no part.

    Raises:
        DataError: the file cannot be read, or is no text in UTF-8.
    """
    if file.format is not None:
        yield Part(file, 0, DocumentContent(read_document(file.path), file.format, str(file.path)))
        return
    refuse_documents(file.path)
    lines = _text(input_text(file.path, file.path, invalid_utf8), file)
    index = 0
    while block := tuple(islice(lines, n_lines)):
        yield Part(file, index, Lines(index * n_lines, block))
        index += 1


def _text(lines: Iterable[Line], file: InputFile) -> Iterator[str]:
    """Yield lines as text. A line that is too long becomes an empty line, with a warning."""
    for number, line in enumerate(lines, 1):
        if isinstance(line, str):
            yield line
        else:
            _log.warning(f"{file.path}:{number}: longer than {MAX_INPUT_BYTES:,} bytes; its output is an empty line")
            yield ""
