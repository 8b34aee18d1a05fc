"""XML as a tree of its own markup: what is not changed is written again byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from xml.parsers import expat

from dragoman.data.text_files.whole_files import decode
from dragoman.errors import DataError

#: Elements inside each other; documents have about thirty.
_MOST_DEPTH = 100
#: All of a well-formed document, in parts.
_TOKEN = re.compile(
    r"""<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>|[^<]+|</?(?P<name>[^\s/>"']+)(?:[^"'>]|"[^"]*"|'[^']*')*+>""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""(?P<name>[^\s=/>"']+)\s*=\s*(?P<value>"[^"]*"|'[^']*')""")
_CDATA = "<![CDATA["


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
        for match in _ATTRIBUTE.finditer(self.start):
            if match["name"].rpartition(":")[2] == name:
                return unescape(match["value"][1:-1])
        return ""

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

    def all(self) -> Iterator[Element]:
        """Yield itself and every element inside it, in the order of their start tags."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
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
        return "".join(_plain(child) for child in self.children if isinstance(child, str))


def _plain(raw: str) -> str:
    if raw.startswith(_CDATA):
        return raw[len(_CDATA) : -len("]]>")]
    return "" if raw.startswith("<") else unescape(raw)


def parse_xml(content: bytes, name: Path) -> tuple[bytes, Element]:
    """Return the byte order mark of an XML file, and its tree; the root has no name.

    Raises:
        DataError: it is not well-formed, not UTF-8, too deep, or has a document type, which could name other files and
            make much of little.
    """
    mark, text = decode(content, name)
    _check(content, name)
    root = Element("", "")
    path = [root]
    for match in _TOKEN.finditer(text):
        raw, tag = match.group(), match["name"]
        if tag is None:
            path[-1].children.append(raw)
        elif raw.startswith("</"):
            path.pop().end = raw
        else:
            element = Element(tag.rpartition(":")[2], raw)
            path[-1].children.append(element)
            if not raw.endswith("/>"):
                path.append(element)
    return mark, root


def _check(content: bytes, name: Path) -> None:
    """Refuse what is not well-formed, and what is no plain XML."""
    depth = 0

    def declared(version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "utf-8").lower() not in ("utf-8", "us-ascii", "ascii"):
            raise DataError(f"its encoding is {encoding}", name, advice="save it in UTF-8")

    def typed(*_: object) -> None:
        raise DataError("it has a document type (DTD)", name, advice="such files are refused; save it anew")

    def started(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > _MOST_DEPTH:
            raise DataError(f"more than {_MOST_DEPTH} elements inside each other", name, advice="make it simpler")

    def ended(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.XmlDeclHandler, parser.StartDoctypeDeclHandler = declared, typed
    parser.StartElementHandler, parser.EndElementHandler = started, ended
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        problem = expat.ErrorString(error.code)
        raise DataError(f"this is no XML ({problem})", name, line=error.lineno, advice="use another copy") from None
