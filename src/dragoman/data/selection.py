"""The use of each pair of a corpus, for training or for validation, decided in one pass over the text.

Pairs are held out by a hash of the source sentence. So nearly the same pairs are held out after lines are added, and no
sentence that is held out is also trained on.
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
from dragoman.data.checks.pair_faults import FaultCounter
from dragoman.data.corpus import languages
from dragoman.data.duplicates import find_duplicates
from dragoman.data.filtering import Counts, text_problem
from dragoman.data.formats.delimiters import needs_quotes
from dragoman.data.formats.pair_file import LocatedPair
from dragoman.data.hashed_pairs import HashedPairs, text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.data.repeats import find_repeats
from dragoman.errors import DataError, counted
from dragoman.settings.data_config import DataConfig

TRAIN, VALIDATION = "train", "validation"
#: At most one of so many pairs is taken out of the training data for validation.
_HELD_OUT_SHARE = 10

#: (line, source, target): a pair with readable text, and its line in the corpus.
NumberedPair = tuple[int, str, str]
#: A pair, and the reason to drop it, or None.
JudgedPair = tuple[LocatedPair, str | None]


class Use(IntEnum):
    """Use of a pair, or the reason for none."""

    UNUSABLE = 0
    TRAINING = 1
    VALIDATION = 2
    DUPLICATE = 3
    SAME_SOURCE = 4
    IN_VALIDATION = 5
    REPEATED = 6


#: Reasons for which usable pairs are dropped, for people.
_REASONS = {
    Use.DUPLICATE: "duplicate",
    Use.SAME_SOURCE: "same source as in validation",
    Use.REPEATED: "repeated",
}
#: A table for `bytes.translate`: 1 for uses whose pairs are read again, 0 for others.
_IS_USED = bytes(int(use in (Use.TRAINING, Use.VALIDATION)) for use in range(256))


@dataclass(frozen=True)
class Selection:
    """A corpus, and the use of each of its pairs."""

    text: ParallelText
    data: DataConfig
    #: The `Use` of each pair, one byte each.
    uses: bytes
    #: Pairs dropped for their text, by reason.
    dropped: Counts
    #: Pairs that repeat an earlier one.
    n_repeated: int
    #: Pairs whose source came before with another target.
    n_other_target: int
    #: Pairs with equal source and target.
    n_equal: int
    #: Pairs with a source that is also in another split, by that split.
    overlaps: Mapping[str, int]
    #: Checks of the corpus as a whole, and of each pair.
    checks: CorpusChecks
    faults: FaultCounter
    #: True if a table of the pairs must be quoted.
    is_quoted: bool

    @property
    def has_usable(self) -> bool:
        """True if any pair has usable text."""
        return any(self.uses)

    @property
    def holds_out(self) -> bool:
        """True if any pair is for validation."""
        return Use.VALIDATION in self.uses

    def used(self) -> Iterator[tuple[NumberedPair, int]]:
        """Yield each pair for training or validation, in order, with its use."""
        is_used = self.uses.translate(_IS_USED)
        pairs = compress(
            self.text.numbered(), chain(is_used, repeat(0))
        )  # reads to the end, where a changed file is refused
        for (line, source, target), use in zip(pairs, compress(self.uses, is_used), strict=False):
            if isinstance(source, str) and isinstance(target, str):
                yield (line, source, target), use

    def judged(self) -> Iterator[JudgedPair]:
        """Yield each pair of the corpus, in order, with the reason to drop it, or None."""
        faults = FaultCounter(*languages(self.data), self.data.drop)
        pairs = zip(self.text.numbered(), chain(self.uses, repeat(Use.UNUSABLE)), strict=False)  # as `used`
        for pair, use in pairs:
            yield pair, _problem(pair, faults) if use == Use.UNUSABLE else _REASONS.get(Use(use))

    def training_pairs(self) -> Iterator[tuple[str, str]]:
        """Return the pairs to train on, before those of wrong length are dropped."""
        return ((source, target) for (_, source, target), use in self.used() if use == Use.TRAINING)

    def lines(self) -> list[str]:
        """Return lines for people about the corpus."""
        lines = []
        if self.n_repeated:
            treatment = "removed" if self.data.dedup else "kept; to remove repeated pairs: --set data.dedup=true"
            some = counted(self.n_repeated, "pair repeats", "pairs repeat")
            lines.append(f"{some} an earlier one ({treatment})")
        if self.n_other_target:
            some = counted(self.n_other_target, "pair has", "pairs have")
            lines.append(f"{some} a source that occurs before with another target (kept)")
        if self.data.corpus is None and self.n_equal * 2 > len(self.uses):
            problem = f"{self.n_equal:,} of {counted(len(self.uses), 'pair has', 'pairs have')} equal source and target"
            lines.append(f"warning: {problem}; is one file given for both?")
        elif self.n_equal:
            lines.append(f"{counted(self.n_equal, 'pair has', 'pairs have')} equal source and target (kept)")
        for split, count in self.overlaps.items():
            if count:
                lines.append(f"warning: {count:,} training pairs have a source that is also in the {split} data")
        judge_pairs = "language" not in self.data.drop
        return lines + self.checks.lines(*languages(self.data), judge_pairs=judge_pairs) + self.faults.lines()

    def refuse_unusable(self) -> None:
        """Refuse a corpus that has no usable pair.

        Raises:
            DataError: counts the reasons.
        """
        if not self.has_usable:
            unusable = f"none of {counted(len(self.uses), 'pair')} can be used ({self.dropped.reasons()})"
            message = unusable if self.uses else "the corpus is empty"
            raise DataError(message, self.text.name, advice="check the files")

    def refuse_misaligned(self) -> None:
        """Refuse a corpus whose sides do not belong together, unless the settings allow it.

        Raises:
            DataError: too many pairs are wrong for training to make sense.
        """
        problem = self.checks.problem()
        if problem is not None and self.data.misaligned == "error":
            advice = "mend the files; to train on the text as it is: --set data.misaligned=keep"
            raise DataError(problem, self.text.name, advice=advice)


def select(text: ParallelText, data: DataConfig, others: Mapping[str, ParallelText], *, hold_out: bool) -> Selection:
    """Read a corpus once, and choose the use of each pair.

    Args:
        others: the validation and test text; their overlap with the corpus is counted.
        hold_out: take validation data out of this corpus.

    Raises:
        DataError: the corpus cannot be read.
    """
    survey = _Survey(others, data.validation_size if hold_out else 0, FaultCounter(*languages(data), data.drop))
    with HashedPairs("source") as by_source, HashedPairs("target") as by_target:
        survey.read(text, by_source, by_target)
        duplicates, repeats = find_duplicates(by_source), find_repeats(by_target)
    held_out = survey.smallest.least(data.validation_size, survey.n_usable // _HELD_OUT_SHARE)
    uses = np.full(len(survey.usable), Use.UNUSABLE, np.uint8)
    is_usable = np.frombuffer(survey.usable, bool)
    uses[is_usable] = _uses(survey.n_usable, held_out, duplicates.repeated if data.dedup else None)
    usable = np.flatnonzero(is_usable)
    repeated = usable[repeats.is_repeat]
    survey.faults.add_repeats(text, repeated, usable[list(repeats.examples)])
    if "repeated" in data.drop:
        uses[repeated] = Use.REPEATED
    for use, reason in _REASONS.items():
        indices = np.flatnonzero(uses == use)
        if len(indices):
            survey.dropped.drop(reason, text.line_of(int(indices[0])), len(indices))
    return Selection(
        text,
        data,
        uses.tobytes(),
        survey.dropped,
        duplicates.n_repeated,
        duplicates.n_other_target,
        survey.n_equal,
        survey.overlaps,
        survey.checks,
        survey.faults,
        survey.is_quoted,
    )


class _Survey:
    """Figures of one pass over a corpus.

    Args:
        others: texts whose overlap with the corpus is counted.
        n_held_out: source sentences that may be held out.
        faults: counts the faults of usable pairs, and says which to drop.
    """

    def __init__(self, others: Mapping[str, ParallelText], n_held_out: int, faults: FaultCounter) -> None:
        self._other_hashes = {split: {text_hash(source) for source, _ in other} for split, other in others.items()}
        self.overlaps = dict.fromkeys(others, 0)
        self.dropped, self.checks, self.smallest = Counts(), CorpusChecks(), _SmallestHashes(n_held_out)
        self.faults = faults
        #: 1 for each pair with usable text, 0 for others.
        self.usable = bytearray()
        self.n_usable = self.n_equal = 0
        self.is_quoted = False

    def read(self, text: ParallelText, by_source: HashedPairs, by_target: HashedPairs) -> None:
        """Read the corpus.

        Raises:
            DataError: it cannot be read.
        """
        for line, source, target in self.checks.read(text):
            problem = _problem((line, source, target), self.faults)
            self.is_quoted = self.is_quoted or needs_quotes(source, target)
            self.usable.append(problem is None)
            if problem is not None:
                self.dropped.drop(problem, line)
            elif isinstance(source, str) and isinstance(target, str):
                source_hash = text_hash(source)
                self.smallest.add(source_hash, self.n_usable)
                target_hash = text_hash(target)
                by_source.add(source_hash, target_hash)
                by_target.add(source_hash, target_hash, len(target.encode()))
                self.n_equal += target_hash == source_hash
                for split, hashes in self._other_hashes.items():
                    self.overlaps[split] += source_hash in hashes
                self.n_usable += 1


def _problem(pair: LocatedPair, faults: FaultCounter) -> str | None:
    """Return the reason to drop a pair for its text, or None; count its faults."""
    line, source, target = pair
    problem = text_problem(source, target)
    if problem is None and isinstance(source, str) and isinstance(target, str):
        return faults.problem(line, source, target)
    return problem


def _uses(n_usable: int, held_out: Sequence[Sequence[int]], dropped: NDArray[np.bool_] | None) -> NDArray[np.uint8]:
    """Return the use of each usable pair: uint8 (n_usable,).

    Args:
        held_out: the pairs of each source that is held out.
        dropped: True for a pair dropped as a duplicate: bool (n_usable,).
    """
    uses = np.full(n_usable, Use.TRAINING, np.uint8)
    if dropped is not None:
        uses[dropped] = Use.DUPLICATE
    for pairs in held_out:
        uses[pairs] = Use.SAME_SOURCE
        uses[pairs[0]] = Use.VALIDATION
    return uses


class _SmallestHashes:
    """The smallest different hashes of a stream and the pairs that have them, in RAM for these alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._negated: list[int] = []
        self._pairs: dict[int, array[int]] = {}

    def add(self, number: int, pair: int) -> None:
        """Take the next hash. A hash among the smallest at the end was among the smallest at every step before."""
        if number in self._pairs:
            self._pairs[number].append(pair)
        elif len(self._negated) < self._size:
            heapq.heappush(self._negated, -number)
            self._pairs[number] = array("q", (pair,))
        elif self._size and number < -self._negated[0]:
            del self._pairs[-heapq.heapreplace(self._negated, -number)]
            self._pairs[number] = array("q", (pair,))

    def least(self, size: int, n_pairs: int) -> list[array[int]]:
        """Return the pairs of at most `size` hashes, `n_pairs` in all; of a tenth of the hashes if these are all.

        A hash with more pairs than are left is skipped.
        """
        if len(self._pairs) < self._size:
            size = min(size, len(self._pairs) // _HELD_OUT_SHARE)
        least: list[array[int]] = []
        for number in sorted(self._pairs):
            pairs = self._pairs[number]
            if len(least) < size and len(pairs) <= n_pairs:
                least.append(pairs)
                n_pairs -= len(pairs)
        return least
