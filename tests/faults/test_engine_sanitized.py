"""The engine under the sanitizers for addresses and undefined behaviour: damaged files, and no memory."""

import runpy
import subprocess
from pathlib import Path

import pytest
from amount import FULL
from conftest import Figure
from engines import COMPILER, needs_compiler
from models import random_model
from safetensors.numpy import save

from dragoman.bundle.weights import StoredPrecision, stored_weights, weights_of
from dragoman.runtime.engine_config import engine_config
from dragoman.text.special_ids import SpecialIdPair

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[2]
WRAPPED = "malloc", "calloc", "realloc", "aligned_alloc"
SHAPES: list[dict[str, object]] = [
    {"norm": "pre", "positions": "rotary", "memory": "layerwise", "bias": False, "tie": "all"},
    {"norm": "post", "positions": "learned", "activation": "swiglu", "tie": "decoder"},
]


@pytest.fixture(scope="module", params=["_kernels", "_kernels_int8_avx2"])
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    extensions = runpy.run_path(str(ROOT / "setup.py"))["EXTENSIONS"]
    extension = next(each for each in extensions if each.name.endswith(f".{request.param}"))
    path = tmp_path_factory.mktemp("driver") / "driver"
    # To compile with few optimizations takes half the time, and many trials are then slower.
    options = ["-O1" if FULL else "-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    options += ["-I", "src/dragoman/native"]
    wraps = [f"-Wl,--wrap={name}" for name in WRAPPED]
    sources = [*extension.sources, str(Path(__file__).with_name("engine_driver.c"))]
    command = [str(COMPILER), *extension.extra_compile_args, *options, *wraps, "-o", str(path), *sources, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode and ("cannot find" in done.stderr or "unsupported" in done.stderr):
        pytest.skip(f"{COMPILER} has no sanitizers: install libasan and libubsan of its version")
    assert done.returncode == 0, done.stderr
    return path


def run(driver: Path, mode: str, folder: Path, shape: dict[str, object], precision: StoredPrecision) -> dict[str, int]:
    model = random_model(1, **shape)
    (folder / "config").write_bytes(bytes(engine_config(model.config, SpecialIdPair())))
    (folder / "file").write_bytes(save(stored_weights(weights_of(model), precision)))
    n_trials = {"damage": 20_000 if FULL else 300, "memory": 100_000}[mode]
    arguments = [str(driver), mode, str(folder / "config"), str(folder / "file"), "7", str(n_trials)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    words = done.stdout.split()
    return dict(zip(words[::2], map(int, words[1::2]), strict=True))


@needs_compiler
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_damaged_file_is_refused_or_is_a_model(
    precision: StoredPrecision, driver: Path, tmp_path: Path, figure: Figure
) -> None:
    for shape in SHAPES:
        counts = run(driver, "damage", tmp_path, shape, precision)
        assert counts["damaged"] > 0 < counts["loaded"]
        assert counts["no_memory"] == 0
        figure("G8", f"engine, {driver.parent.name}, {precision}", **counts)


@needs_compiler
def test_every_allocation_may_fail(driver: Path, tmp_path: Path) -> None:
    for shape in SHAPES:
        counts = run(driver, "memory", tmp_path, shape, "int8")
        assert counts["ok"] == 1
        assert counts["no_memory"] > 50
        assert counts["damaged"] == counts["other"] == 0
