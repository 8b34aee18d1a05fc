"""The tags of a web page and the text between them, each with its place: together they are the whole page."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import unescape
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from dragoman.documents.xml_tokens import read_xml
from dragoman.errors import DataError

#: Kinds of elements, and the attributes that are text.
INLINE = frozenset((
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "data", "del", "dfn", "em", "font", "i", "img",
    "input", "ins", "label", "mark", "nobr", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "wbr",
))  # fmt: skip
#: Elements that stay, as words of their sentence.
CODE = frozenset(("code", "kbd", "samp", "var", "math"))
#: Readings of the characters before them, and the brackets around readings.
READINGS = frozenset(("rt", "rtc", "rp"))
#: Elements whose content is no text; the first ones may stand in a line of text.
OBJECTS = frozenset(["script", "style", "svg", "audio", "video", "canvas", "object", "template"])
SKIPPED = frozenset(("pre", "textarea", "iframe", "noembed", "xmp", "plaintext"))
#: Of both, those whose content goes to the end of the page if no tag ends it.
RAW_TO_END = frozenset(("script", "style", *SKIPPED)) - {"pre"}
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
ATTRIBUTES = frozenset(("alt", "title", "placeholder", "aria-label"))
DESCRIPTIONS = frozenset(("description", "og:title", "og:description", "twitter:title", "twitter:description"))


Kind = Literal["text", "start", "empty", "end", "kept", "other"]
_ATTRIBUTE = re.compile(r"""(?P<name>[^\s=/>"']+)(?:\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s>"']+))?""")

#: Signs that begin a tag without one that ends a tag. More of them would take the parser a time of their square.
_MOST_OPEN = 1_000
#: Characters that the parser may look through in vain, for the ends of tags and comments.
_MOST_SEARCHED = 20_000_000
#: An instruction with its end before the next tag, and the beginning of a program in PHP, which may have tags in it.
_INSTRUCTION = re.compile(r"<\?[^<?]*+(?:\?(?!>)[^<?]*+)*+\?>")
_PROGRAM = re.compile(r"<\?(?:(?P<php>php\b|=)|\s)", re.IGNORECASE)
#: Comments that end at once, though not by a whole `-->`.
_EMPTY_COMMENT = re.compile("<!---?>")
_NO_END = "tags without an end"


class Attribute(NamedTuple):
    """An attribute of a tag, with the place of its value in the tag, quotes included."""

    name: str
    value: str
    start: int
    end: int


class HtmlToken(NamedTuple):
    """A tag, a stretch of text, or something else such as a comment, as it is in the page.

    An element that is kept as a whole may be one token.
    """

    kind: Kind
    raw: str
    #: Of a tag, in small letters.
    name: str = ""

    @property
    def text(self) -> str:
        """The text, with characters in place of entities."""
        return unescape(self.raw)

    def attributes(self) -> Iterator[Attribute]:
        """Yield the attributes of a tag that have a value."""
        for match in _ATTRIBUTE.finditer(self.raw, 1 + len(self.name)):
            if (value := match["value"]) is not None:
                bare = value[1:-1] if value[0] in "\"'" else value
                yield Attribute(match["name"].lower(), unescape(bare), *match.span("value"))


def html_tokens(page: str, name: Path) -> list[HtmlToken]:
    """Return the tokens of a page in their order.

    Raises:
        DataError: a declaration in it cannot be read, or its tags have no end.
    """
    if max(part.count("<") for part in page.split(">")) > _MOST_OPEN:
        raise DataError(f"this is no HTML ({_NO_END})", name, advice="correct it")
    parser = _Parser(page)
    try:
        parser.feed(page)
        parser.close()
    except AssertionError as error:
        line, _ = parser.getpos()
        raise DataError(f"this is no HTML ({error})", name, line=line, advice="correct it") from None
    ends = [*(start for start, _, _ in parser.found), len(page)]
    return [
        HtmlToken(kind, page[start:end], tag)
        for (_, kind, tag), (start, end) in zip(parser.found, pairwise(ends), strict=True)
        if start < end
    ]


def unclosed_notes(tokens: Sequence[HtmlToken]) -> list[str]:
    """Return a line on the first comment, instruction, script or style of a page that has no end, if there is one."""
    last_tag = max((at for at, token in enumerate(tokens) if token.kind != "text"), default=0)
    line = 1
    for at, token in enumerate(tokens):
        if name := _unclosed(token, is_last=at == last_tag):
            return [f"the page has {name} without an end at line {line:,}: what follows may be left alone"]
        line += token.raw.count("\n")
    return []


def _unclosed(token: HtmlToken, *, is_last: bool) -> str:
    """Return a name for a comment or the like without its end; nothing for another token.

    A program may go on to the end of a page that has no tags after it.
    """
    raw = token.raw
    if token.kind == "start" and is_last and token.name in ("script", "style"):
        return f"a <{token.name}>"
    if token.kind != "other":
        return ""
    if raw.startswith("<!--") and not _EMPTY_COMMENT.match(raw) and "-->" not in raw and "--!>" not in raw:
        return "a comment"
    if (program := _PROGRAM.match(raw)) and program["php"] and "?>" not in raw and "</" in raw:
        return "an instruction"
    return "a section" if raw.startswith("<![") and "]>" not in raw else ""


class _Parser(HTMLParser):
    """Records the place of everything that it finds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page
        self._line_starts = [0, *accumulate(len(line) + 1 for line in page.split("\n"))]
        self.found: list[tuple[int, Kind, str]] = []
        self._n_searched = 0
        #: False once the rest of the page has no `?>`.
        self._has_instructions = True

    def _record(self, kind: Kind, name: str = "") -> None:
        name = "math" if name.endswith(":math") else name
        line, column = self.getpos()
        start = self._line_starts[line - 1] + column
        if not self.found:
            start = 0
        self.found.append((max(start, self.found[-1][0] if self.found else 0), kind, name))

    def check_for_whole_start_tag(self, i: int) -> int:
        """Return the end of a tag."""
        return self._found_end(i, super().check_for_whole_start_tag(i))

    def parse_comment(self, i: int, report: bool = True) -> int:
        """Return the end of a comment, which is that of the page if it has none, as browsers read it."""
        empty = _EMPTY_COMMENT.match(self.rawdata, i)
        end = empty.end() if empty else super().parse_comment(i, report)
        if empty or end < 0:
            self._record("other")
        return len(self.rawdata) if end < 0 else end

    def parse_html_declaration(self, i: int) -> int:
        """Return the end of a declaration; without one it is the first `>`, as browsers read it."""
        end = self._found_end(i, super().parse_html_declaration(i))
        if end < 0 and (end := self.rawdata.find(">", i) + 1):
            self._record("other")
        return end or -1

    def parse_pi(self, i: int) -> int:
        """Return the end of an instruction: `?>`, or in HTML without a program the first `>`, as browsers read it.

        A program may go on to the end of the page.
        """
        whole, program = _INSTRUCTION.match(self.rawdata, i), _PROGRAM.match(self.rawdata, i)
        end = whole.end() if whole else None
        if end is None and self._has_instructions and (program or self._is_xml):
            mark = self.rawdata.find("?>", i)
            self._has_instructions = mark >= 0
            end = mark + 2 if mark >= 0 else None
        if end is None and program and program["php"]:
            end = len(self.rawdata)
        if end is None:
            return super().parse_pi(i)
        self._record("other")
        return end

    @cached_property
    def _is_xml(self) -> bool:
        """True for a page that is well-formed XML."""
        try:
            read_xml(codecs.BOM_UTF8 + self._page.encode(errors="replace"), Path(), allow_doctype=True)
        except DataError:
            return False
        return True

    def _found_end(self, start: int, end: int) -> int:
        """Return the end, after a search that found none is counted. The parser would search again and again."""
        self._n_searched += len(self.rawdata) - start if end < 0 else 0
        if self._n_searched > _MOST_SEARCHED:
            raise AssertionError(_NO_END)
        return end

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._record("start", tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self._record("empty", tag)

    def handle_endtag(self, tag: str) -> None:
        self._record("end", tag)

    def handle_data(self, data: str) -> None:
        self._record("text")

    def handle_comment(self, data: str) -> None:
        self._record("other")

    def handle_decl(self, decl: str) -> None:
        self._record("other")

    def handle_pi(self, data: str) -> None:
        self._record("other")

    def unknown_decl(self, data: str) -> None:
        self._record("other")
