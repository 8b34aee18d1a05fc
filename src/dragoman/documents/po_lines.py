"""The lines of a catalogue (PO): those of new translations are written, all others stay byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import polib

from dragoman.data.formats.po_catalogue import catalogue_lines

_LINE_END = re.compile(r"\r\n|\n|\r|\Z")
_WIDTH = 78


class PoLines:
    """The lines of a catalogue.

    Args:
        text: all of it.
        entries: its messages, as polib has read them.
    """

    def __init__(self, text: str, entries: Sequence[polib.POEntry]) -> None:
        match = _LINE_END.search(text)
        self._line_end = (match[0] if match else "") or "\n"
        self._lines = catalogue_lines(text)
        #: The index of the first line of each message, its comments included.
        self._starts = [max(0, (entry.linenum or 0) - 1) for entry in entries]

    @property
    def has_header(self) -> bool:
        """True if a header stands before the first message."""
        return any(line.startswith("msgstr") for line in self._lines[: self._starts[0] if self._starts else None])

    def written(self, changed: Mapping[int, polib.POEntry], header: Mapping[str, str]) -> str:
        """Return the catalogue with other translations.

        Args:
            changed: messages with another translation, by their index.
            header: fields of the header with another value.
        """
        bounds = [*self._starts, len(self._lines)]
        lines = list(self._with_header(self._lines[: bounds[0]], header))
        for number, (start, end) in enumerate(pairwise(bounds)):
            block = self._lines[start:end]
            lines += self._translated(block, changed[number]) if number in changed else block
        return "".join(lines)

    def _translated(self, block: Sequence[str], entry: polib.POEntry) -> Iterator[str]:
        """Yield the lines of a message with its flags and its translation, without its earlier text."""
        start, end = _translation(block)
        head = [line for line in block[:start] if not line.lstrip().startswith("#|")]
        flags = [number for number, line in enumerate(head) if line.lstrip().startswith("#,")]
        if {flag.strip() for number in flags for flag in head[number].strip()[2:].split(",")} - {""} != {*entry.flags}:
            keyword = next((number for number, line in enumerate(head) if line.lstrip().startswith("msg")), len(head))
            place = flags[0] if flags else keyword
            head = [line for number, line in enumerate(head) if number not in flags]
            head[place:place] = [f"#, {', '.join(entry.flags)}{self._line_end}"] if entry.flags else []
        yield from head
        if head and not head[-1].endswith(("\n", "\r")):
            yield self._line_end
        plain = polib.POEntry(msgid="", msgstr=entry.msgstr, msgstr_plural=entry.msgstr_plural)
        written = plain.__unicode__(0 if "no-wrap" in entry.flags else _WIDTH).split("\n")
        yield from (line + self._line_end for line in written[1:] if line)
        yield from block[end:]

    def _with_header(self, block: Sequence[str], fields: Mapping[str, str]) -> Iterator[str]:
        """Yield the lines before the first message, with other fields of the header, or with a new header."""
        start, end = _translation(block)
        if not fields:
            yield from block
            return
        has_header = start < len(block)
        yield from block[:start] if has_header else [f'msgid ""{self._line_end}']
        strings = (line.strip().removeprefix("msgstr").strip()[1:-1] for line in block[start:end])
        written = dict.fromkeys(polib.unescape("".join(strings)).rstrip("\n").split("\n") if has_header else [])
        for name, value in fields.items():
            old = next((line for line in written if line.startswith(f"{name}:")), f"{name}:")
            written[old] = f"{name}: {value}"
        yield f'msgstr ""{self._line_end}'
        yield from (f'"{polib.escape(new or old)}\\n"{self._line_end}' for old, new in written.items())
        yield from block[end:] if has_header else [self._line_end, *block]


def _translation(block: Sequence[str]) -> tuple[int, int]:
    """Return the first line of the translation in the lines of a message, and that after its last line."""
    start = next((number for number, line in enumerate(block) if line.lstrip().startswith("msgstr")), len(block))
    end = start
    for number, line in enumerate(block[start:], start + 1):
        if line.lstrip().startswith(('"', "msgstr")):
            end = number
        elif line.strip():
            break
    return start, end
