"""Typing errors in a source: two letters swapped, one doubled, or one of two equal letters missing.

A word that the training text lacks is read as the known word that differs from it by one such error ("hbae" -> "habe").
Damerau 1964, "A technique for computer detection and correction of spelling errors", reads errors of one letter so, and
Norvig's "How to Write a Spelling Corrector" prefers frequent words. Known words never change. Most unknown words are
right: names, compounds, inflected forms. So the known word must be frequent, and the more so the shorter it is; less so
if the unknown one has letters in a row that hardly any word has. Other wrong, missing or additional letters are not
mended: on validation text, that changed more right words than wrong ones.
"""

from __future__ import annotations

import re
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
#: Letters in a row that show an error if hardly a word has them, and the most words that may.
_ROW, _FEW_WORDS = 3, 2
#: A known word must be so many times as frequent as any other; powers of two.
_CLEARLY = 3
_NEVER = 99
#: How often a known word must have been seen at least, by the letters of the unknown one from 3 to 9 and more, in
#: powers of two: for letters that are swapped or doubled, and for each if the unknown word has unusual letters.
_SWAPPED, _SWAPPED_ODDLY = (12, 10, 8, 6, 5, 4, 3), (12, 3, 3, 3, 2, 2, 2)
_DOUBLED, _DOUBLED_ODDLY = (_NEVER, _NEVER, _NEVER, _NEVER, 9, 7, 6), (_NEVER, _NEVER, 6, 4, 3, 3, 3)
#: Characters of a text before a word that are looked at.
_BEFORE = 2


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

        A word that may be a name must have unusual letters: "Marco" is not "Macro".
        """
        levels = {each: self.levels[each] for each in _one_error_away(word) if each in self.levels}
        if not levels:
            return None
        best = max(levels, key=lambda each: (levels[each], each))
        if any(levels[best] < level + _CLEARLY for each, level in levels.items() if each != best):
            return None
        plain, odd = (_SWAPPED, _SWAPPED_ODDLY) if len(best) == len(word) else (_DOUBLED, _DOUBLED_ODDLY)
        place = min(len(word) - 3, len(plain) - 1)
        is_frequent = not may_be_name and levels[best] >= plain[place]
        return best if is_frequent or (levels[best] >= odd[place] and self._is_odd(word)) else None

    def _is_odd(self, word: str) -> bool:
        """Return True if hardly a known word has all the letters in a row of this one."""
        written = f" {word} "
        return any(self._is_rare(written[place : place + _ROW]) for place in range(len(word) + 3 - _ROW))

    def _is_rare(self, letters: str) -> bool:
        place = -1
        for _ in range(_FEW_WORDS + 1):
            place = self._joined.find(letters, place + 1)
            if place < 0:
                return True
        return False

    @cached_property
    def _joined(self) -> str:
        """The words that were seen twice or more: those that were seen once may have errors themselves."""
        return f" {' '.join(word for word, level in self.levels.items() if level)} "


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
