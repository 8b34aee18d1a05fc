"""The file of a bundle that has its short-list.

It has three vectors for each target language: the frequent ids, how many likely ids each source id has, and these ids,
one source id after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from dragoman.errors import BundleError
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.tokenizer import Tokenizers

#: Likely tokens that a file has for each entry of the source vocabulary, at most, in all languages.
MOST_LIKELY = 1_000
_PARTS = ("frequent", "counts", "likely")


def largest_short_list(vocab_sizes: tuple[int, int]) -> int:
    """Return the most bytes that a file for vocabularies of these sizes can have."""
    return 4 * (vocab_sizes[0] * MOST_LIKELY + vocab_sizes[1]) + 1_000_000


def short_list_bytes(short_list: ShortList) -> bytes:
    """Return the content of the file."""
    arrays = {
        f"{language}.{name}": array.astype(np.uint16 if array.max(initial=0) < 1 << 16 else np.uint32)
        for language, tokens in short_list.languages.items()
        for name, array in zip(_PARTS, (tokens.frequent, np.diff(tokens.starts), tokens.likely), strict=True)
    }
    return save(arrays)


def read_short_list(path: Path, tokenizers: Tokenizers) -> ShortList:
    """Read a file that may be a stranger's.

    Raises:
        BundleError: it is damaged, or does not fit the tokenizers.
    """
    try:
        arrays = load(path.read_bytes())
        names = {f"{language}.{part}" for language in tokenizers.targets for part in _PARTS}
        languages = [language for language in tokenizers.targets if f"{language}.likely" in arrays]
        if not arrays.keys() <= names or len(arrays) != len(_PARTS) * len(languages):
            raise ValueError("there are not three vectors for each language")
        tables = {language: _likely(arrays, language, tokenizers) for language in languages}
    except (SafetensorError, ValueError, KeyError, OSError) as error:  # KeyError: a type that NumPy lacks
        raise BundleError(f"not the short-list of this model ({error})", path, advice="use another copy") from None
    return ShortList(tables)


def _likely(arrays: Mapping[str, NDArray[Any]], language: str, tokenizers: Tokenizers) -> LikelyTokens:
    frequent, counts, likely = parts = [arrays[f"{language}.{part}"] for part in _PARTS]
    if any(array.ndim != 1 or array.dtype not in (np.uint16, np.uint32) for array in parts):
        raise ValueError("a vector of another type")
    ids = np.concatenate([frequent, likely])
    if len(counts) != tokenizers.source.vocab_size or ids.max(initial=0) >= tokenizers.target.vocab_size:
        raise ValueError("its vocabulary has another size")
    if tokenizers.target.special_ids.end not in frequent:
        raise ValueError("the end mark is missing")
    return LikelyTokens(frequent, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]), likely)
