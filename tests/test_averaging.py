"""One model from several: the mean of bundles, and of a run's checkpoints."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from test_bundle import remake_manifest
from tiny import write_tiny_bundle

from dragoman.bundle.averaging import average_bundles
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.errors import BundleError, ConfigError, RunFolderError
from dragoman.machine.pointers import set_pointer
from dragoman.training.run_folder import RunFolder
from dragoman.translator import Translator

pytestmark = pytest.mark.torch


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
    average_bundles([tmp_path / "mean", second], tmp_path / "mean of mean")
    assert load_bundle(tmp_path / "mean of mean").facts == {"average_of_steps": [[1, 2], 2]}


def test_an_average_aligns_with_the_heads_that_were_chosen(bundle: Path, tmp_path: Path) -> None:
    plain, heads = load_bundle(bundle), {"heads": [[0, 1]], "shifted": True}
    chosen = {"step": 3, "alignment": heads}
    save_bundle(tmp_path / "chosen", plain.model, plain.tokenizers, plain.search, facts=chosen)
    for number, names in enumerate(([tmp_path / "chosen", bundle], [bundle, tmp_path / "chosen"])):
        average_bundles(names, tmp_path / f"mean-{number}")
        assert load_bundle(tmp_path / f"mean-{number}").lasting_facts == {"alignment": heads}


def test_an_average_learned_from_what_its_models_learned_from(bundle: Path, tmp_path: Path) -> None:
    plain, learned = load_bundle(bundle), {"n_lines": 3, "any": "thing"}
    save_bundle(tmp_path / "new", plain.model, plain.tokenizers, plain.search, facts={"learned_text": learned})
    average_bundles([bundle, tmp_path / "new"], tmp_path / "mean")
    assert load_bundle(tmp_path / "mean").lasting_facts == {"learned_text": learned}


def test_only_models_of_one_kind_are_averaged(bundle: Path, tmp_path: Path) -> None:
    wider = write_tiny_bundle(tmp_path / "wider", d_ff=64)
    with pytest.raises(ConfigError, match=r"model configuration .*wider"):
        average_bundles([bundle, wider], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()


def test_models_are_averaged_though_their_dropout_differed(bundle: Path, tmp_path: Path) -> None:
    fine_tuned = write_tiny_bundle(tmp_path / "fine-tuned", dropout=0.3, attention_dropout=0.1)
    assert load_bundle(fine_tuned).config != load_bundle(bundle).config
    average_bundles([bundle, fine_tuned], tmp_path / "mean")
    torch.testing.assert_close(load_bundle(tmp_path / "mean").weights, load_bundle(bundle).weights)


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
    assert RunFolder(run).average(2, tmp_path / "mean") == "the weights of steps 9, 10"
    mean = load_file(tmp_path / "mean" / "model.safetensors")
    for name, weight in weights.items():
        torch.testing.assert_close(mean[name], weight * 2)
    with pytest.raises(ConfigError, match="3 checkpoints"):
        RunFolder(run).average(4, tmp_path / "more")
    with pytest.raises(RunFolderError, match="no checkpoints here"):
        RunFolder(bundle).average(1, tmp_path / "more")


def test_the_moving_averages_of_a_run_are_averaged(bundle: Path, tmp_path: Path) -> None:
    """They are what `best` and `last` have."""
    run, weights = tmp_path / "run", load_file(bundle / "model.safetensors")
    shutil.copytree(bundle, run / "bundles" / "step-1")
    for step in (1, 2, 3):
        folder = run / "checkpoints" / f"step-{step}"
        folder.mkdir(parents=True)
        for name, factor in (("model", 100.0), ("average", float(step))):
            if step > 1 or name == "model":
                save_file({key: weight * factor for key, weight in weights.items()}, folder / f"{name}.safetensors")
        remake_manifest(folder)
    with pytest.raises(BundleError, match=r"this run has no model yet: .*run; let `dragoman train` reach a validation"):
        RunFolder(run).average(2, tmp_path / "mean")
    set_pointer(run / "last", run / "bundles" / "step-1")
    assert RunFolder(run).average(2, tmp_path / "mean") == "the moving averages of steps 2, 3"
    assert RunFolder(run).average(3, tmp_path / "raw") == "the weights of steps 1, 2, 3"  # the first has none
    for name, factor in (("mean", 2.5), ("raw", 100.0)):
        for key, weight in load_file(tmp_path / name / "model.safetensors").items():
            torch.testing.assert_close(weight, weights[key] * factor)
    (run / "checkpoints" / "step-3" / "average.safetensors").unlink()
    with pytest.raises(BundleError, match=r"missing: .*step-3.average\.safetensors"):
        RunFolder(run).average(2, tmp_path / "damaged")


def test_how_pieces_were_learned_and_sampled_does_not_matter(bundle: Path, tmp_path: Path) -> None:
    plain = load_bundle(bundle)
    learned = plain.tokenizers.config.model_copy(update={"sampling": 0.1, "vocab_size": None})
    tokenizers = dataclasses.replace(plain.tokenizers, config=learned)
    save_bundle(tmp_path / "sampled", plain.model, tokenizers, plain.search, facts={})
    average_bundles([bundle, tmp_path / "sampled"], tmp_path / "mean")
    ensemble = Translator.load(bundle, tmp_path / "sampled", device="cpu")
    assert ensemble.translate("A man").text == Translator.load(bundle, device="cpu").translate("A man").text
    lower = dataclasses.replace(tokenizers, config=learned.model_copy(update={"lowercase": True}))
    save_bundle(tmp_path / "lower", plain.model, lower, plain.search, facts={})
    with pytest.raises(ConfigError, match=r"tokenizer differs.*lower"):
        Translator.load(bundle, tmp_path / "lower", device="cpu")
