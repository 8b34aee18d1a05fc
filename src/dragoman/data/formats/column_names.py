"""Meaning of names in a table's header and of keys of JSON objects: a side of a pair, or a language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dragoman.errors import ConfigError
from dragoman.text.languages import KNOWN_CODES, base_language

#: Codes of source and target language; None is unknown.
Languages = tuple[str | None, str | None]

#: Words for each side, and words that only mean text.
_SIDES = {
    "source": "source src original input quelle quelltext ausgangstext 原文 源文 源",
    "target": "target tgt trg ref reference translation translated output ziel zieltext übersetzung 译文 翻译 目标",
}
_SIDE_OF = {word: side for side, words in _SIDES.items() for word in words.split()}
_PLAIN = frozenset(
    ("caption", "content", "phrase", "satz", "segment", "sentence", "sentences", "string", "text", "texts")
)
#: Codes that more often mean something else: a number, or machine translation.
_AMBIGUOUS = frozenset(("id", "mt", "no"))
#: Words that may stand beside the name of a language.
_REGIONS = frozenset(("brazilian", "brasil", "gb", "hans", "hant", "latn", "simplified", "traditional", "uk", "us"))
#: Punctuation of sentences, which no name has.
_SENTENCE = re.compile(r"\.(\s|\Z)|[!?\u2026\u3002\uff01\uff1f]|[,;:]\s")
_WORDS = re.compile(r"[^\W\d_]+")
_NUMBERED = re.compile(r"([^\W\d]+)[ -]?([12])")
_CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{2,4}))?")


class Meaning(NamedTuple):
    """Meaning of a name: the side ("source", "target"), the code of a language, and True if it only means text."""

    side: str | None = None
    language: str | None = None
    is_plain: bool = False


class Choice(NamedTuple):
    """Indices of the source and of the target among the names, and their languages as far as the names say them."""

    source: int
    target: int
    languages: Languages
    #: The reason, if the table has the target first.
    swapped_by: str | None = None


@cache
def _code_of() -> Mapping[str, str]:
    """Return codes by names of languages in English, in the language itself and, for the most frequent, in others."""
    lines = Path(__file__).with_name("language_names.txt").read_text(encoding="utf-8").splitlines()
    return {name: code for line in lines for code, *names in [line.split()] for name in names}


@cache
def _codes() -> frozenset[str]:
    return KNOWN_CODES | frozenset(_code_of().values())


def language_code(text: str) -> str | None:
    """Return a code such as EN, en-US or zho_Hans in its usual spelling; None if the text is no code.

    >>> [language_code(text) for text in ("EN", "de_DE", "eng", "Hello", "ab")]
    ['en', 'de_DE', 'eng', None, None]
    """
    match = _CODE.fullmatch(text.strip())
    if match is None or match[1].lower() not in _codes():
        return None
    code = match[1].lower()
    return code + text.strip()[len(code) :]


def meaning(name: str, requested: Sequence[str | None] = (), *, ambiguous: bool = False) -> Meaning:
    """Return the meaning of a column's name.

    Args:
        requested: further codes of languages.
        ambiguous: read `id`, `mt` and `no` as Indonesian, Maltese and Norwegian.

    >>> [tuple(meaning(name)) for name in ("English sentence", "src_text", "sourceLang")]
    [(None, 'en', False), ('source', None, False), (None, None, False)]
    """
    name = name.strip().strip("\ufeff\"'#")
    code = name if name in requested else language_code(name)
    if code is not None and (code not in _AMBIGUOUS or ambiguous or code in requested):
        return Meaning(language=code)
    whole = _code_of().get(name.casefold())
    if whole is not None:
        return Meaning(language=whole)
    words = [word.casefold() for word in _WORDS.findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))]
    rest = [word for word in words if word not in _PLAIN]
    sides = [_SIDE_OF[word] for word in rest if word in _SIDE_OF]
    languages = [code for word in rest if word not in _SIDE_OF and (code := _language(word, requested)) is not None]
    n_known = len(sides) + len(languages) + sum(word in _REGIONS for word in rest)
    if not words or _SENTENCE.search(name) or len(set(sides)) > 1 or len(languages) > 1 or n_known < len(rest):
        return Meaning()
    return Meaning(sides[0] if sides else None, languages[0] if languages else None, not rest)


def choose_by_name(names: Sequence[str], requested: Languages, path: Path | str | None = None) -> Choice | None:
    """Find the two sides of a pair among the names of columns; None if the names do not say them.

    Args:
        path: the file, for messages.

    Raises:
        ConfigError: they contradict the requested languages, or name more than two.
    """
    for ambiguous in (False, True):
        meanings = [meaning(name, requested, ambiguous=ambiguous) for name in names]
        choice = _by_side(meanings, requested, path) or _by_language(meanings, requested, path) or _by_rest(meanings)
        if choice is not None:
            return choice
    return _by_number(names)


def are_names(cells: Sequence[str]) -> bool:
    """Return True if cells name two sides of a pair, or more than two languages."""
    try:
        return len(cells) > 1 and choose_by_name(cells, (None, None)) is not None
    except ConfigError:
        return True


def same_language(first: str, second: str) -> bool:
    """Return True if two codes are of one language, perhaps in two regions."""
    return base_language(first) == base_language(second)


def is_swapped(languages: Languages, requested: Languages) -> bool | None:
    """Return True if languages are in the opposite order of the requested ones; None if they contradict these."""
    if _fit(languages, requested):
        return False
    return True if _fit(languages[::-1], requested) else None


def must_swap(file: str, languages: Languages, requested: Languages, path: Path) -> bool:
    """Return True if the languages of a file are in the opposite order of the requested ones.

    Args:
        file: its name in the error, such as "file" or "catalogue".

    Raises:
        ConfigError: it is of other languages.
    """
    swapped = is_swapped(languages, requested)
    if swapped is None:
        known, wanted = (" to ".join(code or "any language" for code in codes) for codes in (languages, requested))
        advice = f"give the languages of the {file}: --source-lang and --target-lang"
        raise ConfigError(f"the {file} is from {known}, and {wanted} is asked for", path, advice=advice)
    return swapped


def contradiction(path: Path | str | None, languages: Sequence[str | None], requested: Languages) -> ConfigError:
    """Return an error: the columns are of other languages than those requested."""
    actual, direction = ", ".join(filter(None, languages)), " to ".join(code or "any language" for code in requested)
    advice = "give the languages that are there (--source-lang, --target-lang), or other columns (--columns)"
    return ConfigError(f"the columns are {actual}, and {direction} is asked for", path, advice=advice)


def _fit(languages: Languages, requested: Languages) -> bool:
    pairs = zip(languages, requested, strict=True)
    return all(one is None or other is None or same_language(one, other) for one, other in pairs)


def _language(word: str, requested: Sequence[str | None]) -> str | None:
    is_code = (word in requested or word in _codes()) and word not in _AMBIGUOUS and word not in _REGIONS
    return word if is_code else _code_of().get(word)


def _by_side(meanings: Sequence[Meaning], requested: Languages, path: Path | str | None) -> Choice | None:
    """Return one column named source and one named target."""
    columns = [[at for at, name in enumerate(meanings) if name.side == side] for side in ("source", "target")]
    if [len(side) for side in columns] != [1, 1]:
        return None
    (source,), (target,) = columns
    languages = meanings[source].language, meanings[target].language
    swapped = is_swapped(languages, requested)
    if swapped is None:
        raise contradiction(path, languages, requested)
    return Choice(target, source, languages[::-1], "the header") if swapped else Choice(source, target, languages)


def _by_language(meanings: Sequence[Meaning], requested: Languages, path: Path | str | None) -> Choice | None:
    """Return two columns named after two languages: the requested ones, else in the order of the table."""
    columns = [at for at, name in enumerate(meanings) if name.language is not None]
    codes = [meanings[at].language or "" for at in columns]
    if len({base_language(code) for code in codes}) < 2:
        return None
    chosen = [None if code is None else _column(code, columns, codes) for code in requested]
    rest = [at for at in columns if at not in chosen]
    if any(code is not None and at is None for code, at in zip(requested, chosen, strict=True)):
        raise contradiction(path, codes, requested)
    if len(rest) > 2 - sum(at is not None for at in chosen) and None in chosen:
        advice = "say which two: --source-lang and --target-lang, or --columns"
        raise ConfigError(f"the columns are of more than two languages ({', '.join(codes)})", path, advice=advice)
    source, target = (rest.pop(0) if at is None else at for at in chosen)
    swapped_by = "the header" if source > target else None
    return Choice(source, target, (meanings[source].language, meanings[target].language), swapped_by)


def _column(code: str, columns: Sequence[int], codes: Sequence[str]) -> int | None:
    """Return the column of a language: of the same code, else of one with another region."""
    exact = [at for at, other in zip(columns, codes, strict=True) if other.lower() == code.lower()]
    regional = [at for at, other in zip(columns, codes, strict=True) if same_language(other, code)]
    return next(iter([*exact, *regional]), None)


def _by_rest(meanings: Sequence[Meaning]) -> Choice | None:
    """Return a column named after a side, and one named after a language or text: ("sentence", "translation")."""
    sides = [at for at, name in enumerate(meanings) if name.side is not None]
    others = [at for at, name in enumerate(meanings) if name.side is None and (name.language or name.is_plain)]
    if len(sides) != 1 or len(others) != 1:
        return None
    is_source = meanings[sides[0]].side == "source"
    source, target = (sides[0], others[0]) if is_source else (others[0], sides[0])
    return Choice(source, target, (meanings[source].language, meanings[target].language))


def _by_number(names: Sequence[str]) -> Choice | None:
    """Return two columns of one name with the numbers 1 and 2: ("sentence1", "sentence2")."""
    columns = {match.groups(): at for at, name in enumerate(names) if (match := _NUMBERED.fullmatch(name.strip()))}
    pairs = [
        (at, columns[stem, "2"]) for (stem, number), at in columns.items() if number == "1" and (stem, "2") in columns
    ]
    return Choice(*pairs[0], (None, None)) if len(pairs) == 1 else None
