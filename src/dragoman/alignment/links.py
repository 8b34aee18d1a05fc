"""From cross-attention to word alignments: each target word is linked to the source word that it attends to most.

L layers, H heads, T target tokens, S source tokens, V and W words of source and target.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.word_spans import Span, token_spans, visible, word_spans
from dragoman.machine.arrays import Floats

#: (source word, target word), both from 0.
Link = tuple[int, int]


@dataclass(frozen=True)
class Places:
    """The places of the tokens and the words of a text, or of a part of it, in the whole text."""

    tokens: Sequence[Span]
    words: Sequence[Span]
    first_word: int = 0
    """The number of the first of `words` in the whole text."""

    @classmethod
    def of(cls, pieces: Sequence[str], text: str) -> Self:
        """Return the places in a text that was split into `pieces`, or decoded from them."""
        return cls(token_spans(pieces, text), word_spans(text))

    @classmethod
    def in_parts(cls, parts: Sequence[tuple[Sequence[str], str]], text: str) -> Iterator[Self]:
        """Yield the places of each part, given by its pieces and its own text, in the whole text.

        A part has the words that it shares characters with, so that the time grows no faster than the text.
        """
        words, before = word_spans(text), 0
        for pieces, part in parts:
            after = before + len(visible(part))
            first = bisect_right(words, before, key=lambda word: word[1])
            last = bisect_left(words, after, key=lambda word: word[0])
            tokens = [(start + before, end + before) for start, end in token_spans(pieces, part)]
            yield cls(tokens, words[first:last], first)
            before = after

    def shares(self) -> Floats:
        """Return the share of each token that belongs to each word: (words, tokens); 0 for a token that is a space."""
        shares = np.zeros((len(self.words), len(self.tokens)), dtype=np.float32)
        word = 0
        for token, (start, end) in enumerate(self.tokens):
            while word < len(self.words) and self.words[word][1] <= start:
                word += 1
            last = word
            while last < len(self.words) and self.words[last][0] < end:
                last += 1
            shares[word:last, token] = 1 / max(1, last - word)
        return shares


def token_weights(cross: Floats, heads: AlignmentHeads) -> Floats:
    """Return the mean of the chosen heads for each token of a translation that the model has read, (T, S).

    Args:
        cross: cross-attention (L, H, T + 1, S); row 0 reads the start mark and writes the first token, row t reads the
            t-th and writes the next.
    """
    layers, numbers = zip(*heads.heads, strict=True)
    mean: Floats = cross[list(layers), list(numbers)].mean(axis=0)
    return mean[1:] if heads.shifted else mean[:-1]


def word_weights(weights: Floats, source: Places, target: Places) -> Floats:
    """Return the attention of target words to source words: token weights (..., T, S) -> (..., W, V).

    The weights of a source word's tokens are added, and those of a target word's tokens averaged. Tokens without a
    place, such as end marks, are left out.
    """
    source_shares, target_shares = source.shares(), target.shares()
    target_shares = target_shares / np.maximum(target_shares.sum(axis=1, keepdims=True), np.float32(1e-9))
    inner = weights[..., : target_shares.shape[1], : source_shares.shape[1]]
    by_word: Floats = target_shares @ inner @ source_shares.T
    return by_word


def link_words(weights: Floats) -> tuple[Link, ...]:
    """Link each target word to its source word of most weight: word weights (W, V) -> links, by source word.

    A target word without weight has no link.
    """
    if not weights.size:
        return ()
    pairs = zip(weights.argmax(axis=1).tolist(), weights.max(axis=1).tolist(), strict=True)
    return tuple(sorted((source, target) for target, (source, weight) in enumerate(pairs) if weight > 0))
