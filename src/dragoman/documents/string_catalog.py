"""String catalogues of Xcode (.xcstrings): strings without a translation get one, and everything else stays.

A new translation with a flag has the state `needs_review`; so has one with plural forms that the source lacks.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dragoman.data.formats.column_names import same_language
from dragoman.documents.document import is_left_out
from dragoman.documents.inline_elements import Flow, TextSyntax, fill_parts, plain_parts, sources_of
from dragoman.documents.json_file import JsonValue, parse_json
from dragoman.documents.messages import decoded
from dragoman.errors import DataError
from dragoman.text.marked_text import MarkedText
from dragoman.text.plurals import CATEGORIES, plural_categories
from dragoman.translator import Translation

_SYNTAX = TextSyntax(breaks=re.compile(r"\n"), kept=re.compile(r"%#@\w+@|%arg\b"), is_xml=False)


class StringCatalog:
    """A catalogue. It has segments when its languages are set.

    `is_fuzzy` gives all new translations the state `needs_review`; without it, those with a flag have it.

    Raises:
        DataError: it is no JSON, or no catalogue.
    """

    def __init__(self, content: bytes, name: Path) -> None:
        self.is_fuzzy = False
        self._mark, self._encoding, self._text = decoded(content, name)
        self._name, self._root = name, parse_json(self._text, name)
        strings = self._member(self._root, "strings")
        source = self._member(self._root, "sourceLanguage")
        if strings is None or strings.kind != "{" or source is None or source.kind != '"':
            raise DataError("this JSON is no string catalogue", name, advice="give a file .xcstrings")
        self._source: str = self._loaded(source)
        self._strings = [one for one in strings.members if one.kind == "{"]
        self._target = ""
        self._jobs: list[tuple[JsonValue, dict[str, Any]]] = []

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Choose the strings to translate.

        Raises:
            DataError: the target is unknown, or the catalogue is in another language than the source.
        """
        if source and not same_language(source, self._source):
            problem = f"the catalogue is in {self._source}, and {source} is asked for"
            raise DataError(problem, self._name, advice="change --source-lang")
        if not target:
            raise DataError("the language is unknown", self._name, advice="give --target-lang")
        self._target = target
        self._jobs = [*self._chosen()]

    def segments(self) -> list[MarkedText]:
        """Return the texts of the strings to translate."""
        units = (unit for _, localization in self._jobs for unit in _units(localization))
        return [source for unit in units for source in sources_of(_parts(unit))]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the catalogue with translations of these strings."""
        given = iter(translations)
        edits: list[tuple[int, int, str]] = []
        for value, source in self._jobs:
            localization = copy.deepcopy(source)
            used: list[Translation] = []
            for unit in _units(localization):
                unit["value"], filled = fill_parts(_parts(unit), given)
                used += filled
                unit["state"] = "needs_review" if self.is_fuzzy or any(one.flags for one in filled) else "translated"
            if not is_left_out(used):
                _set_plurals(localization, plural_categories(target_lang or self._target))
                edits.append(self._edit(value, localization))
        text, at = [], 0
        for start, end, new in edits:
            text += [self._text[at:start], new]
            at = end
        return self._mark + "".join([*text, self._text[at:]]).encode(self._encoding)

    def _chosen(self) -> Iterator[tuple[JsonValue, dict[str, Any]]]:
        """Yield the strings to translate, each with its localization in the language of the source."""
        for value in self._strings:
            entry, key = self._loaded(value), json.loads(self._text[slice(*value.key)])
            localizations = entry.get("localizations", {})
            if entry.get("shouldTranslate") is False or not isinstance(localizations, dict):
                continue
            own = localizations.get(self._source)
            source = own if isinstance(own, dict) and any(_units(own)) else {"stringUnit": {"state": "", "value": key}}
            target = localizations.get(self._target)
            is_new = not isinstance(target, dict) or all(
                one.get("state") == "new" or not one.get("value") for one in _units(target)
            )
            if is_new and any(sources_of(_parts(unit)) for unit in _units(source)):
                yield value, source

    def _edit(self, value: JsonValue, localization: dict[str, Any]) -> tuple[int, int, str]:
        """Return the change of the text of a string that gives it a localization."""
        localizations = self._member(value, "localizations")
        if localizations is None or localizations.kind != "{":
            return self._inserted(value, "localizations", {self._target: localization})
        target = self._member(localizations, self._target)
        if target is None:
            return self._inserted(localizations, self._target, localization)
        return target.start, target.end, self._written(localization, target.key[0])

    def _inserted(self, parent: JsonValue, key: str, value: dict[str, Any]) -> tuple[int, int, str]:
        """Return the change that gives an object another member, in the order of keys, as Xcode writes them."""
        later = [one for one in parent.members if json.loads(self._text[slice(*one.key)]) > key]
        line_end = "\r\n" if "\r\n" in self._text else "\n"
        if parent.members:
            place = later[0].key[0] if later else parent.members[-1].key[0]
            indent = self._indent(place)
            member = f"{json.dumps(key)} : {self._written(value, place)}"
            if later:
                return place, place, f"{member},{line_end}{indent}"
            end = parent.members[-1].end
            return end, end, f",{line_end}{indent}{member}"
        outer = self._indent(parent.start)
        member = f"{json.dumps(key)} : {self._written(value, parent.start, f'{outer}  ')}"
        return parent.start, parent.end, f"{{{line_end}{outer}  {member}{line_end}{outer}}}"

    def _indent(self, at: int) -> str:
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def _written(self, value: dict[str, Any], at: int, indent: str | None = None) -> str:
        """Return a value as Xcode writes it, at a place."""
        line_end = "\r\n" if "\r\n" in self._text else "\n"
        text = json.dumps(value, ensure_ascii=False, indent=2, separators=(",", " : "), sort_keys=True)
        return text.replace("\n", line_end + (self._indent(at) if indent is None else indent))

    def _loaded(self, value: JsonValue) -> Any:
        return json.loads(self._text[value.start : value.end])

    def _member(self, parent: JsonValue, key: str) -> JsonValue | None:
        found = (one for one in parent.members if self._text[slice(*one.key)] == json.dumps(key))
        return next(found, None) if parent.kind == "{" else None


def _units(value: object) -> Iterator[dict[str, Any]]:
    """Yield the texts of a localization, in their order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "stringUnit" and isinstance(inner, dict) and isinstance(inner.get("value"), str):
                yield inner
            else:
                yield from _units(inner)


def _parts(unit: dict[str, Any]) -> list[str | Flow]:
    return plain_parts(unit["value"], _SYNTAX)


def _set_plurals(value: object, categories: Sequence[str]) -> None:
    """Give the plurals of a localization the forms of a language; one that the source lacks is that of `other`."""
    if not isinstance(value, dict):
        return
    plural = value.get("plural")
    if isinstance(plural, dict) and "other" in plural and categories:
        for category in categories:
            if category not in plural:
                plural[category] = copy.deepcopy(plural["other"])
                for unit in _units(plural[category]):
                    unit["state"] = "needs_review"
        for gone in {*CATEGORIES} - {*categories, "zero"}:
            plural.pop(gone, None)
    for inner in value.values():
        _set_plurals(inner, categories)
