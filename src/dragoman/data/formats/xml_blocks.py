"""XML from strangers, parsed by expat a block at a time: RAM stays flat, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar
from xml.parsers import expat

from dragoman.data.formats.pair_file import TextFile
from dragoman.data.text_files.compression import BLOCK_BYTES, DamagedError, unpacked
from dragoman.data.text_files.lines import check_unchanged
from dragoman.errors import DataError, reading_problem

#: The parser holds a tag or comment whole; a longer one is refused.
_MAX_TAG_BYTES = 1 << 24
#: Possessive, because several comments could be taken for one in exponentially many ways.
_ROOT = re.compile(r"\s*(<\?.*?\?>\s*|<!--.*?-->\s*)*+<(!DOCTYPE\s+|\w+:)?(?P<name>\w+)\b", re.DOTALL)


Item = TypeVar("Item")


class XmlHandler(Protocol[Item]):
    """Receives the elements of a file in order, and makes items of them. Names are without prefixes of namespaces."""

    #: The items that are complete, in order; they are taken out after each block of the file.
    items: list[Item]

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Take the start tag of an element, and its line."""

    def end(self, name: str) -> None:
        """Take the end tag of an element."""

    def text(self, text: str) -> None:
        """Take some of the text of an element."""


def root_name(head: bytes) -> str | None:
    """Return the name of a file's first element, without a prefix, or of its document type; None if it is no XML.

    Args:
        head: the first bytes of the file.
    """
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    match = _ROOT.match(head.decode(encoding, errors="ignore"))
    return match["name"] if match else None


def read_items(text: TextFile, handler: XmlHandler[Item]) -> Iterator[Item]:
    """Parse a file, plain or compressed, and yield the items that a handler makes of it.

    Raises:
        DataError: the file cannot be read, changes, is not well-formed, or declares entities.
    """
    check_unchanged(text.path, text.state)
    try:
        with open(text.path, "rb") as file:
            for _ in _parse(file, text.path, handler):
                items, handler.items = handler.items, []
                yield from items
    except OSError as error:
        raise DataError(reading_problem(error), text.path, advice="check the path") from None
    check_unchanged(text.path, text.state)


def _parse(file: BinaryIO, path: Path, handler: XmlHandler[Item]) -> Iterator[None]:
    """Parse a file, and yield after each block."""
    parser = _new_parser(path, handler)
    stream = unpacked(file, path)
    n_bytes = 0
    try:
        while block := stream.read(BLOCK_BYTES):
            parser.Parse(block, False)
            n_bytes += len(block)
            if n_bytes - parser.CurrentByteIndex > _MAX_TAG_BYTES:
                problem = f"a tag of more than {_MAX_TAG_BYTES:,} bytes"
                raise DataError(problem, path, line=parser.CurrentLineNumber, advice="check the file")
            yield
        if not n_bytes:
            raise DataError("the file is empty", path, advice="export it again")
        parser.Parse(b"", True)
        yield
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise DataError(
            problem, path, line=error.lineno, byte=error.offset + 1, advice="export the file again"
        ) from None
    except DamagedError as error:
        raise DataError(str(error), path, line=parser.CurrentLineNumber, advice="use another copy") from None
    except (LookupError, ValueError) as error:  # the parser asks Python for encodings that it does not know
        raise DataError(f"unknown encoding ({error})", path, advice="convert the file to UTF-8") from None


def _new_parser(path: Path, handler: XmlHandler[Item]) -> expat.XMLParserType:
    parser = expat.ParserCreate()

    def refuse_entity(name: str, *_: object) -> None:
        problem, advice = f"the entity {name!r}, and entities are not read", "write characters in its place"
        raise DataError(problem, path, line=parser.CurrentLineNumber, advice=advice)

    def start(name: str, attributes: dict[str, str]) -> None:
        handler.start(_local(name), attributes, parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: handler.end(_local(name))
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    return parser


def _local(name: str) -> str:
    return name.rpartition(":")[2]
