"""Files of PyTorch: what it reads is read the same, and of a hostile file nothing is run."""

import importlib
import io
import pickle
import struct
import tracemalloc
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shapes import shaped_bundle

from dragoman.cli import program
from dragoman.errors import BundleError
from dragoman.exchange.export_folder import write_files
from dragoman.exchange.hugging_face_folder import folder_files
from dragoman.imports.hugging_face import import_hugging_face
from dragoman.imports.torch_files import torch_tensors

PICKLE = b"".join(
    (
        b"\x80\x02}X\x01\x00\x00\x00a",
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000",
        b"X\x03\x00\x00\x00cpuK\x02tQK\x00K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs.",
    )
)
NUMBERS = np.array([1.5, -2], "<f4").tobytes()


def archive(table: bytes = PICKLE, folder: str = "model", packed: bool = False, **files: bytes | None) -> bytes:
    """A zip archive as PyTorch writes it; None leaves a file out."""
    contents = {"data.pkl": table, "byteorder": b"little", "data/0": NUMBERS, "version": b"3\n"}
    contents.update({name.replace("__", "/").replace("_", "."): content for name, content in files.items()})
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as opened:
        for name, content in contents.items():
            if content is not None:
                opened.writestr(f"{folder}/{name}", content)
    return output.getvalue()


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_table_is_read(tmp_path: Path) -> None:
    for content in (archive(), large_archive()):
        (tensor,) = torch_tensors(written(tmp_path / "model.bin", content)).values()
        assert tensor.read().tolist() == [1.5, -2]


def test_a_long_list_of_files_takes_little_memory(tmp_path: Path) -> None:
    """Python's reader would make an object of each entry, before anyone could count them."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", *[0] * 18)
    content = entry * 500_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(content), 0, 0)
    path = written(tmp_path / "model.bin", content + end)
    tracemalloc.start()
    with pytest.raises(BundleError, match="its archive has too many files"):
        torch_tensors(path)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


# -- PyTorch as the oracle ---------------------------------------------------------------------------------------------


@pytest.mark.torch
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_all_that_pytorch_writes_is_read_the_same(dtype: str, zipped: bool, tmp_path: Path) -> None:
    import torch

    base = torch.randn(5, 4, 3).to(getattr(torch, dtype))
    table = OrderedDict(
        base=base,
        tied=base,
        part=base[2],
        row=base[1, 2:],
        scalar=base[0, 0, 0],
        empty=torch.zeros(0, 4, dtype=base.dtype),
        parameter=torch.nn.Parameter(base.clone()),
        position_ids=torch.arange(9)[None],
    )
    path = tmp_path / "model.bin"
    torch.save(table, path, _use_new_zipfile_serialization=zipped)
    read = torch_tensors(path)
    expected = torch.load(path, weights_only=True)
    assert read.keys() == expected.keys()
    assert read.pop("position_ids").kind == "I64"
    for name, tensor in read.items():
        assert np.array_equal(tensor.read(), expected[name].detach().float().numpy()), name


@pytest.mark.torch
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_model_in_pytorchs_format_is_the_same_model(n_shards: int, zipped: bool, tmp_path: Path) -> None:
    import json

    import torch
    from safetensors.torch import load

    files = dict(folder_files(shaped_bundle("post, sines first")))
    (tmp_path / "safe").mkdir()
    (tmp_path / "torch").mkdir()
    write_files(tmp_path / "safe", files)
    weights = load(files.pop("model.safetensors"))
    write_files(tmp_path / "torch", files)
    names = ["pytorch_model.bin"] if n_shards == 1 else [f"pytorch_model-{shard}.bin" for shard in range(n_shards)]
    places = {name: names[index % n_shards] for index, name in enumerate(weights)}
    for shard in names:
        part = {name: weights[name] for name in weights if places[name] == shard}
        torch.save(part, tmp_path / "torch" / shard, _use_new_zipfile_serialization=zipped)
    if n_shards > 1:
        (tmp_path / "torch" / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": places}))
    ours, theirs = (import_hugging_face(tmp_path / name) for name in ("torch", "safe"))
    assert ours.config == theirs.config
    assert all(np.array_equal(ours.weights[name], theirs.weights[name]) for name in theirs.weights)


@pytest.mark.torch
def test_a_turned_tensor_is_refused(tmp_path: Path) -> None:
    import torch

    torch.save({"turned": torch.randn(2, 3).T}, tmp_path / "model.bin")
    with pytest.raises(BundleError, match="whose numbers are in another order"):
        torch_tensors(tmp_path / "model.bin")


# -- hostile files -----------------------------------------------------------------------------------------------------

RAN = "dragoman_ran_a_stranger"


class Calls:
    """An object that a careless reader calls a function for."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self._made = function, arguments

    def __reduce__(self) -> Any:
        return self._made


def calling(module: str, name: str, *arguments: object, protocol: int = 2) -> bytes:
    function = getattr(importlib.import_module(module), name)
    return pickle.dumps(Calls(function, *arguments), protocol)


def marker(path: str) -> str:
    return f"open({path!r}, 'w').close()"


#: Programs that a careless reader runs, by what they try; {0} is a file that they write.
PROGRAMS: dict[str, Callable[[str], bytes]] = {
    "a command": lambda path: calling("os", "system", f"touch {path}"),
    "a command by STACK_GLOBAL": lambda path: calling("os", "system", f"touch {path}", protocol=4),
    "eval": lambda path: calling("builtins", "eval", marker(path)),
    "exec": lambda path: calling("builtins", "exec", marker(path)),
    "a process": lambda path: calling("subprocess", "check_call", ["touch", path]),
    "an import": lambda path: calling("builtins", "__import__", "antigravity"),
    "a browser": lambda path: calling("webbrowser", "open", "http://localhost"),
    "an attribute": lambda path: calling("builtins", "getattr", dict, "fromkeys"),
    "another pickle": lambda path: calling("pickle", "loads", calling("os", "system", f"touch {path}")),
    "code": lambda path: calling("runpy", "run_path", path),
    "a package": lambda path: calling("importlib", "import_module", "this"),
    "a file": lambda path: calling("builtins", "open", path, "w"),
    "a file written": lambda path: calling("shutil", "copyfile", "/etc/hostname", path),
    "compiled": lambda path: calling("builtins", "compile", marker(path), "x", "exec"),
    "a shared library": lambda path: b"\x80\x02cctypes\nCDLL\nX\x04\x00\x00\x00libc\x85R.",
    "NumPy's loader": lambda path: b"\x80\x02cnumpy\nload\nX\x01\x00\x00\x00x\x85R.",
    "PyTorch's loader": lambda path: b"\x80\x02ctorch\nload\nX\x01\x00\x00\x00x\x85R.",
    "PyTorch's hub": lambda path: b"\x80\x02ctorch.hub\nload\nX\x01\x00\x00\x00x\x85R.",
    "a partial": lambda path: b"\x80\x02cfunctools\npartial\ncos\nsystem\n\x85R.",
    "INST": lambda path: f"(S'touch {path}'\nios\nsystem\n.".encode(),
    "OBJ": lambda path: f"(cos\nsystem\nS'touch {path}'\no.".encode(),
    "NEWOBJ": lambda path: b"\x80\x02cio\nBytesIO\n)\x81.",
    "NEWOBJ_EX": lambda path: b"\x80\x04cio\nBytesIO\n)}\x92.",
    "a state": lambda path: b"\x80\x02cio\nBytesIO\n}b.",
    "a registered class": lambda path: b"\x80\x02\x82\x01.",
    "a persistent id of text": lambda path: b"Px\n.",
    "a call of no name": lambda path: b"\x80\x02X\x09\x00\x00\x00os.system)R.",
    "a name that looks allowed": lambda path: b"\x80\x02ctorch._utils\n_rebuild_tensor_v2.__globals__\n)R.",
    "a module that looks allowed": lambda path: b"\x80\x02ctorch._utils._rebuild_tensor_v2\nx\n)R.",
    "an OrderedDict with a factory": lambda path: b"\x80\x02ccollections\ndefaultdict\ncos\nsystem\n\x85R.",
    "a call before the damage": lambda path: calling("os", "system", f"touch {path}")[:-1] + b"\xff\xff",
    "a table with a call inside": lambda path: pickle.dumps(
        {"a": Calls(importlib.import_module("os").system, path)}, 2
    ),
}


def doubled(levels: int) -> bytes:
    """Tuples of the one before, twice, by their places in the memo."""
    return b")q\x00" + b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(levels))


#: A table of the same 255 numbers under a hundred names.
HUNDRED_NAMES = b"\x80\x02}" + b"".join(
    b"X\x03\x00\x00\x00a%02d" % n + PICKLE[9:-1].replace(b"K\x02", b"K\xff") for n in range(100)
)


def large_archive(place: int | None = None, signature: bytes = b"PK\6\6") -> bytes:
    """An archive that ends with the records of large archives, which PyTorch always writes."""
    content, usual = archive()[:-22], archive()[-22:]
    n_files, n_bytes, start = struct.unpack("<10xH2L2x", usual)
    record = struct.pack("<4sQ2H2L4Q", signature, 44, 45, 45, 0, 0, n_files, n_files, n_bytes, start)
    where = struct.pack("<4sLQL", b"PK\6\7", 0, len(content) if place is None else place, 1)
    return content + record + where + usual


FILES: dict[str, bytes] = {
    "nothing": b"",
    "text": b"These are no weights.",
    "half an archive": archive()[:-30],
    "a comment": archive()[:-2] + b"\2\0ab",
    "another directory, which Python reads": large_archive(place=0),
    "a large archive without its record": large_archive(signature=b"none"),
    "no table": archive(data_pkl=None),
    "packed files": archive(packed=True),
    "other bytes first": archive(byteorder=b"big"),
    "a table of another thing": archive(pickle.dumps([1], 2)),
    "a number as a tensor": archive(pickle.dumps({"a": 1}, 2)),
    "missing numbers": archive(data__0=None),
    "few numbers": archive(PICKLE.replace(b"K\x02tQ", b"K\x01tQ")),
    "numbers that end early": archive(
        PICKLE.replace(b"K\x02tQ", b"J\xff\xff\xff\x7ftQ").replace(b"K\x02\x85", b"J\xff\xff\xff\x7f\x85")
    ),
    "a negative size": archive(PICKLE.replace(b"K\x02\x85", b"J\xff\xff\xff\xff\x85")),
    "a huge size": archive(PICKLE.replace(b"K\x02\x85", b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x85")),
    "a start outside": archive(PICKLE.replace(b"QK\x00K", b"QK\x07K")),
    "other strides": archive(PICKLE.replace(b"K\x01\x85", b"K\x02\x85")),
    "a way out": archive(PICKLE.replace(b"X\x01\x00\x00\x000", b"X\x04\x00\x00\x00../0")),
    "an endless text": archive(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fx."),
    "an endless program": archive(b"\x80\x02" + b"}0" * 2_000_000 + b"}."),
    "a deep list": archive(b"\x80\x02" + b"]" * 90_000 + b"a" * 89_999 + b"."),
    "a list in itself": archive(b"\x80\x02]q\x00h\x00a."),
    "an empty stack": archive(b"\x80\x02R."),
    "a place that was never filled": archive(b"\x80\x02h\x07."),
    "a mark that is missing": archive(b"\x80\x02t."),
    "a key that is a list": archive(b"\x80\x02}]K\x01s."),
    "a deep name": archive(b"\x80\x02})" + b"\x85" * 150_000 + b"K\x01s."),
    "a name that is a bomb": archive(b"\x80\x02" + doubled(40) + b"X\x01\x00\x00\x00a\x93."),
    "a key that is a bomb": archive(b"\x80\x02" + doubled(60) + b"}h\x3cK\x01s."),
    "many axes": archive(PICKLE.replace(b"K\x02\x85K\x01", b"(" + b"J\xff\xff\xff\x7f" * 50_000 + b"tK\x01")),
    "many marks": archive(b"\x80\x02" + b")" * 100_000 + b"(t" * 49_000 + b"."),
    "copies of a table": archive(b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00aK\x02s\x85R."),
    "one matrix a hundred times": archive(HUNDRED_NAMES + b".", data__0=b"\0" * 1_020),
    "a password": archive().replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
    "a later version": archive().replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\x63"),
    "other bytes first, at length": archive(byteorder=b"little" * 9),
    "the older form, cut": pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2),
    "the older form, another version": b"".join(
        pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 7, {"little_endian": True}, {}, [])
    ),
    "the older form, big numbers first": b"".join(
        pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": False}, {}, [])
    ),
    "the older form, fewer numbers": b"".join(
        pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    + PICKLE
    + pickle.dumps(["0"], 2)
    + struct.pack("<q", 1)
    + NUMBERS,
    "the older form, no numbers": b"".join(
        pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    )
    + PICKLE
    + pickle.dumps(["0"], 2),
}


@pytest.mark.parametrize("form", ["archive", "stream"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_of_a_program_is_run(name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = PROGRAMS[name](str(tmp_path / RAN))
    content = archive(table) if form == "archive" else table
    with pytest.raises(BundleError, match="not a table of tensors") as caught:
        torch_tensors(written(tmp_path / "model.bin", content))
    assert "\n" not in caught.value.message
    assert not (tmp_path / RAN).exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("added", ["model/data/0", "other/data.pkl"])
def test_a_file_twice_is_refused(added: str, tmp_path: Path) -> None:
    path = written(tmp_path / "model.bin", archive())
    with zipfile.ZipFile(path, "a") as opened:
        opened.writestr(added, PICKLE)
    with pytest.raises(BundleError, match="not a table of tensors"):
        torch_tensors(path)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "model.bin", FILES[name])
    with pytest.raises(BundleError, match="not a table of tensors") as caught:
        torch_tensors(path)
    assert "\n" not in caught.value.message


def test_the_command_refuses_a_hostile_file_in_one_line(tmp_path: Path, capsys: Any) -> None:
    files = dict(folder_files(shaped_bundle("post, sines first")))
    del files["model.safetensors"]
    (tmp_path / "model").mkdir()
    write_files(tmp_path / "model", {**files, "pytorch_model.bin": archive(PROGRAMS["a command"](str(tmp_path / RAN)))})
    assert program.run(["import", str(tmp_path / "model"), "-o", str(tmp_path / "new")]) == 3
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "it calls posix.system" in told
    assert not (tmp_path / RAN).exists()
