"""A prepared corpus on disk: ids and text of both sides, read through memory maps.

Each side has `<side>_ids.bin`, all ids in one row, in the smallest unsigned type that fits, and
`<side>_ids_offsets.bin`, the beginning of each sentence and the end (int64). `<side>_text.bin` and its offsets hold the
UTF-8 bytes of the text. `context.bin`, of a corpus with context, has the number of sentences before each source
(uint8). All are little-endian. Pairs of several corpora or directions lie one part after the other;
the index lists the parts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from dragoman.errors import BundleError
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import require_held

INDEX = "index.json"
SIDES = ("source", "target")
_CONTEXT = "context.bin"
_ID_TYPES = ("<u1", "<u2", "<u4")

_PART_TYPES: Mapping[str, Callable[[Any], Any]] = {"name": str, "source_lang": str, "target_lang": str, "n_pairs": int}

#: Ids or bytes of several sentences one after the other, and the length of each: int64 (n_pairs,).
Row = tuple[NDArray[Any], NDArray[np.int64]]


@dataclass(frozen=True)
class Part:
    """Pairs of one corpus in one direction, one after the other in a store."""

    #: The corpus.
    name: str
    source_lang: str
    target_lang: str
    n_pairs: int = 0

    @property
    def direction(self) -> str:
        """The languages, for example "en-de"."""
        return f"{self.source_lang}-{self.target_lang}"


def pack(ids: Sequence[Sequence[Sequence[int]]], texts: Sequence[Sequence[str]]) -> list[Row]:
    """Return pairs in the form that `StoreWriter` takes: ids of source and target, text of source and target.

    Args:
        ids: `ids[side][pair]`.
        texts: `texts[side][pair]`.
    """
    rows: list[Row] = [
        (np.fromiter(chain.from_iterable(sentences), np.uint32), _lengths(sentences)) for sentences in ids
    ]
    for side in texts:
        encoded = [text.encode() for text in side]
        rows.append((np.frombuffer(b"".join(encoded), np.uint8), _lengths(encoded)))
    return rows


def _lengths(sentences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, sentences), np.int64, len(sentences))


class StoreWriter:
    """Writes a store, some pairs at a time.

    Args:
        folder: an existing folder.
        vocab_sizes: of source and target.
        has_context: some sources have sentences before them.
    """

    def __init__(self, folder: Path, vocab_sizes: tuple[int, int], *, has_context: bool = False) -> None:
        self._folder = folder
        self._types = [_smallest_type(size) for size in vocab_sizes]
        self._n_pairs = 0
        self._parts: list[Part] = []
        self._closing = contextlib.ExitStack()
        kinds = {f"{side}_ids": kind for side, kind in zip(SIDES, self._types, strict=True)}
        kinds |= {f"{side}_text": "<u1" for side in SIDES}
        self._columns = [_Column(self._closing, folder / name, kind) for name, kind in kinds.items()]
        self._context = self._closing.enter_context((folder / _CONTEXT).open("wb")) if has_context else None

    def begin(self, part: Part) -> None:
        """Let the pairs that are added from now on belong to a part, whose number of pairs is counted."""
        self._parts.append(part)

    def add(self, rows: Sequence[Row], n_before: NDArray[np.uint8] | None = None) -> None:
        """Append pairs in the form that `pack` returns.

        Args:
            n_before: the sentences of the context of each source, if the store has any: (n_pairs,).
        """
        n_pairs = len(rows[0][1])
        if self._parts:
            self._parts[-1] = replace(self._parts[-1], n_pairs=self._parts[-1].n_pairs + n_pairs)
        for column, (values, lengths) in zip(self._columns, rows, strict=True):
            column.append(values, lengths)
        if self._context is not None and n_before is not None:
            self._context.write(n_before.tobytes())
        self._n_pairs += n_pairs

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()
        if error is None:
            types = dict(zip(("source_type", "target_type"), self._types, strict=True))
            index = {"n_pairs": self._n_pairs, **types, "parts": [asdict(part) for part in self._parts]}
            require_held(self._folder)  # encoding takes minutes
            (self._folder / INDEX).write_bytes(to_json(index))


class _Column:
    """A file of values and one of offsets, being written."""

    def __init__(self, closing: contextlib.ExitStack, path: Path, kind: str) -> None:
        values, offsets = Path(f"{path}.bin"), Path(f"{path}_offsets.bin")
        self._values: BinaryIO = closing.enter_context(values.open("wb"))
        self._offsets: BinaryIO = closing.enter_context(offsets.open("wb"))
        self._kind, self._end = kind, 0
        self._offsets.write(np.zeros(1, "<i8").tobytes())
        self._offsets.flush()  # a process that is forked now has nothing to write

    def append(self, values: NDArray[Any], lengths: NDArray[np.int64]) -> None:
        self._values.write(values.astype(self._kind).tobytes())
        self._offsets.write((self._end + lengths.cumsum()).astype("<i8").tobytes())
        self._end += int(lengths.sum())


class PairStore:
    """A store, open for reading.

    Args:
        folder: written by `StoreWriter`.

    Raises:
        BundleError: a file is missing, or the files do not fit together.
    """

    def __init__(self, folder: Path) -> None:
        index = read_json(folder / INDEX)
        n_pairs, types = index.get("n_pairs"), [index.get(f"{side}_type") for side in SIDES]
        if not isinstance(n_pairs, int) or not all(kind in _ID_TYPES for kind in types):
            raise BundleError("not the index of a prepared corpus", folder / INDEX, advice="prepare it again")
        self.folder = folder
        #: The parts, whose pairs lie one after the other; none for one corpus in one direction.
        self.parts = _parts(index.get("parts"), n_pairs, folder / INDEX)
        self._n_pairs = n_pairs
        ids = [
            _open_column(folder / f"{side}_ids", str(kind), n_pairs) for side, kind in zip(SIDES, types, strict=True)
        ]
        texts = [_open_column(folder / f"{side}_text", "<u1", n_pairs) for side in SIDES]
        self._ids, self._texts = ids, texts
        #: Tokens of each sentence, without the end of the sentence: int32 (n_pairs,).
        self.source_lengths, self.target_lengths = (np.diff(offsets).astype(np.int32) for _, offsets in ids)
        #: Sentences of the context of each source: uint8 (n_pairs,).
        self.n_before = np.zeros(n_pairs, np.uint8)
        if (folder / _CONTEXT).exists():
            self.n_before = _map(folder / _CONTEXT, "<u1")
            if len(self.n_before) != n_pairs or (self.n_before > np.arange(n_pairs)).any():
                problem = "the files of a prepared corpus do not fit together"
                raise BundleError(problem, folder / _CONTEXT, advice="prepare it again")

    def __len__(self) -> int:
        return self._n_pairs

    @cached_property
    def read_lengths(self) -> NDArray[np.int32]:
        """Tokens that a model reads for each source: its context, with end marks, and itself; int32 (n_pairs,)."""
        lengths = self.source_lengths.copy()
        for back in range(1, int(self.n_before.max(initial=0)) + 1):
            rows = np.flatnonzero(self.n_before >= back)
            lengths[rows] += self.source_lengths[rows - back] + 1
        return lengths

    def before(self, index: int) -> range:
        """Return the pairs whose sources are the context of a source."""
        return range(index - int(self.n_before[index]), index)

    @property
    def directions(self) -> list[tuple[str, str]]:
        """The languages of the parts, each pair of them once; none without parts."""
        return list(dict.fromkeys((part.source_lang, part.target_lang) for part in self.parts))

    def rows_of(self, direction: tuple[str, str]) -> list[slice]:
        """Return the pairs of the parts that have these languages."""
        return self._rows(lambda part: (part.source_lang, part.target_lang) == direction)

    def rows_into(self, target_lang: str) -> list[slice]:
        """Return the pairs of the parts that have this target language; all pairs of a store without parts."""
        return self._rows(lambda part: part.target_lang == target_lang) if self.parts else [slice(0, len(self))]

    def rows_of_parts(self) -> list[tuple[Part, slice]]:
        """Return each part with its pairs."""
        ends = np.cumsum([part.n_pairs for part in self.parts], dtype=int).tolist()
        return [(part, slice(end - part.n_pairs, end)) for part, end in zip(self.parts, ends, strict=True)]

    def _rows(self, is_wanted: Callable[[Part], bool]) -> list[slice]:
        return [rows for part, rows in self.rows_of_parts() if is_wanted(part)]

    def source_ids(self, index: int) -> NDArray[Any]:
        """Return the ids of a source sentence, without start and end: (n_tokens,)."""
        return _slice(self._ids[0], index)

    def target_ids(self, index: int) -> NDArray[Any]:
        """Return the ids of a target sentence, without start and end: (n_tokens,)."""
        return _slice(self._ids[1], index)

    def source_text(self, index: int) -> str:
        """Return a source sentence as it was in the corpus."""
        return str(_slice(self._texts[0], index).data, "utf-8")

    def target_text(self, index: int) -> str:
        """Return a target sentence as it was in the corpus."""
        return str(_slice(self._texts[1], index).data, "utf-8")


def _parts(entries: Any, n_pairs: int, path: Path) -> tuple[Part, ...]:
    """Return the parts that an index lists.

    Raises:
        BundleError: it is no list of parts with that many pairs.
    """
    try:
        parts = tuple(Part(**{key: kind(entry[key]) for key, kind in _PART_TYPES.items()}) for entry in entries)
    except (TypeError, ValueError, KeyError, OverflowError):
        parts = (Part("", "", "", -1),)
    if parts and (sum(part.n_pairs for part in parts) != n_pairs or any(part.n_pairs < 0 for part in parts)):
        raise BundleError("the parts of a prepared corpus do not fit it", path, advice="prepare it again")
    return parts


Column = tuple[NDArray[Any], NDArray[Any]]


def _slice(column: Column, index: int) -> NDArray[Any]:
    values, offsets = column
    return values[offsets[index] : offsets[index + 1]]


def _open_column(path: Path, kind: str, n_pairs: int) -> Column:
    offsets = _map(Path(f"{path}_offsets.bin"), "<i8")
    values = _map(Path(f"{path}.bin"), kind)
    if len(offsets) != n_pairs + 1 or offsets[0] != 0 or offsets[-1] != len(values):
        raise BundleError("the files of a prepared corpus do not fit together", path, advice="prepare it again")
    return values, offsets


def _map(path: Path, kind: str) -> NDArray[Any]:
    try:
        if not path.stat().st_size:
            return np.empty(0, kind)
        return np.asarray(np.memmap(path, dtype=kind, mode="r"))  # slices of a plain array are made five times faster
    except (OSError, ValueError) as error:
        raise BundleError(
            f"a file of a prepared corpus cannot be read ({error})", path, advice="prepare it again"
        ) from None


def _smallest_type(vocab_size: int) -> str:
    limits = (1 << 8, 1 << 16, 1 << 32)
    return next(kind for kind, limit in zip(_ID_TYPES, limits, strict=True) if vocab_size <= limit)
