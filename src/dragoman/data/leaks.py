"""Sentences of validation text in the training text of a mixture, which are taken out.

A model of both ways would see the translation of a validation sentence when it learns the other direction. So no
sentence of a validation pair, of either side, is trained on in any corpus of the same two languages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dragoman.data.filtering import Counts
from dragoman.data.hashed_pairs import text_hash
from dragoman.data.mixture import Corpus
from dragoman.data.selection import VALIDATION, Selection, Use


def without_leaks(corpora: Sequence[Corpus], selections: Sequence[Selection]) -> list[Selection]:
    """Return the selections of the corpora of a mixture, without training pairs that have a validation sentence.

    Raises:
        DataError: the text cannot be read.
    """
    hashes: defaultdict[frozenset[str], set[int]] = defaultdict(set)
    for corpus, selection in zip(corpora, selections, strict=True):
        validation = corpus.texts.get(VALIDATION)
        for pair in _validation_pairs(selection) if validation is None else validation:
            hashes[frozenset(corpus.languages)].update(map(text_hash, pair))
    return [
        _without(selection, hashes[frozenset(corpus.languages)])
        for corpus, selection in zip(corpora, selections, strict=True)
    ]


def _validation_pairs(selection: Selection) -> Iterator[tuple[str, str]]:
    return ((source, target) for (_, source, target), use in selection.used() if use == Use.VALIDATION)


def _without(selection: Selection, hashes: set[int]) -> Selection:
    """Return a selection without training pairs that have a sentence with one of these hashes."""
    uses, dropped = bytearray(selection.uses), Counts()
    dropped.add(selection.dropped)
    for index, (line, *pair) in enumerate(selection.text.numbered()):
        is_trained = index < len(uses) and uses[index] == Use.TRAINING
        if is_trained and any(isinstance(side, str) and text_hash(side) in hashes for side in pair):
            uses[index] = Use.IN_VALIDATION
            dropped.drop("sentence in the validation text", line)
    return replace(selection, uses=bytes(uses), dropped=dropped)
