"""The engine for browsers: `python wasm.py` compiles it to WebAssembly, and writes what JavaScript needs to know of it.

It needs Clang 19 with WebAssembly, LLD and wasi-libc (on Debian: clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32).
The result depends on their versions and on the sources, and on nothing else.
"""

import ctypes
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from dragoman.native.header import Header, digest
from setup import ENGINE, NATIVE

WEB = Path("src/dragoman/web/dragoman")
COMPILER = [
    *("clang-19", "--target=wasm32-wasi", "-mexec-model=reactor", "-msimd128", "-Os", "-DINT8", "-DNDEBUG"),
    *("-Wall", "-Wextra", "-Wno-psabi", "-Wno-unknown-pragmas", "-Wno-unused-function", "-ffile-prefix-map=.=."),
]
LINKER = ["-Wl,--strip-all", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576", "-Wl,--stack-first"]
EXPORTS = [
    *("malloc", "free", "interface"),
    *("dragoman_load", "dragoman_free", "dragoman_translate", "dragoman_candidates", "dragoman_nodes"),
    *("dragoman_free_translation", "dragoman_score"),
]
STRUCTURES = ["ModelConfig", "SearchOptions", "Candidate", "Node"]
#: Types by their ctypes class: the name in JavaScript, and the bytes. Pointers have 4 bytes there.
TYPES: dict[Any, tuple[str, int]] = {
    ctypes.c_int64: ("int64", 8),
    ctypes.c_double: ("double", 8),
    ctypes.c_float: ("float", 4),
    ctypes.c_void_p: ("pointer", 4),
}


def compile_engine(output: Path) -> None:
    """Write the WebAssembly of the engine to a file."""
    if shutil.which(COMPILER[0]) is None:
        sys.exit(f"{COMPILER[0]} is missing: apt install clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32")
    sources = [(NATIVE / source).as_posix() for source in ENGINE]
    exports = [f"-Wl,--export={name}" for name in EXPORTS]
    command = [*COMPILER, f"-DINTERFACE={digest(tables())}", *LINKER, *exports, *sources]
    subprocess.run([*command, "-o", output.as_posix(), "-lm"], check=True)
    output.chmod(0o644)  # it is no program


def interface() -> str:
    """Return the module `interface.js`: what of dragoman.h JavaScript uses, as WebAssembly has it."""
    first = "// Made by wasm.py of native/dragoman.h: constants, and the types and offsets of fields.\n\n"
    return f"{first}export const DIGEST = {digest(tables())}n;\n{tables()}"


def tables() -> str:
    """Return the constants, the structures and the functions; the engine carries the digest of this text."""
    header = Header(NATIVE / "dragoman.h")
    code = " ".join((NATIVE / "dragoman.h").read_text(encoding="utf-8").split())
    functions = [found[0] for name in EXPORTS if (found := re.search(rf"\w+ {name}\([^;]*;", code))]
    structures = (f"  {name}: {json.dumps(layout(header.type(name)))},\n" for name in STRUCTURES)
    return (
        f"export const CONSTANTS = {json.dumps(header.constants)};\n"
        "/** @type {Record<string, {size: number, fields: Record<string, [string, number]>}>} */\n"
        f"export const STRUCTURES = {{\n{''.join(structures)}}};\n"
        + "".join(f"// {function}\n" for function in functions)
    )


def layout(structure: Any) -> dict[str, Any]:
    """Return the bytes of a structure in WebAssembly, and the type and the offset of each field."""
    fields: dict[str, list[object]] = {}
    end, widest = 0, 1
    for name, kind in structure._fields_:
        type_name, size = TYPES.get(kind, ("pointer", 4))
        end = -(-end // size) * size
        fields[name] = [type_name, end]
        end, widest = end + size, max(widest, size)
    return {"size": -(-end // widest) * widest, "fields": fields}


if __name__ == "__main__":
    WEB.mkdir(parents=True, exist_ok=True)
    compile_engine(Path(sys.argv[1]) if len(sys.argv) > 1 else WEB / "dragoman.wasm")
    (WEB / "interface.js").write_text(interface(), encoding="utf-8", newline="\n")
