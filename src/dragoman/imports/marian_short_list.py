"""Marian's lexical short-lists, binary or as text, as a short-list of ours.

Both have frequent ids, which are the first ones of the vocabulary, and likely translations of each source id. Marian
also lists the source's own ids where both sides share a vocabulary, reads the end mark as a source token, never writes
the unknown piece, and fills up each list to a multiple of eight. All but the last are kept.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from io import BytesIO
from pathlib import Path

import numpy as np

from dragoman.bundle.short_list_file import MOST_LIKELY
from dragoman.errors import BundleError
from dragoman.imports.compressed_files import file_content
from dragoman.machine.arrays import Ints
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.tokenizer import Tokenizer, Tokenizers

#: Magic number, checksum, frequent ids, most translations of an id, number of places, number of translations.
_HEAD = struct.Struct("<6Q")
_MAGIC = 0xF11A48D5013417F5
#: Frequent ids and translations of a text file whose settings name none, as in Marian.
USUAL = 100, 100
_MOST_BYTES = 2_000_000_000


def read_marian_short_list(path: Path, tokenizers: Tokenizers, sizes: tuple[int, int] = USUAL) -> ShortList:
    """Read a short-list.

    Args:
        sizes: of a list in text: frequent ids, and the most translations of an id.

    Raises:
        BundleError: it is damaged, or belongs to other vocabularies.
    """
    content = file_content(path, _MOST_BYTES)
    try:
        if content[:8] == struct.pack("<Q", _MAGIC):
            n_frequent, starts, likely = _binary(content)
        else:
            n_frequent, (starts, likely) = sizes[0], _text(content, tokenizers, sizes[1])
        tokens = _likely_tokens(n_frequent, starts, likely, tokenizers)
    except (ValueError, struct.error) as error:
        raise BundleError(f"not the short-list of this model ({error})", path, advice="use another copy") from None
    return ShortList(dict.fromkeys(tokenizers.targets, tokens))


def _likely_tokens(n_frequent: int, starts: Ints, likely: Ints, tokenizers: Tokenizers) -> LikelyTokens:
    """Return our list, from places (Marian's source vocabulary + 1) and ids."""
    source, target = tokenizers.source, tokenizers.target
    n_source, n_target = source.vocab_size - 1, target.vocab_size - 1  # without padding
    if len(starts) != n_source + 1:
        raise ValueError(f"it has {len(starts) - 1:,} source pieces, and the model {n_source:,}")
    if starts[0] != 0 or starts[-1] != len(likely) or (np.diff(starts) < 0).any():
        raise ValueError("its places are not in order")
    if likely.size and not 0 <= likely.min() <= likely.max() < n_target:
        raise ValueError("it has ids outside of the vocabulary")
    if len(likely) > MOST_LIKELY * n_source:
        raise ValueError(f"it has {len(likely):,} translations, more than {MOST_LIKELY:,} of a piece")
    is_known = likely != target.special_ids.unknown
    starts, likely = np.concatenate(([0], np.cumsum(is_known)))[starts], likely[is_known]
    end = source.special_ids.end
    frequent = np.arange(min(n_frequent, n_target))
    frequent = np.unique([*frequent, *likely[starts[end] : starts[end + 1]], target.special_ids.end])
    frequent = frequent[frequent != target.special_ids.unknown]
    if tokenizers.config.is_joint:
        likely = np.insert(likely, starts[:-1], np.arange(n_source))
        starts = starts + np.arange(n_source + 1)
    return LikelyTokens(frequent, np.append(starts, starts[-1]), likely)


def _binary(content: bytes) -> tuple[int, Ints, Ints]:
    """Return the number of frequent ids, places, and ids."""
    _, _, n_frequent, _, n_starts, n_likely = _HEAD.unpack_from(content)
    needed = _HEAD.size + 8 * n_starts + 4 * n_likely
    if len(content) != needed or not n_starts:
        raise ValueError(f"it has {len(content):,} bytes, and its head tells {needed:,}")
    starts = np.frombuffer(content, "<u8", n_starts, _HEAD.size)
    if starts.max() > n_likely:
        raise ValueError("a place lies outside of it")
    likely = np.frombuffer(content, "<u4", n_likely, _HEAD.size + 8 * n_starts)
    return n_frequent, starts.astype(np.int64), likely.astype(np.int64)


def _text(content: bytes, tokenizers: Tokenizers, most: int) -> tuple[Ints, Ints]:
    """Return places and ids of lines with a target piece, a source piece and a probability."""
    probabilities: defaultdict[int, dict[int, float]] = defaultdict(dict)
    pieces = _ids(tokenizers.target), _ids(tokenizers.source)
    unknown = tokenizers.target.special_ids.unknown, tokenizers.source.special_ids.unknown
    for number, line in enumerate(BytesIO(content), 1):  # which copies a line at a time
        parts = line.decode().split()
        if len(parts) not in (0, 3):
            raise ValueError(f"line {number} has {len(parts)} parts")
        if parts and "NULL" not in parts[:2]:
            target, source = (ids.get(part, own) for part, ids, own in zip(parts, pieces, unknown, strict=False))
            probability = float(parts[2])
            probabilities[source][target] = max(probability, probabilities[source].get(target, probability))
    lists = [
        sorted(sorted(row, key=lambda id: (-row[id], -id))[:most])
        for row in (probabilities.get(id, {}) for id in range(tokenizers.source.vocab_size - 1))
    ]
    return np.cumsum([0, *map(len, lists)]), np.array([id for row in lists for id in row], np.int64)


def _ids(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the id of each piece, by Marian's names."""
    special = tokenizer.special_ids
    pieces = {piece: id for id, piece in enumerate(tokenizer.vocabulary.pieces(range(tokenizer.vocab_size)))}
    return pieces | {"</s>": special.end, "<unk>": special.unknown}
