"""Messages of Qt (.ts): those without a finished translation get one, and everything else stays, byte for byte.

A new translation with a flag stays unfinished, for a person to check; so does one with more plural forms than two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dragoman.data.formats.column_names import same_language
from dragoman.documents.document import is_left_out
from dragoman.documents.inline_elements import PRESERVED_XML, Flow, fill_parts, inline_parts, sources_of
from dragoman.documents.xml_tokens import opening, parse_xml_of, with_attribute
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.text.plurals import n_plurals, plural_rule
from dragoman.translator import Translation

#: "%n file(s)" is "%n file" for one, and "%n files" for more.
_PLURAL_END = re.compile(r"\((e?s)\)")
#: Kinds of translations that are not in use.
_GONE = frozenset(("vanished", "obsolete"))
_Parts = Sequence[str | Flow]


class QtFile:
    """A file of messages.

    `is_fuzzy` leaves all new translations unfinished; without it, those with a flag.

    Raises:
        DataError: it is not well-formed, declares entities, or is none of Qt.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self.is_fuzzy = False
        self._file, self._name = parse_xml_of("TS", "messages of Qt", content, name, allow_doctype=True), name
        #: By the place of each translation: the texts of its forms; one if there is no plural.
        self._jobs = dict(self._messages())

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Check the languages of a translation.

        Raises:
            DataError: the file names others.
        """
        stated = self._file.tokens[self._file.root].attributes
        for attribute, wanted, option in (("sourcelanguage", source, "source"), ("language", target, "target")):
            own = stated.get(attribute)
            if own and wanted and not same_language(own, wanted):
                problem = f"the file has {attribute} {own!r}, and {wanted} is asked for"
                advice = f"change --{option}-lang, or {attribute} in the file"
                raise DataError(problem, self._name, line=self._file.line(self._file.root), advice=advice)

    def segments(self) -> list[MarkedText]:
        """Return the texts of the messages to translate."""
        return [source for forms in self._jobs.values() for parts in forms for source in sources_of(parts)]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with these translations, and its language where it names none."""
        self.set_languages(None, target_lang)
        given, changed, root = iter(translations), dict[int, str](), self._file.root
        stated = self._file.tokens[root].attributes.get("language")
        if target_lang and not stated:
            changed[root] = with_attribute(self._file.tokens[root].raw, "language", target_lang.replace("-", "_"))
        n_forms = n_plurals(plural_rule(target_lang or stated or "")) or 2
        for at, forms in self._jobs.items():
            filled = [fill_parts(parts, given) for parts in forms]
            texts, used = [text for text, _ in filled], [one for _, translations in filled for one in translations]
            if is_left_out(used):
                continue
            is_doubtful = self.is_fuzzy or any(one.flags for one in used) or (len(texts) > 1 and n_forms > 2)
            tag = opening(changed.get(at, self._file.tokens[at].raw))
            tag = with_attribute(tag, "type", "unfinished" if is_doubtful else "")
            text = texts[0]
            if len(texts) > 1:
                indent = self._file.indentation(at)
                numbered = [texts[0 if form == 0 and n_forms > 1 else 1] for form in range(n_forms)]
                text = "".join(f"{indent}    <numerusform>{one}</numerusform>" for one in numbered) + indent
            changed |= self._file.with_element(at, f"{tag}{text}</translation>")
        return self._file.written(changed)

    def _messages(self) -> Iterator[tuple[int, Sequence[_Parts]]]:
        """Yield the messages to translate."""
        tokens, ends = self._file.tokens, self._file.ends
        for at, token in enumerate(tokens):
            if token.kind != "start" or token.name != "message":
                continue
            inside = {tokens[one].name: one for one in range(at + 1, ends[at]) if tokens[one].kind == "start"}
            source, target = inside.get("source"), inside.get("translation")
            if source is None or target is None:
                continue
            kind = tokens[target].attributes.get("type")
            is_empty = not any(one.text.strip() for one in tokens[target : ends[target]])
            if kind in _GONE or not (kind == "unfinished" or is_empty):
                continue
            if token.attributes.get("numerus") == "yes":
                yield target, [self._text(source, r""), self._text(source, r"\1")]
            else:
                yield target, [inline_parts(self._file, source + 1, ends[source], PRESERVED_XML)]

    def _text(self, source: int, end: str) -> _Parts:
        """Return the text of a message with another end of words that may be in the plural."""
        tokens = [
            token._replace(raw=_PLURAL_END.sub(end, token.raw)) if token.kind == "text" else token
            for token in self._file.tokens[source : self._file.ends[source] + 1]
        ]
        ends = {start - source: stop - source for start, stop in self._file.ends.items() if start >= source}
        return inline_parts(replace(self._file, tokens=tokens, ends=ends), 1, len(tokens) - 1, PRESERVED_XML)
