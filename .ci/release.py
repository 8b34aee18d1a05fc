"""Build the sdist of a release and check it: python .ci/release.py FOLDER, on Linux, with git.

The sdist is built twice, and a wheel from each without git: the same bits both times. The wheel is checked (twine,
check-wheel-contents, at most 32 MB) and thrown away, since wheels.yml builds those of all platforms. What it brings
into an empty environment is listed beside the sdist, as a bill of materials (CycloneDX).
"""

import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 32_000_000
TOOLS = ("build", "twine", "check-wheel-contents", "cyclonedx-bom")


def main(folder: Path) -> None:
    """Build, compare, check and list."""
    folder.mkdir(parents=True, exist_ok=True)
    epoch = int(subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True))
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        tools = environment(place / "tools", *TOOLS)
        sdists = [build_sdist(tools, place / name, epoch) for name in ("first", "second")]
        require_same(*sdists)
        wheels = [build_wheel(tools, sdist, place / f"wheel-{sdist.parent.name}", epoch) for sdist in sdists]
        require_same(*wheels)
        call(tools, "twine", "check", "--strict", sdists[0], wheels[0])
        call(tools, "check_wheel_contents", wheels[0])
        n_bytes = wheels[0].stat().st_size
        print(f"{wheels[0].name}: {n_bytes:,} bytes")
        if n_bytes > MOST_BYTES:
            sys.exit(f"error: the wheel has more than {MOST_BYTES:,} bytes")
        name = sdists[0].name.removesuffix(".tar.gz")
        venv.create(place / "inside")  # without pip, which the list would name
        inside = place / "inside/bin/python"
        # By its name: the list would contain the path of the wheel.
        where = ("--find-links", wheels[0].parent, "-c", ROOT / "constraints.txt", name.replace("-", "=="))
        call(tools, "pip", "--quiet", "--python", inside, "install", *where)
        call(tools, "cyclonedx_py", "environment", "--output-reproducible", "-o", folder / f"{name}.cdx.json", inside)
        shutil.copy(sdists[0], folder)


def environment(folder: Path, *installed: str | Path) -> Path:
    """Make a virtual environment, and return its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    call(python, "pip", "install", "--quiet", "--disable-pip-version-check", *installed)
    return python


def build_sdist(tools: Path, folder: Path, epoch: int) -> Path:
    """Build an sdist whose bits depend on nothing but the files: sorted, of one owner and one time."""
    call(tools, "build", "--sdist", "--outdir", folder, ROOT)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as read:
        files = [(each, read.extractfile(each)) for each in sorted(read.getmembers(), key=lambda each: each.name)]
        new = path.with_suffix(".new")
        with (
            gzip.GzipFile("", "wb", fileobj=new.open("wb"), mtime=epoch) as packed,
            tarfile.open(None, "w", packed) as to,
        ):
            for facts, content in files:
                facts.mtime, facts.uid, facts.gid, facts.uname, facts.gname = epoch, 0, 0, "", ""
                facts.mode = 0o755 if facts.isdir() or facts.mode & 0o100 else 0o644
                facts.pax_headers = {}
                to.addfile(facts, content)
    return new.replace(path)


def build_wheel(tools: Path, sdist: Path, folder: Path, epoch: int) -> Path:
    """Build a wheel from an sdist, outside any checkout."""
    settings = {"SOURCE_DATE_EPOCH": str(epoch), "DRAGOMAN_REQUIRE_LIBRARIES": "1"}
    folder.mkdir()
    with tarfile.open(sdist) as read:
        read.extractall(folder, filter="data")
    call(tools, "build", "--wheel", "--outdir", folder, folder / sdist.name.removesuffix(".tar.gz"), **settings)
    return next(folder.glob("*.whl"))


def require_same(one: Path, other: Path) -> None:
    """End the program unless two files have the same bits."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (one, other)]
    print(f"{one.name}: {digests[0]}")
    if len({*digests}) > 1:
        sys.exit(f"error: {one.name} was built twice, and differs")


def call(python: Path, module: str, *arguments: str | Path, **settings: str) -> None:
    """Run a module of an environment, without the modules of this one."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    subprocess.run([python, "-m", module, *arguments], check=True, env=variables)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
