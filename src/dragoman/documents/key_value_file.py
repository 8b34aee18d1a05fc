"""Text files of keys and values: properties of Java, and strings of Apple."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from dragoman.documents.document import Part, TextFile
from dragoman.documents.inline_elements import TextSyntax, plain_parts
from dragoman.documents.messages import BREAKS, EDGE, ESCAPED_BREAKS, decoded, escaping, unescaped
from dragoman.errors import DataError

_PROPERTY = re.compile(
    r"[ \t\f]*+(?:[#!][^\r\n]*+|(?:[^\\\s:=]|\\(?:\r\n|[\s\S]))++[ \t\f]*+[:=]?[ \t\f]*+"
    r"(?P<value>(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*+))?[^\r\n]*+(?:\r\n|[\r\n]|\Z)"
)
_STRING = re.compile(
    r"""\s++|/\*.*?\*/|//[^\r\n]*+|(?:"(?:[^"\\]|\\.)*+"|[\w.$/:-]++)\s*+"""
    r"""(?:=\s*+"(?P<value>(?:[^"\\]|\\.)*+)"\s*+)?;""",
    re.DOTALL,
)
#: Arguments of `MessageFormat`, and formats of Apple with a name.
_ARGUMENT, _NAMED = re.compile(r"\{\d+[^{}\n]{0,80}\}|'\{[^']*'"), re.compile(r"%#@\w+@|%arg\b")
_LONE_QUOTE = re.compile(r"(?<!')'(?:'')*(?!')")


def parse_properties(content: bytes, name: Path) -> TextFile:
    """Read properties: in UTF-8 if they have such characters, else with escapes for what ISO-8859-1 has not.

    Raises:
        DataError: it has control characters of a binary file.
    """
    if b"\0" in content:
        raise DataError("this is no text file", name, advice="give a file of properties")
    try:
        mark, encoding, text = decoded(content, name)
    except DataError:
        mark, encoding, text = b"", "iso-8859-1", content.decode("iso-8859-1")
    write = escaping("\\", is_ascii=encoding == "iso-8859-1" or text.isascii())

    def doubled(text: str) -> str:
        return write(text.replace("'", "''"))

    plain = TextSyntax(decode=unescaped, encode=write, breaks=ESCAPED_BREAKS, edge=EDGE, kept=_ARGUMENT, is_xml=False)
    # `MessageFormat` reads two apostrophes as one.
    message = replace(plain, decode=lambda raw: unescaped(raw).replace("''", "'"), encode=doubled, keep=write)
    parts: list[Part] = []
    at = 0
    for match in _PROPERTY.finditer(text):
        if value := match["value"]:
            is_message = _ARGUMENT.search(value) and not _LONE_QUOTE.search(value)
            parts += [text[at : match.start("value")], *plain_parts(value, message if is_message else plain)]
            at = match.end("value")
    return TextFile(mark, [*parts, text[at:]], encoding)


def parse_strings(content: bytes, name: Path) -> TextFile:
    """Read strings of Apple, in UTF-8 or UTF-16.

    Raises:
        DataError: it is in another encoding, or malformed.
    """
    if content.startswith((b"bplist", b"<?xml")):
        raise DataError("this is a property list, not text", name, advice="convert it: plutil -convert strings")
    mark, encoding, text = decoded(content, name)
    syntax = TextSyntax(decode=unescaped, encode=escaping('"\\'), breaks=BREAKS, edge=EDGE, kept=_NAMED, is_xml=False)
    parts: list[Part] = []
    at = end = 0
    while end < len(text):
        match = _STRING.match(text, end)
        if match is None:
            line = text.count("\n", 0, end) + 1
            raise DataError('this is no line "key" = "text";', name, line=line, advice="correct it")
        if value := match["value"]:
            parts += [text[at : match.start("value")], *plain_parts(value, syntax)]
            at = match.end("value")
        end = match.end()
    return TextFile(mark, [*parts, text[at:]], encoding)
