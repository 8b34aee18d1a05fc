"""A stranger's model folder, forged in many ways, and a child process that is watched while it translates with it.

An attack changes a copy of a good bundle; then the manifest is made again to fit, so that the forged content itself is
reached, unless the attack is on the manifest. The child reports every audit event that a loader of plain data has no
need of. Files that libraries open without Python are not seen by audit hooks; the only one is the weights, by
safetensors, from a fixed name that the manifest check has found to be a plain file.
"""

from __future__ import annotations

import faulthandler
import hashlib
import io
import itertools
import json
import math
import os
import pickle
import resource
import shutil
import signal
import socket
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer
from safetensors.numpy import save as save_arrays
from safetensors.torch import load_file, save, save_file

from dragoman.bundle.format import FORMAT_VERSION
from dragoman.bundle.layout import Layout
from dragoman.bundle.weights import stored_shapes
from dragoman.cli.program import build_app
from dragoman.cli.program import run as run_program
from dragoman.machine.files import sha256
from dragoman.machine.folders import MANIFEST
from dragoman.machine.json_files import to_json
from dragoman.settings.model_config import ModelConfig

SENTENCE = "A man is riding."
CONFIG, WEIGHTS, DESCRIPTION = "config.json", "model.safetensors", "tokenizer/tokenizer.json"
MODEL, WORDS = "tokenizer/joint.model", "tokenizer/joint.json"
#: What a pickle in a forged folder would create, beside the folder.
CANARY = "canary"
MEGABYTE = 2**20
#: A model of 8 bits is loaded as float32, folded and packed, each time in four times the memory.
TIMES_ON_DISK = 16
#: Made before the forks: typer makes it of annotations, which it compiles.
COMMAND_LINE = typer.main.get_command(build_app())

# ---------------------------------------------------------------------------------------------------------- the child

#: Events that run nothing, read no file and reach nobody.
_QUIET = {"object.__getattr__", "object.__setattr__", "object.__delattr__", "sys._getframe", "code.__new__", "id"}
_QUIET |= {"builtins.id", "cpython._PySys_ClearAuditHooks", "gc.get_objects", "sys.unraisablehook", "sys.excepthook"}
_QUIET |= {"time.sleep", "signal.pthread_kill", "os.putenv", "os.listdir", "os.scandir", "pathlib.Path.rglob"}
_QUIET |= {"pathlib.Path.glob", "glob.glob", "_thread.start_new_thread", "array.__new__", "mmap.__new__"}
_QUIET |= {"ctypes.addressof", "ctypes.cdata", "ctypes.cdata/buffer"}  # where an array of ours lies


@dataclass(frozen=True)
class Outcome:
    code: int  # the exit code, or the signal that ended it as a negative number
    said: str  # on standard error
    translation: str
    events: tuple[str, ...]  # those that a loader of plain data has no need of
    seconds: float  # of processor time
    peak: int  # bytes of memory, less those that it began with


def forbidden(event: str, arguments: tuple[Any, ...], inside: str) -> str | None:
    """Return the report of an audit event, or None if a loader may do it."""
    if event == "import":
        return None if arguments[0] in sys.modules else f"import {arguments[0]}"
    if event in ("open", "os.listdir", "os.scandir"):
        path = arguments[0]
        if isinstance(path, int) or path is None:
            return None
        real = os.path.realpath(os.fsdecode(path))
        writing = event == "open" and bool((arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if not writing and (real == inside or real.startswith(inside + os.sep)):
            return None
        return f"{event} {path!r}"
    if event == "exec":
        return f"exec {getattr(arguments[0], 'co_filename', '')}"
    return None if event in _QUIET else f"{event} {arguments!r:.100}"


def translate(folder: Path) -> int:
    """The command line translating standard input."""
    return run_program(["translate", "--model", str(folder), "--device", "cpu"])


def translate_into_german(folder: Path) -> int:
    """The same with a model of several languages."""
    return run_program(["translate", "--model", str(folder), "--device", "cpu", "--target-lang", "de"])


def command_for(kind: str) -> Callable[[Path], int]:
    """What translates with a model of a kind of tokenizer."""
    return translate_into_german if kind == "many languages" else translate


def attempt(folder: Path, place: Path, command: Callable[[Path], int] = translate) -> Outcome:
    """Run `command` on a folder in a watched child that has everything imported; what it says goes below `place`."""
    names = {name: place / name for name in ("stdin", "stdout", "stderr", "events")}
    names["stdin"].write_text(SENTENCE + "\n")
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
                os.dup2(os.open(names[name], flags, 0o600), number)
            log = os.open(names["events"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            typer.main.get_command = lambda app: COMMAND_LINE
            _limit()
            _watch(log, os.path.realpath(folder))
            code = command(folder)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    said, translation, events = (names[name].read_text(errors="replace") for name in ("stderr", "stdout", "events"))
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    seconds = usage.ru_utime + usage.ru_stime
    return Outcome(code, said, translation, tuple(events.splitlines()), seconds, usage.ru_maxrss * 1024 - before)


def _limit() -> None:
    faulthandler.disable()  # of pytest, whose report would be in the way
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, 10)  # of processor time: another job on the machine is no hang
    signal.alarm(120)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2**32
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _watch(log: int, inside: str) -> None:
    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        what = forbidden(event, arguments, inside)
        if what is not None:
            os.write(log, what.encode("ascii", "backslashreplace").replace(b"\n", b" ") + b"\n")

    sys.addaudithook(hook)


def problems(outcome: Outcome, good: Outcome, attack: Attack, folder: Path) -> list[str]:
    """All that is wrong with how a forged folder was received; `good` is what the honest folder gave."""
    found = [f"did: {event}" for event in outcome.events if event not in good.events]
    lines = outcome.said.splitlines()
    if outcome.code < 0:
        found.append(f"ended by signal {-outcome.code}")
    elif attack.may_fit and outcome.code == 0:
        if not all(line.startswith("warning: ") for line in lines):
            found.append(f"said something: {outcome.said[:300]!r}")
    elif attack.harmless:
        if (outcome.code, outcome.translation, outcome.said) != (0, good.translation, good.said):
            found.append(f"not the translation of the good folder: {outcome}")
    else:
        if outcome.code != 3:
            found.append(f"exit code {outcome.code}, not 3")
        if outcome.translation:
            found.append("something was translated")
        if not lines or not lines[0].startswith("error: ") or str(folder) not in outcome.said:
            found.append(f"the message does not name the file: {outcome.said[:300]!r}")
        if any(not line.startswith("  ") for line in lines[1:]) or "Traceback" in outcome.said:
            found.append(f"the message is not one line with details: {outcome.said[:300]!r}")
        if len(outcome.said) > 5_000:
            found.append(f"the message has {len(outcome.said):,} characters")
    if outcome.seconds > 2:
        found.append(f"{outcome.seconds:.1f} s of processor time")
    size = sum(path.lstat().st_size for path in folder.rglob("*")) if folder.is_dir() else 0
    if outcome.peak > good.peak + (TIMES_ON_DISK if outcome.code == 0 else 1) * size + 50 * MEGABYTE:
        found.append(f"{(outcome.peak - good.peak) // MEGABYTE} MB more memory than the good folder")
    if (folder.parent / CANARY).exists():
        found.append("code of the folder was executed")
    return found


# -------------------------------------------------------------------------------------------------------- the attacks


@dataclass(frozen=True)
class Attack:
    group: str
    name: str
    change: Callable[[Path], None]
    kind: str = "bpe"  # of the tokenizer
    sealed: bool = True  # whether the manifest is made to fit
    harmless: str = ""  # why the folder may translate as before
    may_fit: bool = False  # whether it may be a model, which then translates anything, in memory that fits its size

    def forge(self, folder: Path) -> None:
        self.change(folder)
        if self.sealed:
            seal(folder)


def seal(folder: Path) -> None:
    """Write a manifest that fits, whatever the files are."""
    (folder / MANIFEST).unlink(missing_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {
        path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": sha256(path)} for path in files
    }
    write_manifest(folder, {"format_version": 1, "files": names})


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    digest = hashlib.sha256(to_json(manifest)).hexdigest()
    (folder / MANIFEST).write_bytes(to_json({**manifest, "self": digest}))


def read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_bytes())
    return value


# Of the weights.


def header_of(content: bytes) -> tuple[dict[str, Any], bytes]:
    """(header, data) of a safetensors file."""
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def raw_weights(make: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Replace the file's bytes."""

    def change(folder: Path) -> None:
        path = folder / WEIGHTS
        path.write_bytes(make(path.read_bytes()))

    return change


def raw_header(make: Callable[[str], str | bytes]) -> Callable[[Path], None]:
    """Replace the header's text, and leave the data as they are."""

    def change(content: bytes) -> bytes:
        header, data = header_of(content)
        made = make(json.dumps(header))
        return with_header(made.encode() if isinstance(made, str) else made, data)

    return raw_weights(change)


def changed_header(make: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Change the header's entries, and leave the data as they are."""

    def change(text: str) -> str:
        header = json.loads(text)
        make(header)
        return json.dumps(header)

    return raw_header(change)


def changed_weights(make: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    """Change tensors, in a file that is well-formed."""

    def change(folder: Path) -> None:
        weights = load_file(folder / WEIGHTS)
        make(weights)
        save_file(weights, folder / WEIGHTS)

    return change


BIAS = "output_projection.bias"
EMBEDDING = "source_embedding.tokens.weight"


def _entry(shape: list[int], begin: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def _million_tensors(content: bytes) -> bytes:
    names = ",".join(f'"t{number}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' for number in range(10**6))
    return with_header(b"{" + names.encode() + b"}")


def _duplicate(text: str, entry: dict[str, Any], name: str = f'"{BIAS}"') -> str:
    return text[:-1] + f", {name}: {json.dumps(entry)}}}"


def _double_field(text: str, field: str, value: str) -> str:
    """The first entry of a header with one of its fields twice, the good one last."""
    return text.replace('{"dtype"', f'{{"{field}": {value}, "dtype"', 1)


def _shift(header: dict[str, Any], by: int) -> None:
    last = max(header, key=lambda name: header[name]["data_offsets"])
    header[last]["data_offsets"] = [offset + by for offset in header[last]["data_offsets"]]


def _retype(header: dict[str, Any], **fields: Any) -> None:
    header[BIAS].update(fields)


def _cast(weights: dict[str, torch.Tensor], name: str, dtype: torch.dtype) -> None:
    weights[name] = weights[name].to(dtype)


def _set(weights: dict[str, torch.Tensor], name: str, value: float) -> None:
    weights[name].view(-1)[0] = value


def weights_attacks() -> Iterator[Attack]:
    def of(name: str, change: Callable[[Path], None], **more: Any) -> Attack:
        return Attack("weights", name, change, **more)

    yield of("empty file", raw_weights(lambda content: b""))
    yield of("seven bytes", raw_weights(lambda content: content[:7]))
    yield of("length prefix 2**63", raw_weights(lambda content: struct.pack("<Q", 2**63) + content[8:]))
    yield of("length prefix 2**64 - 1", raw_weights(lambda content: b"\xff" * 8 + content[8:]))
    yield of("length prefix behind the end", raw_weights(lambda content: struct.pack("<Q", len(content)) + content[8:]))
    yield of("header of 100 MB", raw_header(lambda text: text + " " * (99_000_000 - len(text))))
    yield of("a million tensors", raw_weights(_million_tensors))
    yield of("header nested 100,000 deep", raw_header(lambda text: "[" * 10**5))
    yield of("metadata nested 100,000 deep", raw_header(lambda text: '{"__metadata__":' + '{"a":' * 10**5))
    yield of("header is a list", raw_header(lambda text: "[" + text + "]"))
    yield of("header is not UTF-8", raw_header(lambda text: text.encode().replace(b"F32", b"F\xff2")))
    yield of("header with a lone surrogate", raw_header(lambda text: text.replace(BIAS, "\\ud800")))
    yield of("header that begins with a space", raw_header(lambda text: " " + text), harmless="the same JSON")
    yield of("zero tensors", raw_weights(lambda content: with_header(b"{}")))
    yield of("dimension 2**60", changed_header(lambda header: _retype(header, shape=[2**60])))
    yield of("dimensions whose product overflows", changed_header(lambda header: _retype(header, shape=[2**32] * 2)))
    yield of("dimension 2**64", changed_header(lambda header: _retype(header, shape=[2**64])))
    yield of("negative dimension", changed_header(lambda header: _retype(header, shape=[-320])))
    yield of("dimension true", changed_header(lambda header: _retype(header, shape=[True])))
    yield of("dimension 320.0", changed_header(lambda header: _retype(header, shape=[320.0])))
    yield of("a million dimensions", changed_header(lambda header: _retype(header, shape=[1] * 10**6)))
    yield of("zero-element dimension", changed_header(lambda header: _retype(header, shape=[0], data_offsets=[0, 0])))
    yield of("offsets in reverse", changed_header(lambda header: header[BIAS]["data_offsets"].reverse()))
    yield of("offsets overlap", changed_header(lambda header: _shift(header, -4)))
    yield of("offsets leave a hole", changed_header(lambda header: _shift(header, 4)))
    yield of(
        "offsets behind the end", changed_header(lambda header: _retype(header, data_offsets=[2**40, 2**40 + 1280]))
    )
    yield of("negative offset", changed_header(lambda header: _retype(header, data_offsets=[-1280, 0])))
    yield of("unknown type", changed_header(lambda header: _retype(header, dtype="PICKLE")))
    loader = changed_header(lambda header: _retype(header, loader="os.system"))
    yield of("unknown field", loader, harmless="nothing reads it")
    yield of("trailing bytes", raw_weights(lambda content: content + b"\0" * 4))
    yield of("truncated data", raw_weights(lambda content: content[:-4]))
    yield of("duplicate key, another place", raw_header(lambda text: _duplicate(text, _entry([320], 0, 1280))))
    yield of(
        "duplicate key, another shape",
        raw_header(lambda text: _duplicate(text, json.loads(text)[BIAS] | {"shape": [1]})),
    )
    yield of("duplicate key, the same", raw_header(lambda text: _duplicate(text, json.loads(text)[BIAS])))
    escaped = f'"\\u{ord(BIAS[0]):04x}{BIAS[1:]}"'
    yield of("duplicate key, escaped", raw_header(lambda text: _duplicate(text, _entry([320], 0, 1280), escaped)))
    for field, value in (("dtype", '"F32"'), ("shape", "[320]"), ("data_offsets", "[0, 0]")):
        yield of(f"{field} twice", raw_header(partial(_double_field, field=field, value=value)))
    good = '{"__metadata__": {"format": "os.system"}, '
    yield of("metadata", raw_header(lambda text: good + text[1:]), harmless="nothing reads it")
    yield of("metadata twice", raw_header(lambda text: good + good[1:] + text[1:]))
    yield of("metadata with a key twice", raw_header(lambda text: '{"__metadata__": {"a": "1", "a": "2"},' + text[1:]))
    for value in ('{"format": 1}', '{"format": {}}', "[]", '"os.system"', "5"):
        yield of(f"metadata {value}", raw_header(lambda text, value=value: f'{{"__metadata__": {value}, {text[1:]}'))
    yield of("missing tensor", changed_weights(lambda weights: weights.pop(BIAS)))
    yield of("extra tensor", changed_weights(lambda weights: weights.update(extra=torch.zeros(2))))
    yield of("tensor ../../x", changed_weights(lambda weights: weights.update({"../../x": torch.zeros(2)})))
    yield of("tensor /etc/passwd", changed_weights(lambda weights: weights.update({"/etc/passwd": torch.zeros(2)})))
    yield of("tensor __class__", changed_weights(lambda weights: weights.update({"__class__": torch.zeros(2)})))
    yield of(
        "tensor with NUL and escapes", changed_weights(lambda weights: weights.update({"\0\x1b[2J\n": torch.zeros(2)}))
    )
    yield of(
        "tensor with a name of 1 MB", changed_weights(lambda weights: weights.update({"x" * 10**6: torch.zeros(2)}))
    )
    yield of(
        "1,000 extra tensors",
        changed_weights(lambda weights: weights.update({f"x{i}": torch.zeros(1) for i in range(1000)})),
    )
    yield of("wrong shape", changed_weights(lambda weights: weights.update({BIAS: torch.zeros(319)})))
    yield of(
        "transposed", changed_weights(lambda weights: weights.update({EMBEDDING: weights[EMBEDDING].T.contiguous()}))
    )
    yield of("float16", changed_weights(lambda weights: _cast(weights, BIAS, torch.float16)))
    yield of("int32 of the same size", changed_header(lambda header: _retype(header, dtype="I32")))
    yield of("bool", changed_weights(lambda weights: _cast(weights, BIAS, torch.bool)))
    yield of("NaN", changed_weights(lambda weights: _set(weights, BIAS, float("nan"))))
    yield of("infinity", changed_weights(lambda weights: _set(weights, EMBEDDING, float("inf"))))
    yield of(
        "tied weights that disagree",
        changed_weights(lambda weights: weights.update({"output_projection.weight": weights[EMBEDDING] + 1})),
    )


# Code in the place of weights.


class Payload:
    """Creates the canary when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.canary = str(folder.parent / CANARY)

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return os.mkdir, (self.canary,)


def _torch_save(folder: Path) -> bytes:
    buffer = io.BytesIO()
    torch.save(Payload(folder), buffer)
    return buffer.getvalue()


def _old_torch_save(folder: Path) -> bytes:
    buffer = io.BytesIO()
    torch.save(Payload(folder), buffer, _use_new_zipfile_serialization=False)
    return buffer.getvalue()


def _npy(folder: Path) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload(folder)], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def _zip(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(Payload(folder)))
        file.writestr("../../evil.py", "raise SystemExit")
    return buffer.getvalue()


def code_attacks() -> Iterator[Attack]:
    def as_weights(name: str, make: Callable[[Path], bytes], file: str = WEIGHTS) -> Attack:
        def change(folder: Path) -> None:
            (folder / file).write_bytes(make(folder))

        return Attack("code", name, change)

    yield as_weights("pickle as weights", lambda folder: pickle.dumps(Payload(folder)))
    yield as_weights("text pickle as weights", lambda folder: pickle.dumps(Payload(folder), protocol=0))
    yield as_weights("torch.save as weights", _torch_save)
    yield as_weights("old torch.save as weights", _old_torch_save)
    yield as_weights("npy as weights", _npy)
    yield as_weights("zip as weights", _zip)
    yield as_weights(
        "pickle behind good weights", lambda folder: (folder / WEIGHTS).read_bytes() + pickle.dumps(Payload(folder))
    )
    yield as_weights(
        "pickle as a tensor",
        lambda folder: save({"x": torch.tensor(list(pickle.dumps(Payload(folder))), dtype=torch.uint8)}),
    )
    yield as_weights("pickle as configuration", lambda folder: pickle.dumps(Payload(folder)), CONFIG)
    yield as_weights("pickle as tokenizer", lambda folder: pickle.dumps(Payload(folder)), MODEL)
    yield as_weights("program as configuration", lambda folder: b"__import__('os').mkdir('canary')", CONFIG)

    def with_modules(folder: Path) -> None:
        for name in ("sitecustomize.py", "torch.py", "dragoman.py", "tokenizer.py", "__init__.py"):
            (folder / name).write_text(f"import os; os.mkdir({str(folder.parent / CANARY)!r})")

    yield Attack("code", "modules beside the weights", with_modules, harmless="no file but the fixed ones is opened")

    def with_checkpoint(folder: Path) -> None:
        (folder / "pytorch_model.bin").write_bytes(_torch_save(folder))
        (folder / WEIGHTS).unlink()

    yield Attack("code", "pytorch_model.bin instead of weights", with_checkpoint)


# Of JSON files.


def raw_json(name: str, make: Callable[[str], str | bytes]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        made = make((folder / name).read_text())
        (folder / name).write_bytes(made.encode() if isinstance(made, str) else made)

    return change


def changed_json(name: str, make: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        value = read(folder / name)
        make(value)
        (folder / name).write_text(json.dumps(value))

    return change


def _lists(n_bytes: int) -> str:
    """A JSON object of small values: what takes the most memory for its bytes."""
    return '{"a":[' + "[]," * ((n_bytes - 10) // 3) + "0]}"


def json_attacks(group: str, name: str) -> Iterator[Attack]:
    """Yield the faults that any JSON file can have."""

    def of(what: str, make: Callable[[str], str | bytes], **more: Any) -> Attack:
        return Attack(group, f"{name}: {what}", raw_json(name, make), **more)

    sealed = name != MANIFEST
    yield of("empty", lambda text: "", sealed=sealed)
    yield of("truncated", lambda text: text[:-3], sealed=sealed)
    yield of("a list", lambda text: f"[{text}]", sealed=sealed)
    yield of("a number", lambda text: "1" * 10_000, sealed=sealed)
    yield of("null", lambda text: "null", sealed=sealed)
    yield of("text behind it", lambda text: text + "{}", sealed=sealed)
    yield of("BOM", lambda text: "\ufeff" + text, sealed=sealed)
    yield of("UTF-16", lambda text: text.encode("utf-16"), sealed=sealed)
    yield of("not UTF-8", lambda text: text.encode().replace(b'"', b'"\xff', 1), sealed=sealed)
    yield of("comment", lambda text: "// a comment\n" + text, sealed=sealed)
    yield of("NaN", lambda text: text[:-2] + ',"a":NaN}', sealed=sealed)
    yield of("duplicate key", lambda text: "{" + text[1:-2] + "," + text[1:], sealed=sealed)
    yield of("lists nested 100,000 deep", lambda text: '{"a":' + "[" * 10**5 + "]" * 10**5 + "}", sealed=sealed)
    yield of("objects nested 100,000 deep", lambda text: '{"a":' * 10**5 + "0" + "}" * 10**5, sealed=sealed)
    yield of("nested 900 deep", lambda text: text[:-2] + ',"a":' + "[" * 900 + "]" * 900 + "}", sealed=sealed)
    yield of("10,000 keys", lambda text: "{" + ",".join(f'"d_mode{n}":1' for n in range(10_000)) + "}", sealed=sealed)
    yield of("key of 190 kB", lambda text: text[:-2] + ',"' + "x" * 190_000 + '":1}', sealed=sealed)
    yield of("20 MB of lists", lambda text: _lists(2 * 10**7), sealed=sealed)
    yield of("190 kB of lists", lambda text: text[:-2] + "," + _lists(190_000)[1:], sealed=sealed)
    yield of("lone surrogates and escapes", lambda text: text[:-2] + ',"\\ud800\\u001b[2J\\n":1}', sealed=sealed)


def _in_model(**fields: Any) -> Callable[[Path], None]:
    return changed_json(CONFIG, lambda settings: settings["model"].update(fields))


def config_attacks() -> Iterator[Attack]:
    def of(name: str, change: Callable[[Path], None], **more: Any) -> Attack:
        return Attack("config", name, change, **more)

    def top(name: str, value: Any) -> Callable[[Path], None]:
        return changed_json(CONFIG, lambda settings: settings.update({name: value}))

    yield from json_attacks("config", CONFIG)
    for field in ("source_vocab_size", "d_model", "d_ff", "n_heads", "n_encoder_layers", "max_length", "d_k", "pad_id"):
        yield of(f"{field} 10**12", _in_model(**{field: 10**12}))
    yield of("d_ff 10**6", _in_model(d_ff=10**6))
    yield of("1,000 layers", _in_model(n_encoder_layers=1000, n_decoder_layers=1000))
    yield of("10**7 words", _in_model(source_vocab_size=10**7, target_vocab_size=10**7))
    yield of("d_k 65536", _in_model(d_k=65536, d_v=65536))
    yield of("largest of everything", _in_model(d_model=65536, d_ff=10**6, n_heads=1024, n_encoder_layers=1000))
    yield of("table of positions of 2**37 numbers", _in_model(max_length=10**6, d_model=65536))
    yield of("learned table of positions", _in_model(positions="learned"))
    yield of("d_model 0", _in_model(d_model=0))
    yield of("d_model -16", _in_model(d_model=-16))
    yield of("d_model true", _in_model(d_model=True))
    yield of("bias 1", _in_model(bias=1))
    yield of("d_model '16'", _in_model(d_model="16"))
    yield of("d_model 16.5", _in_model(d_model=16.5))
    yield of("d_model [16]", _in_model(d_model=[16]))
    yield of("d_model null", _in_model(d_model=None))
    yield of("dropout 1e400", raw_json(CONFIG, lambda text: text.replace('"dropout": 0.1', '"dropout": 1e400')))
    yield of("d_model of 4,000 digits", raw_json(CONFIG, lambda text: text.replace("16", "1" * 4000, 1)))
    yield of("d_model of 5,000 digits", raw_json(CONFIG, lambda text: text.replace("16", "1" * 5000, 1)))
    yield of("activation __import__('os')", _in_model(activation="__import__('os').abort"))
    yield of("norm ../../x", _in_model(norm="../../x"))
    yield of("newer format", top("format_version", FORMAT_VERSION + 1))
    yield of("no precision", changed_json(CONFIG, lambda settings: settings.pop("precision")))
    for precision in ("float16", "int8", "float64", "__class__", "", 16, None, ["float16"], {"float16": 1}):
        yield of(f"precision {precision!r}", top("precision", precision))  # and weights in float32
    yield of("format version true", top("format_version", True))
    yield of("format version 1.0", top("format_version", 1.0))
    yield of("format version 10**100", top("format_version", 10**100))
    yield of("format version '1'", top("format_version", "1"))
    yield of("key __class__", top("__class__", "os.system"))
    yield of("key auto_map", top("auto_map", {"AutoModel": "modeling.Evil"}))
    yield of("key /etc/passwd", top("/etc/passwd", "/etc/passwd"))
    yield of("path of weights", top("weights", "../../x"))
    yield of("model is a list", top("model", []))
    yield of("search is a path", top("search", "/etc/passwd"))
    yield of("beam_size 10**12", changed_json(CONFIG, lambda settings: settings["search"].update(beam_size=10**12)))
    yield of(
        "length_penalty NaN", changed_json(CONFIG, lambda settings: settings["search"].update(length_penalty="NaN"))
    )
    yield of(
        "code in the facts", top("facts", {"__reduce__": "os.system", "path": "/etc/passwd"}), harmless="only shown"
    )
    yield of("missing", lambda folder: (folder / CONFIG).unlink())


# Of the manifest.


def _million_entries(text: str) -> str:
    return '{"files":{' + ",".join(f'"{number}":{{"size":0}}' for number in range(10**6)) + "}}"


def manifest_attacks() -> Iterator[Attack]:
    def of(name: str, make: Callable[[dict[str, Any]], object], **more: Any) -> Attack:
        def change(folder: Path) -> None:
            manifest = read(folder / MANIFEST)
            del manifest["self"]
            make(manifest["files"])
            write_manifest(folder, manifest)

        return Attack("manifest", name, change, sealed=False, **more)

    def top(name: str, make: Callable[[dict[str, Any]], object]) -> Attack:
        def change(folder: Path) -> None:
            manifest = read(folder / MANIFEST)
            make(manifest)
            write_manifest(folder, {key: value for key, value in manifest.items() if key != "self"})

        return Attack("manifest", name, change, sealed=False)

    zero = {"size": 0, "sha256": hashlib.sha256(b"").hexdigest()}
    yield from json_attacks("manifest", MANIFEST)
    yield Attack("manifest", "missing", lambda folder: (folder / MANIFEST).unlink(), sealed=False)
    yield Attack(
        "manifest",
        "wrong hash of itself",
        changed_json(MANIFEST, lambda each: each.update(self="0" * 64)),
        sealed=False,
    )
    yield of("names no file", dict.clear)
    yield of("does not name the weights", lambda files: files.pop(WEIGHTS))
    yield of("does not name the configuration", lambda files: files.pop(CONFIG))
    yield of("names a file that is not there", lambda files: files.update(extra=zero))
    for path in ("../x", "/etc/passwd", "/dev/zero", "tokenizer/../../x", "a\0b", "", ".", "~/x", "x" * 5000):
        yield of(f"names {path[:20]!r}", lambda files, path=path: files.update({path: zero}))
    yield of("names itself", lambda files: files.update({MANIFEST: zero}))
    yield of("wrong size", lambda files: files[WEIGHTS].update(size=1))
    yield of("negative size", lambda files: files[WEIGHTS].update(size=-1))
    yield of("size 10**100", lambda files: files[WEIGHTS].update(size=10**100))
    yield of("size is text", lambda files: files[WEIGHTS].update(size="1"))
    yield of("wrong SHA-256", lambda files: files[WEIGHTS].update(sha256="0" * 64))
    yield of("SHA-256 is null", lambda files: files[WEIGHTS].update(sha256=None))
    yield of("entry without a size", lambda files: files[WEIGHTS].pop("size"))
    yield of("entry is a list", lambda files: files.update({WEIGHTS: [1, 2]}))
    yield of("a file twice", lambda files: files.update({f"./{WEIGHTS}": files[WEIGHTS]}), harmless="read twice")
    yield Attack("manifest", "a million entries", raw_json(MANIFEST, _million_entries), sealed=False)
    yield top("files is a list", lambda manifest: manifest.update(files=list(manifest["files"])))
    yield top("no files", lambda manifest: manifest.pop("files"))


# Of the folder.


def folder_attacks() -> Iterator[Attack]:
    def of(name: str, change: Callable[[Path], None], **more: Any) -> Attack:
        return Attack("folder", name, change, sealed=False, **more)

    def replaced(name: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
        def change(folder: Path) -> None:
            path = folder / name
            path.rename(folder.parent / "outside")
            make(path)

        return change

    def linked(name: str) -> Callable[[Path], None]:
        def change(folder: Path) -> None:
            replaced(name, lambda path: path.symlink_to(folder.parent / "outside"))(folder)

        return change

    for name in (CONFIG, WEIGHTS, MANIFEST, DESCRIPTION, MODEL, "tokenizer"):
        yield of(f"{name} is a link out of the folder", linked(name))
        yield of(f"{name} is a link to itself", replaced(name, lambda path: path.symlink_to(path)))
        yield of(f"{name} is a FIFO", replaced(name, os.mkfifo))
        yield of(f"{name} is missing", replaced(name, lambda path: None))
        if name != "tokenizer":
            yield of(f"{name} is a folder", replaced(name, Path.mkdir))
            yield of(f"{name} is /dev/zero", replaced(name, lambda path: path.symlink_to("/dev/zero")))
    yield of("tokenizer is a file", replaced("tokenizer", Path.touch))
    yield of("configuration is a socket", replaced(CONFIG, _socket))
    yield of("configuration is unreadable text", replaced(CONFIG, lambda path: path.symlink_to("/proc/self/environ")))

    def a_file(folder: Path) -> None:
        shutil.rmtree(folder)
        folder.write_bytes(b"../../../../etc")

    yield of("the folder is a file with a path", a_file)

    def only_a_link(make: Callable[[Path], object]) -> Callable[[Path], None]:
        """A run folder with nothing but its best."""

        def change(folder: Path) -> None:
            shutil.rmtree(folder)
            folder.mkdir()
            make(folder / "best")

        return change

    yield of("best is a link to itself", only_a_link(lambda best: best.symlink_to("best")))
    yield of("best is a link to /dev/zero", only_a_link(lambda best: best.symlink_to("/dev/zero")))
    yield of("best is a link to /etc", only_a_link(lambda best: best.symlink_to("/etc")))
    yield of("best is a FIFO", only_a_link(os.mkfifo))
    yield of("best holds NUL", only_a_link(lambda best: best.write_bytes(b"a\0b")))
    yield of("best is not UTF-8", only_a_link(lambda best: best.write_bytes(b"\xff\xfe")))
    yield of("best is long", only_a_link(lambda best: best.write_bytes(b"a/" * 2000)))

    for name in (WEIGHTS, CONFIG, DESCRIPTION, MODEL, "tokenizer/source.model"):
        yield of(f"{name} of 1 TB", partial(_listed, name=name))
    for name in ("README.md", "extra", "tokenizer.bin", "tokenizer/extra"):
        yield of(f"{name} of 1 TB", partial(_listed, name=name), harmless="it is not read")
    yield of("MANIFEST.json of 1 TB", lambda folder: os.truncate(folder / MANIFEST, 2**40))
    yield of("20,000 files in the tokenizer", _many_files)
    yield of("folder in the tokenizer", lambda folder: (folder / "tokenizer" / "folder").mkdir())
    yield of("file of no use in the tokenizer", lambda folder: (folder / "tokenizer" / "source.model").touch())


def _listed(folder: Path, name: str) -> None:
    """A file that takes no place on the disk and hours to read, with its place in the manifest."""
    with open(folder / name, "ab") as file:
        file.truncate(2**40)
    manifest = read(folder / MANIFEST)
    del manifest["self"]
    manifest["files"][name] = {"size": 2**40, "sha256": "0" * 64}
    write_manifest(folder, manifest)


def _many_files(folder: Path) -> None:
    for number in range(20_000):
        (folder / "tokenizer" / f"{number}").touch()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        where = os.getcwd()
        os.chdir(path.parent)  # the whole path may be longer than a socket's may be
        server.bind(path.name)
        os.chdir(where)


# Of the tokenizer: SentencePiece's models are protocol buffers.


def _varint(value: int) -> bytes:
    groups = [value >> shift & 127 for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _fields(model: bytes) -> list[tuple[int, bytes]]:
    """The fields of a message whose fields are all of variable length, as a model's are."""
    fields, at = [], 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = model[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(model):
        number, length = varint() >> 3, varint()
        fields.append((number, model[at : at + length]))
        at += length
    return fields


def piece(text: str | bytes, score: float = -1.0, kind: int = 1) -> bytes:
    text = text.encode() if isinstance(text, str) else text
    return _field(1, text) + b"\x15" + struct.pack("<f", score) + b"\x18" + _varint(kind)


PIECES = 1
NORMAL, CONTROL, USER_DEFINED, BYTE = 1, 3, 4, 6


def _many_pieces(count: int) -> bytes:
    head, tail = _field(1, piece("x000000")).split(b"000000")
    return b"".join(head + b"%06d" % number + tail for number in range(count))


def raw_model(make: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / MODEL).write_bytes(make((folder / MODEL).read_bytes()))

    return change


def changed_model(make: Callable[[list[bytes]], object], **more: bytes) -> Callable[[Path], None]:
    """Change the list of pieces, and append to other fields of the model: `field_<number>`."""

    def change(model: bytes) -> bytes:
        fields = _fields(model)
        pieces = [content for number, content in fields if number == PIECES]
        make(pieces)
        others = {number: content for number, content in fields if number != PIECES}
        for name, content in more.items():
            number = int(name.removeprefix("field_"))
            others[number] = others.get(number, b"") + content
        return b"".join(_field(PIECES, each) for each in pieces) + b"".join(itertools.starmap(_field, others.items()))

    return raw_model(change)


def _character_map(units: bytes, texts: bytes) -> bytes:
    """A normalizer's setting of compiled replacements: a trie, and the texts that its values are offsets into."""
    return _field(2, struct.pack("<I", len(units)) + units + texts)


def subword_attacks(kind: str) -> Iterator[Attack]:
    def of(name: str, change: Callable[[Path], None], **more: Any) -> Attack:
        return Attack("tokenizer", f"{kind}: {name}", change, kind, **more)

    def nothing(pieces: list[bytes]) -> None:
        pass

    def last(text: str | bytes, score: float = -1.0, kind: int = NORMAL) -> Callable[[Path], None]:
        return changed_model(lambda pieces: pieces.__setitem__(-1, piece(text, score, kind)))

    yield of("empty", raw_model(lambda model: b""))
    for length in (1, 3, 100, -1, -100):
        yield of(f"cut at {length}", raw_model(lambda model, length=length: model[:length]))
    yield of("first byte flipped", raw_model(lambda model: bytes([model[0] ^ 255]) + model[1:]))
    yield of("length of the first piece 2**60", raw_model(lambda model: b"\x0a" + _varint(2**60) + model[2:]))
    yield of("noise", raw_model(lambda model: bytes(number * 167 % 251 for number in range(len(model)))))
    yield of("groups nested 100,000 deep", raw_model(lambda model: b"\x53" * 10**5))
    yield of("no pieces", changed_model(list.clear))
    yield of("special tokens only", changed_model(lambda pieces: pieces.__delitem__(slice(4, None))))
    yield of("one piece less", changed_model(list.pop))
    yield of("one piece more", changed_model(lambda pieces: pieces.append(piece("more"))))
    yield of("duplicate piece", changed_model(lambda pieces: pieces.__setitem__(-1, pieces[-2])))
    yield of("duplicate <unk>", changed_model(lambda pieces: pieces.__setitem__(-1, pieces[1])))
    yield of("empty piece", last(""))
    yield of("piece of 1 MB", last("x" * 10**6))
    yield of("piece that is not UTF-8", last(b"\xff\xfe"))
    harmless = "control characters are taken out of translations" if kind == "bpe" else ""
    yield of("piece with NUL", last("\0"), harmless=harmless)
    yield of("piece <0xZZ> as a byte", last("<0xZZ>", kind=BYTE))
    yield of("byte piece twice", last("<0x41>", kind=BYTE))
    yield of("kind of piece 99", last("xyzzy", kind=99), harmless="SentencePiece takes it for the usual kind")
    yield of("special tokens moved", changed_model(lambda pieces: pieces.insert(9, pieces.pop(0))))
    yield of("special token as a normal piece", changed_model(lambda pieces: pieces.__setitem__(3, piece("<eos>"))))
    yield of("no unknown token", changed_model(lambda pieces: pieces.__setitem__(1, piece("<unk>"))))
    yield of("40,000 pieces more", raw_model(lambda model: model + _many_pieces(40_000)))
    yield of("a million pieces more", raw_model(lambda model: model + _many_pieces(10**6)))
    yield of("kind of model 99", changed_model(nothing, field_2=b"\x18\x63"), harmless="SentencePiece passes over it")
    yield of("character map of noise", changed_model(nothing, field_3=_character_map(b"\xff" * 1024, b"\xff" * 64)))
    yield of(
        "character map longer than itself", changed_model(nothing, field_3=_field(2, b"\xff\xff\xff\x7f" + b"x" * 9))
    )
    yield of("character map for decoding", changed_model(nothing, field_5=_character_map(b"\xff" * 1024, b"\xff" * 64)))
    rules = changed_model(nothing, field_3=_field(6, b"41\t42\n" * 150_000))
    yield of("normalization rules of 1 MB", rules, harmless="SentencePiece reads them in training only")
    yield of(
        "paths of training files",
        changed_model(nothing, field_2=_field(1, b"/etc/passwd") + _field(2, b"/etc/passwd")),
        harmless="SentencePiece reads them in training only",
    )


def language_attacks() -> Iterator[Attack]:
    """Directions, tags and reserved pieces of a model of many languages."""
    kind = "many languages"

    def of(name: str, make: Callable[[dict[str, Any]], object], **more: Any) -> Attack:
        return Attack("tokenizer", f"{kind}: {name}", changed_json(DESCRIPTION, make), kind, **more)

    def directions(value: object) -> Callable[[dict[str, Any]], object]:
        return lambda description: description.update(directions=value)

    def renamed(name: str, new: str, kind: int) -> Callable[[Path], None]:
        return changed_model(lambda pieces: pieces.__setitem__(_number(pieces, name), piece(new, 0.0, kind)))

    codes = [f"{first}{second}" for first in "abcdefghij" for second in "abcdefghijklmnop"]
    yield of("no directions", directions([]))
    yield of("directions missing", lambda description: description.pop("directions"))
    yield of("directions of three", directions([["en", "de", "fr"]]))
    yield of("directions of numbers", directions([[1, 2]]))
    yield of("directions as text", directions("en-de"))
    yield of("a direction twice", directions([["en", "de"], ["en", "de"]]))
    yield of("25,600 directions", directions([[one, other] for one in codes for other in codes]))
    yield of("a million directions", directions([["en", "de"]] * 10**6))
    yield of("unknown among the languages", directions([["en", "de"], ["und", "en"]]))
    yield of("a path as a language", directions([["en", "de"], ["en", "../x"]]))
    yield of("a language of 1 MB", directions([["en", "de"], ["en", "x" * 2**20]]))
    yield of("a language without a tag", directions([["en", "de"], ["en", "it"]]))
    yield of("languages too", lambda description: description.update(languages=["en", "de"]))
    yield of("a reserved piece more", lambda description: description["config"].update(reserved=3))
    yield of("a million reserved pieces", lambda description: description["config"].update(reserved=10**6))
    yield of("reserved pieces -1", lambda description: description["config"].update(reserved=-1))
    yield of("split_digits 1", lambda description: description["config"].update(split_digits=1))
    for name, change in (
        ("the tag as a normal piece", renamed(">>de<<", ">>de<<", NORMAL)),
        ("the tag misspelled", renamed(">>de<<", ">>DE<<", CONTROL)),
        ("the tag with a space", renamed(">>de<<", ">>d e<<", CONTROL)),
        ("a reserved piece misspelled", renamed("⟨1⟩", "⟨x⟩", USER_DEFINED)),
        ("a reserved piece as a control symbol", renamed("⟨1⟩", "⟨1⟩", CONTROL)),
    ):
        yield Attack("tokenizer", f"{kind}: {name}", change, kind)


def _number(pieces: list[bytes], name: str) -> int:
    return next(number for number, each in enumerate(pieces) if name.encode() in each)


def tokenizer_attacks() -> Iterator[Attack]:
    yield from language_attacks()
    yield from subword_attacks("bpe")
    yield from subword_attacks("unigram")
    yield from json_attacks("tokenizer", DESCRIPTION)
    for kind in ("characters", "words"):
        yield from list_attacks(kind)

    def described(name: str, make: Callable[[dict[str, Any]], object], kind: str = "bpe", **more: Any) -> Attack:
        return Attack("tokenizer", name, changed_json(DESCRIPTION, make), kind, **more)

    def lang(code: object) -> Callable[[dict[str, Any]], object]:
        return lambda description: description.update(directions=[[code, code]])

    def setting(**fields: Any) -> Callable[[dict[str, Any]], object]:
        return lambda description: description["config"].update(fields)

    for code in ("../x", "/etc/passwd", "en\0", "x" * 40, "[a-z]*", "(a+)+$", "", "e", "__import__", "en_core_web_sm"):
        yield described(f"language {code[:15]!r}", lang(code), "words")
    yield described("language 5", lang(5), "words")
    yield described("language 'os'", lang("os"), "words", harmless="unknown languages have the rules common to all")
    yield described("languages missing", lambda description: description.pop("directions"))
    yield described("kind bpe for a list of words", setting(kind="bpe", joint=True), "words")
    yield described("kind words for a model", setting(kind="words", joint=True))
    yield described("kind unigram for BPE", setting(kind="unigram"), harmless="the model itself says what it is")
    yield described("one vocabulary for each side", setting(joint=False))
    yield described("kind os.system", setting(kind="os.system"))
    yield described("kind ../x", setting(kind="../x"))
    yield described("regular expression", setting(pattern="(a+)+$"))
    yield described("file name", lambda description: description["config"].update(source="../../x"))
    yield described("vocab_size 10**12", setting(vocab_size=10**12))
    yield described("lowercase 1", setting(lowercase=1))
    yield described("newer format", lambda description: description.update(format_version=3))
    yield described("format version true", lambda description: description.update(format_version=True))
    yield Attack("tokenizer", "source and target swapped", swap, "two characters")


def swap(folder: Path) -> None:
    tokenizer = folder / "tokenizer"
    (tokenizer / "source.json").rename(tokenizer / "other")
    (tokenizer / "target.json").rename(tokenizer / "source.json")
    (tokenizer / "other").rename(tokenizer / "target.json")


def _many_words(text: str) -> str:
    return '{"words":["a"' + ',"a"' * 10**7 + "]}"


def list_attacks(kind: str) -> Iterator[Attack]:
    """Lists of words or characters."""

    def of(name: str, make: Callable[[list[Any]], object]) -> Attack:
        return Attack("tokenizer", f"{kind}: {name}", changed_json(WORDS, lambda value: make(value["words"])), kind)

    for attack in json_attacks("tokenizer", WORDS):
        yield replace(attack, name=f"{kind}: {attack.name}", kind=kind)
    yield of("no words", list.clear)
    yield of("one word less", list.pop)
    yield of("one word more", lambda words: words.append("more"))
    yield of("duplicate word", lambda words: words.__setitem__(-1, words[0]))
    yield of("empty word", lambda words: words.__setitem__(-1, ""))
    yield of("number as a word", lambda words: words.__setitem__(-1, 5))
    yield of("null as a word", lambda words: words.__setitem__(-1, None))
    yield of("list as a word", lambda words: words.__setitem__(-1, ["a"]))
    yield of("word of 1 MB", lambda words: words.__setitem__(-1, "x" * 2**20))
    yield of("60,000 words", lambda words: words.extend(f"x{n}" for n in range(60_000)))
    yield Attack("tokenizer", f"{kind}: 10 million words", raw_json(WORDS, _many_words), kind)
    yield Attack(
        "tokenizer", f"{kind}: words are text", changed_json(WORDS, lambda value: value.update(words="abc")), kind
    )
    yield Attack("tokenizer", f"{kind}: no list", changed_json(WORDS, lambda value: value.pop("words")), kind)
    yield Attack(
        "tokenizer",
        f"{kind}: path beside the list",
        changed_json(WORDS, lambda value: value.update(path="/etc/passwd")),
        kind,
    )


# Of the proportion of memory to the file: weights that fit the configuration, whatever that is.

#: The smallest model, of the others' extremes.
SMALLEST = {"d_model": 2, "d_ff": 1, "n_heads": 1, "d_k": 2, "d_v": 1, "n_encoder_layers": 1, "n_decoder_layers": 1}
#: By section and field.
EXTREMES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("model", "d_model"): (64, 16_384),
    ("model", "d_ff"): (4096, 1_000_000),
    ("model", "n_heads"): (1024,),
    ("model", "d_k"): (2048, 65_536),
    ("model", "d_v"): (2048, 65_536),
    ("model", "n_encoder_layers"): (100, 1000),
    ("model", "n_decoder_layers"): (100, 1000),
    ("model", "max_length"): (2, 1_000_000),
    ("model", "positions"): ("rotary",),
    ("model", "activation"): ("swiglu",),
    ("model", "norm"): ("pre",),
    ("search", "beam_size"): (1, 100, 1000),
    ("search", "n_best"): (2, 1000),
    ("search", "sample"): (True,),
    ("search", "max_length"): (1, 4096, 10**12),
    ("search", "min_length"): (1000, 10**12),
    ("search", "no_repeat_ngram"): (1, 10**12),
    ("search", "repetition_penalty"): (1.2, 100.0),
    ("search", "length_penalty"): (10.0,),
    ("search", "temperature"): (100.0,),
    ("search", "top_k"): (1, 10**12),
    ("search", "top_p"): (1e-9,),
    ("search", "seed"): (10**12,),
}
#: Larger files are left out: they would only make the trials longer.
MOST_WEIGHTS = 4_000_000


def fitting(fields: dict[tuple[str, str], Any]) -> Callable[[Path], None]:
    """Configure the smallest model, but for some fields, and write weights in 8 bits that fit."""

    def change(folder: Path) -> None:
        settings = read(folder / CONFIG)
        settings["model"].update(SMALLEST)
        for (section, field), value in fields.items():
            settings[section][field] = value
        settings.update(precision="int8")
        (folder / CONFIG).write_text(json.dumps(settings))
        dice = np.random.default_rng(1)
        shapes = stored_shapes(Layout(ModelConfig.model_validate(settings["model"])).shapes(), "int8").items()
        (folder / WEIGHTS).write_bytes(
            save_arrays(
                {
                    name: dice.integers(-127, 128, shape, dtype=np.int8)
                    if kind == "I8"
                    else dice.normal(0, 0.01, shape).astype(np.float32)
                    for name, (kind, shape) in shapes
                }
            )
        )

    return change


def n_weights(config: ModelConfig) -> int:
    """Return the number of weights. Layers have equally many: to list those of a thousand layers would take long."""

    def listed(n_encoder_layers: int, n_decoder_layers: int) -> int:
        few = {"n_encoder_layers": n_encoder_layers, "n_decoder_layers": n_decoder_layers}
        return sum(map(math.prod, Layout(config.model_copy(update=few)).shapes().values()))

    in_encoder, in_decoder = (listed(*each) - listed(1, 1) for each in ((2, 1), (1, 2)))
    return listed(1, 1) + (config.n_encoder_layers - 1) * in_encoder + (config.n_decoder_layers - 1) * in_decoder


def proportion_attacks() -> Iterator[Attack]:
    """All extremes alone, and all pairs of two fields."""
    choices = [(field, value) for field, values in EXTREMES.items() for value in values]
    for pair in [((each,)) for each in choices] + [*itertools.combinations(choices, 2)]:
        fields = dict(pair)
        if len(fields) < len(pair):
            continue
        model = {**SMALLEST, **{name: value for (section, name), value in fields.items() if section == "model"}}
        try:
            config = ModelConfig.model_validate(
                {**model, "source_vocab_size": 320, "target_vocab_size": 320, "tie": "all"}
            )
        except ValueError:
            continue  # such a configuration is refused whatever the weights are
        if n_weights(config) <= MOST_WEIGHTS:
            name = ", ".join(f"{section}.{field} {value}" for (section, field), value in pair)
            yield Attack("proportion", name, fitting(fields), may_fit=True)


ATTACKS = (
    *weights_attacks(),
    *code_attacks(),
    *config_attacks(),
    *manifest_attacks(),
    *folder_attacks(),
    *tokenizer_attacks(),
    *proportion_attacks(),
)
