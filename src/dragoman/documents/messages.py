"""Strings of apps: forms that a program chooses by a number, and the escapes of strings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.document import Part, Segment, segments_of, written
from dragoman.errors import DataError
from dragoman.text.plurals import CATEGORIES, plural_categories
from dragoman.translator import Translation

_ESCAPE = re.compile(r"\\(?:[uU]([0-9a-fA-F]{4})|(\r?\n[ \t\f]*|[\s\S]))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}
#: White space around a string, as escapes write it too.
EDGE = re.compile(r"(?:\s|(?<!\\)\\[nrtfb]|\\[uU](?:0020|00[aA]0)|\\\r?\n|\\ )+")
_ESCAPED_BREAK = r"(?<!\\)(?:\\\\)*+\\(?:r\\n|[nr])"
#: Line breaks as escapes, with the backslashes before them, and as they are.
ESCAPED_BREAKS, BREAKS = re.compile(_ESCAPED_BREAK), re.compile(rf"{_ESCAPED_BREAK}|\r\n|[\r\n]")


@dataclass(frozen=True)
class Form:
    """A form of a message: characters before its category, the category, and the rest."""

    before: str
    category: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Forms:
    """Forms of a message.

    Args:
        gaps: what stands between them.
        gap: what stands before a new form.
        is_plural: they are those of CLDR, and become those of the target language.
    """

    forms: Sequence[Form]
    gaps: Sequence[str]
    gap: str
    is_plural: bool

    def segments(self) -> Iterator[Segment]:
        """See `Group`."""
        return chain.from_iterable(segments_of(form.parts) for form in self.forms)

    def written(self, given: Iterator[Translation], target: str | None) -> str:
        """Return the forms in another language. A form that it alone has is that of `other`."""
        texts = [(form.before, form.category, written(form.parts, given, target)) for form in self.forms]
        wanted = plural_categories(target) if self.is_plural else []
        gaps = [*self.gaps, ""]
        if wanted:
            names = [name for _, name, _ in texts]
            last = names.index("other") if "other" in names else len(texts) - 1
            before, _, rest = texts[last]
            before = before[:-2] + " [" if before.endswith("*[") else before
            new = [(before, name, rest) for name in wanted if name not in names]
            texts[last:last] = new
            gaps[last:last] = [self.gap] * len(new)
            gone = {*CATEGORIES} - {*wanted, "zero"}
            kept = [number for number, (_, name, _) in enumerate(texts) if name not in gone]
            texts, gaps = [texts[number] for number in kept], [gaps[number] for number in kept]
            gaps[-1] = ""
        return "".join("".join(form) + gap for form, gap in zip(texts, gaps, strict=True))


@dataclass(frozen=True)
class Language:
    """A place where the file names its language."""

    raw: str

    def segments(self) -> Iterator[Segment]:
        """See `Group`."""
        return iter(())

    def written(self, given: Iterator[Translation], target: str | None) -> str:
        """Return the name of the language of the translations."""
        return target.replace("-", "_") if target else self.raw


@dataclass(frozen=True)
class Moved:
    """Parts whose words stood elsewhere in the file, and its own text, which stays if no translation differs."""

    raw: str
    parts: Sequence[Part]

    def segments(self) -> Iterator[Segment]:
        """See `Group`."""
        return segments_of(self.parts)

    def written(self, given: Iterator[Translation], target: str | None) -> str:
        """Return the parts in another language."""
        own = [(segment.source.text, next(given)) for segment in self.segments()]
        if all(source == translation.text for source, translation in own):
            return self.raw
        return written(self.parts, iter([translation for _, translation in own]), target)


def decoded(content: bytes, name: Path) -> tuple[bytes, str, str]:
    """Return the byte order mark, the encoding and the text of a file in UTF-8, or in UTF-16 with a mark.

    Raises:
        DataError: it is in another encoding.
    """
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            try:
                return mark, encoding, content[2:].decode(encoding)
            except UnicodeDecodeError:
                raise DataError("invalid UTF-16", name, advice="convert it to UTF-8") from None
    mark, text = decode(content, name)
    return mark, "utf-8", text


def unescaped(raw: str) -> str:
    """Return the text of a string with escapes.

    >>> unescaped(r"It\\'s \\u00e9.\\n")
    "It's é.\\n"
    """

    def character(match: re.Match[str]) -> str:
        code, letter = match.groups()
        return chr(int(code, 16)) if code else _LETTERS.get(letter, "" if letter[0] in "\r\n" else letter)

    text = _ESCAPE.sub(character, raw)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if "\\" in raw else text


def escaping(marks: str, *, is_ascii: bool = False) -> Callable[[str], str]:
    """Return a function that writes text with escapes.

    Args:
        marks: characters that get a backslash.
        is_ascii: characters beyond ASCII become escapes.
    """
    letters = {letter: f"\\{name}" for name, letter in _LETTERS.items()} | {mark: f"\\{mark}" for mark in marks}
    beyond = "\x7f-\U0010ffff" if is_ascii else ""
    other = re.compile(f"[{re.escape(''.join(letters))}\x00-\x1f\ud800-\udfff{beyond}]")

    def character(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be", "surrogatepass")
        codes = (units[at : at + 2].hex() for at in range(0, len(units), 2))
        return letters.get(match[0]) or "".join(f"\\u{code}" for code in codes)

    return lambda text: other.sub(character, text)
