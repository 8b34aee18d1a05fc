"""Pairs as they are drawn: with subwords sampled and text changed anew each epoch, alone or joined with others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.augmentation.augment import Augmentation
from dragoman.data.augmentation.clauses import join
from dragoman.data.augmentation.shared import Pair
from dragoman.data.batch_order import Draw
from dragoman.data.store import PairStore
from dragoman.settings.augmentation_config import UNCHANGED, AugmentationConfig
from dragoman.text.languages import base_language
from dragoman.text.tags import split_tags, with_tag
from dragoman.text.tokenizer import Tokenizers

#: Ids of source and target.
Ids = tuple[Sequence[int] | NDArray[Any], Sequence[int] | NDArray[Any]]
#: A pair of the store and its copy in the epoch; or several, which become one text.
Row = tuple[tuple[int, int], ...]
#: Keys of random numbers, different from those of epochs and of sampling.
_CHANGES, _JOINING = 7, 8
#: The share of joined texts that have three pairs instead of two.
_THREE_SHARE, _MOST_JOINED = 1 / 3, 3


@dataclass(frozen=True)
class Drawing:
    """Changes made anew to each pair that is drawn.

    Args:
        sampling: sample subwords; pairs are sorted and cut by their unsampled lengths.
        max_length: sentences that get longer than this are used as they are stored.
        augmentation: changes of the text.
    """

    sampling: bool = False
    max_length: int | None = None
    augmentation: AugmentationConfig = UNCHANGED


#: Pairs as they are stored.
AS_STORED = Drawing()


class DrawnPairs:
    """Rows of batches and their ids, functions of the seed and the arguments."""

    def __init__(self, store: PairStore, tokenizers: Tokenizers, seed: int, drawing: Drawing) -> None:
        self._store, self._tokenizers, self._seed, self._drawing = store, tokenizers, seed, drawing
        self._longest = drawing.max_length if drawing.max_length is not None else np.iinfo(np.int64).max
        self._augmentation = Augmentation(drawing.augmentation, tokenizers.reserved)
        self._tags = tokenizers.source.tags
        self._ends = list(accumulate(part.n_pairs for part in store.parts))
        directions = [(part.source_lang, part.target_lang) for part in store.parts] or [tokenizers.languages]
        self._languages = [(base_language(source), base_language(target)) for source, target in directions]

    def rows(self, draw: Draw, index: int) -> list[Row]:
        """Return the rows of a batch: in most a pair each; in a share of the batches several joined pairs each.

        All rows of a batch are joined, so that its cost and its padding stay about the same.
        """
        rows: list[Row] = [
            ((pair, copy),) for pair, copy in zip(draw.pairs.tolist(), draw.copies.tolist(), strict=True)
        ]
        dose = self._drawing.augmentation.joined
        if not dose:
            return rows
        generator = np.random.default_rng((_JOINING, self._seed, index))
        if generator.random() >= dose:
            return rows
        joined: list[Row] = []
        waiting: dict[int, Row] = {}
        for place in generator.permutation(len(rows)).tolist():
            part = self._part(rows[place][0][0])
            row = waiting.pop(part, ()) + rows[place]
            if len(row) > 1 and not self._fits(row):
                joined.append(row[:-1])
                row = rows[place]
            is_complete = len(row) == _MOST_JOINED or (len(row) > 1 and generator.random() >= _THREE_SHARE)
            if is_complete:
                joined.append(row)
            else:
                waiting[part] = row
        return [*joined, *waiting.values()]

    def _part(self, pair: int) -> int:
        return bisect_right(self._ends, pair) if self._ends else 0

    def _fits(self, row: Row) -> bool:
        lengths = [[side[pair] for pair, _ in row] for side in (self._store.source_lengths, self._store.target_lengths)]
        return bool(max(map(sum, lengths)) < self._longest)

    def ids(self, row: Row, epoch: int) -> Ids:
        """Return the ids of both sides of a row."""
        store, pair = self._store, row[0][0]
        stored: Ids = store.source_ids(pair), store.target_ids(pair)
        is_changed = self._drawing.augmentation.is_on
        if not self._drawing.sampling and not is_changed:
            return stored
        tags, plain = self._text(row)
        ids = stored
        for text in (self._changed(plain, row, epoch), plain) if is_changed else (plain,):
            if len(row) > 1 or text != plain or self._drawing.sampling:
                ids = self._encoded((tags + text[0], text[1]), row[0], epoch)
            else:
                ids = stored
            if max(map(len, ids)) <= self._longest:
                return ids
        if len(row) > 1:
            return stored
        source, target = (side if len(side) <= self._longest else kept for side, kept in zip(ids, stored, strict=True))
        return source, target

    def _text(self, row: Row) -> tuple[str, Pair]:
        """Return the tags before a row's source, and the text of its pairs."""
        pairs = [(self._store.source_text(pair), self._store.target_text(pair)) for pair, _ in row]
        if not self._tags:
            return "", join(pairs, self._languages[self._part(row[0][0])]) if len(row) > 1 else pairs[0]
        parted = [split_tags(source, self._tags) for source, _ in pairs]
        pairs = [(rest, target) for (_, rest), (_, target) in zip(parted, pairs, strict=True)]
        return "".join(with_tag(tag, "") for tag in parted[0][0]), join(pairs, self._languages[self._part(row[0][0])])

    def _changed(self, text: Pair, row: Row, epoch: int) -> Pair:
        key = (_CHANGES, self._seed, epoch, *row[0])
        return self._augmentation.change(text, self._languages[self._part(row[0][0])], key)

    def _encoded(self, text: Pair, first: tuple[int, int], epoch: int) -> Ids:
        tokenizers, (pair, copy) = (self._tokenizers.source, self._tokenizers.target), first
        if not self._drawing.sampling:
            return tokenizers[0].encode(text[0]), tokenizers[1].encode(text[1])
        repetition = (copy,) if copy else ()
        source, target = (
            tokenizer.sample(text[side], (self._seed, epoch, pair, side, *repetition))
            for side, tokenizer in enumerate(tokenizers)
        )
        return source, target
