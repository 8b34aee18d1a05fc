"""Sentences of two texts paired: by their lengths, and by a lexicon that is learned from the first pairing.

Lengths are compared as in Gale and Church 1993, "A Program for Aligning Sentences in Bilingual Corpora"; the lexicon is
Model 1 of IBM, learned from a first alignment as in Moore 2002, "Fast and Accurate Sentence Alignment of Bilingual
Corpora". Translations of the source may stand in for its words (Sennrich and Volk 2010). A group is some consecutive
sentences of one side with some of the other; a score is a logarithm: how much more probable the group is as a
translation than as unrelated text. S source sentences, T target sentences, W the width of the band that is searched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.alignment.lexicon import expected_counts
from dragoman.text.languages import UNSPACED

Scores = NDArray[np.float64]
#: The sizes of groups, and the logarithm of how often each occurs.
PRIORS = {
    (1, 1): -0.1,
    (1, 0): -4.0,
    (0, 1): -4.0,
    (2, 1): -3.1,
    (1, 2): -3.1,
    (2, 2): -4.5,
    (3, 1): -6.0,
    (1, 3): -6.0,
}
_GROUPS = [size for size in PRIORS if 0 not in size]
_SKIP_SOURCE, _SKIP_TARGET, _GAP = len(_GROUPS), len(_GROUPS) + 1, PRIORS[1, 0]
#: Half the width of the first band around the diagonal, and of later ones around the path before, in sentences.
_FIRST_BAND, _LATER_BAND = 500, 60
#: Words are compared by their first letters, since their ends inflect. A letter of a script without spaces is a word.
_WORD = re.compile(rf"\d+|[{UNSPACED}]|[^\W\d_{UNSPACED}]{{1,6}}(?:[^\W\d_{UNSPACED}]*)")
_STEM = 6
#: Weight of equal words on both sides; pairs after which a word's entry in the lexicon counts as much as chance.
_EQUAL_SHARE, _DOUBT = 0.3, 5.0
#: Expected counts below this are chance.
_LEAST_COUNT = 0.5
_MAX_DEVIATION = 12.0
#: The score of a group that goes over the end of a paragraph, or ends at one on one side only.
_CROSSING, _UNEVEN_END = -3.0, -1.0
_ROUNDS = 3
#: Below so many standard deviations, nothing shows that two texts belong together.
_CLEAR_RELATION = 3.0


class Sentence(NamedTuple):
    """A sentence, and the number of its paragraph."""

    text: str
    paragraph: int = 0


@dataclass(frozen=True)
class SentenceGroup:
    """Sentences that translate each other; one side may be empty.

    Args:
        confidence: from 0 to 1; 0 where a side is empty.
    """

    sources: range
    targets: range
    confidence: float

    @property
    def is_gap(self) -> bool:
        """True if one side is empty."""
        return not self.sources or not self.targets


@dataclass(frozen=True)
class Alignment:
    """The sentences of two texts, paired.

    Args:
        groups: together, all sentences of both sides, in order.
        relation: see `Aligner.relation`.
    """

    groups: Sequence[SentenceGroup]
    relation: float

    @property
    def is_clear(self) -> bool:
        """True if the words do not contradict that the texts belong together."""
        return self.relation >= _CLEAR_RELATION


def align_sentences(
    sources: Sequence[Sentence], targets: Sequence[Sentence], translations: Sequence[str] | None = None
) -> Alignment:
    """Pair the sentences of two texts.

    RAM grows with the length of the texts, not with its square.

    Args:
        translations: of the sources into the language of the targets, by a model.
    """
    aligner = Aligner(sources, targets, translations)
    path = aligner.search(_diagonal(len(sources), len(targets)), _FIRST_BAND)
    for _ in range(_ROUNDS - 1):
        aligner.learn(path)
        path = aligner.search(path, _LATER_BAND)
    return Alignment(aligner.groups(), aligner.relation())


def _diagonal(n_sources: int, n_targets: int) -> NDArray[np.int64]:
    return np.arange(n_sources + 1) * n_targets // max(n_sources, 1)


def words(text: str) -> list[str]:
    """Return the words of a text as the lexicon compares them.

    >>> words("Die Übersetzungen von 1984: 你好")
    ['die', 'überse', 'von', '1984', '你', '好']
    """
    return [word if word.isdigit() else word[:_STEM] for word in _WORD.findall(text.lower())]


class Aligner:
    """Scores of groups, with what the rounds have learned; and the search for the best groups."""

    def __init__(
        self, sources: Sequence[Sentence], targets: Sequence[Sentence], translations: Sequence[str] | None = None
    ) -> None:
        source_words, target_words = ([words(one.text) for one in side] for side in (sources, targets))
        equal_words = source_words if translations is None else [words(text) for text in translations]
        vocabulary = {word: id for id, word in enumerate(sorted({word for line in target_words for word in line}))}
        source_ids = {word: id for id, word in enumerate(sorted({word for line in source_words for word in line}), 1)}
        #: Ids of the words of each sentence; the source's begin with 0, the empty word.
        self._sources = [np.array([0, *(source_ids[word] for word in line)], np.int64) for line in source_words]
        self._targets = [np.array([vocabulary[word] for word in line], np.int64) for line in target_words]
        self._equal = [np.array([vocabulary[w] for w in line if w in vocabulary], np.int64) for line in equal_words]
        self._n_equal = np.array([len(line) for line in equal_words], np.int64)
        self._tokens = np.concatenate([np.empty(0, np.int64), *self._targets])
        self._ends = np.cumsum([0, *map(len, self._targets)])
        counts = np.bincount(self._tokens, minlength=len(vocabulary))
        self._frequency = counts / max(counts.sum(), 1)
        self._trust = np.zeros(len(vocabulary))
        self._starts, self._links = np.zeros(len(source_ids) + 2, np.int64), np.empty(0, np.int64)
        self._likely = np.empty(0)
        self._source_ends, self._target_ends = (
            np.cumsum([0.0, *(len(one.text) for one in side)]) for side in (sources, targets)
        )
        #: Target characters for a source character, and the variance of the length for a character.
        self._scale = max(self._target_ends[-1], 1) / max(self._source_ends[-1], 1)
        self._variance = 6.8
        self._paragraphs = _paragraph_ends(sources, targets)
        self._spans: list[tuple[range, range]] = []

    # -------------------------------------------------------------------------------------------- the search

    def search(self, centre: NDArray[np.int64], half: int) -> NDArray[np.int64]:
        """Return the best path: for each number of source sentences, the target sentences that are done: (S+1,).

        The band doubles until the path keeps away from its edges.

        Args:
            centre: of the band, (S+1,).
            half: its width to both sides.
        """
        while True:
            low, high = self._band(centre, half)
            path, is_inside = self._search(low, high)
            if is_inside:
                return path
            half *= 2

    def _band(self, centre: NDArray[np.int64], half: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_targets = len(self._targets)
        low, high = np.clip(centre - half, 0, n_targets), np.clip(centre + half, 0, n_targets)
        low[0], high[-1] = 0, n_targets
        return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)

    def _search(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
        n_sources, n_targets = len(self._sources), len(self._targets)
        moves = np.zeros((n_sources + 1, int((high - low).max()) + 1), np.uint8)
        rows = np.full((4, n_targets + 1), -np.inf)  # the scores of the last rows, in turns
        for row in range(n_sources + 1):
            first, last = int(low[row]), int(high[row]) + 1
            best = np.full(last - first, -np.inf)
            if row:
                best = rows[(row - 1) % 4, first:last] + _GAP
            else:
                best[0] = 0.0
            move = np.full(last - first, _SKIP_SOURCE, np.uint8)
            scores = {a: self.scores(row, a, first, last) for a in (1, 2, 3) if a <= row}
            for number, (a, b) in enumerate(_GROUPS):
                if a in scores and last - max(first, b) > 0:
                    start = max(first, b)
                    score = rows[(row - a) % 4, start - b : last - b] + scores[a][b - 1][start - first :]
                    view = slice(start - first, None)
                    is_better = score > best[view]
                    best[view][is_better], move[view][is_better] = score[is_better], number
            steps = np.arange(last - first) * _GAP
            filled = np.maximum.accumulate(best - steps)
            move[filled > best - steps] = _SKIP_TARGET
            rows[row % 4] = -np.inf
            rows[row % 4, first:last] = filled + steps
            moves[row, : last - first] = move
        return self._trace(moves, low, high)

    def _trace(
        self, moves: NDArray[np.uint8], low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], bool]:
        """Follow the moves back; keep them, and return the path and True if it never touches an edge of the band."""
        row, column = len(self._sources), len(self._targets)
        path, is_inside = np.zeros(row + 1, np.int64), True
        spans: list[tuple[range, range]] = []
        while row or column:
            path[row] = column
            number = int(moves[row, column - low[row]])
            if number < len(_GROUPS):
                a, b = _GROUPS[number]
            else:
                a, b = (1, 0) if number == _SKIP_SOURCE else (0, 1)
            spans.append((range(row - a, row), range(column - b, column)))
            is_inside &= bool(low[row] < column or not low[row])
            is_inside &= bool(column < high[row] or high[row] == len(self._targets))
            path[row - a + 1 : row] = column
            row, column = row - a, column - b
        self._spans = spans[::-1]
        return path, is_inside

    # -------------------------------------------------------------------------------------------- scores

    def scores(self, row: int, a: int, first: int, last: int) -> list[Scores]:
        """Return the scores of groups of the `a` source sentences before `row` with 1, 2 and 3 target sentences.

        Args:
            first, last: the groups end after `first` to `last - 1` target sentences: each (last - first,).
        """
        start = max(0, first - 3)
        evidence = self._evidence(row, a, start, last - 1)
        sizes = self._target_ends[start:last]
        source_size = self._source_ends[row] - self._source_ends[row - a]
        found = []
        for b in (1, 2, 3):
            score = np.full(last - first, -np.inf)
            begin = max(first, start + b)
            if (a, b) in PRIORS and begin < last:
                ends = slice(begin - start, None)
                starts = slice(begin - start - b, len(sizes) - b)
                lengths = self._length_scores(source_size, sizes[ends] - sizes[starts])
                score[begin - first :] = evidence[ends] - evidence[starts] + lengths + PRIORS[a, b]
                if self._paragraphs is not None:
                    score[begin - first :] += self._paragraph_scores(row, a, np.arange(begin, last), b)
            found.append(score)
        return found

    def _evidence(self, row: int, a: int, start: int, stop: int) -> Scores:
        """Return sums of the scores of the target words from `start` up to each end: (stop - start + 1,)."""
        ids = np.concatenate(self._sources[row - a : row])
        n_equal = int(self._n_equal[row - a : row].sum()) + 1
        ratios = np.zeros(len(self._frequency))
        for id in ids.tolist():
            links = slice(int(self._starts[id]), int(self._starts[id + 1]))
            ratios[self._links[links]] += self._likely[links]
        ratios *= self._trust / len(ids)
        equal = np.concatenate(self._equal[row - a : row])
        np.add.at(ratios, equal, _EQUAL_SHARE / n_equal)
        tokens = self._tokens[self._ends[start] : self._ends[stop]]
        values = np.log(1 - self._trust[tokens] + ratios[tokens] / self._frequency[tokens])
        sums = np.concatenate([[0.0], np.cumsum(values)])
        evidence: Scores = sums[self._ends[start : stop + 1] - self._ends[start]]
        return evidence

    def _length_scores(self, source_size: float, target_sizes: Scores) -> Scores:
        """Return the scores of lengths: a normal distribution around the scaled length, against any length."""
        mean = (source_size + target_sizes / self._scale) / 2
        variance = self._variance * np.maximum(mean, 1.0)
        deviation = (target_sizes / self._scale - source_size) ** 2 / variance / 2
        usual = 3 * (self._source_ends[-1] + 1) / len(self._sources)
        scores: Scores = np.log(usual / np.sqrt(2 * np.pi * variance)).clip(-1, 3) - deviation.clip(0, _MAX_DEVIATION)
        return scores

    def _paragraph_scores(self, row: int, a: int, columns: NDArray[np.int64], b: int) -> Scores:
        assert self._paragraphs is not None
        source_ends, target_ends = self._paragraphs
        scores: Scores = np.where(target_ends[columns] != source_ends[row], _UNEVEN_END, 0.0)
        n_crossed = source_ends[row - a + 1 : row].sum() + sum(target_ends[columns - back] for back in range(1, b))
        total: Scores = scores + _CROSSING * (n_crossed > 0)
        return total

    # -------------------------------------------------------------------------------------------- learning

    def learn(self, path: NDArray[np.int64]) -> None:
        """Learn the lexicon and the variance of lengths from the groups of the last search."""
        self._learn_words(self._full)
        singles = [(left[0], right[0]) for left, right in self._full if len(left) == len(right) == 1]
        if len(singles) > 20:
            left, right = np.array(singles).T
            sizes, others = np.diff(self._source_ends)[left], np.diff(self._target_ends)[right] / self._scale
            spread = (others - sizes) ** 2 / np.maximum((others + sizes) / 2, 1)
            self._variance = float(np.clip(np.median(spread) / 0.455, 2, 30))  # the median of chi-squared is 0.455

    def _learn_words(self, groups: Sequence[tuple[range, range]]) -> None:
        joined = ((self._joined(self._sources, left), self._joined(self._targets, right)) for left, right in groups)
        pairs = [(left, right) for left, right in joined if len(right)]
        if pairs:
            size = len(self._frequency)
            self._starts, self._links, self._likely = _lexicon(pairs, len(self._starts) - 1, size)
            seen = np.bincount(np.concatenate([right for _, right in pairs]), minlength=size)
            self._trust = np.minimum(seen / (seen + _DOUBT), 0.95)

    @property
    def _full(self) -> list[tuple[range, range]]:
        return [(left, right) for left, right in self._spans if left and right]

    @staticmethod
    def _joined(side: Sequence[NDArray[np.int64]], span: range) -> NDArray[np.int64]:
        return np.concatenate([side[index] for index in span])

    def groups(self) -> list[SentenceGroup]:
        """Return the groups of the last search."""
        return [SentenceGroup(left, right, self._confidence(left, right)) for left, right in self._spans]

    def _confidence(self, left: range, right: range) -> float:
        if not left or not right:
            return 0.0
        score = self.scores(left.stop, len(left), right.stop, right.stop + 1)[len(right) - 1][0]
        gain = score - (len(left) + len(right)) * _GAP
        n_words = sum(len(self._targets[index]) for index in right)
        return float(1 / (1 + np.exp(-np.clip(gain / np.sqrt(4 + n_words), -30, 30))))

    # -------------------------------------------------------------------------------------------- unrelated texts

    def relation(self) -> float:
        """Return how clearly words show that the texts belong together, in standard deviations.

        It is infinite for texts that are too short to tell.

        The lexicon is learned from every second group, and must prefer the others to groups further on.
        """
        full = self._full
        taught, asked = full[::2], full[1::2]
        if len(asked) < 10:
            return np.inf
        kept = self._starts, self._links, self._likely, self._trust
        self._learn_words(taught)
        n_better = n_worse = 0
        for index, (left, right) in enumerate(asked):
            values = []
            for other in (right, asked[(index + len(asked) // 2) % len(asked)][1]):
                evidence = self._evidence(left.stop, len(left), other.start, other.stop)[-1]
                values.append(evidence / max(1, sum(len(self._targets[at]) for at in other)))
            n_better, n_worse = n_better + (values[0] > values[1]), n_worse + (values[0] < values[1])
        self._starts, self._links, self._likely, self._trust = kept
        return float((n_better - n_worse) / np.sqrt(max(1, n_better + n_worse)))


def _lexicon(
    pairs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], n_sources: int, n_targets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Scores]:
    """Return the translations of each source word: where they start, their ids, and their probabilities."""
    links, counts = expected_counts([left for left, _ in pairs], [right for _, right in pairs], n_targets)
    is_frequent = counts >= _LEAST_COUNT
    ids = links // n_targets
    totals = np.bincount(ids, counts, n_sources)
    links, ids = links[is_frequent], ids[is_frequent]
    likely: Scores = counts[is_frequent] / totals[ids]
    return np.searchsorted(ids, np.arange(n_sources + 1)), links % n_targets, likely


def _paragraph_ends(
    sources: Sequence[Sentence], targets: Sequence[Sentence]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return True after each sentence that ends a paragraph, (S+1,) and (T+1,); None if they are no help."""
    ends = []
    for side in (sources, targets):
        numbers = [one.paragraph for one in side]
        if not 1 < len(Counter(numbers)) <= len(numbers) / 1.5:
            return None
        ends.append(np.array([True, *(a != b for a, b in pairwise(numbers)), True]))
    return ends[0], ends[1]
