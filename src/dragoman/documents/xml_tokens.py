"""XML as its tags and the text between them: together they are the whole file, so that what stays is written as it was.

Nothing is loaded from elsewhere, and a file that declares entities is refused.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn
from xml.parsers import expat

from dragoman.data.text_files.whole_files import decode
from dragoman.errors import DataError

Kind = Literal["text", "start", "end", "other"]

#: What XML cannot hold.
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']""")
#: Names of encodings of files. Other ones of Python are for other things, such as punycode.
ENCODINGS = re.compile(
    r"(?i)utf-?8|(us-)?ascii|iso-?8859-?\d\d?|latin-?\d|windows-?\d+|cp\d+|koi8-[ru]|shift_?jis|"
    r"euc-(jp|kr)|gb(k|2312|18030)|big5"
)
#: All of a well-formed file, in parts. A section of CDATA belongs to the text around it.
_TOKEN = re.compile(
    r"""(?P<text>(?:[^<]++|<!\[CDATA\[.*?\]\]>)++)|<!--.*?-->|<\?.*?\?>"""
    r"""|<(?P<end>/?)(?P<name>[^\s/>"']++)(?:[^"'>]|"[^"]*"|'[^']*')*+>""",
    re.DOTALL,
)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ATTRIBUTE = re.compile(r"""(?<!\s)\s++(?P<name>[^\s=<>"']+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
#: Elements inside each other; documents have about thirty.
_MOST_DEPTH = 100


class XmlToken(NamedTuple):
    """A tag, a stretch of text, or something else such as a comment.

    An element without content (`<x/>`) is a start with all of it, and an end without characters.
    """

    kind: Kind
    raw: str
    #: Of a tag.
    name: str = ""

    @property
    def text(self) -> str:
        """Text with characters in place of entities; "" for all else."""
        return text_of(self.raw) if self.kind == "text" else ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """Those of a start tag."""
        return dict(attributes(self.raw)) if self.kind == "start" else {}


@dataclass(frozen=True)
class XmlFile:
    """The tokens of a file. Names are without the prefix that the first tag has.

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

    @property
    def root(self) -> int:
        """The place of the first tag."""
        return min(self.ends)

    def line(self, at: int) -> int:
        """Return the line of a token, from 1."""
        return sum(token.raw.count("\n") for token in self.tokens[:at]) + 1

    def indentation(self, at: int) -> str:
        """Return the white space before a tag."""
        before = self.tokens[at - 1]
        return before.raw if before.kind == "text" and before.raw.isspace() else ""

    def with_element(self, at: int, raw: str) -> dict[int, str]:
        """Return the change of tokens that puts something else in place of an element."""
        return dict.fromkeys(range(at, self.ends[at] + 1), "") | {at: raw}

    def written(self, changed: Mapping[int, str]) -> bytes:
        """Return the content of the file with some tokens replaced."""
        text = "".join(changed.get(at, token.raw) for at, token in enumerate(self.tokens))
        return self.mark + text.encode(self.encoding, "xmlcharrefreplace")


def parse_xml(content: bytes, name: Path, *, allow_doctype: bool = False) -> XmlFile:
    """Return the tokens of a file.

    Args:
        allow_doctype: also read a file that names a document type, which is not looked at.

    Raises:
        DataError: as `read_xml`.
    """
    mark, encoding, found = read_xml(content, name, allow_doctype=allow_doctype)
    tokens, ends, opened, prefix = [], dict[int, int](), list[int](), ""
    for at, token in enumerate(found):
        if token.kind == "start":
            prefix = prefix if ends or opened else token.name[: token.name.rfind(":") + 1]
            opened.append(at)
        elif token.kind == "end":
            ends[opened.pop()] = at
        tokens.append(token._replace(name=token.name.removeprefix(prefix)) if prefix else token)
    return XmlFile(mark, encoding, tokens, ends, prefix)


def parse_xml_of(root: str, kind: str, content: bytes, name: Path, *, allow_doctype: bool = False) -> XmlFile:
    """Return the tokens of a file of one kind.

    Args:
        root: the name of the first tag of such files.
        kind: what they are, for a message.

    Raises:
        DataError: as `read_xml`, or it is of another kind.
    """
    file = parse_xml(content, name, allow_doctype=allow_doctype)
    first = file.tokens[file.root].name
    if first != root:
        problem = f"this is XML ({first}), not {kind}"
        raise DataError(problem, name, line=file.line(file.root), advice=f"give a file with <{root}>")
    return file


def read_xml(content: bytes, name: Path, *, allow_doctype: bool = False) -> tuple[bytes, str, Iterator[XmlToken]]:
    """Return the byte order mark, the encoding and the tokens of a file.

    Raises:
        DataError: it is in an unknown encoding, not well-formed, too deep, or declares entities.
    """
    mark, encoding, text = _decoded(content, name)
    if not text.strip():
        raise DataError("the file is empty", name, advice="export it again")
    _check(text, name, allow_doctype=allow_doctype)
    return mark, encoding, _tokens(text)


def _tokens(text: str) -> Iterator[XmlToken]:
    for match in _TOKEN.finditer(text):
        raw, tag = match[0], match["name"] or ""
        if not tag or tag == "!DOCTYPE":
            yield XmlToken("text" if match["text"] else "other", raw)
            continue
        yield XmlToken("end" if match["end"] else "start", raw, tag)
        if raw.endswith("/>"):
            yield XmlToken("end", "", tag)


def _check(text: str, name: Path, *, allow_doctype: bool) -> None:
    """Refuse what is not well-formed, and what is no plain XML."""
    depth = 0

    def refuse(problem: str, advice: str) -> NoReturn:
        raise DataError(problem, name, line=parser.CurrentLineNumber, advice=advice)

    def refuse_doctype(_: str, __: str | None, ___: str | None, has_declarations: int) -> None:
        if has_declarations or not allow_doctype:
            refuse("a document type (DTD), which could load other files", "remove <!DOCTYPE ...>")

    def refuse_entity(entity: str, *_: object) -> None:
        refuse(f"the entity {entity!r}, and entities are not read", "write characters in its place")

    def start(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _MOST_DEPTH:
            refuse(f"more than {_MOST_DEPTH:,} elements inside each other", "correct it")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse_entity
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        problem = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise DataError(
            problem, name, line=error.lineno, byte=error.offset + 1, advice="export the file again"
        ) from None


def text_of(raw: str) -> str:
    """Return what a stretch between tags says, with characters in place of entities; nothing for a comment."""
    if raw.startswith(("<!--", "<?")):
        return ""
    parts = _CDATA.split(raw.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(part if number % 2 else html.unescape(part) for number, part in enumerate(parts))


def attributes(tag: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each attribute of a start tag."""
    return ((match["name"], html.unescape(match["value"][1:-1])) for match in _ATTRIBUTE.finditer(tag))


def escape_xml(text: str) -> str:
    """Return text as it is written in XML, without characters that XML cannot hold."""
    return ILLEGAL.sub("", html.escape(text, quote=False))


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


def _decoded(content: bytes, name: Path) -> tuple[bytes, str, str]:
    """Return the byte order mark, the encoding and the text of a file."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            return mark, encoding, in_encoding(content[2:], encoding, name)
    encoding = declared_encoding(content) or "utf-8"
    if encoding in ("utf-8", "utf8") or content.startswith(codecs.BOM_UTF8):
        mark, text = decode(content, name)
        return mark, "utf-8", text
    if not ENCODINGS.fullmatch(encoding):
        raise DataError(f"unknown encoding {encoding!r}", name, advice="convert the file to UTF-8")
    return b"", encoding, in_encoding(content, encoding, name)


def declared_encoding(content: bytes) -> str:
    """Return the encoding that the first line of a file names, in small letters, or nothing."""
    declared = _DECLARED.match(content)
    return declared[1].decode().lower() if declared else ""


def in_encoding(content: bytes, encoding: str, name: Path) -> str:
    """Return the text of a file.

    Raises:
        DataError: it is not in this encoding.
    """
    try:
        text = content.decode(encoding)
        is_same = text.encode(encoding) == content
    except (UnicodeError, LookupError):
        is_same = False
    if not is_same:
        raise DataError(f"this is not the encoding {encoding!r} that it names", name, advice="convert it to UTF-8")
    return text


@dataclass(slots=True)
class Element:
    """An element with its tags as they are in the file; an empty one may have no tag at its end."""

    #: Its name without a prefix.
    name: str
    start: str
    children: list[Element | str] = field(default_factory=list)
    end: str = ""

    def get(self, name: str) -> str:
        """Return the value of an attribute, by its name without a prefix, or nothing."""
        return next((value for own, value in attributes(self.start) if own.rpartition(":")[2] == name), "")

    @property
    def prefix(self) -> str:
        """The prefix of its name, with the colon."""
        return re.split(r"[\s/>]", self.start[1:], maxsplit=1)[0][: -len(self.name)]

    @property
    def elements(self) -> Iterator[Element]:
        """Its child elements."""
        return (child for child in self.children if isinstance(child, Element))

    def child(self, name: str) -> Element | None:
        """Return the first child of a name."""
        return next((child for child in self.elements if child.name == name), None)

    def all(self, without: Container[str] = ()) -> Iterator[Element]:
        """Yield itself and every element inside it, in the order of their start tags.

        Args:
            without: names of elements that are left out, with what is in them.
        """
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if element.name not in without:
                yield element
                waiting += reversed([*element.elements])

    def raw(self) -> str:
        """Return it as it is in the file."""
        parts: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                parts.append(one)
            else:
                parts.append(one.start)
                waiting += [one.end, *reversed(one.children)]
        return "".join(parts)

    def text(self) -> str:
        """Return its own text, with characters in place of entities."""
        return "".join(text_of(child) for child in self.children if isinstance(child, str))


def xml_tree(tokens: Iterable[XmlToken]) -> Element:
    """Return the tree of a file; its root has no name, and the elements of the file in it."""
    root = Element("", "")
    path = [root]
    for token in tokens:
        if token.kind == "start":
            element = Element(token.name.rpartition(":")[2], token.raw)
            path[-1].children.append(element)
            path.append(element)
        elif token.kind == "end":
            path.pop().end = token.raw
        else:
            path[-1].children.append(token.raw)
    return root
