"""Pairs from JSON objects, one a line: under "source" and "target", under languages, or under keys of the same meaning.

The keys are in the object or in its "translation".
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from dragoman.data.formats.column_choice import join_lines, unclear_columns
from dragoman.data.formats.column_kinds import TEXT, kind_of
from dragoman.data.formats.column_names import Choice, Languages, choose_by_name, contradiction, is_swapped, meaning
from dragoman.data.formats.pair_file import LocatedPair, PairFile, PairRequest, TextFile, open_blank
from dragoman.data.text_files.lines import Unreadable, count_lines
from dragoman.errors import ConfigError, DataError

SUFFIXES = frozenset((".jsonl", ".ndjson", ".json"))
#: Objects by which the keys are chosen.
_N_JUDGED = 200
_USUAL = ("source", "target")


class Keys(NamedTuple):
    """The keys of a pair, in the order in which they are tried.

    Args:
        languages: of source and target, as far as the keys say them.
        notes: lines for people.
    """

    tried: tuple[tuple[str, str], ...]
    languages: Languages = (None, None)
    notes: tuple[str, ...] = ()


def is_json(request: PairRequest) -> bool:
    """Return True if the first line of a file is a JSON object, or begins an array of objects."""
    first = next((line.strip() for line in request.sample if line.strip()), "")
    return (
        (first.startswith("{") and isinstance(_parsed(first), dict))
        or first in ("[", "[{")
        or (first.startswith("[{") and "\t" not in first)
    )


def open_json_lines(request: PairRequest) -> PairFile:
    """Return the pairs of a file with one JSON object a line.

    Raises:
        DataError: as `find_keys`. While reading, also as `object_pair`.
        ConfigError: as `find_keys`.
    """
    text, path = request.text, request.path
    if not request.sample:
        return open_blank(text)
    keys = find_keys(path, request.sample, request.languages, request.columns)
    read = partial(_read_objects, text, keys)
    return PairFile(read, partial(count_lines, path), keys.languages, keys.notes)


def find_keys(path: Path, sample: Sequence[str], requested: Languages, column_option: str | None) -> Keys:
    """Find the keys of the pairs in the first objects.

    Raises:
        DataError: the file is one array or one object, or its objects do not show which keys are the pair.
        ConfigError: the keys contradict the requested languages, or `column_option` gives numbers.
    """
    lines = [line for line in sample if line.strip()]
    _refuse_one_value(path, lines)
    if column_option is not None:
        source, target = (part.strip() for part in column_option.split(","))
        if source.isdecimal() and target.isdecimal() and f'"{source}"' not in lines[0]:
            advice = f"name two keys: {', '.join(_texts(_parsed(lines[0])))}"
            raise ConfigError("the lines are JSON objects, whose keys have no numbers", path, advice=advice)
        languages = meaning(source, requested).language, meaning(target, requested).language
        if is_swapped(languages, requested) is not False:
            raise contradiction(path, languages, requested)
        return Keys(((source, target),), languages, (_note(path, (source, target)),))
    tried = (_USUAL, *([(requested[0], requested[1])] if requested[0] and requested[1] else []))
    objects = [_texts(_parsed(line)) for line in islice(lines, _N_JUDGED)]
    first = objects[0]
    usual = next((keys for keys in tried if all(key in first for key in keys)), None)
    if not first or usual is not None:
        return Keys(tried, notes=(_note(path, usual),) if usual else ())
    choice = choose_by_name(list(first), requested, path) or _by_content(path, first, objects)
    keys = list(first)[choice.source], list(first)[choice.target]
    return Keys((*tried, keys), choice.languages, (_note(path, keys),))


def _read_objects(text: TextFile, keys: Keys) -> Iterator[LocatedPair]:
    for number, line in enumerate(text.lines(), start=1):
        if isinstance(line, Unreadable):
            yield number, line, line
        elif not line.strip():
            yield number, "", ""
        else:
            yield number, *object_pair(_json(line, text.path, number), keys, text.path, number)


def object_pair(row: object, keys: Keys, location: str | Path, number: int) -> tuple[str, str]:
    """Return source and target of a JSON object; line breaks become spaces, and null is empty.

    Raises:
        DataError: it has no pair.
    """
    objects = [row, row.get("translation")] if isinstance(row, dict) else []
    for source, target in keys.tried:
        for holder in objects:
            if isinstance(holder, dict) and source in holder and target in holder:
                sides = ["" if holder[key] is None else holder[key] for key in (source, target)]
                if isinstance(sides[0], str) and isinstance(sides[1], str):
                    return join_lines(sides[0]), join_lines(sides[1])
    expected = " or ".join(f'"{source}" and "{target}"' for source, target in keys.tried)
    if not isinstance(row, dict):
        raise DataError(
            "not a JSON object", location, line=number, advice=f"each line must be one object with {expected}"
        )
    present = ", ".join(map(repr, islice(_texts(row), 20))) or "none"
    advice = f"give {expected}, or name two of the keys that have text ({present}): --columns"
    raise DataError("no pair of strings", location, line=number, advice=advice)


def _by_content(path: Path, first: Mapping[str, str], objects: Sequence[Mapping[str, str]]) -> Choice:
    """Return the only two keys of text."""
    columns = [[row.get(key, "") for row in objects] for key in first]
    texts = [at for at, cells in enumerate(columns) if kind_of(cells) == TEXT]
    if len(texts) == 2:
        return Choice(texts[0], texts[1], (None, None))
    problem = f"{len(texts) or 'none'} of the keys {'has' if len(texts) < 2 else 'have'} text, and a pair needs two"
    raise unclear_columns(path, list(first), columns, problem)


def _note(path: Path, keys: tuple[str, str]) -> str:
    return f'{path}: read as JSON, one object a line; source: "{keys[0]}", target: "{keys[1]}"'


def _texts(value: object) -> dict[str, str]:
    """Return the strings of an object and of its "translation"."""
    if not isinstance(value, dict):
        return {}
    inner = value.get("translation")
    all_of_it: dict[str, Any] = {**value, **(inner if isinstance(inner, dict) else {})}
    return {key: text for key, text in all_of_it.items() if isinstance(text, str)}


def _refuse_one_value(path: Path, lines: Sequence[str]) -> None:
    """Refuse JSON that is one value over the whole file."""
    first = lines[0].strip()
    value = _parsed(first)
    advice = f"write one object a line, as jq -c '.[]' {shlex.quote(path.name)} does with an array"
    if first in ("[", "[{") or isinstance(value, list) or (first.startswith("[{") and value is None):
        raise DataError("this is one JSON array, not one object a line", path, advice=advice)
    has_lists = isinstance(value, dict) and any(isinstance(item, list) for item in value.values())
    if first == "{" or (len(lines) == 1 and has_lists and len(_texts(value)) < 2):
        raise DataError("this is one JSON object, not one object a line", path, advice=advice)


def _parsed(line: str) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value


def _json(line: str, path: Path, number: int) -> object:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error})", path, line=number, advice="each line must be one object") from None
    return value
