"""A fine-tuning is measured against the model that it begins with; and told what that model makes vain."""

from __future__ import annotations

import dataclasses
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from runs import assert_same_training, logged, settings
from safetensors.torch import load_file
from tiny import tiny_model, tiny_tokenizers, write_tiny_bundle

from dragoman.bundle.averaging import average_bundles
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.data.batches import Batch
from dragoman.errors import ConfigError
from dragoman.machine.json_files import read_json
from dragoman.machine.pointers import read_pointer
from dragoman.settings.search_config import SearchConfig
from dragoman.training import train, trainer
from dragoman.training.checkpoint import saved_steps
from dragoman.training.trainer import Trainer
from dragoman.training.validation import Validation

pytestmark = pytest.mark.torch

BASELINE = "validation at step 0, the starting model: "


class Killed(BaseException):
    """Stands for `kill -9`."""


def tuning(corpus: Path, **training: Any) -> dict[str, Any]:
    return settings(corpus, **{"max_steps": 10, "warmup_steps": 1, "validate_every": 5, **training})


def baselines(told: list[str]) -> int:
    return sum(line.startswith(BASELINE) for line in told)


def test_folders_are_paths_or_strings(corpus: Path, reference: Path, tmp_path: Path) -> None:
    run, mean, saved = tmp_path / "run", tmp_path / "mean", tmp_path / "saved"
    best = train(tuning(corpus, max_steps=1, lr=1e-4), str(run), init_from=str(reference / "last"), device="cpu")
    assert best.is_relative_to(run)
    average_bundles([str(best), best], str(mean))
    bundle = load_bundle(str(mean))
    save_bundle(str(saved), bundle.model, bundle.tokenizers, bundle.search, facts=bundle.facts)
    assert load_bundle(saved).weights.keys() == bundle.weights.keys()


def test_a_fine_tuning_that_harms_returns_the_starting_model(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    """And patience counts from the beginning."""
    run = tmp_path / "run"
    recipe = tuning(corpus, lr=1.0, validate_every=2, patience=1)
    best = train(recipe, run, init_from=reference / "last", device="cpu")
    assert list(logged(run, "validation_loss")) == [0, 2]
    assert (best.name, load_bundle(run).facts["step"], (run / "last").resolve().name) == ("step-0", 0, "step-2")
    given, kept = (load_file(path / "model.safetensors") for path in (reference / "last", best))
    assert all(torch.equal(given[name], kept[name]) for name in given)
    assert next(line for line in log_lines if line.startswith(BASELINE)).count("(best") == 1
    assert (
        log_lines[-1] == "warning: no validation was better than that of the starting model, which is the best one here"
    )
    assert load_bundle(run).facts["loss"] == pytest.approx(load_bundle(reference / "last").facts["loss"], abs=1e-6)


def test_a_fine_tuning_that_helps_is_the_best(
    corpus: Path, reference: Path, tmp_path: Path, log_lines: list[str]
) -> None:
    run = tmp_path / "run"
    train(tuning(corpus, max_steps=1, lr=1e-4), run, init_from=reference / "last", device="cpu")
    first, then = logged(run, "validation_loss").items()
    assert (first[0], then[0], first[1] > then[1], (run / "best").resolve().name) == (0, 1, True, "step-1")
    warnings = [line for line in log_lines if line.startswith("warning: ")]
    expected = ("copied as the target", "this model does not translate yet")  # as in this corpus
    assert [line for line in warnings if not any(part in line for part in expected)] == []
    assert saved_steps(run / "bundles") == [1]


def test_a_new_model_is_not_validated_before_it_has_learned(reference: Path) -> None:
    assert list(logged(reference, "validation_loss")) == [20, 30]


@pytest.mark.parametrize(("step", "again"), [(3, 1), (9, 0)])
def test_a_killed_one_validates_its_beginning_once_for_all_that_is_saved(
    step: int,
    again: int,
    corpus: Path,
    reference: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log_lines: list[str],
) -> None:
    """Before the first save (step 5) all is done again, and after it nothing is: the end is the same."""
    recipe, whole, run = tuning(corpus), tmp_path / "whole", tmp_path / "run"
    train(recipe, whole, init_from=reference / "last", device="cpu")
    real = Trainer.train_step

    def killed(self: Trainer, batches: list[Batch]) -> None:
        if self.state.progress.step == step:
            raise Killed
        real(self, batches)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train_step", killed)
        with pytest.raises(Killed):
            train(recipe, run, init_from=reference / "last", device="cpu")
    assert 0 in logged(run, "validation_loss")
    log_lines.clear()
    train(recipe, run, device="cpu")  # its folder knows that it is a fine-tuning
    assert baselines(log_lines) == again
    assert_same_training(whole, run)
    assert logged(run, "validation_loss") == logged(whole, "validation_loss")
    for name in ("best", "last"):
        assert read_pointer(run / name).name == read_pointer(whole / name).name


def test_a_signal_leaves_it_to_the_next_start(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    run, real = tmp_path / "run", trainer.validate

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGTERM)
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "validate", interrupted)
        with pytest.raises(SystemExit, match="143"):
            train(tuning(corpus), run, init_from=reference / "last", device="cpu")
    assert (saved_steps(run / "checkpoints"), saved_steps(run / "bundles")) == ([0], [])
    for expected in (1, 0):
        log_lines.clear()
        train(tuning(corpus), run, device="cpu")
        assert baselines(log_lines) == expected
    assert list(logged(run, "validation_loss")) == [0, 5, 10]


def test_the_beginning_stays_while_it_is_the_best(
    corpus: Path, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bundle outlives its checkpoint, and a continuation."""
    run, scores = tmp_path / "run", iter([1.0, 2.0, 3.0, 2.5, 4.0])
    monkeypatch.setattr(trainer, "validate", lambda *arguments: Validation(loss=next(scores), bleu=0.0))
    for max_steps in (10, 20):
        recipe = tuning(corpus, max_steps=max_steps, save_every=2)
        train(recipe, run, init_from=reference / "last", device="cpu")
        assert saved_steps(run / "checkpoints")[0] > 0
        assert read_pointer(run / "best").name == "step-0"
        assert load_bundle(run).facts["loss"] == 1.0
    assert read_json(run / "checkpoints" / "step-20" / "state.json")["validations_since_best"] == 4


def test_r_drop_is_refused_without_dropout_in_the_starting_model(corpus: Path, tmp_path: Path) -> None:
    bundle = write_tiny_bundle(tmp_path / "start", dropout=0.0)
    recipe = {"data": settings(corpus)["data"], "training": {"max_steps": 1, "batch_tokens": 200, "r_drop": 1.0}}
    with pytest.raises(ConfigError, match=r"r_drop compares two passes with different dropout, and there is none"):
        train(recipe, tmp_path / "run", init_from=bundle, device="cpu")
    assert not (tmp_path / "run").exists()
    train({**recipe, "model": {"dropout": 0.1}}, tmp_path / "run", init_from=bundle, device="cpu")


def test_unused_settings_of_a_starting_model_are_no_mistake(corpus: Path, tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers()
    older = dataclasses.replace(tokenizers, config=tokenizers.config.model_copy(update={"min_count": 5}))
    save_bundle(tmp_path / "start", tiny_model(older), older, SearchConfig(), facts={})
    recipe = {"data": settings(corpus)["data"], "training": {"max_steps": 1, "batch_tokens": 200}}
    train(recipe, tmp_path / "run", init_from=tmp_path / "start", device="cpu")
    with pytest.raises(ConfigError, match=r"tokenizer\.min_count is for words and characters"):
        train({**recipe, "tokenizer": {"min_count": 5}}, tmp_path / "other", init_from=tmp_path / "start", device="cpu")
