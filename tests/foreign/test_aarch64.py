"""The engine on ARM: compiled here by GCC for it, run in qemu, and compared with the libraries of this machine.

Debian's gcc-aarch64-linux-gnu and qemu-user are needed.
"""

import runpy
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from models import compiled, random_model
from safetensors.numpy import save

from dragoman.bundle.weights import stored_weights, weights_of
from dragoman.model.transformer import Transformer
from dragoman.native.kernels import LIBRARIES, usable_kernels
from dragoman.runtime.engine_config import engine_config
from dragoman.runtime.sentence_search import SentenceJob, search_sentence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair

ROOT = Path(__file__).resolve().parents[2]
COMPILER = "aarch64-linux-gnu-gcc"
SHAPES: list[dict[str, object]] = [
    {"norm": "pre", "positions": "rotary", "memory": "layerwise", "bias": False, "tie": "all"},
    {"norm": "post", "positions": "sinusoidal", "activation": "swiglu", "tie": "decoder", "d_model": 36, "d_ff": 33},
    {"norm": "pre", "norm_kind": "rms", "positions": "learned", "activation": "gelu", "d_k": 6, "d_v": 3},
]
SOURCES = [[4, 5, 6, 7, 5], [9] * 20, [24], [*range(4, 25)]]
#: Beam size, length penalty, no-repeat n-gram.
SEARCHES = [(1, 0.0, 0), (4, 0.6, 0), (5, 1.5, 2)]


@dataclass(frozen=True)
class Driver:
    """A program for ARM with the engine as one of its libraries has it."""

    path: Path

    def run(self, *arguments: str | Path, given: bytes = b"", processor: str = "max") -> bytes:
        command = ["qemu-aarch64", "-cpu", processor, str(self.path), *map(str, arguments)]
        return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout

    def run_on(self, model: Transformer, folder: Path, mode: str, given: bytes) -> bytes:
        (folder / "config").write_bytes(bytes(engine_config(model.config, SpecialIdPair())))
        (folder / "file").write_bytes(save(stored_weights(weights_of(model), "float32")))
        return self.run(folder / "config", folder / "file", mode, given=given)

    def translate(self, model: Transformer, folder: Path) -> list[list[tuple[float, list[int]]]]:
        """The candidates, with their scores, of each source in each search."""
        lines = [" ".join(map(str, (*search, *source))) for search in SEARCHES for source in SOURCES]
        text = self.run_on(model, folder, "translate", "".join(f"{line}\n" for line in lines).encode()).decode()
        answers = [answer.splitlines() for answer in text.split("\n\n")[:-1]]
        return [
            [(float.fromhex(score), [int(word) for word in ids]) for score, *ids in map(str.split, answer)]
            for answer in answers
        ]


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Driver]:
    """A program for each library of setup.py, with its options."""
    assert shutil.which(COMPILER), "these tests need gcc-aarch64-linux-gnu"
    assert shutil.which("qemu-aarch64"), "these tests need qemu-user"
    setup = runpy.run_path(str(ROOT / "setup.py"))
    folder = tmp_path_factory.mktemp("drivers")
    programs = {}
    for name, options in setup["KERNELS"]["aarch64"].items():
        path, engine = folder / name, [ROOT / setup["NATIVE"] / source for source in setup["ENGINE"]]
        strict = ["-O3", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-DINTERFACE=0", "-static"]
        include = ["-I", ROOT / setup["NATIVE"], "-o", path]
        sources = [*engine, Path(__file__).with_name("aarch64_driver.c"), "-lm"]
        subprocess.run([COMPILER, *strict, *options, *include, *sources], check=True)
        programs[name[1:]] = Driver(path)
    return programs


def test_the_libraries_that_run_are_those_of_the_processor(drivers: dict[str, Driver]) -> None:
    plain = drivers["kernels"]
    for processor, names in {
        "cortex-a72": ["kernels", "kernels_int8_neon"],
        "max": ["kernels", "kernels_int8_neon", "kernels_int8_dotprod"],
    }.items():
        float32, int8 = map(int, plain.run("processor", processor=processor).split())
        assert float32 == 1
        assert [name for place, name in enumerate(LIBRARIES["int8"]) if int8 >> place & 1] == names


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape['norm']}-{shape['positions']}")
def test_float32_finds_the_candidates_of_this_machine(
    shape: dict[str, object], drivers: dict[str, Driver], tmp_path: Path
) -> None:
    model = random_model(3, **shape)
    here = compiled(model, usable_kernels()[-1])
    found = drivers["kernels"].translate(model, tmp_path)
    jobs = [(search, source) for search in SEARCHES for source in SOURCES]
    for (search, source), candidates in zip(jobs, found, strict=True):
        beam_size, length_penalty, no_repeat_ngram = search
        config = SearchConfig(
            beam_size=beam_size, n_best=beam_size, length_penalty=length_penalty, no_repeat_ngram=no_repeat_ngram
        )
        expected = search_sentence(here, SentenceJob(source, config))
        assert [ids for _, ids in candidates] == [list(each.ids) for each in expected]
        assert [score for score, _ in candidates] == pytest.approx([each.score for each in expected], abs=1e-4)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape['norm']}-{shape['positions']}")
def test_both_kinds_of_integer_products_are_equal(
    shape: dict[str, object], drivers: dict[str, Driver], tmp_path: Path
) -> None:
    """In every bit; and closer to float32 than another model is."""
    model = random_model(4, **shape)
    with_dots, without = (
        drivers[name].translate(model, tmp_path) for name in ("kernels_int8_dotprod", "kernels_int8_neon")
    )
    assert with_dots == without
    float32, other = (
        [answer[0][0] for answer in drivers["kernels"].translate(each, tmp_path)]
        for each in (model, random_model(5, **shape))
    )
    int8 = [answer[0][0] for answer in with_dots]
    assert 0 < distance(int8, float32) < distance(other, float32) / 4


def distance(one: Sequence[float], two: Sequence[float]) -> float:
    return float(np.abs(np.subtract(one, two)).mean())


@pytest.mark.parametrize("kind", ["kernels_int8_neon", "kernels_int8_dotprod"])
@pytest.mark.parametrize("lowest", [-254, -100, 0])
def test_products_of_integers_are_exact(kind: str, lowest: int, drivers: dict[str, Driver], tmp_path: Path) -> None:
    """Of weights and inputs that are whole numbers in the units of their column and row, the extremes among them."""
    width, vocab_size, n_rows = 35, 61, 40
    sizes = {"d_model": width, "n_heads": 1, "d_k": 4, "d_v": 4, "target_vocab_size": vocab_size}
    model = random_model(1, tie="none", norm="post", positions="learned", bias=False, **sizes)
    dice = np.random.default_rng(lowest + 300)
    inputs = dice.integers(lowest, lowest + 255, size=(n_rows, width))
    inputs[:, 0], inputs[:, -1] = lowest, lowest + 254
    weights = dice.integers(-127, 128, size=(vocab_size, width))
    weights[:, 3], weights[0], weights[1] = 127, 127, -127
    inputs[0], inputs[0, 3] = lowest, lowest + 254
    inputs[1], inputs[1, 3] = lowest + 254, lowest
    with torch.no_grad():
        model.output_projection.weight.copy_(torch.from_numpy(weights * 2.0**-12))
    output = drivers[kind].run_on(model, tmp_path, "scores", inputs.astype(np.float32).tobytes())
    logits = inputs @ weights.T * 2.0**-12
    expected = torch.from_numpy(logits).log_softmax(dim=-1).numpy()
    actual = np.frombuffer(output, np.float32).reshape(n_rows, vocab_size)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-4)  # a unit is 2e-4
