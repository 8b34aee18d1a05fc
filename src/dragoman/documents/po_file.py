"""Files of gettext (PO and POT): messages without a translation are translated.

Translations that are there stay, except fuzzy ones. A new one with a flag is marked as fuzzy, for a person to check.
Each line of a message is a segment. Everything else stays byte for byte.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polib

from dragoman.data.formats.column_names import language_code, same_language
from dragoman.data.formats.po_catalogue import USUAL_SOURCE, decode_catalogue, parse_catalogue
from dragoman.documents.columns import Cell, split_columns
from dragoman.documents.document import is_left_out
from dragoman.documents.mark_projection import project
from dragoman.documents.po_lines import PoLines
from dragoman.documents.shortcuts import Shortcut, find_tabs, put_shortcut, take_shortcut
from dragoman.errors import DataError
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.marked_text import MarkedText
from dragoman.text.plurals import n_plurals, plural_rule
from dragoman.text.rst_marks import marked_rst
from dragoman.text.spans import find_spans
from dragoman.translator import Translation

_CONTENT_TYPE = "text/plain; charset=UTF-8"
#: The encoding of a template, or one that UTF-8 contains.
_BECOMES_UTF_8 = re.compile(r"(?i)charset=(?:CHARSET|(?:us-)?ascii)\Z")


@dataclass(frozen=True)
class _Message:
    """The lines of a message, and their columns: white space, a segment or None, white space with the line break.

    Args:
        key: what stays at the end of an entry of a menu, from the tab on.
    """

    lines: Sequence[tuple[str, MarkedText | None, str | Cell]]
    shortcut: Shortcut | None = None
    key: str = ""

    @classmethod
    def of(cls, text: str) -> _Message:
        """Cut a message into its lines. One with a message of ICU is left alone, so it is not cut."""
        lines: list[tuple[str, MarkedText | None, str | Cell]] = []
        if has_icu_message(text):
            return cls([("", MarkedText(" ".join(text.split())), "")])
        starts = [start for start, end in find_tabs(text) if text[end:].strip() == ""]
        text, key = (text[: starts[0]], text[starts[0] :]) if starts else (text, "")
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
        return cls(lines, shortcut, key)

    def fill(self, text: str, translations: Iterator[Translation]) -> tuple[str, bool] | None:
        """Return a translation of the message, and True if a line of it has a flag, or it has other placeholders.

        None if the model is not sure of a line.
        """
        written, is_doubtful, copied = [], False, True
        used: list[Translation] = []
        for before, source, after in self.lines:
            if source is None:
                written.append(before)
                continue
            translation = next(translations)
            used.append(translation)
            is_doubtful = is_doubtful or bool(translation.flags)
            copied = copied and translation.text == source.text
            line = project(source, translation.text, translation.alignment)
            written.append(before + (line + after if isinstance(after, str) else after.padded(line)))
        if is_left_out(used):
            return None
        if copied:
            return text, is_doubtful
        message = "".join(written)
        is_doubtful = is_doubtful or _placeholders(message + self.key) != _placeholders(text)
        return (message if self.shortcut is None else put_shortcut(message, self.shortcut)) + self.key, is_doubtful


class PoFile:
    """A file of messages.

    `is_fuzzy` marks all new translations as fuzzy, for people to check; without it, those with a flag.

    Raises:
        DataError: it is not in the encoding that it names, or no PO file.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self.is_fuzzy = False
        self._name = name
        self._mark, text, self._encoding = decode_catalogue(content, name)
        self._file = parse_catalogue(text, name)
        self._lines = PoLines(text, self._file)
        self._entries = {
            number: entry
            for number, entry in enumerate(self._file)
            if not entry.obsolete and not entry.translated() and entry.msgid
        }
        self._messages = [
            [_Message.of(text) for text in (entry.msgid, entry.msgid_plural) if text]
            for entry in self._entries.values()
        ]

    def segments(self) -> list[MarkedText]:
        """Return the lines of the messages to translate."""
        lines = (line for messages in self._messages for message in messages for line in message.lines)
        return [source for _, source, _ in lines if source is not None]

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Check the language of a translation. A template may name that of its messages.

        Raises:
            DataError: the file names another, or its translations have other plural forms.
        """
        if target is None:
            return
        stated = self._language()
        if stated and not any(same_language(stated, code) for code in (source or USUAL_SOURCE, target)):
            problem = f"the file has Language {stated!r}, and {target} is asked for"
            raise DataError(problem, self._name, advice="change --target-lang, or Language in the file")
        n_forms = max((len(entry.msgstr_plural) for entry in self._file if entry.translated()), default=0)
        n_wanted = n_plurals(self._plural_forms(target))
        if n_forms and n_wanted and n_forms != n_wanted:
            problem = f"its translations have {n_forms} plural forms, and {target} has {n_wanted}"
            raise DataError(problem, self._name, advice="change --target-lang, or Plural-Forms in the file")

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with translations of these messages, and the language in its header."""
        given = iter(translations)
        header = self._header(target_lang)
        n_forms = n_plurals(header.get("Plural-Forms") or self._file.metadata.get("Plural-Forms", "")) or 2
        for entry, messages in zip(self._entries.values(), self._messages, strict=True):
            texts = (entry.msgid, entry.msgid_plural)
            found = [message.fill(text, given) for message, text in zip(messages, texts, strict=False)]
            filled = [one for one in found if one is not None]
            if len(filled) < len(found):
                continue
            is_fuzzy = self.is_fuzzy or any(doubtful for _, doubtful in filled)
            if entry.msgid_plural:
                forms = [text for text, _ in filled]
                entry.msgstr_plural = {form: forms[0 if form == 0 and n_forms > 1 else 1] for form in range(n_forms)}
                is_fuzzy = is_fuzzy or n_forms > len(forms)
            else:
                entry.msgstr = filled[0][0]
            _set_fuzzy(entry, is_fuzzy=is_fuzzy)
        written = self._lines.written(self._entries, header)
        try:
            return self._mark + written.encode(self._encoding)
        except UnicodeEncodeError:
            return self._lines.written(self._entries, header | {"Content-Type": _CONTENT_TYPE}).encode()

    def _language(self) -> str | None:
        return language_code(self._file.metadata.get("Language", ""))

    def _plural_forms(self, target: str) -> str:
        """Return the rule of the plural forms of a language: that of the file if it is in this language."""
        own, known = self._file.metadata.get("Plural-Forms", ""), plural_rule(target)
        is_own = same_language(self._language() or "", target) or n_plurals(own) == n_plurals(known)
        return own if n_plurals(own) and (is_own or not known) else known

    def _header(self, target_lang: str | None) -> dict[str, str]:
        """Return the fields of the header that are to have another value."""
        old, new = self._file.metadata, dict[str, str]()
        if old and not self._lines.has_header:  # it is out of place
            return {}
        if target_lang:
            if not same_language(self._language() or "", target_lang):
                new["Language"] = target_lang.replace("-", "_")
            new["Plural-Forms"] = self._plural_forms(target_lang)
        if (target_lang and "Content-Type" not in old) or _BECOMES_UTF_8.search(old.get("Content-Type", "")):
            new["Content-Type"] = _CONTENT_TYPE
        return {name: value for name, value in new.items() if value and value != old.get(name)}


def _placeholders(text: str) -> Counter[str]:
    return Counter(text[span.start : span.end] for span in find_spans(text) if span.kind == "placeholder")


def _set_fuzzy(entry: polib.POEntry, *, is_fuzzy: bool) -> None:
    entry.flags = [flag for flag in entry.flags if flag != "fuzzy"] + (["fuzzy"] if is_fuzzy else [])
    entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None
