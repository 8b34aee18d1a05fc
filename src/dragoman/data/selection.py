"""Which pairs of a corpus are for training and which are held out for validation, decided in one pass over the text.

What is held out depends on a hash of each source sentence, so that adding lines to a corpus leaves nearly all of it as
it was, and no sentence held out is also trained on.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain, compress, repeat

import numpy as np
from numpy.typing import NDArray

from dragoman.data.checks.corpus_checks import CorpusChecks
from dragoman.data.corpus import languages
from dragoman.data.duplicates import DuplicateFinder, text_hash
from dragoman.data.filtering import Counts, text_problem
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import DataError
from dragoman.settings.data_config import DataConfig

TRAIN, VALIDATION = "train", "validation"

#: (line, source, target): a pair, and where in the corpus it is.
NumberedPair = tuple[int, str, str]

#: At most one of so many pairs is taken out of the training data for validation.
_HELD_OUT_SHARE = 10


class Use(IntEnum):
    """What a pair is for, or why it is for nothing."""

    UNUSABLE = 0
    TRAINING = 1
    VALIDATION = 2
    DUPLICATE = 3
    SAME_SOURCE = 4


#: 1 for the uses of pairs that are read again, 0 for others.
_IS_USED = bytes(int(use in (Use.TRAINING, Use.VALIDATION)) for use in range(256))


@dataclass(frozen=True)
class Selection:
    """A corpus with a decision about each of its pairs."""

    text: ParallelText
    data: DataConfig
    #: The `Use` of each pair, one byte each.
    uses: bytes
    #: Why pairs are not used, as far as their text decides it.
    dropped: Counts
    #: Pairs that repeat an earlier one.
    n_repeated: int
    #: Pairs, each counted once, whose source came before with another target.
    n_other_target: int
    #: Pairs whose source and target are the same.
    n_equal: int
    #: For each other split, how many pairs have a source that is also there.
    overlaps: Mapping[str, int]
    #: What was noticed about the corpus as a whole.
    checks: CorpusChecks

    @property
    def holds_out(self) -> bool:
        """Whether any pair is for validation."""
        return Use.VALIDATION in self.uses

    def used(self) -> Iterator[tuple[NumberedPair, int]]:
        """Each pair for training or validation, in order, with its use."""
        is_used = self.uses.translate(_IS_USED)
        pairs = compress(self.text.numbered(), chain(is_used, repeat(0)))  # to its end, where a changed file is refused
        for (line, source, target), use in zip(pairs, compress(self.uses, is_used), strict=False):
            if isinstance(source, str) and isinstance(target, str):
                yield (line, source, target), use

    def training_pairs(self) -> Iterator[tuple[str, str]]:
        """The pairs to train on, as far as their text decides it."""
        return ((source, target) for (_, source, target), use in self.used() if use == Use.TRAINING)

    def lines(self) -> list[str]:
        """What a person should know about the corpus."""
        lines = []
        if self.n_repeated:
            kept = "removed" if self.data.dedup else "kept; --set data.dedup=true removes them"
            lines.append(f"{self.n_repeated:,} pairs occur before in the corpus ({kept})")
        if self.n_other_target:
            lines.append(f"{self.n_other_target:,} pairs have a source that occurs before with another target (kept)")
        if self.data.corpus is None and self.n_equal * 2 > len(self.uses):
            what = f"{self.n_equal:,} of {len(self.uses):,} pairs have equal source and target"
            lines.append(f"warning: {what}; is one file given for both?")
        elif self.n_equal:
            lines.append(f"{self.n_equal:,} pairs have equal source and target (kept)")
        for split, count in self.overlaps.items():
            if count:
                lines.append(f"warning: {count:,} training pairs have a source that is also in the {split} data")
        return lines + self.checks.lines(*languages(self.data))

    def refuse_misaligned(self) -> None:
        """Stop before a training on sides that do not belong together, unless the settings say to go on.

        Raises:
            DataError: too many pairs of the corpus are wrong for a training to make sense.
        """
        problem = self.checks.problem()
        if problem is not None and self.data.misaligned == "error":
            advice = "mend the files; to train on the text as it is: --set data.misaligned=keep"
            raise DataError(problem, self.text.name, advice=advice)


def select(text: ParallelText, data: DataConfig, others: Mapping[str, ParallelText], *, hold_out: bool) -> Selection:
    """Read a corpus once, and decide.

    Args:
        others: the validation and test data, with which the overlap is counted.
        hold_out: whether validation data are to be taken out of this corpus.

    Raises:
        DataError: the corpus cannot be read, or no pair is usable.
    """
    other_hashes = {split: {text_hash(source) for source, _ in other} for split, other in others.items()}
    overlaps = dict.fromkeys(others, 0)
    dropped = Counts()
    smallest = _Smallest(data.validation_size if hold_out else 0)
    checks = CorpusChecks()
    usable = bytearray()
    n_usable = n_equal = 0
    with DuplicateFinder() as finder:
        for line, source, target in checks.read(text):
            problem = text_problem(source, target)
            usable.append(problem is None)
            if problem is not None:
                dropped.drop(problem, line)
                continue
            assert isinstance(source, str)
            assert isinstance(target, str)
            source_hash = text_hash(source)
            smallest.add(source_hash, n_usable)
            n_equal += finder.add(source_hash, target) == source_hash
            for split, hashes in other_hashes.items():
                overlaps[split] += source_hash in hashes
            n_usable += 1
        if not n_usable:
            unusable = f"none of {len(usable):,} pairs can be used ({dropped.reasons()})"
            what = unusable if usable else "the corpus is empty"
            raise DataError(what, text.name, advice="check the files")
        duplicates = finder.find()
    held_out = smallest.least(data.validation_size, n_usable // _HELD_OUT_SHARE)
    uses = np.full(len(usable), Use.UNUSABLE, np.uint8)
    uses[np.frombuffer(usable, bool)] = _uses(n_usable, held_out, duplicates.repeated if data.dedup else None)
    for use, reason in ((Use.DUPLICATE, "duplicate"), (Use.SAME_SOURCE, "same source as in validation")):
        places = np.flatnonzero(uses == use)
        if len(places):
            dropped.drop(reason, text.line_of(int(places[0])), len(places))
    n_repeated, n_other_target = duplicates.n_repeated, duplicates.n_other_target
    return Selection(text, data, uses.tobytes(), dropped, n_repeated, n_other_target, n_equal, overlaps, checks)


def _uses(n_usable: int, held_out: Sequence[Sequence[int]], dropped: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """The use of each usable pair: uint8 (n_usable,).

    Args:
        held_out: for each source that is held out, the pairs that have it.
        dropped: the pairs that are dropped for being duplicates: bool (n_usable,).
    """
    uses = np.full(n_usable, Use.TRAINING, np.uint8)
    if dropped is not None:
        uses[dropped] = Use.DUPLICATE
    for pairs in held_out:
        uses[pairs] = Use.SAME_SOURCE
        uses[pairs[0]] = Use.VALIDATION
    return uses


class _Smallest:
    """The places of the smallest different numbers of a stream, in memory for these places alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._negated: list[int] = []
        self._places: dict[int, array[int]] = {}

    def add(self, number: int, place: int) -> None:
        """Take the next number. One that is among the smallest at the end has been so since it first came."""
        if number in self._places:
            self._places[number].append(place)
        elif len(self._negated) < self._size:
            heapq.heappush(self._negated, -number)
            self._places[number] = array("q", (place,))
        elif self._size and number < -self._negated[0]:
            del self._places[-heapq.heapreplace(self._negated, -number)]
            self._places[number] = array("q", (place,))

    def least(self, size: int, n_places: int) -> list[array[int]]:
        """The places of each of at most `size` of them, `n_places` in all; of a tenth, if these are all there were.

        A number that has more places than are left is passed over.
        """
        if len(self._places) < self._size:
            size = min(size, len(self._places) // _HELD_OUT_SHARE)
        found: list[array[int]] = []
        for number in sorted(self._places):
            places = self._places[number]
            if len(found) < size and len(places) <= n_places:
                found.append(places)
                n_places -= len(places)
        return found
