"""Learn the words of a language from text, for `dragoman.text.spelling`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from dragoman.text.cleaning import clean
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.spelling import WORD, KnownWords, Spelling, is_inside

#: Words of a language at most, and of all languages together.
MOST_WORDS, MOST_OF_ALL = 100_000, 500_000


class WordCounts:
    """Words of a language, counted in text."""

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._with_capital: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Count the words of a text."""
        for match in WORD.finditer(clean(text)):
            word = match[0]
            small = word.lower()
            if len(small) != len(word) or not small.isalpha() or small == small.upper():  # a script without capitals
                continue
            self._words[small] += 1
            if is_inside(match):
                self._inside[small] += 1
                self._with_capital[small] += word[0] != small[0]

    def known(self, most: int) -> KnownWords:
        """Return the most frequent words; of equally frequent ones, the first in the order of their characters."""
        chosen = sorted(self._words.items(), key=lambda item: (-item[1], item[0]))[:most]
        levels = {word: count.bit_length() - 1 for word, count in chosen}
        capitalized = {word for word in levels if 2 * self._with_capital[word] > self._inside[word]}
        return KnownWords(levels, frozenset(capitalized))


def learn_spelling(texts: Mapping[str, Iterable[str]]) -> Spelling:
    """Return the words of texts, by the codes of their languages; none for scripts without spaces or capitals."""
    counts: dict[str, WordCounts] = {}
    for language, lines in texts.items():
        base = base_language(language)
        if base not in WITHOUT_SPACES:
            own = counts.setdefault(base, WordCounts())
            for line in lines:
                own.add(line)
    most = min(MOST_WORDS, MOST_OF_ALL // max(1, len(counts)))
    found = {language: own.known(most) for language, own in sorted(counts.items())}
    return Spelling({language: known for language, known in found.items() if known.levels})
