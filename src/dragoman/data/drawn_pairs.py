"""Pairs as they are drawn: with subwords sampled and text changed anew each epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dragoman.data.augmentation.augment import Augmentation
from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.store import PairStore
from dragoman.settings.augmentation_config import UNCHANGED, AugmentationConfig
from dragoman.text.languages import base_language
from dragoman.text.tags import split_tags, with_tag
from dragoman.text.tokenizer import Tokenizers

#: Ids of source and target.
Ids = tuple[Sequence[int] | NDArray[Any], Sequence[int] | NDArray[Any]]
#: A key of random numbers, different from those of epochs and of sampling.
_CHANGES = 7


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
    """The ids of pairs, functions of the seed and the arguments."""

    def __init__(self, store: PairStore, tokenizers: Tokenizers, seed: int, drawing: Drawing) -> None:
        self._store, self._tokenizers, self._seed, self._drawing = store, tokenizers, seed, drawing
        self._longest = drawing.max_length if drawing.max_length is not None else np.iinfo(np.int64).max
        self._augmentation = Augmentation(drawing.augmentation, tokenizers.reserved)
        self._tags = tokenizers.source.tags
        self._ends = list(accumulate(part.n_pairs for part in store.parts))
        directions = [(part.source_lang, part.target_lang) for part in store.parts] or [tokenizers.languages]
        self._languages = [(base_language(source), base_language(target)) for source, target in directions]

    def ids(self, pair: int, copy: int, epoch: int) -> Ids:
        """Return the ids of both sides of a pair of the store, the copy of that number in the epoch."""
        store = self._store
        stored: Ids = store.source_ids(pair), store.target_ids(pair)
        is_changed = self._drawing.augmentation.is_on
        if not self._drawing.sampling and not is_changed:
            return stored
        languages = self._languages[bisect_right(self._ends, pair) if self._ends else 0]
        tags, source = split_tags(store.source_text(pair), self._tags) if self._tags else ((), store.source_text(pair))
        plain, start = (source, store.target_text(pair)), "".join(with_tag(tag, "") for tag in tags)
        ids = stored
        for text in (self._changed(plain, languages, (epoch, pair, copy)), plain) if is_changed else (plain,):
            if text != plain or self._drawing.sampling:
                ids = self._encoded((start + text[0], text[1]), pair, copy, epoch)
            else:
                ids = stored
            if max(map(len, ids)) <= self._longest:
                return ids
        source_ids, target_ids = (
            side if len(side) <= self._longest else kept for side, kept in zip(ids, stored, strict=True)
        )
        return source_ids, target_ids

    def _changed(self, text: Pair, languages: Languages, key: tuple[int, int, int]) -> Pair:
        return self._augmentation.change(text, languages, (_CHANGES, self._seed, *key))

    def _encoded(self, text: Pair, pair: int, copy: int, epoch: int) -> Ids:
        tokenizers = self._tokenizers.source, self._tokenizers.target
        if not self._drawing.sampling:
            return tokenizers[0].encode(text[0]), tokenizers[1].encode(text[1])
        repetition = (copy,) if copy else ()
        source, target = (
            tokenizer.sample(text[side], (self._seed, epoch, pair, side, *repetition))
            for side, tokenizer in enumerate(tokenizers)
        )
        return source, target
