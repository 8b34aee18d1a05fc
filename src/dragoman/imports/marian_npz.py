"""Marian's `.npz` files: a zip file with an array of NumPy's for each tensor. Nothing in it is run or unpickled."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np

from dragoman.errors import BundleError
from dragoman.imports.compressed_files import largest_expanded
from dragoman.imports.marian_tensors import MOST_ALONG, MOST_TENSORS, Kind, MarianTensor, n_bytes
from dragoman.imports.zip_archives import COMPRESSIONS, DAMAGED, opened_archive

_KINDS: dict[str, Kind] = {"<f4": "float32", "<f2": "float16", "|i1": "int8"}
_MOST_AXES = 8
#: Bytes of the head of an array.
_MOST_HEAD = 1_000


def npz_tensors(content: bytes, path: Path) -> dict[str, MarianTensor]:
    """Return the tensors of a file, by name.

    Raises:
        BundleError: the file is damaged, expands to much more than its size, or has arrays of another kind.
    """
    try:
        with opened_archive(BytesIO(content), MOST_TENSORS) as file:
            members = file.infolist()
            names = [member.filename.removesuffix(".npy") for member in members]
            if len({*names}) < len(names):
                raise ValueError("two arrays have one name")
            if sum(member.file_size for member in members) > largest_expanded(len(content)):
                raise ValueError("it expands to much more than its size")
            if any(member.compress_type not in COMPRESSIONS for member in members):
                raise ValueError("it is compressed in another way than NumPy does")
            return {name: _tensor(name, file.read(member)) for name, member in zip(names, members, strict=True)}
    except DAMAGED as error:
        raise BundleError(f"not a model file of Marian ({error})", path, advice="use another copy") from None


def _tensor(name: str, content: bytes) -> MarianTensor:
    """Return an array; a ValueError says what is wrong."""
    stream = BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name!r} is an array of another version")
    try:
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=_MOST_HEAD)
    except Exception as error:  # of Python's parser and tokenizer, too
        raise ValueError(f"the head of {name!r} is damaged ({error})") from None
    if (kind := _KINDS.get(dtype.str)) is None:
        raise ValueError(f"{name!r} has numbers of the kind {dtype.str}")
    if by_columns or not 1 <= len(shape) <= _MOST_AXES or not 1 <= min(shape) <= max(shape) <= MOST_ALONG:
        raise ValueError(f"{name!r} has the shape {shape}{' by columns' * by_columns}")
    start, needed = stream.tell(), n_bytes(kind, shape)
    if len(content) - start != needed:
        raise ValueError(f"{name!r} has {len(content) - start:,} bytes, and its shape {needed:,}")
    return MarianTensor(name, kind, shape, memoryview(content)[start:])
