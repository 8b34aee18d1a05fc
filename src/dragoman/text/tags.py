"""Names that stand for no text: language tags before a source, and reserved pieces for what must be copied.

A tag says what to translate into, or what kind of text a source is (Johnson et al. 2017, "Google's Multilingual Neural
Machine Translation System", section 3). It is read only at the beginning of a source; elsewhere it is text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import permutations

from dragoman.errors import ConfigError, some_of
from dragoman.settings.text_origin import LANGUAGE_CODE

#: A translator's directions are (source language, target language).
Direction = tuple[str, str]
#: The code of a side that has several languages (ISO 639-2), and that of a language that nobody named.
SEVERAL, UNKNOWN = "mul", "und"
#: Directions of the largest model that is learned, of the longest list that `tokenizer.json` has room for, and of the
#: largest model that is read, which translates between all of its languages: NLLB-200 has 40,000.
MOST_LEARNED, MOST_NAMED, MOST_DIRECTIONS = 1_000, 4_000, 100_000

#: Directions that a line lists.
_MOST_LISTED = 12

TAG = re.compile(r">>[^\s<>]+<<")
_TAG_AND_SPACE = re.compile(rf"({TAG.pattern})\s*")
_NAME = re.compile(r"[^\s<>]{1,32}")


def target_tag(code: str) -> str:
    """Return the tag of a language to translate into, or of a kind of text.

    >>> target_tag("de")
    '>>de<<'
    """
    return f">>{code}<<"


def with_tag(tag: str, text: str) -> str:
    """Return a source that begins with a tag.

    >>> with_tag(">>de<<", "A man.")
    '>>de<< A man.'
    """
    return f"{tag} {text}"


def split_tags(text: str, known: Collection[str]) -> tuple[tuple[str, ...], str]:
    """Return the known tags that a text begins with, and the rest of the text.

    >>> split_tags(">>de<< >>bt<< A >>de<< man.", {">>de<<", ">>bt<<"})
    (('>>de<<', '>>bt<<'), 'A >>de<< man.')
    """
    tags: list[str] = []
    end = len(text) - len(text.lstrip())
    while (match := _TAG_AND_SPACE.match(text, end)) is not None and match[1] in known:
        tags.append(match[1])
        end = match.end()
    return (tuple(tags), text[end:]) if tags else ((), text)


def without_tags(text: str, known: Collection[str]) -> str:
    """Return a text that no known tag is read from: with a space in one that it begins with.

    >>> without_tags(">>de<< is a tag.", {">>de<<"})
    '>> de<< is a tag.'
    """
    match = TAG.match(text, len(text) - len(text.lstrip()))
    return text.replace(">>", ">> ", 1) if match is not None and match[0] in known else text


@lru_cache(maxsize=16)
def reserved_names(count: int) -> tuple[str, ...]:
    """Return the first reserved pieces: a number in mathematical angle brackets.

    >>> reserved_names(2)
    ('⟨1⟩', '⟨2⟩')
    """
    return tuple(f"⟨{number}⟩" for number in range(1, count + 1))


def target_languages(directions: Iterable[Direction]) -> tuple[str, ...]:
    """Return each target language once, in the order of the directions."""
    return tuple(dict.fromkeys(target for _, target in directions))


def list_languages(directions: Iterable[Direction]) -> tuple[str, ...]:
    """Return each language once, in the order in which they first appear."""
    return tuple(dict.fromkeys(code for direction in directions for code in direction))


def all_directions(languages: Iterable[str]) -> tuple[Direction, ...]:
    """Return the directions from each language to each other one."""
    return tuple(permutations(languages, 2))


def _are_all(directions: Collection[Direction]) -> bool:
    """Return True for the directions from each of some languages to each other one."""
    n_languages = len(list_languages(directions))
    return (
        len({pair for pair in directions if pair[0] != pair[1]}) == len(directions) == n_languages * (n_languages - 1)
    )


def describe_directions(directions: Sequence[Direction]) -> str:
    """Return the directions in one line.

    >>> describe_directions([("en", "de"), ("de", "en")])
    'en to de, de to en'
    >>> describe_directions([(source, target) for source in "abcdef" for target in "abcdef" if source != target])
    'between all of a, b, c, d, e, f'
    """
    languages = list_languages(directions)
    if len(directions) > _MOST_LISTED and _are_all(directions):
        return f"between all of {some_of(languages, _MOST_LISTED)}"
    return some_of([f"{source} to {target}" for source, target in directions], _MOST_LISTED)


def require_directions(directions: Collection[Direction], most: int = MOST_DIRECTIONS) -> None:
    """Check the directions of a translator, at most `most`.

    Raises:
        ConfigError: there are none, too many, one twice, or a code that is none, or that no tag can be made of.
    """
    if not 1 <= len(directions) <= most:
        problem = f"{len(directions):,} directions, but a model has 1 to {most:,}"
        raise ConfigError(problem, advice="train several models")
    if len(set(directions)) < len(directions):
        raise ConfigError("a direction is there twice", advice="give each once")
    if len(directions) > MOST_NAMED and not _are_all(directions):
        problem = f"{len(directions):,} directions, but a model has up to {MOST_NAMED:,}, or all between its languages"
        raise ConfigError(problem, advice="name its source or its target language")
    for code in (code for direction in directions for code in direction):
        if not LANGUAGE_CODE.fullmatch(code):
            raise ConfigError(f"{code!r} is no language code", advice="use ISO 639's, such as en, de or zh")
        if len(directions) > 1 and code in (SEVERAL, UNKNOWN):
            problem = f"a model of several directions needs the language of each text, not {code!r}"
            raise ConfigError(problem, advice="give source_lang and target_lang")


def require_tag_names(names: Iterable[str]) -> None:
    """Check the names of tags for kinds of text, such as "bt" for back-translated text.

    Raises:
        ConfigError: one has white space, angle brackets, more than 32 characters or none.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} cannot be the name of a tag", advice="use a word without angle brackets")
