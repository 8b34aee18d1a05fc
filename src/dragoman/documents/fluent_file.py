"""Messages of Fluent (.ftl): values, attributes and the forms of selectors. Terms, comments and placeables stay."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dragoman.documents.document import Part, Segment, TextFile
from dragoman.documents.inline_elements import TextSyntax, plain_parts
from dragoman.documents.messages import Form, Forms, decoded
from dragoman.text.marked_text import MarkedText
from dragoman.text.plurals import CATEGORIES
from dragoman.translator import Translation

_ENTRY = re.compile(r"^(?:(?P<id>-?[A-Za-z][\w-]*)|[ ]+\.(?P<attribute>[A-Za-z][\w-]*))[ ]*=[ \t]*", re.MULTILINE)
_PLACEABLE = re.compile(r'\{(?:[^{}"]|"(?:[^"\\\r\n]|\\.)*")*\}')
_SELECTOR = re.compile(r'\{(?:[^{}">]|"(?:[^"\\\r\n]|\\.)*"|(?<!-)>)*->')
_KEY = re.compile(r"\s*(?P<before>\*?\[\s*)(?P<key>[\w.-]+)(?P<rest>\s*\][ \t]*)")
#: What ends a value: a line that is not indented, or begins something else.
_END, _FORM_END = re.compile(r"(?:\r?\n)+(?![ \r\n])|\r?\n\s*[.\[*}]"), re.compile(r"\s*(?:\}|\r?\n\s*\*?\[)")
_BRACE = re.compile(r"[{}]")
#: At the start of a line, what begins a form or an attribute.
_SIGN = re.compile(r"\A[.\[*]")
#: Line breaks of a value are shown, so each line is a segment.
_BREAKS = re.compile(r"(?:\r?\n[ \t]*)+")
#: Attributes that are no words, such as the letter of a shortcut.
_KEYS = frozenset(("accesskey", "key", "keycode", "commandkey", "style"))
_MOST_DEPTH = 10
_SYNTAX = TextSyntax(
    encode=lambda text: _BRACE.sub(r'{"\g<0>"}', text),
    keep=str,
    kept=_PLACEABLE,
    is_xml=False,
)


class _MalformedError(ValueError):
    """A value is malformed."""


@dataclass(frozen=True)
class _LineStart:
    """A segment at the start of a line."""

    inner: Segment

    @property
    def source(self) -> MarkedText:
        """See `Segment`."""
        return self.inner.source

    def fill(self, translation: Translation) -> str:
        """Return the segment with another text, whose first character is always text."""
        return _SIGN.sub(r'{"\g<0>"}', self.inner.fill(translation))


def parse_fluent(content: bytes, name: Path) -> TextFile:
    """Read messages of Fluent. What is malformed stays as it is.

    Raises:
        DataError: it is not UTF-8.
    """
    mark, encoding, text = decoded(content, name)
    parts: list[Part] = []
    at = end = 0
    is_term = False
    while match := _ENTRY.search(text, end):
        end = match.end()
        is_term = match["id"].startswith("-") if match["id"] else is_term
        if is_term or match["attribute"] in _KEYS:
            continue
        try:
            value, stop = _value(text, end, 0)
        except _MalformedError:
            continue
        parts += [text[at:end], *value]
        at = end = stop
    return TextFile(mark, [*parts, text[at:]], encoding)


def _value(text: str, at: int, depth: int) -> tuple[list[Part], int]:
    """Return the parts of a value or a form, and its end."""
    parts: list[Part] = []
    start = at
    is_line_start = False
    end = _FORM_END if depth else _END
    while at < len(text):
        if text[at] == "{":
            selector = _SELECTOR.match(text, at)
            placeable = _PLACEABLE.match(text, at)
            if selector and depth < _MOST_DEPTH:
                parts += [*_texts(text[start:at], is_line_start=is_line_start), selector[0]]
                found, at = _forms(text, selector.end(), depth + 1)
                parts += found
                start, is_line_start = at, False
            elif placeable:
                at = placeable.end()
            else:
                raise _MalformedError
        elif text[at] in "\r\n }" and end.match(text, at):
            break
        elif text[at] == "}":
            raise _MalformedError
        elif breaks := _BREAKS.match(text, at):
            parts += [*_texts(text[start:at], is_line_start=is_line_start), breaks[0]]
            start = at = breaks.end()
            is_line_start = True
        else:
            at += 1
    return [*parts, *_texts(text[start:at], is_line_start=is_line_start)], at


def _texts(raw: str, *, is_line_start: bool) -> list[Part]:
    """Return the parts of text without line breaks."""
    parts = plain_parts(raw, _SYNTAX)
    return [_LineStart(part) if is_line_start and not isinstance(part, str) else part for part in parts]


def _forms(text: str, at: int, depth: int) -> tuple[list[Part], int]:
    """Return the forms of a selector and its closing bracket, and the end of it."""
    forms: list[Form] = []
    gaps: list[str] = []
    while match := _KEY.match(text, at):
        gaps.append(text[at : match.start("before")])
        parts, at = _value(text, match.end(), depth)
        forms.append(Form(match["before"], match["key"], [match["rest"], *parts]))
    closing = re.compile(r"\s*\}").match(text, at)
    if closing is None or not forms:
        raise _MalformedError
    words = [form.category for form in forms if not form.category.isdigit()]
    is_plural = "other" in words and set(words) <= set(CATEGORIES)
    gap = min(gaps[1:], key=len, default=gaps[0])
    return [gaps[0], Forms(forms, gaps[1:], gap, is_plural), closing[0]], closing.end()
