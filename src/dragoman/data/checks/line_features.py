"""Features that a sentence and its translation share in any two languages.

These are the length, the numbers of question marks, digits and the like, and words written the same in both languages,
such as names. NumPy computes them for a block of lines at once. n lines, C characters, W words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from dragoman.text.languages import UNSPACED

#: A line is compared with this many lines on either side. So a corpus sorted by length does not look aligned
#: just because both sides grow.
_NEIGHBOURS = 25
#: Marks in a smaller share of the lines are left out.
_MIN_SHARE = 0.01
#: Characters of a line that are examined; the length is that of the whole line.
_MAX_CHARACTERS = 400
#: Marks that translations tend to keep, each class with its forms in several scripts.
_MARKS = (
    "?？؟⁇;",
    "!！¡",
    ",，、،;；",
    "'\"“”„«»「」『』‘’‹›",
    "()（）[]【】",
    ":：",
    "-–—―",
    "%％$€£°+=<>&*/\\_{}`@#",
    "…",
)
_DIGIT = len(_MARKS) + 1
_CAPITAL = _DIGIT + 1
N_FEATURES = _CAPITAL + 1
_NO_WORD, _WORD = 0, 1
_CODES = 0x10000


@dataclass(frozen=True)
class LineFeatures:
    """Features of consecutive lines of one side."""

    #: Logarithms of the length and of the number of marks of each class: float32 (n, N_FEATURES).
    counts: NDArray[np.float32]
    #: The line of each word, in order: int64 (W,), and a hash of the word: uint32 (W,).
    lines: NDArray[np.int64]
    words: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def local(self) -> NDArray[np.float64]:
        """Features minus the mean of the neighbours: float64 (n, N_FEATURES)."""
        sums = np.zeros((len(self) + 1, N_FEATURES))
        np.cumsum(self.counts, axis=0, out=sums[1:])
        lines = np.arange(len(self))
        first, last = np.maximum(lines - _NEIGHBOURS, 0), np.minimum(lines + _NEIGHBOURS + 1, len(self))
        local: NDArray[np.float64] = self.counts - (sums[last] - sums[first]) / (last - first)[:, None]
        return local

    @cached_property
    def special(self) -> NDArray[np.float32]:
        """Local features, scaled and clipped: float32 (n, N_FEATURES)."""
        is_common = (self.counts > 0).mean(0) > _MIN_SHARE  # a rare mark says nothing about most lines
        scale = np.maximum(self.local.std(0), 1e-6)
        scaled: NDArray[np.float32] = np.clip(self.local / scale, -4, 4).astype(np.float32)
        scaled[:, ~is_common] = 0
        return scaled

    def __getitem__(self, part: slice) -> LineFeatures:
        """Return the features of some of the lines."""
        start, stop, _ = part.indices(len(self))
        first, last = np.searchsorted(self.lines, (start, stop))
        return LineFeatures(self.counts[start:stop], self.lines[first:last] - start, self.words[first:last])


def line_features(texts: Sequence[str]) -> LineFeatures:
    """Compute the features of some lines."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    n_examined = np.minimum(lengths, _MAX_CHARACTERS)
    joined = "".join(text[:_MAX_CHARACTERS] for text in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", errors="surrogatepass"), np.uint32)
    line_of = np.repeat(np.arange(len(texts)), n_examined)
    kinds, is_word = _tables()
    inside = np.minimum(codes, _CODES - 1)
    counts = np.bincount(line_of * N_FEATURES + kinds[inside], minlength=len(texts) * N_FEATURES)
    counts = counts.reshape(len(texts), N_FEATURES).astype(np.float32)
    counts[:, 0] = lengths
    lines, words = _words(codes, line_of, is_word[inside])
    return LineFeatures(np.log1p(counts), lines, words)


def concatenate(parts: Sequence[LineFeatures]) -> LineFeatures:
    """Return the features of consecutive blocks as those of one."""
    starts = np.cumsum([0, *map(len, parts)])
    lines = [part.lines + start for part, start in zip(parts, starts, strict=False)]
    counts, words = [part.counts for part in parts], [part.words for part in parts]
    return LineFeatures(np.concatenate(counts), np.concatenate(lines), np.concatenate(words))


def _words(
    codes: NDArray[np.uint32], line_of: NDArray[np.int64], is_word: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the line and a hash of each word, a run of letters and digits."""
    if not is_word.any():
        return np.zeros(0, np.int64), np.zeros(0, np.uint32)
    indices = np.flatnonzero(is_word)
    begins = np.ones(len(indices), bool)
    begins[1:] = (np.diff(indices) > 1) | (np.diff(line_of[indices]) > 0)
    starts = np.flatnonzero(begins)
    offset = np.arange(len(indices)) - np.repeat(starts, np.diff(np.append(starts, len(indices))))
    mixed = (codes[indices].astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed += offset.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(31)  # without it, words of the same letters have the same sum
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    hashes = np.add.reduceat(mixed, starts)
    return line_of[indices[starts]], (hashes >> np.uint64(32)).astype(np.uint32)


@lru_cache(maxsize=1)
def _tables() -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the feature that counts each character (0 for none), and True for characters of words, by code."""
    kinds = np.zeros(_CODES, np.int64)
    is_word = np.zeros(_CODES, bool)
    unspaced = re.compile(f"[{UNSPACED}]")
    for code in range(_CODES - 1):
        kind = unicodedata.category(chr(code))
        if kind == "Nd":
            kinds[code] = _DIGIT
        elif kind == "Lu":
            kinds[code] = _CAPITAL
        is_word[code] = kind[0] in "LMN" and not unspaced.match(chr(code))
    for number, marks in enumerate(_MARKS, start=1):
        kinds[[ord(mark) for mark in marks]] = number
    return kinds, is_word
