"""Regular expressions of Python, translated for JavaScript, so that both read text by the same rules.

Only constructs that the package's own patterns use are translated. In Python, \\w, \\d, \\s and \\b are those of
Unicode, in JavaScript those of ASCII; JavaScript has no verbose patterns, and no flags for a part of a pattern.
"""

from __future__ import annotations

import re

_WORD = r"\p{L}\p{N}_"
_SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CLASSES = {"w": _WORD, "d": r"\p{Nd}", "s": _SPACE}
_WORD_END = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
#: Escapes that JavaScript has too.
_SHARED = frozenset("^$\\.*+?()[]{}|/ntrfv")


def to_javascript(pattern: re.Pattern[str]) -> tuple[str, str]:
    """Return the source and the flags of a regular expression of JavaScript that matches the same texts.

    >>> to_javascript(re.compile(r"(?P<year>\\d{4})\\Z"))
    ('(?<year>[\\\\p{Nd}]{4})$', 'u')

    Raises:
        ValueError: a construct is not known here.
    """
    return _Translation(pattern).translate(), "iu" if pattern.flags & re.IGNORECASE else "u"


class _Translation:
    """The translation of one pattern; `_place` is that of the next character to read."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._text = pattern.pattern
        self._is_verbose = bool(pattern.flags & re.VERBOSE)
        self._place = 0
        #: For each open group, True if it ignores case.
        self._ignores_case = [False]

    def translate(self) -> str:
        parts = []
        while self._place < len(self._text):
            parts.append(self._next())
        return "".join(parts)

    def _take(self, length: int = 1) -> str:
        taken = self._text[self._place : self._place + length]
        self._place += length
        return taken

    def _next(self) -> str:
        character = self._take()
        if character == "\\":
            return self._escape(self._take())
        if character == "[":
            return self._characters()
        if character == "(":
            return self._group()
        if character == ")":
            self._ignores_case.pop()
        elif character == ".":
            return r"[^\n]"
        elif self._is_verbose and character.isspace():
            return ""
        elif self._is_verbose and character == "#":
            raise ValueError("a comment")
        return self._letter(character)

    def _letter(self, character: str) -> str:
        is_any = self._ignores_case[-1] and character.isalpha()
        return f"[{character.lower()}{character.upper()}]" if is_any else character

    def _group(self) -> str:
        for opening, translated, ignores_case in (("?P<", "?<", False), ("?i:", "?:", True)):
            if self._text.startswith(opening, self._place):
                self._take(len(opening))
                self._ignores_case.append(ignores_case)
                name = self._take(self._text.index(">", self._place) - self._place) if opening == "?P<" else ""
                return f"({translated}{name}"
        if self._text.startswith("?P=", self._place):
            end = self._text.index(")", self._place)
            name = self._take(end + 1 - self._place)[3:-1]
            return rf"\k<{name}>"
        self._ignores_case.append(self._ignores_case[-1])
        if self._text.startswith("?", self._place):  # lookarounds, and groups without a number
            kind = re.compile(r"\?(?:<?[=!]|:)").match(self._text, self._place)
            if kind is None:
                raise ValueError(f"a group {self._text[self._place : self._place + 4]!r}")
            return "(" + self._take(len(kind[0]))
        return "("

    def _escape(self, character: str) -> str:
        if character == "Z":
            return "$"
        if character == "b":
            return _WORD_END
        if character.lower() in _CLASSES:
            return f"[{'^' if character.isupper() else ''}{_CLASSES[character.lower()]}]"
        return self._plain_escape(character)

    def _plain_escape(self, character: str) -> str:
        if character in _SHARED or character.isdigit():
            return "\\" + character
        if character == "x":
            return rf"\x{self._take(2)}"
        if character in "uU":
            return rf"\u{{{self._take(4 if character == 'u' else 8)}}}"
        if character.isalpha():
            raise ValueError(f"an escape \\{character}")
        return rf"\{character}" if character == "-" else character

    def _characters(self) -> str:
        """Translate a class; `[^\\W...]` is every character of a word except some."""
        is_negated = self._text.startswith("^", self._place)
        self._place += is_negated
        parts, of_words = [], False
        while (character := self._take()) != "]":
            if character != "\\":
                parts.append(rf"\{character}" if character == "[" else self._any_case(character))
                continue
            escaped = self._take()
            if escaped == "W" and is_negated:
                of_words = True
            elif escaped in _CLASSES:
                parts.append(_CLASSES[escaped])
            elif escaped == "S" or escaped == "W":
                raise ValueError("a class with the complement of another")
            else:
                parts.append(self._plain_escape(escaped))
        members = "".join(parts)
        if of_words:
            return f"(?:(?![{members}])[{_WORD}])" if members else f"[{_WORD}]"
        return f"[{'^' if is_negated else ''}{members}]"

    def _any_case(self, character: str) -> str:
        return character.lower() + character.upper() if self._ignores_case[-1] and character.isalpha() else character
