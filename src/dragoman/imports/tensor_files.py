"""The tensors of a stranger's folder, in safetensors or PyTorch's format: one file, or shards that an index names."""

from __future__ import annotations

from pathlib import Path

from dragoman.bundle.weights import read_head
from dragoman.errors import BundleError
from dragoman.imports.stored_tensor import StoredTensor
from dragoman.imports.torch_files import torch_tensors
from dragoman.machine.json_files import read_json

WEIGHTS = "model.safetensors"
#: Files of weights, in the order in which they are looked for: each alone, or as the index of shards that end alike.
FILES = (WEIGHTS, "pytorch_model.bin")
#: Bytes of an index, and of the head of a file.
_MOST_BYTES = 10_000_000
_MOST_SHARDS, _LONGEST_NAME = 1_000, 200
#: Ends of the names of files of weights that are not read: of other versions of PyTorch, TensorFlow and Flax.
_OTHER_WEIGHTS = (".pt", ".pth", ".h5", ".msgpack")
#: How names of files begin that a training run leaves beside the weights of the model.
_OF_TRAINING = ("optimizer", "scheduler", "rng_state", "training_args")


def stored_tensors(folder: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a folder, by name; none is read yet.

    Raises:
        BundleError: there is no such file, or it is damaged.
    """
    tensors: dict[str, StoredTensor] = {}
    for path in _files(folder):
        found = torch_tensors(path) if path.suffix == ".bin" else _safe_tensors(path)
        if twice := tensors.keys() & found.keys():
            raise BundleError(f"two files have the tensor {min(twice)}", path, advice="use another copy")
        tensors |= found
    return tensors


def _safe_tensors(path: Path) -> dict[str, StoredTensor]:
    head, entries = read_head(path, _MOST_BYTES)
    return {
        name: StoredTensor(path, entry["dtype"], tuple(entry["shape"]), len(head) + entry["data_offsets"][0])
        for name, entry in entries.items()
    }


def _files(folder: Path) -> list[Path]:
    for name in FILES:
        if (folder / name).is_file():
            return [folder / name]
        if (index := folder / f"{name}.index.json").is_file():
            return _shards(index, Path(name).suffix)
    raise _missing_weights(folder)


def _shards(index: Path, suffix: str) -> list[Path]:
    """Return the files that an index names."""
    places = read_json(index.resolve(), _MOST_BYTES).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BundleError("it does not say which file has which tensor", index, advice="use another copy")
    names = sorted({*places.values()})
    if not 1 <= len(names) <= _MOST_SHARDS:
        raise BundleError(f"it names {len(names):,} files", index, advice="use another copy")
    for name in names:
        if Path(name).name != name or not name.endswith(suffix) or len(name) > _LONGEST_NAME:
            raise BundleError(f"it names {name!r}, no {suffix} file", index, advice="use another copy")
        if not index.with_name(name).is_file():
            raise BundleError("a file of the index is missing", index.with_name(name), advice="use another copy")
    return [index.with_name(name) for name in names]


def _missing_weights(folder: Path) -> BundleError:
    files = [path for path in sorted(folder.iterdir()) if not path.name.startswith(_OF_TRAINING)]
    if others := [path for path in files if path.suffix in _OTHER_WEIGHTS]:
        problem = f"its weights are in another format, and only {' or '.join(FILES)} is read"
        return BundleError(problem, others[0], advice="save the model as safetensors with transformers")
    return BundleError(f"no {' or '.join(FILES)} in this folder", folder, advice="is this the right folder?")
