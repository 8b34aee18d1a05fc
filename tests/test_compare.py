"""`compare`: the grid, its failures, and real (very small) trainings through the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny import write_tiny_bundle

from dragoman.cli.program import run
from dragoman.errors import ConfigError
from dragoman.experiments.outcomes import _figures
from dragoman.experiments.variants import SEED, grid
from dragoman.machine.locks import lock_folder
from dragoman.training.checkpoint import saved_steps

pytestmark = pytest.mark.torch

RECIPE = """
tokenizer: {kind: characters, joint: true}
model: {d_model: 16, d_ff: 16, n_heads: 2, n_encoder_layers: 1, n_decoder_layers: 1}
training: {max_steps: 4, warmup_steps: 2, batch_tokens: 256, validate_every: 2}
"""


def write_recipe(folder: Path) -> Path:
    text = "".join(f"{'abcdefgh'[i % 8 :]}{'hgfedcba'[i // 8 % 8 :]}\n" for i in range(64))
    (folder / "text").write_text(text, encoding="utf-8")
    recipe = folder / "recipe.yaml"
    data = f"data: {{source: {folder / 'text'}, target: {folder / 'text'}, validation_size: 8}}"
    recipe.write_text(data + RECIPE, encoding="utf-8")
    return recipe


def test_the_grid_is_every_combination() -> None:
    variants = grid(["model.norm=post,pre", "training.seed=1,2"], Path("runs"))
    assert [variant.folder.name for variant in variants] == [
        "norm=post,seed=1",
        "norm=post,seed=2",
        "norm=pre,seed=1",
        "norm=pre,seed=2",
    ]
    assert [variant.name for variant in variants] == ["model.norm=post"] * 2 + ["model.norm=pre"] * 2
    assert [variant.name for variant in grid([f"{SEED}=1,2"], Path("runs"))] == ["as the recipe"] * 2


def test_one_at_a_time_is_the_recipe_and_each_single_change() -> None:
    variants = grid(["model.norm=post,rms", "model.tie=all", f"{SEED}=1,2"], Path("runs"), one_at_a_time=True)
    assert [variant.folder.name for variant in variants] == [
        f"{change}seed={seed}" for change in ("", "norm=post,", "norm=rms,", "tie=all,") for seed in (1, 2)
    ]
    assert [variant.name for variant in variants[::2]] == [
        "as the recipe",
        "model.norm=post",
        "model.norm=rms",
        "model.tie=all",
    ]
    assert [v.folder.name for v in grid(["model.tie=all"], Path(), one_at_a_time=True)] == ["recipe", "tie=all"]


def test_a_value_may_be_a_list() -> None:
    variants = grid(["training.adam_betas=[0.9,0.98],[0.9,0.999]", "model.d_ff=16,32"], Path("runs"))
    names = [variant.folder.name for variant in variants]
    assert names[1:3] == ["adam_betas=[0.9,0.98],d_ff=32", "adam_betas=[0.9,0.999],d_ff=16"]
    assert len(names) == 4


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        (["model.norm"], "not of the form"),
        (["model.norm=post,"], "not of the form"),
        (["model.norm=post", "model.norm=pre"], "given twice"),
    ],
)
def test_a_wrong_grid_is_refused(vary: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        grid(vary, Path("runs"))


def test_variants_are_trained_compared_and_not_trained_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, folder = write_recipe(tmp_path), tmp_path / "compared"
    command = ["compare", str(recipe), "--vary", "model.d_ff=16,32"]
    command += ["-o", str(folder), "--device", "cpu"]
    assert run(command) == 0
    outcomes = json.loads((folder / "results.json").read_text())
    capsys.readouterr()
    parameters = {outcome["name"]: outcome["n_parameters"] for outcome in outcomes}
    wide, narrow = (parameters[f"model.d_ff={width}"] for width in (32, 16))
    assert wide - narrow == 2 * (2 * 16 + 1) * 16  # two layers, in and out, and a bias
    written = {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")}
    assert run(command) == 0
    assert "model.d_ff=32" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.safetensors")} == written


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 143),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.thorough),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_an_interrupted_comparison_saves_what_it_trains(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """SIGTERM reaches the training, which finishes its step and saves; the comparison waits for it if it can."""
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux tells the training")
    recipe, folder = write_recipe(tmp_path), tmp_path / "compared"
    command = [sys.executable, "-m", "dragoman", "compare", str(recipe), "--vary", "model.d_ff=16", "-o", str(folder)]
    command += ["--set", "training.max_steps=100000", "--set", "training.log_every=1", "--device", "cpu"]
    log = folder / "d_ff=16" / "metrics.jsonl"
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while process.poll() is None and (not log.exists() or log.read_bytes().count(b"\n") < 3):
            time.sleep(0.05)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read().decode()  # until the training has closed it too
    assert process.returncode == code, said
    last = [json.loads(line)["step"] for line in log.read_text(encoding="utf-8").splitlines()][-1]
    assert saved_steps(log.parent / "checkpoints")[-1] >= last


def test_failed_variants_are_named_and_tell_in_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, folder = write_recipe(tmp_path), tmp_path / "compared"
    command = ["compare", str(recipe), "-o", str(folder), "--device", "cpu", "--vary"]
    assert run([*command, f"data.source={tmp_path / 'text'},{tmp_path / 'none'}"]) == 1
    out, err = capsys.readouterr()
    assert out.count("data.source=") == 1  # the table of what could be trained
    failed = f"source={tmp_path / 'none'}".replace("/", "-")
    assert f"error: variants that failed: {failed}: {folder}; " in err
    rows = json.loads((folder / "results.json").read_text("utf-8"))
    assert rows[1:] == [{"failed": failed, "exit_code": 1}]


def test_a_variant_in_use_ends_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, folder = write_recipe(tmp_path), tmp_path / "compared"
    with lock_folder(folder / "d_ff=16"):
        assert run(["compare", str(recipe), "--vary", "model.d_ff=16,32", "-o", str(folder), "--device", "cpu"]) == 1
    assert "error: in use by process" in capsys.readouterr().err
    assert not (folder / "d_ff=32").exists()


def test_a_variant_keeps_the_recipe_that_it_was_trained_with(tmp_path: Path) -> None:
    recipe, folder = write_recipe(tmp_path), tmp_path / "compared"
    command = ["compare", str(recipe), "--vary", "model.d_ff=16", "-o", str(folder), "--device", "cpu"]
    assert run(command) == 0
    trained_with = (folder / "d_ff=16" / "variant.yaml").read_text("utf-8")
    assert run([*command, "--set", "model.d_model=32"]) == 1  # refused: the run has another model
    assert (folder / "d_ff=16" / "variant.yaml").read_text("utf-8") == trained_with
    assert run([*command, "--set", "training.max_steps=6"]) == 0
    assert "max_steps: 6" in (folder / "d_ff=16" / "variant.yaml").read_text("utf-8")


def test_a_wrong_variant_is_told_before_anything_is_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path)
    command = ["compare", str(recipe), "--vary", "model.norm=post,sandwich", "-o", str(tmp_path / "compared")]
    assert run(command) == 2
    assert "model.norm: input should be 'post' or 'pre', got 'sandwich'" in capsys.readouterr().err
    assert not (tmp_path / "compared").exists()


def test_the_figures_are_of_the_validation_that_the_training_chose(tmp_path: Path) -> None:
    """Low BLEU is chance; there the loss decides."""
    (tmp_path / "config.yaml").write_text("training: {best_by: bleu}\n")
    for bleu, expected in (([0.0, 0.0, 0.0], 4.2), ([4.0, 3.9, 3.5], 4.2), ([7.0, 9.0, 8.0], 5.0)):
        records: list[dict[str, float]] = []
        for step, (score, loss) in enumerate(zip(bleu, (6.0, 5.0, 4.2), strict=True), 1):
            records += [
                {"step": step, "target_tokens": 9, "target_tokens_per_second": 1.0, "seconds": 1.0},
                {"step": step, "validation_bleu": score, "validation_loss": loss, "n_parameters": 3},
            ]
        (tmp_path / "metrics.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records) + '{"st')
        assert _figures(tmp_path)["loss"] == expected


def test_inspect_model_prints_the_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = write_tiny_bundle(tmp_path / "bundle")
    assert run(["inspect", "model", "-m", str(bundle)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("en to de; 320 BPE pieces, one vocabulary; beam size 2, length penalty 0.6\n")
    assert "output_projection: Linear  weight 320 x 16 (tied), bias 320" in said
