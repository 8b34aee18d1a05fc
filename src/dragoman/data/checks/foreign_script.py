"""Text that is mostly in another script than its language, such as English where Chinese is due."""

from __future__ import annotations

import re

from dragoman.text.languages import UNSPACED, own_letters

_WORD = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]+")
#: A text is foreign with so many foreign words or characters, and so many times its own: a name is no reason.
_MIN_WORDS, _MIN_RATIO = 3, 2


class ForeignScript:
    """Finds texts that are mostly in another script than a language's.

    Args:
        language: its code; of an unknown language no text is foreign.
    """

    def __init__(self, language: str) -> None:
        letters = own_letters(language)
        self._is_own = None if letters is None else re.compile(f"[{letters}]").match
        #: Characters seen that belong to the language, or are no letters.
        self._own: set[str] = set()

    def has(self, text: str) -> bool:
        """Return True if the text is mostly in another script."""
        if self._is_own is None or self._own.issuperset(text):
            return False
        letters = {each for each in set(text) - self._own if each.isalpha() and not self._is_own(each)}
        self._own |= set(text) - letters
        if not letters:
            return False
        words = _WORD.findall(text)
        n_foreign = sum(word[0] in letters for word in words)
        return n_foreign >= _MIN_WORDS and n_foreign > _MIN_RATIO * (len(words) - n_foreign)
