"""Weights as arrays: taken from a model, and read from a file that nobody vouches for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from dragoman.errors import BundleError

if TYPE_CHECKING:
    from torch import Tensor

    from dragoman.model.transformer import Transformer

Floats = NDArray[np.float32]
#: How weights are stored. float16 keeps 11 bits of each, bfloat16 would keep 8; the range of either is enough.
StoredPrecision = Literal["float32", "float16"]
_NAMES: Mapping[str, str] = {"float32": "F32", "float16": "F16"}  # in safetensors
#: Bytes that the head of a file may have for each tensor.
MAX_HEAD_BYTES = 1_000


def weights_of(model: Transformer) -> dict[str, Floats]:
    """A model's weights by name, a tied one under its first name only."""
    return {name: weight.detach().float().cpu().contiguous().numpy() for name, weight in unique_weights(model).items()}


def unique_weights(model: Transformer) -> dict[str, Tensor]:
    """The same as the tensors themselves."""
    unique, seen = {}, set()
    for name, weight in model.state_dict(keep_vars=True).items():
        if id(weight) not in seen:
            unique[name] = weight
            seen.add(id(weight))
    return unique


def read_weights(
    path: Path, shapes: Mapping[str, tuple[int, ...]], precision: StoredPrecision = "float32"
) -> dict[str, Floats]:
    """Read, as float32, the weights of a safetensors file that must be exactly the expected ones in name and shape.

    Nothing but the file's head is read before the comparison.

    Args:
        shapes: what is expected, such as `dragoman.model.shapes.weight_shapes`.
        precision: the type that every tensor of the file must have.

    Raises:
        BundleError: lists every difference, and every tensor that is not finite.
    """
    try:
        _check_head(path, len(shapes))
        with safe_open(path, framework="np") as file:
            found = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            problems = [f"missing: {name}" for name in shapes if name not in found]
            problems += [f"unknown: {name}" for name in found if name not in shapes]
            for name in sorted(found.keys() & shapes.keys()):
                shape, wanted = tuple(found[name].get_shape()), shapes[name]
                if shape != wanted:
                    problems.append(f"{name}: shape {shape} instead of {wanted}")
                if found[name].get_dtype() != _NAMES[precision]:
                    problems.append(f"{name}: type {found[name].get_dtype()} instead of {_NAMES[precision]}")
            weights = {} if problems else {name: file.get_tensor(name).astype(np.float32) for name in found}
    except (SafetensorError, OSError) as error:
        raise BundleError(f"not readable as safetensors ({error})", path, advice="use another copy") from None
    if problems := problems or not_finite(weights):
        raise BundleError("the weights are not those of the configured model", path, details=problems)
    return weights


def not_finite(weights: Mapping[str, NDArray[np.floating]]) -> list[str]:
    """A line for each of the weights that holds a number which is not finite."""
    return [f"{name}: not finite" for name, weight in weights.items() if not np.isfinite(weight).all()]


def _check_head(path: Path, n_tensors: int) -> None:
    """Refuse a head that is much longer than `n_tensors` need: reading it takes time and memory."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > (n_tensors + 1) * MAX_HEAD_BYTES:
        raise BundleError(f"its head has {length:,} bytes", path, advice="use another copy")
