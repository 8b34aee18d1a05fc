"""The compiled libraries: the arithmetic of a search and of a training step, once for each kind of processor.

The installation goes on without a library that cannot be compiled. The description for a package index is made here
too. Everything else is in pyproject.toml.
"""

import re
from pathlib import Path

from setuptools import Extension, setup

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


def libraries(source: str, headers: list[str], kinds: dict[str, list[str]], *options: str) -> list[Extension]:
    """Return one library for each kind; `options` are for the compiler and the linker of all."""
    folder = Path(source).parent
    return [
        Extension(
            f"dragoman.{folder.name}.{name}",
            sources=[source],
            depends=[f"{folder.as_posix()}/{header}" for header in headers],
            extra_compile_args=["-O3", "-Wno-psabi", *options, *processor],
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


HEADERS = ["vectors.h", "operands.h", "linear.h", "tiles.h", "products.h"]
EXTENSIONS = [
    *libraries("src/dragoman/native/kernels.c", HEADERS, KERNELS),
    *libraries("src/dragoman/native/fused.c", ["vectors.h"], FUSED, "-fopenmp"),
]

if __name__ == "__main__":
    setup(ext_modules=EXTENSIONS, long_description=description(), long_description_content_type="text/markdown")
