"""One model from several: the mean of bundles, and of a run's checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_bundle import remake_manifest
from tiny import write_tiny_bundle

from dragoman.averaging import average_bundles
from dragoman.bundle import load_bundle, save_bundle
from dragoman.errors import ConfigError
from dragoman.storage import set_pointer
from dragoman.training.run_folder import RunFolder


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("models") / "tiny")


def test_average_is_the_mean(bundle: Path, tmp_path: Path) -> None:
    second = write_tiny_bundle(tmp_path / "second", seed=2)
    average_bundles([bundle, second], tmp_path / "mean")
    first, other, mean = (load_bundle(each).weights for each in (bundle, second, tmp_path / "mean"))
    for name, weight in mean.items():
        torch.testing.assert_close(weight, (first[name] + other[name]) / 2)
    assert load_bundle(tmp_path / "mean").facts == {"average_of_steps": [1, 2]}


def test_an_average_aligns_with_the_heads_that_were_chosen(bundle: Path, tmp_path: Path) -> None:
    plain, heads = load_bundle(bundle), {"heads": [[0, 1]], "shifted": True}
    chosen = {"step": 3, "alignment": heads}
    save_bundle(tmp_path / "chosen", plain.model, plain.tokenizers, plain.search, facts=chosen)
    for number, names in enumerate(([tmp_path / "chosen", bundle], [bundle, tmp_path / "chosen"])):
        average_bundles(names, tmp_path / f"mean-{number}")
        assert load_bundle(tmp_path / f"mean-{number}").lasting_facts == {"alignment": heads}


def test_only_models_of_one_kind_are_averaged(bundle: Path, tmp_path: Path) -> None:
    wider = write_tiny_bundle(tmp_path / "wider", d_ff=64)
    with pytest.raises(ConfigError, match=r"model configuration .*wider"):
        average_bundles([bundle, wider], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_checkpoints_of_a_run_are_averaged(bundle: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(bundle, run / "bundles" / "step-1")
    set_pointer(run / "last", run / "bundles" / "step-1")
    weights = load_file(bundle / "model.safetensors")
    for step, factor in ((5, 100.0), (9, 1.0), (10, 3.0)):
        scaled = {name: weight * factor for name, weight in weights.items()}
        (tmp_path / str(step)).mkdir()
        save_file(scaled, tmp_path / str(step) / "model.safetensors")
        remake_manifest(tmp_path / str(step))
        shutil.move(tmp_path / str(step), run / "checkpoints" / f"step-{step}")
    RunFolder(run).average(2, tmp_path / "mean")
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    for name, weight in weights.items():
        torch.testing.assert_close(mean[name], weight * 2)
    with pytest.raises(ConfigError, match="3 checkpoints"):
        RunFolder(run).average(4, tmp_path / "more")
