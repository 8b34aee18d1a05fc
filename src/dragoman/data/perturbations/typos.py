"""Typing errors: letters swapped, left out, doubled, or replaced by a neighbour on the keyboard.

A run of Chinese characters counts as a word, so its neighbours may be swapped too.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import UNSPACED

#: Two letters or more of scripts with spaces, or without.
_WORD = re.compile(rf"[^\W\d_{UNSPACED}]{{2,}}|(?:(?=[{UNSPACED}])[^\W\d_]){{2,}}")
_UNSPACED = re.compile(f"[{UNSPACED}]")
#: Letters beside each other on a keyboard; some layouts have them elsewhere, which does no harm.
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    letter: row[max(0, index - 1) : index] + row[index + 1 : index + 2]
    for row in _ROWS
    for index, letter in enumerate(row)
}


def swap_letters(text: str, generator: Generator) -> str:
    """Return the text with two neighbouring letters of one word swapped; capitals stay where they are.

    Each pair of different neighbours is equally likely.
    """
    places = [
        place
        for word in _WORD.finditer(text)
        for place in range(word.start(), word.end() - 1)
        if text[place].lower() != text[place + 1].lower()
    ]
    if not places:
        return text
    place = pick(places, generator)
    return text[:place] + _swapped(text[place], text[place + 1]) + text[place + 2 :]


def _swapped(first: str, second: str) -> str:
    """Return two letters in the other order; a capital that begins a word still begins it."""
    has_capital = first.isupper() and second.islower()
    if has_capital and (second.upper().lower(), first.lower().upper()) == (second, first):
        return second.upper() + first.lower()
    return second + first


def mistype(text: str, generator: Generator, spared: Collection[str] = ()) -> str:
    """Return the text with a typing error in one word of at least four letters, or two Chinese characters.

    Args:
        spared: words that stay.
    """
    words = [word for word in _WORD.finditer(text) if _is_long(word[0]) and word[0] not in spared]
    if not words:
        return text
    word = pick(words, generator)
    return text[: word.start()] + _mistyped(word[0], generator) + text[word.end() :]


def _is_long(word: str) -> bool:
    return len(word) >= 4 or _UNSPACED.match(word) is not None


def _mistyped(word: str, generator: Generator) -> str:
    chance = generator.random()
    if chance < 0.5:
        return swap_letters(word, generator)
    place = int(generator.integers(len(word)))
    letter = word[place]
    if chance < 0.7:
        return word[:place] + word[place + 1 :]
    neighbours = _NEIGHBOURS.get(letter, "")
    if chance < 0.85 or not neighbours:
        return word[:place] + letter + word[place:]
    return word[:place] + pick(neighbours, generator) + word[place + 1 :]
