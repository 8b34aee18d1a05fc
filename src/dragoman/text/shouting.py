"""Capitals: how a text with them is read, and how its translation is written.

Models see few capitals in training, and cut a word in capitals into many rare pieces. So a text in capitals is read as
a sentence in small letters, and its translation is written in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from dragoman.text.languages import base_language
from dragoman.text.sentences import sentence_spans
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.tags import UNKNOWN

#: Most letters that are no capitals, as a share of all: "IT'S 5 km TO GO".
_MOST_OTHERS = 0.1
#: Fewest letters in capitals, of several words and of one word: "UNESCO" and "TV" are names.
_FEWEST_LETTERS, _FEWEST_OF_ONE = 5, 7
#: Fewest letters of one word with an exclamation mark: "HELP!"
_FEWEST_EXCLAIMED = 3
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_WORD_CHARACTER = re.compile(r"\w")
#: Languages whose small i has a dot when it is a capital, too.
_DOTTED = ("tr", "az")


def is_shouted(text: str) -> bool:
    """Return True if the letters of a text are capitals, and it is no short name. Addresses and the like do not count.

    >>> [is_shouted(text) for text in ("PLEASE CALL ME", "PLEASE don't", "NATO", "NASA说", "SEND IT TO {name}!")]
    [True, False, False, False, True]
    """
    if sum(map(str.isupper, text)) < _FEWEST_EXCLAIMED:
        return False
    parts = (part for _, part, is_verbatim in _parts(text) if not is_verbatim)
    letters = [letter for part in parts for letter in part if letter.isalpha()]
    n_capitals = sum(map(str.isupper, letters))
    if n_capitals < (1 - _MOST_OTHERS) * len(letters):
        return False
    if len(_WORD.findall(text)) > 1:
        return n_capitals >= _FEWEST_LETTERS
    return n_capitals >= (_FEWEST_EXCLAIMED if _is_exclaimed(text) else _FEWEST_OF_ONE)


def _is_exclaimed(text: str) -> bool:
    last = _WORD_CHARACTER.split(text)[-1]
    return "!" in last or "！" in last


def calm(text: str, language: str, cost: Callable[[str], int]) -> str:
    """Return a text in capitals as a sentence, except addresses and the like.

    A word keeps its capitals, or the first one, if it costs less so than in small letters: names, German nouns.

    Args:
        language: the code of its language; "und" is read as English.
        cost: of a word: the number of its pieces.
    """
    starts = {match.start() for start, end in sentence_spans(text) if (match := _WORD.search(text, start, end))}

    def rewritten(offset: int, match: re.Match[str]) -> str:
        word = match[0]
        small = _lower(word, language)
        capital = word[0] + small[1:] if len(small) == len(word) else small.capitalize()
        forms = [small, capital, word]
        if base_language(language) == "de" and "ss" in small:  # STRASSE
            forms += [small.replace("ss", "ß"), capital.replace("ss", "ß")]
        is_pronoun = base_language(language) in ("en", UNKNOWN) and re.match(r"i(?:['’]|\Z)", small) is not None
        best = capital if is_pronoun else min(forms, key=cost)
        is_first = match.start() + offset in starts
        return best[0].upper() + best[1:] if is_first and best[0] != "ß" else best

    return _rewritten(text, rewritten)


def shout(text: str, language: str) -> str:
    """Return a text in capitals, except addresses and the like, and text of a script without them."""
    n_letters = sum(map(str.isalpha, text))
    if 2 * sum(letter.lower() != letter.upper() for letter in text) < n_letters:
        return text
    return _rewritten(text, lambda _, match: _upper(match[0], language))


def _rewritten(text: str, rewrite: Callable[[int, re.Match[str]], str]) -> str:
    """Return a text with its words rewritten, except in addresses and the like.

    Args:
        rewrite: returns a word, given the offset of the part of the text that was searched, and the word's match there.
    """
    written = []
    for offset, part, is_verbatim in _parts(text):
        written.append(part if is_verbatim else _WORD.sub(partial(rewrite, offset), part))
    return "".join(written)


def _parts(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield (offset, text, is_verbatim) of each part of a text: addresses and the like, and the stretches between."""
    end = 0
    for span in find_spans(text):
        if span.kind in VERBATIM:
            yield end, text[end : span.start], False
            yield span.start, text[span.start : span.end], True
            end = span.end
    yield end, text[end:], False


def _lower(text: str, language: str) -> str:
    is_dotted = base_language(language) in _DOTTED
    return (text.replace("I", "ı").replace("İ", "i") if is_dotted else text).lower()


def _upper(text: str, language: str) -> str:
    code = base_language(language)
    if code == "de":
        text = text.replace("ß", "ẞ")
    return (text.replace("i", "İ") if code in _DOTTED else text).upper()
