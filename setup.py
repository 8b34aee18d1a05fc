"""The compiled libraries: the arithmetic of a search and of a training step, once for each kind of processor.

They are libraries for ctypes and not modules of Python, so one wheel of a platform serves every version of it. An
installation goes on without a library that cannot be compiled; with DRAGOMAN_REQUIRE_LIBRARIES=1, as for a release, it
fails. CC names the compiler, and _PYTHON_HOST_PLATFORM another platform than this one, as for Python itself.
The description for a package index is made here too. Everything else is in pyproject.toml.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

#: Where the repository is, without a slash at the end. Its owner chooses; "" is nowhere, and the package has no links.
ADDRESS = ""
NATIVE = Path("src/dragoman/native")
#: The sources of the engine.
ENGINE = [
    *("model.c", "tensors.c", "packing.c", "positions.c"),
    *("norms.c", "kernels.c", "encoding.c", "scores.c", "short_list.c", "processor.c"),
    *("sentence.c", "search.c", "rules.c", "candidates.c", "faults.c", "translation.c"),
]
#: The sources of the training step.
TRAINING = ["fused.c", *(f"fused_{name}.c" for name in ("attention", "dropout", "loss", "norms", "rotary"))]
#: The platform that the libraries are for, such as linux-x86_64, macosx-11.0-arm64 or win-amd64.
PLATFORM = sysconfig.get_platform()
SYSTEM = PLATFORM.split("-")[0]
_MACHINE = PLATFORM.split("-")[-1].replace("universal2", platform.machine())
MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(_MACHINE, _MACHINE)
AVX2 = ["-mavx2", "-mfma"]
AVX512 = ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"]
#: All processors of Apple have them, and its compilers use them unasked.
DOT_PRODUCTS = [] if SYSTEM == "macosx" else ["-march=armv8.2-a+dotprod"]
#: The libraries of the engine for each processor, with their compiler options, the slowest first;
#: `native/libraries.py` chooses among them.
KERNELS: dict[str, dict[str, list[str]]] = {
    "x86_64": {
        "_kernels": [],
        "_kernels_avx2": AVX2,
        "_kernels_avx512": AVX512,
        "_kernels_bfloat16": [*AVX512, "-mavx512bf16", "-mamx-tile", "-mamx-bf16"],
        "_kernels_int8_avx2": ["-DINT8", *AVX2],
        "_kernels_int8_vnni": ["-DINT8", *AVX2, "-mavxvnni"],
        "_kernels_int8_avx512": ["-DINT8", *AVX512, "-mavx512vnni"],
        "_kernels_int8_bfloat16": ["-DINT8", *AVX512, "-mavx512vnni", "-mavx512bf16"],
    },
    "aarch64": {
        "_kernels": [],
        "_kernels_int8_neon": ["-DINT8"],
        "_kernels_int8_dotprod": ["-DINT8", *DOT_PRODUCTS],
    },
}
#: Those of the training step. They are not linked with OpenMP: they use PyTorch's, which is in the process by then and
#: whose threads they share. Only on Linux is it GCC's.
FUSED: dict[str, dict[str, list[str]]] = {
    "x86_64": {"_fused": [], "_fused_avx2": AVX2, "_fused_avx512": AVX512},
    "aarch64": {"_fused": []},
}


def compiler() -> list[str]:
    """Return the command of the C compiler: CC, or on Windows ziglang's (MSVC has no vectors), or Python's own."""
    if command := os.environ.get("CC"):
        return shlex.split(command, posix=os.name != "nt")
    if SYSTEM == "win":
        return [sys.executable, "-m", "ziglang", "cc", "-target", f"{MACHINE}-windows-gnu"]
    return shlex.split(sysconfig.get_config_var("CC") or "cc")


class BuildLibraries(build_ext):
    """Compiles libraries that depend on no version of Python and use nothing of its C interface, on all cores."""

    def finalize_options(self) -> None:
        """Compile as many libraries at a time as there are cores, unless `--parallel` says how many."""
        super().finalize_options()
        self.parallel = self.parallel or True

    def get_ext_filename(self, fullname: str) -> str:
        """Return the path of a library, which has no tag of Python's."""
        return str(Path(*fullname.split("."))) + {"win": ".dll", "macosx": ".dylib"}.get(SYSTEM, ".so")

    def build_extension(self, ext: Extension) -> None:
        """Compile a library, unless it is newer than what it is made of.

        Raises:
            CompileError: there is no compiler, or it refuses.
        """
        path, made_of = Path(self.get_ext_fullpath(ext.name)), [*ext.sources, *ext.depends, __file__]
        newest = max(Path(each).stat().st_mtime for each in made_of)
        if not self.force and path.exists() and path.stat().st_mtime > newest:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"new{path.name}")  # a process may have loaded the old file: it is replaced, not changed
        options = [*shlex.split(os.environ.get("CFLAGS", "")), *ext.extra_compile_args]
        with tempfile.TemporaryDirectory() as folder:
            objects = {source: str(Path(folder, Path(source).stem + ".o")) for source in ext.sources}
            for source, made in objects.items():
                self.call([*options, "-c", source, "-o", made], ext)
            library = Path(folder, path.name)
            self.call(["-shared", *objects.values(), *ext.extra_link_args, "-o", str(library)], ext)
            shutil.copy(library, new)
        new.replace(path)

    def call(self, arguments: list[str], ext: Extension) -> None:
        """Call the compiler.

        Raises:
            CompileError: there is none, or it refuses.
        """
        try:
            subprocess.run([*compiler(), *arguments], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CompileError(f"{ext.name} was not compiled: {error}") from None


class PlatformWheel(bdist_wheel):
    """One wheel of a platform for every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tags of Python, its interface, and the platform."""
        return "py3", "none", super().get_tag()[2]


def libraries(names: list[str], interface: str, kinds: dict[str, list[str]], *options: str) -> list[Extension]:
    """Return one library for each kind.

    Args:
        names: the sources.
        interface: the header whose digest the libraries carry; `native/header.py` computes the same.
        options: for the compiler of all.
    """
    digest = int(hashlib.sha256((NATIVE / interface).read_text(encoding="utf-8").encode()).hexdigest()[:15], 16)
    everywhere = ["-O3", "-Wno-psabi", "-fvisibility=hidden", *([] if SYSTEM == "win" else ["-fPIC"])]
    return [
        Extension(
            f"dragoman.native.{name}",
            sources=[(NATIVE / source).as_posix() for source in names],
            depends=[header.as_posix() for header in sorted(NATIVE.glob("*.h"))],
            extra_compile_args=[*everywhere, f"-DINTERFACE={digest}", *options, *processor],
            extra_link_args={"win": ["-s"], "linux": ["-s", "-lm"]}.get(SYSTEM, ["-lm"]),
            optional=os.environ.get("DRAGOMAN_REQUIRE_LIBRARIES") != "1",
        )
        for name, processor in kinds.items()
    ]


def addresses() -> dict[str, str]:
    """Return the links of the package, by their names."""
    places = {
        "Source": "",
        "Issues": "/issues",
        "Changelog": "/blob/main/CHANGELOG.md",
        "Documentation": "/blob/main/docs",
    }
    return {name: ADDRESS + place for name, place in places.items()} if ADDRESS else {}


def description() -> str:
    """Return README.md for a package index, where dragoman is installed by its name.

    Links and pictures are those of the repository at ADDRESS; without one, there are words for links, and no pictures.
    """
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r'pip install -c constraints\.txt ("?)\.', r"pip install \1dragoman", text)
    text = re.sub(r", from this folder \([^)]*\):", ":", text)
    if ADDRESS:
        text = re.sub(r"(!\[[^\]]*\])\((?!\w+:)", rf"\1({ADDRESS}/raw/main/", text)
        return re.sub(r"(\[[^\]]*\])\((?!\w+:)", rf"\1({ADDRESS}/blob/main/", text)
    text = re.sub(r"^!\[[^\]]*\]\((?!\w+:)[^)]*\)\n\n", "", text, flags=re.M)
    return re.sub(r"\[([^\]]*)\]\((?!\w+:)[^)]*\)", r"\1", text)


EXTENSIONS = libraries(ENGINE, "dragoman.h", KERNELS.get(MACHINE, {"_kernels": []}))
if SYSTEM == "linux":
    EXTENSIONS += libraries(TRAINING, "fused.h", FUSED.get(MACHINE, {"_fused": []}), "-fopenmp")

if __name__ == "__main__":
    setup(
        ext_modules=EXTENSIONS,
        cmdclass={"build_ext": BuildLibraries, "bdist_wheel": PlatformWheel},
        long_description=description(),
        long_description_content_type="text/markdown",
        project_urls=addresses(),
    )
