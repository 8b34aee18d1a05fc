"""The names of a segment, and how a translation may write each."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from dragoman.text.known_names import name_groups
from dragoman.text.languages import UNSPACED
from dragoman.text.name_words import NameWord
from dragoman.translator.plans import TextPlan
from dragoman.translator.reading import Reading


class Name(NamedTuple):
    """A name as its source writes it, and the forms that a translation may write; none if it is to stay as it is."""

    text: str
    forms: tuple[str, ...] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the name in a translation, also in the genitive; in any case if it is to stay as it is."""
        forms = "|".join(map(re.escape, sorted(self.forms or [self.text], key=len, reverse=True)))
        flags = re.NOFLAG if self.forms else re.IGNORECASE
        return re.compile(rf"(?<![^\W{UNSPACED}])(?:{forms})(?:['’]?s|['’])?(?![^\W{UNSPACED}])", flags)

    def n_in(self, translation: str) -> int:
        """Return how often a translation has the name."""
        return len(self.pattern.findall(translation))

    def n_as_written(self, text: str) -> int:
        """Return how often a text has the name with the same capitals: "On" is no French "on"."""
        return sum(match[0].startswith(self.forms or self.text) for match in self.pattern.finditer(text))


def languages_of(text: TextPlan) -> tuple[str, str]:
    """Return the codes of the source and the target language."""
    return text.languages.pair


def names_in(text: TextPlan, reading: Reading) -> list[list[NameWord]]:
    """Return the words of a segment that may be names, in groups of neighbours. Words of terms are none."""
    terms = [(start, end) for start, end, _ in text.request.terms.find(reading.text)] if text.request.terms else ()
    return name_groups(reading.text, languages_of(text), terms)


def keeps_names(text: TextPlan, reading: Reading, translations: tuple[str, str]) -> bool:
    """Return True if a translation has all names that another has, and none more often than their source.

    A name with other forms may also be as often as in the other translation.

    Args:
        text, reading: the text of a segment, and what the model read.
        translations: of the segment: the other, and the translation.
    """
    (before, after), source = translations, reading.text
    words = [word for group in names_in(text, reading) for word in group]
    for name, count in Counter(Name(source[word.start : word.end], word.forms) for word in words).items():
        n_before = name.n_as_written(before)
        n_source = count if name.forms else name.n_as_written(source)
        most = max(count, n_before) if name.forms else name.n_in(source)
        if name.n_in(after) < min(n_before, n_source) or name.n_as_written(after) > most:
            return False
    return True
