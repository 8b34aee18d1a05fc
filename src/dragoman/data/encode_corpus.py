"""Encode the text of a corpus into the stores of its splits, in chunks, so that RAM does not grow with the corpus.

On Linux, several processes encode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from dragoman.data.filtering import Counts, length_problem, text_problem
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import TRAIN, VALIDATION, NumberedPair, Selection, Use
from dragoman.data.store import Row, StoreWriter, pack
from dragoman.errors import DataError
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


def write_stores(
    folder: Path, selection: Selection, validation: ParallelText | None, tokenizers: Tokenizers
) -> list[str]:
    """Write the stores `train` and `validation` into `folder`, and return lines for people: the pairs kept.

    Args:
        selection: the training corpus, and the pairs that are held out for validation.
        validation: text for validation; None if pairs are held out, or the corpus is too small to hold any out.

    Raises:
        DataError: a split has no pair left, or the text cannot be read.
        ResourceError: a process that encodes was killed.
    """
    train, validated = Counts(), Counts()
    train.add(selection.dropped)
    if validation is not None:
        apart, form = _usable(validation, validated), "validation: {}"
    elif selection.holds_out:
        apart, form = iter(()), "held out for validation: {}"
    else:
        apart, form = (pair for pair, _ in selection.used()), _TOO_FEW_TO_HOLD_OUT
    jobs = chain(_selected(selection), ([[], pairs] for pairs in _chunks(apart)))
    encoder = _Encoder(tokenizers, selection.data)
    n_workers = min(all_cores(), _MAX_WORKERS, max(1, len(selection.uses) // _CHUNK))
    workers = Workers(encoder.encode, n_workers, _FEWER_ADVICE)
    for split in (TRAIN, VALIDATION):
        (folder / split).mkdir()
    with (
        StoreWriter(folder / TRAIN, encoder.vocab_sizes) as train_store,
        StoreWriter(folder / VALIDATION, encoder.vocab_sizes) as validation_store,
    ):
        splits = (train_store, train), (validation_store, validated)
        for encoded in workers.imap(jobs):
            for (store, counts), part in zip(splits, encoded, strict=True):
                store.add(part.rows)
                counts.add(part.counts)
    for split, counts, text in ((TRAIN, train, selection.text), (VALIDATION, validated, validation or selection.text)):
        if not counts.kept:
            raise DataError(f"no {split} pair is left ({counts.line()})", text.name, advice="check the files")
    return [train.line(), form.format(validated.line())]


def _selected(selection: Selection) -> Iterator[list[list[NumberedPair]]]:
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


@dataclass(frozen=True)
class _Encoder:
    """Encodes pairs for a store, and drops those of wrong length."""

    tokenizers: Tokenizers
    data: DataConfig

    @property
    def vocab_sizes(self) -> tuple[int, int]:
        return self.tokenizers.source.vocab_size, self.tokenizers.target.vocab_size

    def encode(self, splits: Sequence[Sequence[NumberedPair]]) -> list[_Encoded]:
        """Encode the pairs of each split."""
        return [self._encode(pairs) for pairs in splits]

    def _encode(self, pairs: Sequence[NumberedPair]) -> _Encoded:
        counts = Counts()
        ids: tuple[list[list[int]], list[list[int]]] = [], []
        texts: tuple[list[str], list[str]] = [], []
        for line, source, target in pairs:
            source_ids, target_ids = self.tokenizers.source.encode(source), self.tokenizers.target.encode(target)
            problem = length_problem(len(source_ids), len(target_ids), self.data)
            if problem is not None:
                counts.drop(problem, line)
                continue
            ids[0].append(source_ids)
            ids[1].append(target_ids)
            texts[0].append(source)
            texts[1].append(target)
        counts.kept = len(texts[0])
        return _Encoded(pack(ids, texts), counts)


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
