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
from dragoman.data.augmentation.shared import Pair
from dragoman.data.context import n_fitting
from dragoman.data.store import PairStore
from dragoman.settings.augmentation_config import UNCHANGED, AugmentationConfig
from dragoman.text.languages import base_language
from dragoman.text.tags import split_tags, with_tag
from dragoman.text.tokenizer import Tokenizers

#: Ids of source and target.
Ids = tuple[Sequence[int] | NDArray[Any], Sequence[int] | NDArray[Any]]
#: A key of random numbers, different from those of epochs and of sampling.
_CHANGES = 7
_CONTEXT = 8


@dataclass(frozen=True)
class Drawing:
    """Changes made anew to each pair that is drawn.

    Args:
        sampling: sample subwords; pairs are sorted and cut by their unsampled lengths.
        max_length: sentences that get longer than this are used as they are stored.
        augmentation: changes of the text.
        without_context: the share of sources with context that are read without it.
    """

    sampling: bool = False
    max_length: int | None = None
    augmentation: AugmentationConfig = UNCHANGED
    without_context: float = 0.0


#: Pairs as they are stored.
AS_STORED = Drawing()


class DrawnPairs:
    """The ids of pairs, functions of the seed and the arguments."""

    def __init__(self, store: PairStore, tokenizers: Tokenizers, seed: int, drawing: Drawing) -> None:
        self._store, self._tokenizers, self._seed, self._drawing = store, tokenizers, seed, drawing
        self._longest = drawing.max_length if drawing.max_length is not None else np.iinfo(np.int64).max
        self._augmentation = Augmentation(drawing.augmentation, tokenizers.reserved)
        self._is_changed = drawing.augmentation.is_on
        self._tags = tokenizers.source.tags, tokenizers.target.tags
        source = tokenizers.source
        self._tag_ids, self._end = set(source.vocabulary.ids(sorted(source.tags))), [source.special_ids.end]
        self._ends = list(accumulate(part.n_pairs for part in store.parts))
        directions = [(part.source_lang, part.target_lang) for part in store.parts] or [tokenizers.languages]
        self._languages = [(base_language(source), base_language(target)) for source, target in directions]

    def ids(self, pair: int, copy: int, epoch: int) -> Ids:
        """Return the ids of both sides of a pair of the store, the copy of that number in the epoch."""
        source, target = self._pair(pair, copy, epoch)
        if not self._store.n_before[pair]:
            return source, target
        share = self._drawing.without_context
        if share and np.random.default_rng((_CONTEXT, self._seed, epoch, pair, copy)).random() < share:
            return source, target
        before = [self._untagged(self._store.source_ids(number)) for number in self._store.before(pair)]
        n_fit = n_fitting(list(map(len, before)), self._longest - len(source))
        parts = [part for ids in before[len(before) - n_fit :] for part in (ids, self._end)]
        return np.concatenate([*parts, np.asarray(source, np.int64)]), target

    def _untagged(self, ids: NDArray[Any]) -> NDArray[Any]:
        """Return the ids of a source without the tags that it begins with."""
        n_tags = next((number for number, id in enumerate(ids.tolist()) if id not in self._tag_ids), len(ids))
        return ids[n_tags:]

    def _pair(self, pair: int, copy: int, epoch: int) -> Ids:
        store = self._store
        stored: Ids = store.source_ids(pair), store.target_ids(pair)
        if not self._drawing.sampling and not self._is_changed:
            return stored
        texts = store.source_text(pair), store.target_text(pair)
        parts = [split_tags(text, tags) if tags else ((), text) for text, tags in zip(texts, self._tags, strict=True)]
        start = ["".join(with_tag(tag, "") for tag in tags) for tags, _ in parts]
        plain = parts[0][1], parts[1][1]
        changed = plain
        if self._is_changed:
            languages = self._languages[bisect_right(self._ends, pair) if self._ends else 0]
            changed = self._augmentation.change(plain, languages, (_CHANGES, self._seed, epoch, pair, copy))
        ids = stored
        for text in (changed, plain) if changed != plain else (plain,):
            if self._drawing.sampling:
                ids = self._sampled((start[0] + text[0], start[1] + text[1]), pair, copy, epoch)
            else:
                ids = self._encoded(text, plain, start, stored)
            if max(map(len, ids)) <= self._longest:
                return ids
        source_ids, target_ids = (
            side if len(side) <= self._longest else kept for side, kept in zip(ids, stored, strict=True)
        )
        return source_ids, target_ids

    def _encoded(self, text: Pair, plain: Pair, start: Sequence[str], stored: Ids) -> Ids:
        """Return the ids of a text whose sides have these tags before them; a side that has not changed has its own."""
        return (
            stored[0] if text[0] == plain[0] else self._tokenizers.source.encode(start[0] + text[0]),
            stored[1] if text[1] == plain[1] else self._tokenizers.target.encode(start[1] + text[1]),
        )

    def _sampled(self, text: Pair, pair: int, copy: int, epoch: int) -> Ids:
        repetition = (copy,) if copy else ()
        source, target = (
            tokenizer.sample(text[side], (self._seed, epoch, pair, side, *repetition))
            for side, tokenizer in enumerate((self._tokenizers.source, self._tokenizers.target))
        )
        return source, target
