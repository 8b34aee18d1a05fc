"""Strings of apps in XML: those of Android (strings.xml), and resources of .NET (RESX)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from dragoman.documents.document import Part, TextFile
from dragoman.documents.inline_elements import PRESERVED_XML, TextSyntax, inline_parts
from dragoman.documents.messages import EDGE, ESCAPED_BREAKS, Form, Forms, escaping, unescaped
from dragoman.documents.xml_tokens import XmlFile, parse_xml_of

_QUANTITY = re.compile(r"""(?P<before>.*\squantity\s*=\s*["'])(?P<category>\w+)(?P<rest>.*)""", re.DOTALL)
_REFERENCE = re.compile(r"\s*[@?][\w+.:*/]+\s*")
_QUOTED = re.compile(r'\s*"(?:[^"\\]|\\.)*+"\s*', re.DOTALL)
_SPACE = re.compile(r"\s+")
_LONE_QUOTE = re.compile(r'(\\.)|"', re.DOTALL)
_escaped = escaping("\\'\"")


def _read_android(raw: str) -> str:
    """Return the text of a string: white space is collapsed, and quotation marks without a backslash go."""
    return unescaped(_LONE_QUOTE.sub(lambda match: match[1] or "", _SPACE.sub(" ", raw)))


def _write_android(text: str) -> str:
    written = _escaped(text)
    return f"\\{written}" if written.startswith(("@", "?")) else written


_ANDROID = TextSyntax(decode=_read_android, encode=_write_android, breaks=ESCAPED_BREAKS, edge=EDGE, is_app=True)
#: A text in quotation marks, which are part of what is around it.
_IN_QUOTES = replace(_ANDROID, edge=re.compile(rf'(?:{EDGE.pattern}|(?<!\\)")+'))
_RESX = replace(PRESERVED_XML, is_app=True, kept=re.compile(r"\{\d+[^{}\n]{0,40}\}"))


def parse_android(content: bytes, name: Path) -> TextFile:
    """Read strings, arrays of strings and plurals of Android.

    Raises:
        DataError: it is not well-formed, declares entities, or has no `<resources>`.
    """
    return _parsed(content, name, "resources", "strings of Android", _android_parts)


def parse_resx(content: bytes, name: Path) -> TextFile:
    """Read resources of .NET: values that are strings.

    Raises:
        DataError: it is not well-formed, declares entities, or has no `<root>`.
    """
    return _parsed(content, name, "root", "resources of .NET (RESX)", _resx_parts)


def _parsed(
    content: bytes, name: Path, wanted: str, kind: str, read: Callable[[XmlFile], Iterator[tuple[int, int, list[Part]]]]
) -> TextFile:
    """Return a file, of which some tokens are parts to translate."""
    file = parse_xml_of(wanted, kind, content, name)
    parts: list[Part] = []
    at = 0
    for start, end, found in read(file):
        parts += [*(token.raw for token in file.tokens[at:start]), *found]
        at = end
    return TextFile(file.mark, [*parts, *(token.raw for token in file.tokens[at:])], file.encoding)


def _android_parts(file: XmlFile) -> Iterator[tuple[int, int, list[Part]]]:
    """Yield the texts of strings and items: the places of their tokens, and their parts."""
    at = file.root + 1
    while at < file.ends[file.root]:
        token = file.tokens[at]
        if token.kind == "start":
            end = file.ends[at]
            if token.attributes.get("translatable") == "false":
                at = end
            elif token.name == "string":
                yield at + 1, end, _android_text(file, at + 1, end)
                at = end
            elif token.name == "plurals" and (items := [*_children(file, at, "item")]):
                yield items[0], file.ends[items[-1]] + 1, _plural(file, items)
                at = end
            elif token.name in ("string-array", "array"):
                for item in _children(file, at, "item"):
                    yield item + 1, file.ends[item], _android_text(file, item + 1, file.ends[item])
                at = end
        at += 1


def _android_text(file: XmlFile, start: int, end: int) -> list[Part]:
    raw = "".join(token.raw for token in file.tokens[start:end])
    if _REFERENCE.fullmatch(raw):
        return [raw]
    return [*inline_parts(file, start, end, _IN_QUOTES if _QUOTED.fullmatch(raw) else _ANDROID)]


def _plural(file: XmlFile, items: list[int]) -> list[Part]:
    """Return the forms of `<plurals>`; items without a quantity are left as they are."""
    matches = [_QUANTITY.fullmatch(file.tokens[item].raw) for item in items]
    forms = [
        Form(
            match["before"],
            match["category"],
            [match["rest"], *_android_text(file, item + 1, file.ends[item]), file.tokens[file.ends[item]].raw],
        )
        for item, match in zip(items, matches, strict=True)
        if match
    ]
    if len(forms) < len(items):
        return [token.raw for token in file.tokens[items[0] : file.ends[items[-1]] + 1]]
    gaps = ["".join(token.raw for token in file.tokens[file.ends[one] + 1 : other]) for one, other in pairwise(items)]
    return [Forms(forms, gaps, file.indentation(items[0]), is_plural=True)]


def _resx_parts(file: XmlFile) -> Iterator[tuple[int, int, list[Part]]]:
    for at in _children(file, file.root, "data"):
        attributes = file.tokens[at].attributes
        comments = ["".join(one.text for one in file.tokens[c : file.ends[c]]) for c in _children(file, at, "comment")]
        is_text = not {"type", "mimetype"} & attributes.keys() and not attributes.get("name", "").startswith(">>")
        if is_text and not any("{Locked}" in comment for comment in comments):
            for value in _children(file, at, "value"):
                yield value + 1, file.ends[value], [*inline_parts(file, value + 1, file.ends[value], _RESX)]


def _children(file: XmlFile, parent: int, name: str) -> Iterator[int]:
    """Yield the places of the elements of a name that are directly in another one."""
    at = parent + 1
    while at < file.ends[parent]:
        if file.tokens[at].kind == "start":
            if file.tokens[at].name == name:
                yield at
            at = file.ends[at]
        at += 1
