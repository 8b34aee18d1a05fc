"""Faults that a score hides: unknown words, words left in the source language, repetitions, lost numbers and negations.

Each is a count out of another count, so that counts of several sets can be added. People's translations have some, too:
benchmarks/real_text.py counts them in the references as well, and what a system has more of is its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache

from real_text_words import dictionary, is_unspaced, longest_part, n_words, read_table, words

from dragoman.text.languages import WITHOUT_SPACES

#: Counted faults, in the order of the tables.
FAULTS = ("unknown", "left", "bad", "numbers", "negations")
#: (found, out of); out of 0 means that nothing could be counted.
Count = tuple[int, int]
_NUMBER = re.compile(r"\d+(?:[\u00a0\u202f ]\d{3}(?!\d)|[.,:'’\u066b\u066c]\d+)*")
_REPEATED = re.compile(r" (\S+(?: \S+)+)(?: \1)+ | (\S+)(?: \2){2,} ")
_REPEATED_CHARACTERS = re.compile(r"(\w{3,})\1|(\w{1,2})\2{3,}")


def faults(sources: Sequence[str], outputs: Sequence[str], direction: tuple[str, str]) -> dict[str, Count]:
    """Return the number of each fault, and out of how many words, lines, numbers or negated sources."""
    source, target = direction
    pairs = list(zip(sources, outputs, strict=True))
    bad = [not output.strip() or (repeats(output, target) and not repeats(text, source)) for text, output in pairs]
    found = [lost_numbers(*pair) for pair in pairs]
    negated = [has_negation(output, target) for text, output in pairs if is_negated(text, source)]
    can_negate = {source, target} <= negations().keys()
    return {
        **wrong_words(pairs, direction),
        "bad": (sum(bad), len(bad)),
        "numbers": (sum(lost for lost, _ in found), sum(of for _, of in found)),
        "negations": (negated.count(False), len(negated)) if can_negate else (0, 0),
    }


def added(counts: Sequence[Mapping[str, Count]]) -> dict[str, Count]:
    """Return the sums of several counts."""
    return {name: (sum(each[name][0] for each in counts), sum(each[name][1] for each in counts)) for name in FAULTS}


def wrong_words(pairs: Sequence[tuple[str, str]], direction: tuple[str, str]) -> dict[str, Count]:
    """Return how many words are unknown, and how many are left in the source language, out of all words.

    A word that the target's dictionary lacks is unknown if it does not stand in the source. If it does, it is left, or
    a name: left, if the source's dictionary has it in small letters. (Where nouns have capitals, names count, too.)
    Chinese needs no dictionary: into Chinese, all words of letters are looked at; from Chinese, all its characters.
    """
    own, others = dictionary(direction[1]), dictionary(direction[0])
    has_characters = [language in WITHOUT_SPACES for language in direction]
    total = sum(n_words(output, direction[1]) for _, output in pairs)
    written = [[word for word in words(output) if len(word) > 1 or is_unspaced(word)] for _, output in pairs]
    if has_characters[1]:
        written = [[word for word in line if not is_unspaced(word)] for line in written]
    characters = {word for line in written for word in line if is_unspaced(word)}
    lacking = {word for line in written for word in line} - characters
    if not has_characters[1]:
        lacking = set() if own is None else own.unknown(lacking)
    left_words = characters | (set() if others is None else others.known(lacking))
    unknown = left = 0
    for (text, _), line in zip(pairs, written, strict=True):
        there = standing(text)
        for word in line:
            if word in characters or word in lacking:
                stands = word in text if word in characters else there & standing(word)
                unknown += not stands
                left += bool(stands) and word in left_words
    is_countable = own is not None or has_characters[1]
    return {
        "unknown": (unknown, total) if is_countable else (0, 0),
        "left": (left, total) if is_countable and (others is not None or has_characters[0]) else (0, 0),
    }


def standing(text: str) -> set[str]:
    """Return the words of a text, and the longest part of those with apostrophes, without capitals."""
    return {part.casefold() for word in words(text) for part in (word, longest_part(word))}


def repeats(text: str, language: str) -> bool:
    """Return True if two or more words (Chinese: three characters) stand twice in a row, or one word three times."""
    if language in WITHOUT_SPACES:
        return _REPEATED_CHARACTERS.search(text) is not None
    spaced = " ".join(re.findall(r"[^\W_]+", text.casefold()))
    return _REPEATED.search(f" {spaced} ") is not None


def lost_numbers(source: str, output: str) -> Count:
    """Return how many numbers of a source are missing, and of how many; separators do not count.

    A number is there if its digits are, together or, like those of a time, in parts.
    """
    wanted, found = numbers(source), numbers(output)
    wholes, parts = {"".join(each) for each in found}, {part for each in found for part in each}
    lost = [each for each in wanted if "".join(each) not in wholes and not set(each) <= parts]
    return len(lost), len(wanted)


def numbers(text: str) -> list[tuple[str, ...]]:
    """Return the numbers of a text, each as its groups of digits."""
    plain = "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else each for each in unicodedata.normalize("NFKC", text)
    )
    return [tuple(re.findall(r"\d+", number)) for number in _NUMBER.findall(plain)]


@cache
def negations() -> dict[str, dict[tuple[str, str], list[str]]]:
    """Return the forms of each side and kind for each language: real_text/negations.tsv."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for language, side, kind, form in read_table("negations.tsv"):
        found.setdefault(language, {}).setdefault((side, kind), []).append(form)
    return found


def is_negated(source: str, language: str) -> bool:
    """Return True if a source has a word that always negates."""
    return _has_form(source, language, ("both",))


def has_negation(output: str, language: str) -> bool:
    """Return True if a translation has a word that can negate."""
    return _has_form(output, language, ("both", "target"))


def _has_form(text: str, language: str, sides: Sequence[str]) -> bool:
    table = negations().get(language, {})
    forms = {
        kind: tuple(form for side in sides for form in table.get((side, kind), ()))
        for kind in ("word", "beginning", "ending", "part", "not")
    }
    for form in forms["not"]:
        text = text.replace(form, " ")
    return any(form in text for form in forms["part"]) or any(
        word in forms["word"] or word.startswith(forms["beginning"]) or word.endswith(forms["ending"])
        for word in map(str.lower, words(text))
    )


def share(count: Count) -> float | None:
    """Return a count in percent; None if nothing could be counted."""
    return 100 * count[0] / count[1] if count[1] else None
