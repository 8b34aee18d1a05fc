"""Weights as arrays: taken from a model, stored, and read from an untrusted file."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from dragoman.errors import BundleError
from dragoman.machine.arrays import Floats
from dragoman.machine.json_files import without_duplicates

if TYPE_CHECKING:
    from torch import Tensor

    from dragoman.model.transformer import Transformer

#: Number formats of stored weights. float16 keeps 11 bits of each, bfloat16 would keep 8; the range of either is
#: enough. int8 is for matrices, with a scale for each row; the few other weights stay in float32.
StoredPrecision = Literal["float32", "float16", "int8"]
_NAMES: Mapping[str, str] = {"float32": "F32", "float16": "F16", "int8": "I8"}  # in safetensors
_NUMPY_TYPES = {kind: np.dtype(name).newbyteorder("<") for name, kind in _NAMES.items()}
#: Ends the name of the tensor that has the scales of a matrix in int8.
_SCALES = ".scales"
#: The largest multiple of a scale in int8.
_LARGEST = 127
#: The keys that a tensor has in the head of a file.
_KEYS = {"dtype", "shape", "data_offsets"}
#: Bytes that the head of a file may have for each tensor.
MAX_HEAD_BYTES = 1_000


def weights_of(model: Transformer) -> dict[str, Floats]:
    """Return a model's weights by name, a tied one under its first name only."""
    return {name: weight.detach().float().cpu().contiguous().numpy() for name, weight in unique_weights(model).items()}


def unique_weights(model: Transformer) -> dict[str, Tensor]:
    """Return the same as `weights_of`, as the tensors themselves."""
    unique, seen = {}, set()
    for name, weight in model.state_dict(keep_vars=True).items():
        if id(weight) not in seen:
            unique[name] = weight
            seen.add(id(weight))
    return unique


def quantized(weight: Floats, largest: int, axis: int) -> tuple[NDArray[np.int8], Floats]:
    """Return a matrix (n, m) as multiples of scales, from -largest to largest, (n, m), and the scales.

    There is one scale for all numbers that lie along `axis`: (m,) for 0 and (n,) for 1.

    Numbers with a NaN or an infinity have such a scale too, so `not_finite` still finds them.
    """
    scales = np.abs(weight).max(axis=axis, keepdims=True) / np.float32(largest)
    with np.errstate(invalid="ignore"):
        multiples = np.rint(weight / np.where(scales > 0, scales, 1))
    return np.nan_to_num(multiples).clip(-largest, largest).astype(np.int8), scales.squeeze(axis)


def stored_weights(weights: Mapping[str, Floats], precision: StoredPrecision) -> dict[str, NDArray[Any]]:
    """Return the tensors that a file has of weights. A number too large for float16 becomes infinite."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if precision == "int8" and weight.ndim == 2:
            tensors[name], tensors[name + _SCALES] = quantized(weight, _LARGEST, axis=1)
        else:
            with np.errstate(over="ignore"):
                tensors[name] = weight.astype("float32" if precision == "int8" else precision)
    return tensors


def stored_shapes(
    shapes: Mapping[str, tuple[int, ...]], precision: StoredPrecision
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return type, as safetensors calls it, and shape of each tensor that `stored_weights` returns."""
    if precision != "int8":
        return {name: (_NAMES[precision], shape) for name, shape in shapes.items()}
    scales = {name + _SCALES: (_NAMES["float32"], shape[:1]) for name, shape in shapes.items() if len(shape) == 2}
    return scales | {name: (_NAMES["int8" if len(shape) == 2 else "float32"], shape) for name, shape in shapes.items()}


@dataclass(frozen=True)
class _Head:
    """The head of a safetensors file.

    Args:
        content: its bytes, with those that tell its length.
        tensors: type, shape and place of each tensor, by its name.
    """

    content: bytes
    tensors: Mapping[str, Mapping[str, Any]]

    @property
    def file_size(self) -> int:
        """Bytes of the whole file."""
        return len(self.content) + max((tensor["data_offsets"][1] for tensor in self.tensors.values()), default=0)


class StoredWeights(Mapping[str, Floats]):
    """The weights of a safetensors file, which become float32 when they are asked for.

    Args:
        file: its bytes (n), mapped from the disk where the system can do that. The engine reads them as they are.
        head: its head, which was checked.
        names: of the weights; the other tensors are their scales.
    """

    def __init__(self, file: NDArray[np.uint8], head: _Head, names: Iterable[str]) -> None:
        self.file = file
        self._names = tuple(names)
        self._tensors, self._start = head.tensors, len(head.content)

    def __getitem__(self, name: str) -> Floats:
        if name not in self._names:
            raise KeyError(name)
        weight: Floats = self._stored(name).astype(np.float32)
        if name + _SCALES in self._tensors:
            weight *= self._stored(name + _SCALES)[:, None]
        return weight

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def not_finite(self) -> str:
        """Return the names of the weights that are not finite in float32; "" if all are."""
        wrong = []
        for name in self._names:
            is_scaled = name + _SCALES in self._tensors
            with np.errstate(over="ignore", invalid="ignore"):
                largest = self._stored(name + _SCALES) * np.float32(128) if is_scaled else self._stored(name)
                if not np.isfinite(largest).all() and not np.isfinite(self[name]).all():
                    wrong.append(name)
        return _names_of_not_finite(wrong)

    def _stored(self, name: str) -> NDArray[Any]:
        """Return a tensor as it is stored; nothing is copied."""
        tensor = self._tensors[name]
        kind, (start, end) = _NUMPY_TYPES[tensor["dtype"]], tensor["data_offsets"]
        return np.frombuffer(self.file, kind, (end - start) // kind.itemsize, self._start + start).reshape(
            tensor["shape"]
        )


def read_weights(
    path: Path, shapes: Mapping[str, tuple[int, ...]], precision: StoredPrecision = "float32"
) -> StoredWeights:
    """Read the weights of a safetensors file that must be exactly the expected ones in name and shape.

    Nothing but the file's head is read before the comparison.

    Args:
        shapes: the expected shapes, such as `dragoman.bundle.layout.Layout.shapes`.
        precision: how `stored_weights` stored them.

    Raises:
        BundleError: lists every difference, and every tensor that is not finite.
    """
    expected = stored_shapes(shapes, precision)
    head = _checked_head(path, len(expected))
    found = {name: (tensor["dtype"], tuple(tensor["shape"])) for name, tensor in head.tensors.items()}
    problems = [f"missing: {name}" for name in expected if name not in found]
    problems += [f"unknown: {name}" for name in found if name not in expected]
    for name in sorted(found.keys() & expected.keys()):
        for part, own, wanted in zip(("type", "shape"), found[name], expected[name], strict=True):
            if own != wanted:
                problems.append(f"{name}: {part} {own} instead of {wanted}")
    if problems:
        raise BundleError("the weights are not those of the configured model", path, details=problems)
    try:
        data = _mapped(path)
    except (OSError, ValueError) as error:
        raise BundleError(f"cannot be read ({error})", path, advice="load them again") from None
    if data[: len(head.content)].tobytes() != head.content or len(data) != head.file_size:
        raise BundleError("the weights were replaced while they were read", path, advice="load them again")
    weights = StoredWeights(data, head, shapes)
    if wrong := weights.not_finite():
        raise BundleError(f"a weight has numbers that are none ({wrong})", path, advice="use another copy")
    return weights


def _mapped(path: Path) -> NDArray[np.uint8]:
    """Return the bytes of a file, which are read when they are needed.

    On Windows they are read now: a file that is mapped there can be neither replaced nor removed. Elsewhere it may be
    replaced, but not be written over in place, as `cp` would do.
    """
    if sys.platform == "win32":
        return np.fromfile(path, np.uint8)
    try:
        return np.memmap(path, np.uint8, mode="r")
    except OSError:  # a file system without maps
        return np.fromfile(path, np.uint8)


def not_finite(weights: Mapping[str, NDArray[Any]]) -> str:
    """Return the names of the weights with a number that is not finite; "" if there are none."""
    return _names_of_not_finite([name for name, weight in weights.items() if not np.isfinite(weight).all()])


def _names_of_not_finite(names: Sequence[str]) -> str:
    others = f" and {len(names) - 1:,} more" if names[1:] else ""
    return f"{names[0]}{others}: not finite" if names else ""


def largest_file(shapes: Mapping[str, tuple[int, ...]], precision: StoredPrecision) -> int:
    """Return the most bytes that a file with weights of these shapes can have."""
    sizes = {name: np.dtype(precision).itemsize for precision, name in _NAMES.items()}
    stored = stored_shapes(shapes, precision).values()
    return 8 + _largest_head(len(stored)) + sum(sizes[kind] * math.prod(shape) for kind, shape in stored)


def _largest_head(n_tensors: int) -> int:
    return (n_tensors + 1) * MAX_HEAD_BYTES


def _checked_head(path: Path, n_tensors: int) -> _Head:
    """Read the head of a file with `n_tensors`.

    Raises:
        BundleError: it is much longer than so many tensors need, since reading it would take time and memory; or two
            programs may read it differently: a key is there twice, a tensor has other keys, or a name has escapes.
    """
    content, tensors = read_head(path, _largest_head(n_tensors))
    is_plain = all(tensor.keys() == _KEYS and f'"{name}"'.encode() in content for name, tensor in tensors.items())
    if not is_plain:
        raise BundleError("its head has more than names, types, shapes and offsets", path, advice="use another copy")
    return _Head(content, tensors)


def read_head(path: Path, most_bytes: int) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """Return the head of a stranger's file in safetensors: its bytes, and the entry of each tensor.

    safetensors has checked offsets, sizes, and that there is nothing else.

    Raises:
        BundleError: it is longer, or no such file.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(8)
            length = int.from_bytes(start, "little")
            if length > most_bytes:
                raise BundleError(f"its head has {length:,} bytes", path, advice="use another copy")
            head = file.read(length)
        tensors: dict[str, Any] = json.loads(head.decode(), object_pairs_hook=without_duplicates)
        with safe_open(path, framework="np"):
            tensors.pop("__metadata__", None)
    except (SafetensorError, OSError, ValueError, AttributeError, RecursionError) as error:
        raise BundleError(f"not readable as safetensors ({error})", path, advice="use another copy") from None
    return start + head, tensors
