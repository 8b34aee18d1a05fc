"""The compiled libraries: the arithmetic of a search and of a training step, once for each kind of processor.

The installation goes on without a library that cannot be compiled. The description for a package index is made here
too. Everything else is in pyproject.toml.
"""

import hashlib
import re
from pathlib import Path

from setuptools import Extension, setup

NATIVE = Path("src/dragoman/native")
#: The sources of the engine.
ENGINE = [
    *("model.c", "tensors.c", "packing.c", "positions.c"),
    *("norms.c", "kernels.c", "encoding.c", "scores.c", "short_list.c", "processor.c"),
    *("sentence.c", "search.c", "rules.c", "candidates.c", "faults.c", "translation.c"),
]
AVX2 = ["-mavx2", "-mfma"]
AVX512 = ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"]
#: The libraries of a source with their compiler options, the slowest first; `native/libraries.py` chooses among them.
KERNELS: dict[str, list[str]] = {
    "_kernels": [],
    "_kernels_avx2": AVX2,
    "_kernels_avx512": AVX512,
    "_kernels_bfloat16": [*AVX512, "-mavx512bf16", "-mamx-tile", "-mamx-bf16"],
    "_kernels_int8_avx2": ["-DINT8", *AVX2],
    "_kernels_int8_vnni": ["-DINT8", *AVX2, "-mavxvnni"],
    "_kernels_int8_avx512": ["-DINT8", *AVX512, "-mavx512vnni"],
    "_kernels_int8_bfloat16": ["-DINT8", *AVX512, "-mavx512vnni", "-mavx512bf16"],
}
FUSED: dict[str, list[str]] = {"_fused": [], "_fused_avx2": AVX2, "_fused_avx512": AVX512}


def libraries(names: list[str], interface: str, kinds: dict[str, list[str]], *options: str) -> list[Extension]:
    """Return one library for each kind.

    Args:
        names: the sources.
        interface: the header whose digest the libraries carry; `native/header.py` computes the same.
        options: for the compiler and the linker of all.
    """
    digest = int(hashlib.sha256((NATIVE / interface).read_text(encoding="utf-8").encode()).hexdigest()[:15], 16)
    return [
        Extension(
            f"dragoman.native.{name}",
            sources=[(NATIVE / source).as_posix() for source in names],
            depends=[header.as_posix() for header in sorted(NATIVE.glob("*.h"))],
            extra_compile_args=["-O3", "-Wno-psabi", f"-DINTERFACE={digest}", *options, *processor],
            extra_link_args=[*options],
            optional=True,
        )
        for name, processor in kinds.items()
    ]


def description() -> str:
    """Return README.md for a package index, which has no files of the repository: no pictures, and words for links."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^\]]*\]\((?!\w+:)[^)]*\)\n\n", "", text, flags=re.M)
    return re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)


EXTENSIONS = [
    *libraries(ENGINE, "dragoman.h", KERNELS),
    *libraries(["fused.c"], "fused.h", FUSED, "-fopenmp"),
]

if __name__ == "__main__":
    setup(ext_modules=EXTENSIONS, long_description=description(), long_description_content_type="text/markdown")
