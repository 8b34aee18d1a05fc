"""Messages of Fluent (.ftl): values, attributes and the forms of selectors. Terms, comments and placeables stay."""

from __future__ import annotations

import re
from pathlib import Path

from dragoman.documents.document import Part, TextFile
from dragoman.documents.inline_elements import TextSyntax, plain_parts
from dragoman.documents.messages import Form, Forms, decoded
from dragoman.text.plurals import CATEGORIES

_ENTRY = re.compile(r"^(?:(?P<id>-?[A-Za-z][\w-]*)|[ ]+\.(?P<attribute>[A-Za-z][\w-]*))[ ]*=[ \t]*", re.MULTILINE)
_PLACEABLE = re.compile(r'\{(?:[^{}"]|"(?:[^"\\\r\n]|\\.)*")*\}')
_SELECTOR = re.compile(r'\{(?:[^{}">]|"(?:[^"\\\r\n]|\\.)*"|(?<!-)>)*->')
_KEY = re.compile(r"\s*(?P<before>\*?\[\s*)(?P<key>[\w.-]+)(?P<rest>\s*\][ \t]*)")
#: What ends a value: a line that is not indented, or begins something else.
_END, _FORM_END = re.compile(r"(?:\r?\n)+(?![ \r\n])|\r?\n\s*[.\[*}]"), re.compile(r"\s*(?:\}|\r?\n\s*\*?\[)")
_BRACE = re.compile(r"[{}]")
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
    end = _FORM_END if depth else _END
    while at < len(text):
        if text[at] == "{":
            selector = _SELECTOR.match(text, at)
            placeable = _PLACEABLE.match(text, at)
            if selector and depth < _MOST_DEPTH:
                parts += [*plain_parts(text[start:at], _SYNTAX), selector[0]]
                found, at = _forms(text, selector.end(), depth + 1)
                parts += found
                start = at
            elif placeable:
                at = placeable.end()
            else:
                raise _MalformedError
        elif text[at] in "\r\n }" and end.match(text, at):
            break
        elif text[at] == "}":
            raise _MalformedError
        elif breaks := _BREAKS.match(text, at):
            parts += [*plain_parts(text[start:at], _SYNTAX), breaks[0]]
            start = at = breaks.end()
        else:
            at += 1
    return [*parts, *plain_parts(text[start:at], _SYNTAX)], at


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
