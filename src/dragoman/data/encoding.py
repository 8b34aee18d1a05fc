"""Writes the stores of a corpus's splits: text to ids in chunks, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from dragoman.config import DataConfig
from dragoman.data.corpus import ParallelText
from dragoman.data.filtering import Counts, length_problem, text_problem
from dragoman.data.selection import TRAIN, VALIDATION, Selection
from dragoman.data.store import StoreWriter
from dragoman.errors import DataError
from dragoman.text.tokenizer import Tokenizers

_CHUNK = 4096

Pair = tuple[str, str]
T = TypeVar("T")


def write_stores(
    folder: Path, selection: Selection, validation: ParallelText | None, tokenizers: Tokenizers
) -> list[str]:
    """Write the stores `train` and `validation` into `folder`, and return what was kept, for people.

    Args:
        selection: the training corpus, and which of its pairs are held out for validation.
        validation: validation data of their own; None if they are held out, or so few that there are none.

    Raises:
        DataError: no pair is left of a split, or the text cannot be read.
    """
    sizes = tokenizers.source.vocab_size, tokenizers.target.vocab_size
    for split in (TRAIN, VALIDATION):
        (folder / split).mkdir()
    with StoreWriter(folder / TRAIN, sizes) as train_store, StoreWriter(folder / VALIDATION, sizes) as validation_store:
        train = _Split(train_store, tokenizers, selection.data)
        held_out = _Split(validation_store, tokenizers, selection.data)
        train.counts.dropped.update(selection.dropped)
        for chunk in _chunks(selection.decisions()):
            train.counts.dropped.update(what for _, _, what in chunk if what not in (TRAIN, VALIDATION))
            train.add([(source, target) for source, target, what in chunk if what == TRAIN])
            held_out.add([(source, target) for source, target, what in chunk if what == VALIDATION])
        train.counts.seen = selection.n_seen - held_out.counts.seen
        lines = [train.counts.line()]
        if validation is None and selection.held_out:
            lines.append(f"held out for validation: {held_out.counts.line()}")
        elif validation is None:
            held_out.add_all(selection.training_pairs())
            lines.append("too few pairs to hold any out: validation is on the training pairs, and says little")
        else:
            held_out.add_all(_usable(validation, held_out.counts))
            lines.append(f"validation: {held_out.counts.line()}")
    for split, counts in ((TRAIN, train.counts), (VALIDATION, held_out.counts)):
        if not counts.kept:
            raise DataError(f"no {split} pair is left ({counts.line()})", selection.text.name, advice="check the files")
    return lines


class _Split:
    """A store being written, with counts of what went in."""

    def __init__(self, store: StoreWriter, tokenizers: Tokenizers, data: DataConfig) -> None:
        self._store = store
        self._tokenizers = tokenizers
        self._data = data
        self.counts = Counts()

    def add_all(self, pairs: Iterable[Pair]) -> None:
        """Encode and write pairs in chunks."""
        for chunk in _chunks(pairs):
            self.add(chunk)

    def add(self, pairs: Sequence[Pair]) -> None:
        """Encode pairs, and write those whose lengths are right."""
        source_ids = self._tokenizers.source.encode_all([source for source, _ in pairs])
        target_ids = self._tokenizers.target.encode_all([target for _, target in pairs])
        problems = [
            length_problem(len(source), len(target), self._data)
            for source, target in zip(source_ids, target_ids, strict=True)
        ]
        kept = [index for index, problem in enumerate(problems) if problem is None]
        self._store.add(
            ([source_ids[index] for index in kept], [target_ids[index] for index in kept]),
            ([pairs[index][0] for index in kept], [pairs[index][1] for index in kept]),
        )
        self.counts.seen += len(pairs)
        self.counts.kept += len(kept)
        self.counts.dropped.update(Counter(problem for problem in problems if problem is not None))


def _usable(text: ParallelText, counts: Counts) -> Iterator[Pair]:
    """The pairs with usable text; the others are counted."""
    for source, target in text.read():
        problem = text_problem(source, target)
        if problem is not None:
            counts.seen += 1
            counts.dropped[problem] += 1
        elif isinstance(source, str) and isinstance(target, str):
            yield source, target


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
