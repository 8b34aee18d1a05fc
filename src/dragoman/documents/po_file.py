"""Files of gettext (PO and POT): messages without a translation are translated.

Translations that are there stay, except fuzzy ones. A new one with a flag is marked as fuzzy, for a person to check.
Each line of a message is a segment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polib

from dragoman.data.formats.po_catalogue import read_catalogue
from dragoman.documents.columns import Cell, split_columns
from dragoman.documents.mark_projection import project
from dragoman.documents.shortcuts import Shortcut, put_shortcut, take_shortcut
from dragoman.text.languages import base_language
from dragoman.text.marked_text import MarkedText
from dragoman.text.rst_marks import has_icu, marked_rst
from dragoman.translator import Translation

_N_PLURALS = re.compile(r"nplurals\s*=\s*(\d{1,2})")
#: The header of languages whose file has none.
_PLURAL_FORMS = {
    "de": "nplurals=2; plural=(n != 1);",
    "en": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
    "zh": "nplurals=1; plural=0;",
}


@dataclass(frozen=True)
class _Message:
    """The lines of a message, and their columns: white space, a segment or None, white space with the line break."""

    lines: Sequence[tuple[str, MarkedText | None, str | Cell]]
    shortcut: Shortcut | None = None

    @classmethod
    def of(cls, text: str) -> _Message:
        """Cut a message into its lines."""
        lines: list[tuple[str, MarkedText | None, str | Cell]] = []
        text, shortcut = take_shortcut(text)
        rows = re.split(r"(?<=\n)", text)
        for row, cells in zip(rows, split_columns(rows), strict=True):
            before, after = row[: len(row) - len(row.lstrip())], row[len(row.rstrip()) :] if row.strip() else ""
            for cell in cells[:-1]:
                is_text = cell.is_translated and (source := marked_rst(cell.text)).has_words
                lines.append((before, source, cell) if is_text else (before + cell.text + cell.gap, None, ""))
                before = ""
            source = marked_rst(cells[-1].text)
            line = before + cells[-1].text + after
            lines.append((before, source, after) if source.has_words else (line, None, ""))
        return cls(lines, shortcut)

    def fill(self, text: str, translations: Iterator[Translation]) -> tuple[str, bool]:
        """Return a translation of the message, and True if a line of it has a flag, or a part of it was left alone."""
        written, is_doubtful, copied = [], has_icu(text), True
        for before, source, after in self.lines:
            if source is None:
                written.append(before)
                continue
            translation = next(translations)
            is_doubtful = is_doubtful or bool(translation.flags)
            copied = copied and translation.text == source.text
            line = project(source, translation.text, translation.alignment)
            written.append(before + (line + after if isinstance(after, str) else after.padded(line)))
        if copied:
            return text, is_doubtful
        message = "".join(written)
        return (message if self.shortcut is None else put_shortcut(message, self.shortcut)), is_doubtful


class PoFile:
    """A file of messages.

    `is_fuzzy` marks all new translations as fuzzy, for people to check; without it, those with a flag.
    """

    def __init__(self, content: polib.POFile) -> None:
        self.is_fuzzy = False
        self._file = content
        self._entries = [entry for entry in content if not entry.obsolete and not entry.translated() and entry.msgid]
        self._messages = [
            [_Message.of(text) for text in (entry.msgid, entry.msgid_plural) if text] for entry in self._entries
        ]

    def segments(self) -> list[MarkedText]:
        """Return the lines of the messages to translate."""
        lines = (line for messages in self._messages for message in messages for line in message.lines)
        return [source for _, source, _ in lines if source is not None]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with translations of these messages, and the language in its header."""
        given = iter(translations)
        n_plurals = self._headed(target_lang)
        for entry, messages in zip(self._entries, self._messages, strict=True):
            texts = (entry.msgid, entry.msgid_plural)
            filled = [message.fill(text, given) for message, text in zip(messages, texts, strict=False)]
            if entry.msgid_plural:
                forms = [text for text, _ in filled]
                entry.msgstr_plural = {
                    form: forms[0 if form == 0 and n_plurals > 1 else 1] for form in range(n_plurals)
                }
            else:
                entry.msgstr = filled[0][0]
            _set_fuzzy(entry, is_fuzzy=self.is_fuzzy or any(doubtful for _, doubtful in filled))
        written = str(self._file).rstrip("\n") + "\n"
        return (written if self._file.header else written.removeprefix("#\n")).encode()

    def _headed(self, target_lang: str | None) -> int:
        """Write the language into the header, and return the number of plural forms."""
        header = self._file.metadata
        if target_lang:
            header["Language"] = target_lang.replace("-", "_")
            known = _PLURAL_FORMS.get(base_language(target_lang))
            if known and not _N_PLURALS.search(header.get("Plural-Forms", "")):
                header["Plural-Forms"] = known
        match = _N_PLURALS.search(header.get("Plural-Forms", ""))
        return min(max(int(match[1]), 1), 10) if match else 2


def parse_po(content: bytes, name: Path) -> PoFile:
    """Read a file of messages.

    Raises:
        DataError: it is not UTF-8, or no PO file.
    """
    return PoFile(read_catalogue(content, name))


def _set_fuzzy(entry: polib.POEntry, *, is_fuzzy: bool) -> None:
    entry.flags = [flag for flag in entry.flags if flag != "fuzzy"] + (["fuzzy"] if is_fuzzy else [])
    entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None
