"""Encode the text of a corpus into the stores of its splits, in chunks, so that RAM does not grow with the corpus.

On Linux, several processes encode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from dragoman.data.context import Neighbours
from dragoman.data.filtering import Counts, length_problem, text_problem
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import TRAIN, VALIDATION, JudgedPair, NumberedPair, Selection, Use
from dragoman.data.store import Part, Row, StoreWriter, pack
from dragoman.errors import ConfigError, DataError
from dragoman.machine.devices import all_cores
from dragoman.machine.workers import Workers
from dragoman.settings.data_config import DataConfig
from dragoman.text.tokenizer import Tokenizers

_CHUNK = 4096
#: More processes would wait for the first, which reads and writes for all.
_MAX_WORKERS = 4
_FEWER_ADVICE = "if RAM is short, set OMP_NUM_THREADS to the number of encoding processes"
_TOO_FEW_TO_HOLD_OUT = "too few pairs to hold any out: validation is on the training pairs, and says little"

T = TypeVar("T")
#: Pairs of each split.
_Job = list[list[NumberedPair]]


@dataclass(frozen=True)
class PartText:
    """The selected text of one corpus in one direction.

    Args:
        selection: the training corpus, and the pairs that are held out for validation.
        validation: text for validation; None if pairs are held out, or the corpus is too small to hold any out.
        part: its entry in the index of the stores; None if they have no parts.
        is_reversed: the targets are the sources.
        tags: before each source, with a space after each.
        target_tag: the same before each target.
        validates: the part has validation text, given or held out.
    """

    selection: Selection
    validation: ParallelText | None
    part: Part | None = None
    is_reversed: bool = False
    tags: str = ""
    target_tag: str = ""
    validates: bool = True

    def rows(self, pairs: Sequence[NumberedPair]) -> list[NumberedPair]:
        """Return pairs in this direction, with tags."""
        if self.is_reversed:
            pairs = [(line, target, source) for line, source, target in pairs]
        if not self.tags:
            return list(pairs)
        return [(line, self.tags + source, self.target_tag + target) for line, source, target in pairs]

    def label(self, line: str) -> str:
        """Return a line for people about this part."""
        part = self.part
        return line if part is None else f"{part.name}, {part.source_lang} to {part.target_lang}: {line}"


def write_stores(folder: Path, parts: Sequence[PartText], tokenizers: Tokenizers) -> list[str]:
    """Write the stores `train` and `validation` into `folder`, and return lines for people: the pairs kept.

    Raises:
        DataError: a split of a part has no pair left, or the text cannot be read.
        ConfigError: nothing divides off the context of a source.
        ResourceError: a process that encodes was killed.
    """
    encoder = _Encoder(tokenizers, parts[0].selection.data)
    workers = Workers(encoder.encode, _n_workers(sum(len(part.selection.uses) for part in parts)), _FEWER_ADVICE)
    for split in (TRAIN, VALIDATION):
        (folder / split).mkdir()
    has_context = any(part.selection.data.context for part in parts)
    if has_context and not tokenizers.source.special_ids.has_end:
        problem = "a source of this model has no end mark, which divides off its context"
        raise ConfigError(problem, advice="leave data.context out, or train a model of its own")
    with (
        StoreWriter(folder / TRAIN, encoder.vocab_sizes, has_context=has_context) as train_store,
        StoreWriter(folder / VALIDATION, encoder.vocab_sizes, has_context=has_context) as validation_store,
    ):
        return [line for part in parts for line in _write_part(part, (train_store, validation_store), workers)]


def judge(selection: Selection, tokenizers: Tokenizers) -> Iterator[JudgedPair]:
    """Yield each pair of a corpus, in order, with the reason for which training drops it, or None.

    Raises:
        DataError: the text cannot be read.
        ResourceError: a process that encodes was killed.
    """
    encoder = _Encoder(tokenizers, selection.data)
    workers = Workers(encoder.judge, _n_workers(len(selection.uses)), _FEWER_ADVICE)
    return chain.from_iterable(workers.imap(_chunks(selection.judged())))


def _n_workers(n_pairs: int) -> int:
    return min(all_cores(), _MAX_WORKERS, max(1, n_pairs // _CHUNK))


def _write_part(
    part: PartText, stores: tuple[StoreWriter, StoreWriter], workers: Workers[_Job, list[_Encoded]]
) -> list[str]:
    """Append a part to both stores, and return lines for people."""
    selection, validation = part.selection, part.validation
    train, validated = Counts(), Counts()
    train.add(selection.dropped)
    if validation is not None:
        apart, form = _usable(validation, validated), "validation: {}"
    elif selection.holds_out or not part.validates:
        apart, form = iter(()), "held out for validation: {}"
    else:
        apart, form = (pair for pair, _ in selection.used()), _TOO_FEW_TO_HOLD_OUT
    if part.part is not None:
        for store in stores[: 1 + part.validates]:
            store.begin(part.part)
    data = selection.data
    neighbours = [Neighbours(data.context or 0, data.max_length) for _ in stores]
    n_with_context = [0, 0]
    jobs = chain(_selected(selection), ([[], pairs] for pairs in _chunks(apart)))
    for encoded in workers.imap([part.rows(pairs) for pairs in splits] for splits in jobs):
        for number, (store, counts, split) in enumerate(zip(stores, (train, validated), encoded, strict=True)):
            n_before = neighbours[number].count(split.lines, split.rows[0][1])
            store.add(split.rows, n_before)
            counts.add(split.counts)
            n_with_context[number] += int((n_before > 0).sum())
    splits = ((TRAIN, train, selection.text), (VALIDATION, validated, validation or selection.text))
    for name, counts, text in splits[: 1 + part.validates]:
        if not counts.kept:
            raise DataError(f"no {name} pair is left ({counts.line()})", text.name, advice="check the files")
    lines = [train.line(), form.format(validated.line())][: 1 + part.validates]
    if data.context:
        if not n_with_context[0]:
            problem = "context is asked for, and no pair stands on the line after another"
            raise DataError(problem, selection.text.name, advice="give text with one pair a line, in document order")
        lines.append(f"with context: {n_with_context[0]:,} pairs for training, {n_with_context[1]:,} for validation")
    return list(map(part.label, lines))


def _selected(selection: Selection) -> Iterator[_Job]:
    """Yield the pairs for training and those held out, in chunks."""
    for chunk in _chunks(selection.used()):
        yield [[pair for pair, use in chunk if use == wanted_use] for wanted_use in (Use.TRAINING, Use.VALIDATION)]


def _usable(text: ParallelText, counts: Counts) -> Iterator[NumberedPair]:
    """Yield the pairs with usable text; count the others."""
    for line, source, target in text.numbered():
        problem = text_problem(source, target)
        if problem is not None:
            counts.drop(problem, line)
        elif isinstance(source, str) and isinstance(target, str):
            yield line, source, target


@dataclass(frozen=True)
class _Encoded:
    """Pairs of one split, ready for its store, and the number kept."""

    rows: list[Row]
    counts: Counts
    lines: list[int]


@dataclass(frozen=True)
class _Encoder:
    """Encodes pairs for a store, and drops those of wrong length."""

    tokenizers: Tokenizers
    data: DataConfig

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        return self.tokenizers.source.vocab_size, self.tokenizers.target.vocab_size

    def encode(self, splits: _Job) -> list[_Encoded]:
        """Encode the pairs of each split."""
        return [self._encode(pairs) for pairs in splits]

    def _encode(self, pairs: Sequence[NumberedPair]) -> _Encoded:
        counts, lines = Counts(), list[int]()
        ids: tuple[list[list[int]], list[list[int]]] = [], []
        texts: tuple[list[str], list[str]] = [], []
        for line, source, target in pairs:
            source_ids, target_ids = self._ids(source, target)
            problem = length_problem(len(source_ids), len(target_ids), self.data)
            if problem is not None:
                counts.drop(problem, line)
                continue
            lines.append(line)
            ids[0].append(source_ids)
            ids[1].append(target_ids)
            texts[0].append(source)
            texts[1].append(target)
        counts.kept = len(texts[0])
        return _Encoded(pack(ids, texts), counts, lines)

    def judge(self, pairs: Sequence[JudgedPair]) -> list[JudgedPair]:
        """Return pairs with the reason to drop each: the one that they come with, else a wrong length."""
        judged: list[JudgedPair] = []
        for (line, source, target), reason in pairs:
            if reason is None and isinstance(source, str) and isinstance(target, str):
                source_ids, target_ids = self._ids(source, target)
                reason = length_problem(len(source_ids), len(target_ids), self.data)
            judged.append(((line, source, target), reason))
        return judged

    def _ids(self, source: str, target: str) -> tuple[list[int], list[int]]:
        return self.tokenizers.source.encode(source), self.tokenizers.target.encode(target)


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
