"""Which pairs of a corpus are for training and which are held out for validation, decided in one pass over the text.

What is held out depends on a hash of each source sentence, so that adding lines to a corpus leaves nearly all of it as
it was, and no sentence held out is also trained on.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dragoman.config import DataConfig
from dragoman.data.corpus import ParallelText
from dragoman.data.duplicates import DuplicateFinder, Duplicates, text_hash
from dragoman.data.filtering import text_problem
from dragoman.errors import DataError

TRAIN, VALIDATION = "train", "validation"

#: At most this share of the pairs is held out.
_HELD_OUT_SHARE = 10


@dataclass(frozen=True)
class Selection:
    """A corpus with a decision about each of its pairs."""

    text: ParallelText
    data: DataConfig
    #: Pairs with usable text, and why the others were dropped.
    n_usable: int
    n_seen: int
    dropped: Mapping[str, int]
    duplicates: Duplicates
    #: Hashes of the sources that are held out.
    held_out: frozenset[int]
    #: Pairs whose source and target are the same.
    n_equal: int
    #: For each other split, how many pairs have a source that is also there.
    overlaps: Mapping[str, int]

    def decisions(self) -> Iterator[tuple[str, str, str]]:
        """(source, target, what for) of each usable pair: "train", "validation", or why it is dropped after all."""
        index = 0
        waiting = set(self.held_out)
        for source, target in self.text.read():
            if text_problem(source, target) is not None:
                continue
            assert isinstance(source, str)
            assert isinstance(target, str)
            decision = TRAIN
            if self.held_out and (source_hash := text_hash(source)) in self.held_out:
                decision = VALIDATION if source_hash in waiting else "same source as in validation"
                waiting.discard(source_hash)
            elif self.data.dedup and self.duplicates.repeated[index]:
                decision = "duplicate"
            yield source, target, decision
            index += 1

    def training_pairs(self) -> Iterator[tuple[str, str]]:
        """The pairs to train on, as far as their text decides it."""
        return ((source, target) for source, target, decision in self.decisions() if decision == TRAIN)

    def lines(self) -> list[str]:
        """What a person should know about the corpus."""
        found = self.duplicates
        lines = []
        if found.n_repeated:
            kept = "removed" if self.data.dedup else "kept; data.dedup=true removes them"
            lines.append(f"{found.n_repeated:,} pairs occur before in the corpus ({kept})")
        if found.n_other_target:
            lines.append(f"{found.n_other_target:,} pairs have a source that occurs before with another target (kept)")
        if self.n_equal:
            lines.append(f"{self.n_equal:,} pairs have equal source and target (kept)")
        for split, count in self.overlaps.items():
            if count:
                lines.append(f"warning: {count:,} training pairs have a source that is also in the {split} data")
        return lines


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
    dropped: Counter[str] = Counter()
    smallest = _Smallest(data.validation_size if hold_out else 0)
    n_seen = n_usable = n_equal = 0
    with DuplicateFinder() as finder:
        for source, target in text.read():
            n_seen += 1
            problem = text_problem(source, target)
            if problem is not None:
                dropped[problem] += 1
                continue
            assert isinstance(source, str)
            assert isinstance(target, str)
            n_usable += 1
            n_equal += source == target
            source_hash = text_hash(source)
            smallest.add(source_hash)
            finder.add(source_hash, target)
            for split, hashes in other_hashes.items():
                overlaps[split] += source_hash in hashes
        if not n_usable:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(dropped.items()))
            what = f"none of {n_seen:,} pairs can be used ({reasons})" if n_seen else "the corpus is empty"
            raise DataError(what, text.name, advice="check the files")
        duplicates = finder.find()
    held_out = frozenset(smallest.least(min(data.validation_size, n_usable // _HELD_OUT_SHARE)))
    return Selection(text, data, n_usable, n_seen, dropped, duplicates, held_out, n_equal, overlaps)


class _Smallest:
    """The smallest different numbers of a stream, in bounded memory."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._negated: list[int] = []
        self._members: set[int] = set()

    def add(self, number: int) -> None:
        if number in self._members or not self._size:
            return
        if len(self._negated) < self._size:
            heapq.heappush(self._negated, -number)
            self._members.add(number)
        elif number < -self._negated[0]:
            self._members.discard(-heapq.heapreplace(self._negated, -number))
            self._members.add(number)

    def least(self, size: int) -> list[int]:
        """At most `size` of them; a tenth, if these are all there were."""
        found = sorted(self._members)
        if len(found) < self._size:
            size = min(size, len(found) // _HELD_OUT_SHARE)
        return found[:size]
