"""The tensors of a stranger's folder in safetensors: one file, or shards that an index names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dragoman.bundle.weights import read_head
from dragoman.errors import BundleError
from dragoman.machine.arrays import Floats
from dragoman.machine.json_files import read_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
#: Bytes of an index, and of the head of a file.
_MOST_BYTES = 10_000_000
_MOST_SHARDS = 1_000
_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
#: Files of weights that cannot be read, by the end of their names, and the reason.
_OTHER_WEIGHTS = {
    ".bin": "pickle, which may run any code",
    ".pt": "pickle, which may run any code",
    ".h5": "TensorFlow's format",
    ".msgpack": "Flax's format",
    ".npz": "Marian's own format",
}


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a file: what kind of numbers it has, and where they begin."""

    path: Path
    kind: str
    shape: tuple[int, ...]
    start: int

    def read(self) -> Floats:
        """Return it in float32."""
        values = np.fromfile(self.path, np.dtype(_KINDS[self.kind]), math.prod(self.shape), offset=self.start)
        if self.kind == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            result: Floats = values.astype(np.float32).reshape(self.shape)
        return result


def stored_tensors(folder: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a folder, by name; none is read yet.

    Raises:
        BundleError: there is no such file, or it is damaged, or has numbers of another kind.
    """
    tensors: dict[str, StoredTensor] = {}
    for path in _files(folder):
        head, entries = read_head(path, _MOST_BYTES)
        for name, entry in entries.items():
            if name in tensors:
                raise BundleError(f"two files have the tensor {name}", path, advice="use another copy")
            tensors[name] = _tensor(path, name, entry, len(head))
    return tensors


def _files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        raise _missing_weights(folder)
    places = read_json((folder / INDEX).resolve(), _MOST_BYTES).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BundleError("it does not say which file has which tensor", folder / INDEX, advice="use another copy")
    names = sorted({*places.values()})
    if not 1 <= len(names) <= _MOST_SHARDS:
        raise BundleError(f"it names {len(names):,} files", folder / INDEX, advice="use another copy")
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise BundleError(f"it names {name!r}, no .safetensors file", folder / INDEX, advice="use another copy")
        if not (folder / name).is_file():
            raise BundleError("a file of the index is missing", folder / name, advice="use another copy")
    return [folder / name for name in names]


def _missing_weights(folder: Path) -> BundleError:
    names = sorted(path.name for path in folder.iterdir() if path.suffix in _OTHER_WEIGHTS)
    model = [name for name in names if not name.startswith(("training_args", "optimizer", "scheduler"))]
    if not model:
        return BundleError(f"no {WEIGHTS} in this folder", folder, advice="is this the right folder?")
    reason = _OTHER_WEIGHTS[Path(model[0]).suffix]
    convert = f"M.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
    advice = f'make one: python -c "from transformers import AutoModelForSeq2SeqLM as M; {convert}"'
    if model[0].endswith(".npz"):
        advice = "convert it with transformers' convert_marian_to_pytorch.py first"
    return BundleError(f"its weights are in {reason}, and only {WEIGHTS} is read", folder / model[0], advice=advice)


def _tensor(path: Path, name: str, tensor: Mapping[str, Any], start: int) -> StoredTensor:
    if tensor["dtype"] not in _KINDS:
        problem = f"{name} has numbers of the kind {tensor['dtype']}"
        raise BundleError(problem, path, advice="save the model in float32, float16 or bfloat16")
    return StoredTensor(path, tensor["dtype"], tuple(tensor["shape"]), start + tensor["data_offsets"][0])
