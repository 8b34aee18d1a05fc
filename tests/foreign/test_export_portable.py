"""Runs of `train --portable`: each program holds them, and translates as we do."""

from pathlib import Path

import pytest
from extras import import_extra

from dragoman.cli import program

for module in ("ctranslate2", "onnx", "onnxruntime", "transformers"):
    import_extra(module, "ctranslate2,onnx,hf")

TARGETS = {"ct2": "model", "argos": "model.argosmodel", "hf": "model", "onnx": "model"}
SHORT = ["--set", "training.max_steps=30", "--set", "training.validate_every=30"]
FEWEST_EQUAL = 198
CORPORA = ("captions", "captions-zh")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run whose two languages share a script, and one whose languages do not."""
    folder = tmp_path_factory.mktemp("runs")
    for name in CORPORA:
        assert program.run(["train", "--portable", "--corpus", name, *SHORT, "-o", str(folder / name)]) == 0
    return {name: folder / name for name in CORPORA}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CORPORA)
def test_a_portable_model_goes_everywhere(
    name: str, target: str, runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.run(["export", target, "-m", str(runs[name]), "-o", str(tmp_path / TARGETS[target])]) == 0
    (told,) = [line for line in capsys.readouterr().err.splitlines() if " of 200 " in line]
    n_equal = int(told.partition(" of 200 ")[0].split()[-1])
    assert n_equal >= FEWEST_EQUAL, told
