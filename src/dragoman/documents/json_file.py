"""Messages in JSON: those of i18next and programs like it (nested objects), and application resource bundles (ARB)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from dragoman.documents.document import Part, TextFile
from dragoman.documents.icu_forms import FormsError, forms_parts
from dragoman.documents.inline_elements import TextSyntax, plain_parts
from dragoman.documents.messages import EDGE, ESCAPED_BREAKS, Form, Forms, Language, decoded, escaping, unescaped
from dragoman.errors import DataError
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.plurals import CATEGORIES

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
_MOST_DEPTH = 100
#: `{{name}}`, `{name}`, and references of i18next and Vue.
_KEPT = re.compile(r"\{\{[^{}]*\}\}|\{[^{}]*\}|\$t\([^()]*\)|@(?:\.\w+)?:[\w.]*\w|'[{}][^']*'")
_PLURAL_KEY = re.compile(rf"(?P<stem>.*)_(?P<category>{'|'.join(CATEGORIES)})", re.DOTALL)
_IS_ASCII = re.compile(r"\\u[0-9a-fA-F]{4}")
#: A quotation mark that would begin a literal of ICU.
_OPENING_QUOTE = re.compile(r"'(?=[{}]|\Z)")
_BRACE = re.compile(r"[{}]")


@dataclass
class JsonValue:
    """A value of a file: its first character, its place, and for an object or an array, its members.

    Args:
        key: the place of the key of a member, quotation marks included.
    """

    kind: str
    start: int
    end: int
    key: tuple[int, int] = (0, 0)
    members: list[JsonValue] = field(default_factory=list)


def parse_json(text: str, name: Path) -> JsonValue:
    """Return the values of a file, with their places.

    Raises:
        DataError: it is no JSON, or too deep.
    """
    if not text.strip():
        raise DataError("the file is empty", name, advice="give one with text")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"no JSON: {error.msg}", name, line=error.lineno, advice="correct it") from None
    except RecursionError:
        raise DataError("objects too deep inside each other", name, advice="correct it") from None
    path = [JsonValue("", 0, len(text))]
    key: tuple[int, int] | None = None
    for match in _TOKEN.finditer(text):
        mark = match[0][0]
        if mark in "}]":
            path.pop().end = match.end()
        elif mark in ",:":
            continue
        elif path[-1].kind == "{" and key is None:
            key = match.span()
        else:
            value = JsonValue(mark, *match.span(), key or (0, 0))
            path[-1].members.append(value)
            key = None
            if mark in "{[":
                path.append(value)
                if len(path) > _MOST_DEPTH:
                    raise DataError("objects too deep inside each other", name, advice="correct it")
    return path[0].members[0]


def parse_arb(content: bytes, name: Path) -> TextFile:
    """Read an application resource bundle: messages of ICU; keys with `@` stay.

    Raises:
        DataError: it is no JSON with an object.
    """
    return _Messages(content, name, is_arb=True).file()


def parse_i18next(content: bytes, name: Path) -> TextFile:
    """Read messages of i18next or a program like it: all strings, of objects inside each other too.

    Raises:
        DataError: it is no JSON with an object or an array.
    """
    return _Messages(content, name, is_arb=False).file()


class _Messages:
    """The parts of a file, as far as they are known."""

    def __init__(self, content: bytes, name: Path, *, is_arb: bool) -> None:
        self._mark, self._encoding, self._text = decoded(content, name)
        self._root = parse_json(self._text, name)
        self._is_arb = is_arb
        if self._root.kind not in ("{" if is_arb else "{["):
            raise DataError("this JSON has no object with messages", name, advice="give one")
        self._parts: list[Part] = []
        self._at = 0
        write = escaping('"\\', is_ascii=self._text.isascii() and bool(_IS_ASCII.search(self._text)))

        def write_icu(text: str) -> str:
            return write(_BRACE.sub(r"'\g<0>'", _OPENING_QUOTE.sub("\u2019", text)))

        self._plain = TextSyntax(
            decode=unescaped, encode=write, breaks=ESCAPED_BREAKS, edge=EDGE, kept=_KEPT, is_xml=False
        )
        self._icu = replace(self._plain, encode=write_icu, keep=write)
        self._counted = replace(self._icu, kept=re.compile(f"{_KEPT.pattern}|#"))

    def file(self) -> TextFile:
        """Return the file with its parts."""
        self._walk(self._root)
        return TextFile(self._mark, [*self._parts, self._text[self._at :]], self._encoding)

    def _walk(self, value: JsonValue) -> None:
        """Add the parts of a value."""
        if value.kind == '"':
            self._add(value.start + 1, value.end - 1, self._message(value))
        elif value.kind == "{":
            for group in _groups(value, self._text):
                key = self._text[slice(*group[0].key)][1:-1]
                if self._is_arb and key == "@@locale" and group[0].kind == '"':
                    start, end = group[0].start + 1, group[0].end - 1
                    self._add(start, end, [Language(self._text[start:end])])
                elif self._is_arb and (key.startswith("@") or group[0].kind != '"'):
                    continue
                elif len(group) > 1 or self._is_plural(group[0], key):
                    self._add(group[0].key[0], group[-1].end, [self._forms(group)])
                else:
                    self._walk(group[0])
        elif value.kind == "[":
            for member in value.members:
                self._walk(member)

    def _add(self, start: int, end: int, parts: list[Part]) -> None:
        self._parts += [self._text[self._at : start], *parts]
        self._at = end

    def _is_plural(self, value: JsonValue, key: str) -> bool:
        """Return True for the only form of a language that has one."""
        return not self._is_arb and key.endswith("_other") and "count" in self._text[value.start : value.end]

    def _forms(self, group: list[JsonValue]) -> Forms:
        """Return members whose keys differ by the category of a plural."""
        forms, text = [], self._text
        for value in group:
            start, end = value.key
            category = text[start:end].rpartition("_")[2][:-1]
            rest = text[end - 1 : value.start + 1]
            before = text[start : end - 1 - len(category)]
            forms.append(Form(before, category, [rest, *self._message(value), '"']))
        gaps = [text[one.end : other.key[0]] for one, other in pairwise(group)]
        head = text[: group[0].key[0]]
        gap = min(gaps, key=len) if gaps else "," + head[len(head.rstrip()) :]
        return Forms(forms, gaps, gap, is_plural=not forms[0].before.endswith("_ordinal_"))

    def _message(self, value: JsonValue) -> list[Part]:
        raw = self._text[value.start + 1 : value.end - 1]
        if has_icu_message(raw):
            try:
                return forms_parts(raw, self._sentence)
            except FormsError:
                return [raw]
        return [*plain_parts(raw, self._icu if self._is_arb else self._plain)]

    def _sentence(self, raw: str, has_number: bool) -> list[Part]:
        return [*plain_parts(raw, self._counted if has_number else self._icu)]


def _groups(value: JsonValue, text: str) -> Iterator[list[JsonValue]]:
    """Yield the members of an object; those with the forms of one message together."""
    group: list[JsonValue] = []
    last = ""
    for member in value.members:
        match = _PLURAL_KEY.fullmatch(text[slice(*member.key)][1:-1]) if member.kind == '"' else None
        stem = match["stem"] if match else ""
        if group and (not stem or stem != last):
            yield group
            group = []
        group.append(member)
        last = stem
    if group:
        yield group
