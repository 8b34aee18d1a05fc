"""The tags of an XML file and the text between them: together they are the whole file.

Nothing is loaded from elsewhere, and a file that declares entities is refused.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn
from xml.parsers import expat

from dragoman.data.text_files.whole_files import decode
from dragoman.errors import DataError

Kind = Literal["text", "start", "end", "other"]

#: What XML cannot hold.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']""")
#: Other encodings of Python are not for files, such as punycode.
_ENCODINGS = re.compile(
    r"(?i)utf-?8|(us-)?ascii|iso-?8859-?\d\d?|latin-?\d|windows-?\d+|cp\d+|koi8-[ru]|shift_?jis|"
    r"euc-(jp|kr)|gb(k|2312|18030)|big5"
)
_ATTRIBUTE = re.compile(r"""(?<!\s)\s++(?P<name>[^\s=<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
#: Elements inside each other.
_MOST_DEPTH = 1_000


class XmlToken(NamedTuple):
    """A tag, a stretch of text, or something else such as a comment.

    An element without content (`<x/>`) is a start with all of it, and an end without characters.
    """

    kind: Kind
    raw: str
    #: Of a tag, without the prefix that the first tag of the file has.
    name: str = ""
    #: With characters in place of entities.
    text: str = ""
    #: Of a tag, in the file, from 1.
    line: int = 0
    attributes: Mapping[str, str] = {}


@dataclass(frozen=True)
class XmlFile:
    """The tokens of a file.

    Args:
        mark: its byte order mark, or nothing.
        encoding: of the rest.
        ends: the end tag of each start tag, by their places in `tokens`.
        prefix: of the names of the first tag and of those like it, with its colon; or nothing.
    """

    mark: bytes
    encoding: str
    tokens: Sequence[XmlToken]
    ends: Mapping[int, int]
    prefix: str

    def written(self, changed: Mapping[int, str]) -> bytes:
        """Return the content of the file with some tokens replaced."""
        text = "".join(changed.get(at, token.raw) for at, token in enumerate(self.tokens))
        return self.mark + text.encode(self.encoding, "xmlcharrefreplace")


def parse_xml(content: bytes, name: Path, *, allow_doctype: bool = False) -> XmlFile:
    """Return the tokens of a file.

    Args:
        allow_doctype: also read a file that names a document type, which is not looked at.

    Raises:
        DataError: it is in an unknown encoding, not well-formed, or declares entities.
    """
    mark, encoding, text = _decoded(content, name)
    if not text.strip():
        raise DataError("the file is empty", name, advice="export it again")
    parser = _Parser(name, allow_doctype=allow_doctype)
    data = text.encode()
    try:
        parser.expat.Parse(data, True)
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise DataError(
            problem, name, line=error.lineno, byte=error.offset + 1, advice="export the file again"
        ) from None
    starts = [0, *(start for start, _ in parser.found[1:]), len(data)]
    tokens = [
        token._replace(raw=data[start:end].decode(), name=token.name.removeprefix(parser.prefix))
        for (_, token), (start, end) in zip(parser.found, pairwise(starts), strict=True)
    ]
    return XmlFile(mark, encoding, tokens, parser.ends, parser.prefix)


def escape_xml(text: str) -> str:
    """Return text as it is written in XML, without characters that XML cannot hold."""
    return _ILLEGAL.sub("", html.escape(text, quote=False))


def with_attribute(tag: str, name: str, value: str) -> str:
    """Return a start tag with another value of an attribute; "" removes it."""
    for match in _ATTRIBUTE.finditer(tag):
        if match["name"] == name:
            tag = tag[: match.start()] + tag[match.end() :]
            break
    if not value:
        return tag
    end = len(tag) - (2 if tag.endswith("/>") else 1)
    bare = tag[:end].rstrip()
    return f'{bare} {name}="{html.escape(value)}"{tag[len(bare) :]}'


def opening(tag: str) -> str:
    """Return a start tag that has an end tag, from one that may be closed in itself."""
    return tag.removesuffix("/>").rstrip() + ">" if tag.endswith("/>") else tag


class _Parser:
    """Records everything that expat finds, with its place in bytes."""

    def __init__(self, name: Path, *, allow_doctype: bool) -> None:
        self._name, self._allow_doctype = name, allow_doctype
        self.found: list[tuple[int, XmlToken]] = []
        self.ends: dict[int, int] = {}
        self.prefix = ""
        self._open: list[int] = []
        self._pieces: list[str] = []
        self.expat = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = lambda: self._text("")
        parser.CommentHandler = parser.DefaultHandler = lambda _: self._record(XmlToken("other", ""))
        parser.ProcessingInstructionHandler = lambda _, __: self._record(XmlToken("other", ""))
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._refuse_entity

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.ends and not self._open:
            self.prefix = name[: name.rfind(":") + 1]
        self._record(XmlToken("start", "", name, attributes=attributes))
        self._open.append(len(self.found) - 1)
        if len(self._open) > _MOST_DEPTH:
            self._refuse(f"more than {_MOST_DEPTH:,} elements inside each other", "correct it")

    def _end(self, name: str) -> None:
        self._record(XmlToken("end", "", name))
        self.ends[self._open.pop()] = len(self.found) - 1

    def _text(self, text: str) -> None:
        """Record text; a section of CDATA belongs to the text around it."""
        if not self.found or self.found[-1][1].kind != "text":
            self._flush()
            self._record(XmlToken("text", ""))
        self._pieces.append(text)

    def _record(self, token: XmlToken) -> None:
        self._flush()
        self.found.append((self.expat.CurrentByteIndex, token._replace(line=self.expat.CurrentLineNumber)))

    def _flush(self) -> None:
        """Give the last text token its text."""
        if self._pieces:
            start, token = self.found[-1]
            self.found[-1] = start, token._replace(text="".join(self._pieces))
            self._pieces = []

    def _doctype(self, name: str, system: str | None, public: str | None, has_declarations: int) -> None:
        if has_declarations or not self._allow_doctype:
            self._refuse("a document type (DTD), which could load other files", "remove <!DOCTYPE ...>")
        self._record(XmlToken("other", ""))

    def _refuse_entity(self, name: str, *_: object) -> None:
        self._refuse(f"the entity {name!r}, and entities are not read", "write characters in its place")

    def _refuse(self, problem: str, advice: str) -> NoReturn:
        raise DataError(problem, self._name, line=self.expat.CurrentLineNumber, advice=advice)


def _decoded(content: bytes, name: Path) -> tuple[bytes, str, str]:
    """Return the byte order mark, the encoding and the text of a file."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            return mark, encoding, _in_encoding(content[2:], encoding, name)
    declared = _DECLARED.match(content)
    encoding = declared[1].decode().lower() if declared else "utf-8"
    if encoding in ("utf-8", "utf8") or content.startswith(codecs.BOM_UTF8):
        mark, text = decode(content, name)
        return mark, "utf-8", text
    if not _ENCODINGS.fullmatch(encoding):
        raise DataError(f"unknown encoding {encoding!r}", name, advice="convert the file to UTF-8")
    return b"", encoding, _in_encoding(content, encoding, name)


def _in_encoding(content: bytes, encoding: str, name: Path) -> str:
    try:
        text = content.decode(encoding)
        is_same = text.encode(encoding) == content
    except (UnicodeError, LookupError):
        is_same = False
    if not is_same:
        raise DataError(f"this is not the encoding {encoding!r} that it names", name, advice="convert it to UTF-8")
    return text
