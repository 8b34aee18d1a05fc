"""The tensors of a file of PyTorch, `pytorch_model.bin`, of which nothing is run.

Such a file is a pickle, a program for a small machine with a stack, which may call anything. Here is another machine
for the same programs: it knows the instructions that a table of tensors needs, and all that it can make are texts,
numbers, tuples, lists, tables, and notes of where a tensor lies in the file. Any other instruction, and any other name,
is refused.

There are two forms. A zip archive has the pickle in `data.pkl` and the numbers, unpacked, in `data/<key>`. Before
PyTorch 1.6, four pickles came first (a number that marks the form, a version, sizes of types, the table), then the list
of keys, and then, in the order of that list, how many numbers each has, and the numbers.
"""

from __future__ import annotations

import io
import math
import pickletools
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from dragoman.errors import BundleError
from dragoman.imports.stored_tensor import StoredTensor
from dragoman.imports.zip_archives import DAMAGED, opened_archive

#: The first number of the older form, and its version.
_MAGIC, _VERSION = 0x1950A86A20F9469CFC6C, 1001
#: Bytes and instructions of a pickle, and files of an archive; NLLB-200 needs some 30,000 instructions.
_MOST_BYTES, _MOST_INSTRUCTIONS, _MOST_FILES = 10_000_000, 200_000, 100_000
_MOST_AXES = 8
#: How often the tensors of a file may show it: a tied matrix may have four names.
_MOST_TIMES = 4
#: PyTorch's names of kinds of numbers, as safetensors names them, and their bytes.
_KINDS = {
    "DoubleStorage": ("F64", 8),
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ShortStorage": ("I16", 2),
    "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
}


class _Name(str):
    """The name of a class or function; what it names is never looked for."""


class _Storage(NamedTuple):
    """Numbers in the file, which one tensor or several show."""

    kind: str
    key: str
    n_numbers: int


class _Tensor(NamedTuple):
    """A tensor: some numbers of a storage."""

    storage: _Storage
    first: int
    shape: tuple[int, ...]

    @property
    def n_numbers(self) -> int:
        return math.prod(self.shape)


def torch_tensors(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file, by name; none is read yet.

    Raises:
        BundleError: it is damaged, or has anything else than a table of tensors.
    """
    try:
        if zipfile.is_zipfile(path):
            tables, places = _read_archive(path)
        else:
            tables, places = _read_stream(path)
        size = path.stat().st_size
        return dict(_stored(path, tables, places, size))
    except (*DAMAGED, TypeError) as error:  # OSError: a place outside the file; RuntimeError: deep levels
        problem = f"not a table of tensors as PyTorch writes it ({error})"
        raise BundleError(problem, path, advice="use another copy") from None


def _stored(path: Path, table: object, places: Mapping[str, int], size: int) -> Iterator[tuple[str, StoredTensor]]:
    """Yield the tensors of a table, each with its place in the file.

    Raises:
        ValueError: the table has something else, or a tensor lies outside its storage or the file.
    """
    if not isinstance(table, dict):
        raise ValueError("it is no table")
    n_bytes = 0
    for name, tensor in table.items():
        if not isinstance(tensor, _Tensor):
            raise ValueError("it has something else than names and tensors")
        storage = tensor.storage
        kind, width = _KINDS[storage.kind]
        if not 0 <= tensor.first <= tensor.first + tensor.n_numbers <= storage.n_numbers:
            raise ValueError(f"{name} lies outside its numbers")
        if storage.key not in places:
            raise ValueError(f"the numbers of {name} are missing")
        if not 0 <= places[storage.key] <= places[storage.key] + width * storage.n_numbers <= size:
            raise ValueError(f"{name} lies outside the file")
        if (n_bytes := n_bytes + width * tensor.n_numbers) > _MOST_TIMES * size:
            raise ValueError(f"its tensors have more than {_MOST_TIMES} times its bytes")
        yield name, StoredTensor(path, kind, tensor.shape, places[storage.key] + width * tensor.first)


# -- the two forms -----------------------------------------------------------------------------------------------------


def _read_archive(path: Path) -> tuple[object, dict[str, int]]:
    """Return the table of a zip archive, and where the numbers of each key begin."""
    with open(path, "rb") as file, opened_archive(file, _MOST_FILES) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        pickles = [name for name in entries if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(pickles) != 1 or any(entry.compress_type for entry in entries.values()):
            raise ValueError("its archive has no table, or packed files")
        folder = pickles[0].removesuffix("data.pkl")
        order = entries.get(f"{folder}byteorder")
        if order is not None and (order.file_size > len("little") or archive.read(order) != b"little"):
            raise ValueError("its numbers begin with their largest byte")
        if entries[pickles[0]].file_size > _MOST_BYTES:
            raise ValueError("its table is too large")
        table = _Machine(archive.read(pickles[0])).run()
        start = f"{folder}data/"
        numbers = {name.removeprefix(start): entry for name, entry in entries.items() if name.startswith(start)}
        return table, {key: _place(file, entry) for key, entry in numbers.items()}


def _place(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Return where the content of a file of an archive begins: after its own head, which repeats its name."""
    file.seek(entry.header_offset)
    head = file.read(30)
    n_name, n_extra = struct.unpack("<26xHH", head)
    if not head.startswith(b"PK\x03\x04"):
        raise ValueError(f"the head of {entry.filename} is damaged")
    return entry.header_offset + len(head) + int(n_name) + int(n_extra)


def _read_stream(path: Path) -> tuple[object, dict[str, int]]:
    """Return the table of the older form, and where the numbers of each key begin."""
    with open(path, "rb") as file:
        heads = io.BytesIO(file.read(_MOST_BYTES))
        magic, version, sizes, table, keys = (_Machine(heads).run() for _ in range(5))
        if magic != _MAGIC or version != _VERSION or not isinstance(sizes, dict):
            raise ValueError("it does not begin as files of PyTorch do")
        if sizes.get("little_endian") is not True:
            raise ValueError("its numbers begin with their largest byte")
        storages = {each.storage.key: each.storage for each in _tensors(table)}
        is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
        if not is_list or {*keys} != storages.keys() or len(keys) > len(storages):
            raise ValueError("its list of keys is not that of its table")
        places, place = {}, heads.tell()
        for key in keys:
            storage = storages[key]
            file.seek(place)
            (n_numbers,) = struct.unpack("<q", file.read(8))
            if n_numbers != storage.n_numbers:
                raise ValueError(f"it has {n_numbers:,} numbers of a key, and its table {storage.n_numbers:,}")
            places[key] = place + 8
            place += 8 + n_numbers * _KINDS[storage.kind][1]
        return table, places


def _tensors(table: object) -> Iterator[_Tensor]:
    if isinstance(table, dict):
        yield from (each for each in table.values() if isinstance(each, _Tensor))


# -- the machine -------------------------------------------------------------------------------------------------------

_MARK = object()


@dataclass
class _Machine:
    """The instructions of a pickle that a table of tensors needs (Python's `pickletools` describes all of them).

    Args:
        program: a pickle, or a file that begins with one, which is read up to its end.
    """

    program: bytes | io.BytesIO
    stack: list[Any] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self) -> Any:
        """Return what the program leaves on the stack.

        Raises:
            ValueError: it has an instruction or a name that no table of tensors needs.
        """
        for number, (opcode, argument, _) in enumerate(pickletools.genops(self.program)):
            if opcode.name == "STOP":
                break
            if number > _MOST_INSTRUCTIONS:
                raise ValueError("its table is too long")
            self._do(opcode.name, argument)
        (result,) = self.stack
        return result

    def _do(self, name: str, argument: Any) -> None:
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _VALUES:
            self.stack.append(argument)
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _REMEMBERED:
            self.memo[len(self.memo) if argument is None else argument] = self.stack[-1]
        elif name in _RECALLED:
            self.stack.append(self.memo[argument])
        elif name in _TUPLES:
            n_items = _TUPLES[name]
            items = self._since_mark() if n_items is None else self._pop(n_items)
            self.stack.append(tuple(items))
        elif name not in _SKIPPED:
            action = _ACTIONS.get(name)
            if action is None:
                raise ValueError(f"it has the instruction {name}")
            action(self, argument)

    def _pop(self, n_items: int) -> list[Any]:
        first = len(self.stack) - n_items
        if first < 0:
            raise ValueError("its stack is empty")
        items = self.stack[first:]
        del self.stack[first:]
        return items

    def _since_mark(self) -> list[Any]:
        items: list[Any] = []
        while (item := self.stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def _name(self, argument: str | None) -> None:
        module, name = argument.split(" ") if argument is not None else self._pop(2)
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("a name that is no text")
        self.stack.append(_Name(f"{module}.{name}"))

    def _append(self, items: Sequence[Any]) -> None:
        self._top(list).extend(items)

    def _set(self, items: Sequence[Any]) -> None:
        if not all(isinstance(key, str) for key in items[::2]):  # to hash another one may take for ever
            raise ValueError("a table with a name that is no text")
        self._top(dict).update(zip(items[::2], items[1::2], strict=True))

    def _top(self, kind: type) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            raise ValueError("it adds to something that is no list and no table")
        return self.stack[-1]

    def _storage(self, argument: object) -> None:
        (found,) = self._pop(1)
        title, kind, key, _, n_numbers, *rest = found
        if title != "storage" or not isinstance(kind, _Name) or not isinstance(key, str) or any(rest):
            raise ValueError("it names something else than numbers of the file")
        self.stack.append(_Storage(kind.removeprefix("torch."), key, _count(n_numbers)))

    def _call(self, argument: object) -> None:
        """Make what the names of a table of tensors make. Nothing is called."""
        name, arguments = self._pop(2)
        if not isinstance(name, _Name):
            raise ValueError("it calls something without a name")
        if name == "collections.OrderedDict" and arguments == ():
            self.stack.append({})
        elif name == "torch._utils._rebuild_tensor_v2":
            self.stack.append(_tensor(*arguments))
        elif name == "torch._utils._rebuild_parameter":
            self.stack.append(arguments[0])
        else:
            raise ValueError(f"it calls {name}")

    def _state(self, argument: object) -> None:
        """Leave out the remarks of a table (`_metadata`)."""
        self._pop(1)
        self._top(dict)


def _tensor(storage: Any, first: Any, shape: Any, strides: Any, *rest: Any) -> _Tensor:
    if not isinstance(storage, _Storage) or not isinstance(shape, tuple):
        raise ValueError("a tensor without numbers")
    if len(shape) > _MOST_AXES:
        raise ValueError(f"a tensor with {len(shape):,} axes")
    shape = tuple(map(_count, shape))
    expected, width = [], 1
    for size in reversed(shape):
        expected.append(width)
        width *= size
    is_in_order = all(
        size <= 1 or stride == usual for size, stride, usual in zip(shape, strides, expected[::-1], strict=True)
    )
    if not is_in_order:
        raise ValueError("a tensor whose numbers are in another order")
    return _Tensor(storage, _count(first), shape)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 48:
        raise ValueError("a size that is none")
    return value


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": _MARK}
_VALUES = frozenset(
    ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8")
)
_EMPTY: Mapping[str, Callable[[], Any]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}
_REMEMBERED, _RECALLED = frozenset(("BINPUT", "LONG_BINPUT", "MEMOIZE")), frozenset(("BINGET", "LONG_BINGET"))
_TUPLES = {"TUPLE": None, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_SKIPPED = frozenset(("PROTO", "FRAME"))
_ACTIONS: Mapping[str, Callable[[_Machine, Any], None]] = {
    "GLOBAL": _Machine._name,
    "STACK_GLOBAL": _Machine._name,
    "APPEND": lambda machine, _: machine._append(machine._pop(1)),
    "APPENDS": lambda machine, _: machine._append(machine._since_mark()),
    "SETITEM": lambda machine, _: machine._set(machine._pop(2)),
    "SETITEMS": lambda machine, _: machine._set(machine._since_mark()),
    "BINPERSID": _Machine._storage,
    "REDUCE": _Machine._call,
    "BUILD": _Machine._state,
}
