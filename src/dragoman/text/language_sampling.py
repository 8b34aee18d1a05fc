"""Sentences of several languages to learn a vocabulary from, so that a small language has enough pieces.

A language with n sentences counts as n ** (1/5): temperature sampling (Arivazhagan et al. 2019, "Massively Multilingual
Neural Machine Translation in the Wild", section 4). Sentences of a large language are left out evenly, and those of a
small one are repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dragoman.text.cleaning import clean
from dragoman.text.sentence_pieces import SPACE, split_words
from dragoman.text.tags import Direction, split_tags

#: The temperature of sampling.
_TEMPERATURE = 5
#: Characters seen less often become bytes: a model cannot learn them.
_LEARNABLE_COUNT = 2

Pairs = Callable[[], Iterator[tuple[str, str]]]


@dataclass(frozen=True)
class LanguagePairs:
    """The pairs of a corpus, for one direction or for both ways."""

    pairs: Pairs  # called for each pass
    source_lang: str
    target_lang: str
    both_ways: bool = False

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions that are trained with these pairs."""
        forwards = self.source_lang, self.target_lang
        return (forwards, forwards[::-1]) if self.both_ways else (forwards,)

    def sides_read(self, index: int) -> tuple[int, ...]:
        """Return the sides of a model that read text 0 or 1 of a pair: 0 is the source, 1 the target."""
        return (0, 1) if self.both_ways else (index,)


@dataclass
class LanguageCounts:
    """Sentences of each language, and characters of all, in the text of some sides of a model."""

    sentences: Counter[str] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)

    @property
    def learnable_characters(self) -> str:
        """The characters that deserve a piece, in the order of their code points."""
        seen = (character for character, count in self.characters.items() if count >= _LEARNABLE_COUNT)
        return "".join(sorted(character for character in seen if not character.isspace() and character != SPACE))

    def rates(self, most: int) -> Mapping[str, float]:
        """Return how often a sentence of each language is taken, on average, so that at most `most` are taken."""
        powers = {language: count ** (1 / _TEMPERATURE) for language, count in self.sentences.items()}
        total = min(most, self.sentences.total())
        return {
            language: total * power / sum(powers.values()) / self.sentences[language]
            for language, power in powers.items()
        }


def count_languages(texts: Sequence[LanguagePairs], sides: Collection[int], tags: Collection[str]) -> LanguageCounts:
    """Count the text that some sides of a model read."""
    counts = LanguageCounts()
    for language, text, _ in _sentences(texts, sides, tags):
        counts.sentences[language] += 1
        counts.characters.update(text)
    return counts


def sample_languages(
    texts: Sequence[LanguagePairs], lowercased: Mapping[int, bool], tags: Collection[str], rates: Mapping[str, float]
) -> Iterator[str]:
    """Yield sentences as words with single spaces, each language at its rate. The same texts give the same sentences.

    Args:
        texts: their sources may begin with tags, which are left out.
        lowercased: the sides of a model that share a vocabulary, and True for each that lower-cases text.
        tags: those that a source may begin with.
        rates: how often a sentence of each language is taken, on average; it may be more than once.
    """
    seen: Counter[str] = Counter()
    for language, text, readers in _sentences(texts, lowercased, tags):
        rate, before = rates[language], seen[language]
        seen[language] += 1
        copies = int((before + 1) * rate) - int(before * rate)
        for lowercase in sorted({lowercased[side] for side in readers}) if copies else ():
            sentence = " ".join(split_words(text, lowercase))
            yield from (sentence for _ in range(copies))


def _sentences(
    texts: Sequence[LanguagePairs], sides: Collection[int], tags: Collection[str]
) -> Iterator[tuple[str, str, list[int]]]:
    """Yield the language of each sentence, its cleaned text, and which of the sides read it."""
    for corpus in texts:
        languages = corpus.source_lang, corpus.target_lang
        readers = [[side for side in corpus.sides_read(index) if side in sides] for index in (0, 1)]
        for pair in corpus.pairs():
            for index, text in enumerate(pair):
                if readers[index]:
                    text = clean(text)
                    yield languages[index], split_tags(text, tags)[1] if index == 0 else text, readers[index]
