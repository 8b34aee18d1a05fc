"""Subword regularisation: another segmentation of the same sentence each time it is seen.

SentencePiece can sample, but draws from one random state per thread that is seeded for the whole process. Training
that continues exactly needs a pure function of (text, key), the same on every machine, so this module has both
algorithms. Pieces do not cross spaces, so both work word by word, and cache the result for each word.
"""

from __future__ import annotations

import hashlib
import math
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, pairwise
from typing import Any, Protocol, TypeVar

K = TypeVar("K")
V = TypeVar("V")

#: To bound RAM: the most cached segmentations and lattices, and the most characters of their words.
_SEGMENTATIONS, _LATTICES = 200_000, 20_000
_REMEMBERED_LENGTH = 24
_NEVER = -math.inf


class Sampler(Protocol):
    """Draws a segmentation of a sentence."""

    def sample(self, words: Sequence[str], key: tuple[int, ...]) -> list[int]:
        """Return the ids of a segmentation of `words`; a pure function of the words and the key."""


@dataclass(frozen=True)
class Pieces:
    """The ordinary pieces of a SentencePiece model, with their ids and scores, and a spelling for all other text."""

    ids: Mapping[str, int]
    scores: Mapping[str, float]
    #: Returns the ids of a character that is no piece: its bytes, or the unknown token.
    spell: Callable[[str], list[int]]
    unknown_id: int
    #: Words that are a piece and never cut. No other word has such a piece in it.
    reserved: frozenset[str] = frozenset()

    def symbols(self, word: str) -> list[str]:
        """Return the parts of a word that pieces are made of: its characters, or a reserved piece."""
        return [word] if word in self.reserved else list(word)

    def spelled(self, symbols: Sequence[str]) -> list[int]:
        """Return the ids of pieces and unknown characters; a run of unknown tokens is one, as in SentencePiece."""
        ids: list[int] = []
        for symbol in symbols:
            id = self.ids.get(symbol)
            added = [id] if id is not None else self.spell(symbol)
            if added != [self.unknown_id] or ids[-1:] != added:
                ids += added
        return ids


def remember(cache: dict[K, V], limit: int, word: str, key: K, value: V) -> None:
    """Put a value for a short word into `cache`, which is emptied first if it has `limit` values."""
    if len(word) <= _REMEMBERED_LENGTH:
        if len(cache) >= limit:
            cache.clear()
        cache[key] = value


def keyed_draws(key: tuple[int, ...]) -> Iterator[float]:
    """Yield random numbers in [0, 1) without end: a function of `key` alone, the same on every machine."""
    name = ",".join(map(str, key)).encode()
    for block in count():
        digest = hashlib.blake2b(name, digest_size=64, salt=block.to_bytes(16, "little")).digest()
        for bits in struct.unpack("<8Q", digest):
            yield (bits >> 11) * 2.0**-53


class BpeDropout:
    """Byte-pair encoding in which each merge is left out with a probability (Provilkov et al. 2020, section 3).

    As in SentencePiece, a merge that was left out comes back when one of its neighbours has changed.

    Args:
        pieces: the model's pieces; a higher score is merged earlier.
        dropout: probability of leaving out a merge, in (0, 1).
    """

    def __init__(self, pieces: Pieces, dropout: float) -> None:
        self._pieces = pieces
        self._log_kept = math.log1p(-dropout)
        self._known: dict[tuple[str, tuple[int, ...]], tuple[list[int], int]] = {}

    def sample(self, words: Sequence[str], key: tuple[int, ...]) -> list[int]:
        """Return the ids of a segmentation of `words`."""
        draws = keyed_draws(key)
        log_kept = self._log_kept
        cache = self._known
        ids: list[int] = []
        # The number of merges before the next left out is geometric, so one draw serves many merges.
        gap = int(math.log(1.0 - next(draws)) / log_kept)
        for word in words:
            dropped: tuple[int, ...] = ()
            merged_ids, n_merges = cache.get((word, dropped)) or self.merge(word, dropped)
            while gap < n_merges:
                dropped += (gap,)
                merged_ids, n_merges = cache.get((word, dropped)) or self.merge(word, dropped)
                gap = int(math.log(1.0 - next(draws)) / log_kept)
            gap -= n_merges
            ids += merged_ids
        return ids

    def merge(self, word: str, dropped: tuple[int, ...] = ()) -> tuple[list[int], int]:
        """Merge the best pair again and again.

        Args:
            dropped: merges that go through before each merge that is left out; after the last, all do.

        Returns:
            The ids, and the number of merges after the last one left out.
        """
        scores = self._pieces.scores
        symbols = self._pieces.symbols(word)
        # The score of merging each symbol with the next. A word is short, so the best is found soonest by looking at
        # all; sentences without spaces are bounded by the longest that training keeps.
        pairs = [scores.get(left + right, _NEVER) for left, right in pairwise(symbols)]
        gaps = list(reversed(dropped))
        n_merges = 0
        while pairs and (best := max(pairs)) > _NEVER:
            left = pairs.index(best)
            if gaps and n_merges == gaps[-1]:
                gaps.pop()
                n_merges = 0
                pairs[left] = _NEVER
                continue
            n_merges += 1
            merged = symbols[left] = symbols[left] + symbols.pop(left + 1)
            del pairs[left]
            if left:
                pairs[left - 1] = scores.get(symbols[left - 1] + merged, _NEVER)
            if left < len(pairs):
                pairs[left] = scores.get(merged + symbols[left + 1], _NEVER)
        result = self._pieces.spelled(symbols), n_merges
        remember(self._known, _SEGMENTATIONS, word, (word, dropped), result)
        return result


@dataclass(frozen=True)
class _Lattice:
    """For each end position of a word, the pieces that may end there, and their cumulative probabilities."""

    starts: Sequence[Sequence[int]]
    ids: Sequence[Sequence[Sequence[int]]]
    cumulated: Sequence[Sequence[float]]


class UnigramSampling:
    """Segmentations drawn with probability proportional to P(segmentation) ** alpha (Kudo 2018, section 3).

    All segmentations take part (the paper's l = infinity), by filtering forwards and sampling backwards.

    Args:
        pieces: the model's pieces; scores are natural-log probabilities.
        alpha: smoothing, in (0, 1]; the smaller, the more even.
    """

    #: SentencePiece's penalty: the score of an unknown character is this much below that of the rarest piece.
    _UNKNOWN = 10.0

    def __init__(self, pieces: Pieces, alpha: float) -> None:
        self._pieces = pieces
        self._alpha = alpha
        self._longest = max(map(len, pieces.ids), default=1)
        self._unknown = min(pieces.scores.values(), default=0.0) - self._UNKNOWN
        self._lattices: dict[str, _Lattice] = {}

    def sample(self, words: Sequence[str], key: tuple[int, ...]) -> list[int]:
        """Return the ids of a segmentation of `words`."""
        draws, unknown = keyed_draws(key), [self._pieces.unknown_id]
        ids: list[int] = []
        for word in words:
            lattice = self._lattices.get(word)
            if lattice is None:
                lattice = self._lattice(word)
                remember(self._lattices, _LATTICES, word, word, lattice)
            chosen: list[Sequence[int]] = []
            end = len(word)
            while end:
                cumulated = lattice.cumulated[end]
                edge = bisect_left(cumulated, next(draws) * cumulated[-1]) if len(cumulated) > 1 else 0
                chosen.append(lattice.ids[end][edge])
                end = lattice.starts[end][edge]
            for piece in reversed(chosen):
                if piece != unknown or ids[-1:] != piece:
                    ids += piece
        return ids

    def _lattice(self, word: str) -> _Lattice:
        """Filter forwards: `total[end]` is the logarithm of the summed, smoothed probability of all ways to `end`."""
        if word in self._pieces.reserved:
            inside: list[list[Any]] = [[]] * len(word)
            return _Lattice([*inside, [0]], [*inside, [[self._pieces.ids[word]]]], [*inside, [1.0]])
        total = [0.0]
        starts: list[list[int]] = [[]]
        ids: list[list[Sequence[int]]] = [[]]
        cumulated: list[list[float]] = [[]]
        for end in range(1, len(word) + 1):
            edges = self._edges(word, end)
            logs = [total[start] + self._alpha * score for start, _, score in edges]
            largest = max(logs)
            weights = list(accumulate(math.exp(log - largest) for log in logs))
            total.append(largest + math.log(weights[-1]))
            starts.append([start for start, _, _ in edges])
            ids.append([piece for _, piece, _ in edges])
            cumulated.append(weights)
        return _Lattice(starts, ids, cumulated)

    def _edges(self, word: str, end: int) -> list[tuple[int, list[int], float]]:
        """Return (start, ids, score) of each piece that ends at `end`; a character that is no piece is spelled."""
        edges = []
        for start in range(max(0, end - self._longest), end):
            piece = word[start:end]
            id = self._pieces.ids.get(piece)
            if id is not None:
                edges.append((start, [id], self._pieces.scores[piece]))
            elif start == end - 1:
                edges.append((start, self._pieces.spell(piece), self._unknown))
        return edges
