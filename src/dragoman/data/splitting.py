"""Splits of a corpus for training, validation and test, without a sentence in two of them.

Pairs with equal sources belong together, and so do pairs with equal targets. A group of such pairs is never divided.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dragoman.data.checks.corpus_checks import CorpusChecks
from dragoman.data.corpus import Split
from dragoman.data.filtering import Counts, text_problem
from dragoman.data.formats.delimiters import needs_quotes
from dragoman.data.hashed_pairs import text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import DataError

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
_TRAIN, _UNUSABLE = 0, 255
#: Pairs that are set apart for validation, and for the test, if nobody says; no more than 1/10 of all.
_N_APART, _N_SHARES = 1_000, 10
#: Groups of more than 4 pairs and more than 1/20 of a split are set apart only if smaller ones do not suffice.
_LARGE_SHARE, _MIN_LARGE = 20, 4


@dataclass(frozen=True)
class Splitting:
    """A corpus, and the split of each of its pairs."""

    text: ParallelText
    #: The index of each pair's split in `SPLITS`, or 255 if its text cannot be used.
    split_indices: bytes
    #: Pairs of each split.
    sizes: dict[Split, int]
    #: Pairs of the largest group.
    largest_group: int
    #: Pairs that are in no split, by reason.
    dropped: Counts
    #: True if a table of the pairs must be quoted.
    is_quoted: bool
    #: Checks of the corpus as a whole.
    checks: CorpusChecks

    def pairs(self) -> Iterator[tuple[Split, str, str]]:
        """Yield the pairs in order, each with its split.

        Raises:
            DataError: the text has changed.
        """
        for (_, source, target), index in zip(self.text.numbered(), self.split_indices, strict=False):
            if index != _UNUSABLE and isinstance(source, str) and isinstance(target, str):
                yield SPLITS[index], source, target


def split_pairs(text: ParallelText, n_validation: int | None, n_test: int | None, seed: int) -> Splitting:
    """Choose at random the pairs for validation and test. The same text and seed give the same choice.

    Args:
        n_validation: pairs for validation; None is 1,000, but at most a tenth of all.
        n_test: likewise for the test.

    Raises:
        DataError: the text cannot be read, or groups of equal sentences are too large for the requested sizes.
    """
    groups = _Groups()
    indices = bytearray()
    dropped = Counts()
    is_quoted = False
    checks = CorpusChecks()
    for line, source, target in checks.read(text):
        problem = text_problem(source, target)
        indices.append(_TRAIN if problem is None else _UNUSABLE)
        if problem is not None:
            dropped.drop(problem, line)
        elif isinstance(source, str) and isinstance(target, str):
            groups.add(text_hash(source), text_hash(target))
            is_quoted = is_quoted or needs_quotes(source, target)
    roots, sizes = groups.find()
    n_default = min(_N_APART, max(1, len(roots) // _N_SHARES))
    n_validation, n_test = (n_default if size is None else size for size in (n_validation, n_test))
    set_apart = _choose(sizes, (n_validation, n_test), seed)
    counts = [0, 0, 0]
    usable = iter(roots)
    for pair, index in enumerate(indices):
        if index != _UNUSABLE:
            indices[pair] = index = set_apart.get(next(usable), _TRAIN)
            counts[index] += 1
    least_sizes = (1, n_validation, n_test)
    if any(count < least for count, least in zip(counts, least_sizes, strict=True)):
        largest = max(sizes.values(), default=0)
        problem = (
            f"{n_validation:,} pairs for validation and {n_test:,} for the test cannot be set apart from {len(roots):,}"
        )
        advice = f"ask for fewer; pairs with an equal source or target stay together, here up to {largest:,}"
        raise DataError(problem, text.name, advice=advice)
    by_name = dict(zip(SPLITS, counts, strict=True))
    return Splitting(text, bytes(indices), by_name, max(sizes.values()), dropped, is_quoted, checks)


def _choose(sizes: dict[int, int], quotas: Sequence[int], seed: int) -> dict[int, int]:
    """Return the index of the split of each group that is set apart.

    Args:
        sizes: pairs of each group, by its first pair.
        quotas: pairs for validation and for the test.
    """
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    chosen: dict[int, int] = {}
    for index, size in reversed(list(enumerate(quotas, start=1))):
        n_missing = size
        for max_size in (max(_MIN_LARGE, size // _LARGE_SHARE), size):
            for root in order:
                if not n_missing:
                    break
                if root not in chosen and sizes[root] <= min(max_size, n_missing):
                    chosen[root] = index
                    n_missing -= sizes[root]
    return chosen


class _Groups:
    """Groups of pairs with equal hashes of sources or of targets (union-find); a root is a group's first pair."""

    def __init__(self) -> None:
        self._parents = array("q")
        self._first: tuple[dict[int, int], dict[int, int]] = ({}, {})

    def add(self, source: int, target: int) -> None:
        """Take the next pair."""
        pair = len(self._parents)
        self._parents.append(pair)
        for first, number in zip(self._first, (source, target), strict=True):
            self._join(first.setdefault(number, pair), pair)

    def find(self) -> tuple[array[int], dict[int, int]]:
        """Return the group of each pair, and the size of each group."""
        roots = array("q", map(self._root, range(len(self._parents))))
        sizes: dict[int, int] = {}
        for root in roots:
            sizes[root] = sizes.get(root, 0) + 1
        return roots, sizes

    def _join(self, one: int, other: int) -> None:
        one, other = self._root(one), self._root(other)
        self._parents[max(one, other)] = min(one, other)

    def _root(self, pair: int) -> int:
        parents = self._parents
        while parents[pair] != pair:
            parents[pair] = parents[parents[pair]]
            pair = parents[pair]
        return pair
