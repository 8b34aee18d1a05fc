"""Typing errors in a source: two letters swapped, one doubled, or one of two equal letters missing.

A word that the training text lacks is read as the known word that differs from it by one such error ("hbae" -> "habe").
Damerau 1964, "A technique for computer detection and correction of spelling errors", reads errors of one letter so, and
Norvig's "How to Write a Spelling Corrector" prefers frequent words. Known words never change. Most unknown words are
right: names, compounds, inflected forms, rare words such as "prefect". So the known word must be frequent, and the more
so, the shorter the unknown one is and the more words have its letters in a row. A first letter is seldom typed wrong
(Pollock and Zamora 1983, "Collection and characterization of spelling errors in scientific and scholarly text"), and a
word with a capital may be a name: both need more evidence. Other wrong, missing or additional letters are not mended:
on validation text, that changed more right words than wrong ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dragoman.text.cleaning import clean
from dragoman.text.languages import base_language
from dragoman.text.shouting import rewrite_words

#: Letters of the longest word that is looked at.
LONGEST = 40
#: A word without apostrophes: not a part of a name of code, an address, a number or the like.
WORD = re.compile(rf"(?<![\w@#$%&/\\=.])[^\W\d_]{{3,{LONGEST}}}(?![\w@/\\=(]|[.:]\w)")
#: What stands before a word inside a sentence, where a capital tells a name, or a German noun.
_INSIDE = re.compile(r"[\w,;] \Z")
#: Letters in a row that are counted, and how many such rows of a word, the rarest ones, show that it is unusual.
_ROW, _RAREST = 3, 2
#: A known word must be so many times as frequent as any other; powers of two.
_CLEARLY = 3
_NEVER = 99
#: The least evidence (`KnownWords._evidence`) for an error in a word of 3 to 9 and more letters: two that are swapped,
#: or one that is written twice or once by error. Chosen by word lists of spelling checkers and lists of first names.
_SWAPPED, _DOUBLED = (13, 5, 3, 0, -1, -2, -4), (_NEVER, _NEVER, 4, 1, 1, 1, 1)
#: How much more it must be for another first letter, and for a word with a capital.
_FIRST_LETTER, _CAPITAL = 1, 3
#: Characters of a text before a word that are looked at.
_BEFORE = 2
#: The least level of an ordinary word. Less frequent ones in small letters may be a name in other texts: "baker".
_ORDINARY = 3


def is_inside(match: re.Match[str]) -> bool:
    """Return True for a match of `WORD` inside a sentence, not at its beginning or after a mark such as a quote."""
    return _INSIDE.search(match.string[max(0, match.start() - _BEFORE) : match.start()]) is not None


@dataclass(frozen=True)
class KnownWords:
    """The words of a language, in small letters, that a model has learned from."""

    #: Of each word, the power of two of the times that it was seen, rounded down.
    levels: Mapping[str, int]
    #: Those that have a capital inside sentences, mostly.
    capitalized: Collection[str] = frozenset()

    def is_ordinary(self, word: str) -> bool:
        """Return True for a frequent word that is mostly written in small letters, in any case: "President"."""
        small = word.lower()
        return self.levels.get(small, 0) >= _ORDINARY and small not in self.capitalized

    def repaired(self, text: str, spared: Collection[str] = ()) -> str:
        """Return a text without typing errors in words, except in addresses and the like.

        Args:
            spared: words in small letters that stay.
        """

        def written(_: int, match: re.Match[str]) -> str:
            word = match[0]
            small = word.lower()
            if small in self.levels or small in spared or word[1:] != small[1:] or len(small) != len(word):
                return word
            has_capital = word != small
            found = self._meant(small, may_be_name=has_capital)
            if found is None or (has_capital and found not in self.capitalized and is_inside(match)):
                return word
            return found[0].upper() + found[1:] if has_capital else found

        return rewrite_words(text, written, WORD)

    def _meant(self, word: str, *, may_be_name: bool) -> str | None:
        """Return the known word that an unknown one in small letters stands for, if that is clear.

        A word that may be a name must have more unusual letters: "Marco" is not "Macro".
        """
        levels = {each: self.levels[each] for each in _one_error_away(word) if each in self.levels}
        if not levels:
            return None
        best = max(levels, key=lambda each: (levels[each], each))
        if any(levels[best] < level + _CLEARLY for each, level in levels.items() if each != best):
            return None
        least = _SWAPPED if len(best) == len(word) else _DOUBLED
        needed = least[min(len(word) - 3, len(least) - 1)] + _FIRST_LETTER * (best[0] != word[0])
        return best if self._evidence(best, word) >= needed + _CAPITAL * may_be_name else None

    def _evidence(self, known: str, word: str) -> int:
        """Return the level of a known word, less the bits of the counts of another's rarest letters in a row."""
        counts = sorted(self._counts[row] for row in _rows(word))
        return self.levels[known] - sum(count.bit_length() for count in counts[:_RAREST])

    @cached_property
    def _counts(self) -> Counter[str]:
        """Counts of letters in a row in the words that were seen twice or more: those seen once may have errors."""
        return Counter(row for word, level in self.levels.items() if level for row in _rows(word))


def _rows(word: str) -> list[str]:
    """Return the letters in a row of a word, with spaces around it."""
    written = f" {word} "
    return [written[place : place + _ROW] for place in range(len(written) + 1 - _ROW)]


def _one_error_away(word: str) -> Iterator[str]:
    """Yield the words with two letters swapped, one left out that repeats the one before it, or one written twice."""
    for place in range(len(word) - 1):
        one, other = word[place], word[place + 1]
        if one != other:
            yield word[:place] + other + one + word[place + 2 :]
        else:
            yield word[:place] + word[place + 1 :]
    for place in range(len(word)):
        yield word[: place + 1] + word[place:]


@dataclass(frozen=True)
class Spelling:
    """The known words of each language that a model has learned from, by its code."""

    languages: Mapping[str, KnownWords] = field(default_factory=dict)

    def knows(self, language: str) -> bool:
        """Return True if words of a language are known."""
        return base_language(language) in self.languages

    def is_ordinary(self, word: str, language: str) -> bool:
        """Return True for a frequent word of a language that is mostly written in small letters."""
        known = self.languages.get(base_language(language))
        return known is not None and known.is_ordinary(word)

    def repaired(self, text: str, language: str, spared: Collection[str] = ()) -> str:
        """Return a text without typing errors; as it is, if no words of its language are known.

        Args:
            language: its code.
            spared: words in small letters that stay.
        """
        known = self.languages.get(base_language(language))
        return text if known is None else known.repaired(text, spared)

    def with_words(self, texts: Mapping[str, str]) -> Spelling:
        """Return the spelling that also knows the words of texts, by the codes of their languages."""
        languages = dict(self.languages)
        for language, text in texts.items():
            if (known := languages.get(base := base_language(language))) is not None:
                new = {match[0].lower(): 0 for match in WORD.finditer(clean(text))}
                languages[base] = KnownWords({**new, **known.levels}, known.capitalized)
        return Spelling(languages)
