"""`dragoman update`: new text is learned, old text is kept, and a model is never made worse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_short_list import whole
from tiny import PAIRS, tiny_bundle, tiny_tokenizers, with_calibration, write_tiny_bundle

from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run
from dragoman.errors import DataError
from dragoman.memories import Unit, export_units

pytestmark = pytest.mark.torch
NEW = [(f"{source[:-1]} {number}.", f"{target[:-1]} {number}.") for number in range(15) for source, target in PAIRS]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bundle(tmp_path_factory.mktemp("start") / "m", max_length=40)


def test_an_update_is_better_or_the_old_model(start: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    memory, output = tmp_path / "m.tmx", tmp_path / "new"
    export_units(memory, [Unit(*pair, "en", "de") for pair in NEW])
    assert run(["update", "-m", str(start), "--memory", str(memory), "-o", str(output)]) == 0
    told = capfd.readouterr().err
    assert "no old text" in told
    before, after = load_bundle(start), load_bundle(output)
    is_same = all(np.array_equal(before.weights[name], weight) for name, weight in after.weights.items())
    assert is_same == ("has the old ones" in told)
    assert after.tokenizers.equals(before.tokenizers)
    assert run(["update", "-m", str(start), "--memory", str(memory), "-o", str(output)]) == 1  # it exists


def test_weights_that_forget_are_not_taken(start: Path, tmp_path: Path) -> None:
    """The old pairs are the model's own translations, so every change of the weights can only lose."""
    from dragoman.experiments import updating
    from dragoman.translator import Translator

    bundle = load_bundle(start)
    texts = [source for source, _ in PAIRS]
    old = list(zip(texts, (one.text for one in Translator.load(start).translate(texts, beam_size=1)), strict=True))
    noise = np.random.default_rng(1)
    weights = bundle.weights.items()
    worse = {name: weight + noise.normal(0, 1, weight.shape).astype(weight.dtype) for name, weight in weights}
    trial = updating._Trial(bundle, ("en", "de"), "cpu")
    outcome = trial.choose(replace(bundle, weights=worse), NEW[:10], old, tmp_path / "kept", len(NEW))
    assert outcome.old_after is not None
    assert outcome.old_before == pytest.approx(100)
    assert outcome.old_after >= 100 - updating._MOST_LOSS
    if not outcome.is_better:
        kept = load_bundle(tmp_path / "kept")
        assert all(np.array_equal(bundle.weights[name], weight) for name, weight in kept.weights.items())


def test_old_text_is_held_out_from_what_is_replayed(start: Path) -> None:
    from dragoman.experiments.updating import _Trial

    trial = _Trial(load_bundle(start), ("en", "de"), "cpu")
    held, replayed = trial.replay([*NEW, *NEW], ["a"])  # text that repeats itself counts once
    assert not set(held) & set(replayed)
    assert sorted([*held, *replayed]) == sorted(NEW)
    held, replayed = trial.replay([source for source, _ in NEW], ["a"])
    assert held == []
    assert {source for source, _ in replayed} == {source for source, _ in NEW}
    assert [source for source, _ in trial.replay([], ["a", "b"])[1]] == ["a", "b"]


def test_what_new_weights_lose_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from dragoman.experiments.updating import _Trial
    from dragoman.translator import Translator

    tokenizers, sources = tiny_tokenizers(), [source for source, _ in PAIRS]
    before, after = tiny_bundle(tokenizers, seed=1), tiny_bundle(tokenizers, seed=2)
    short_list = whole(Translator([before], tokenizers))
    trial = _Trial(with_calibration(replace(before, short_list=short_list), "en-de"), ("en", "de"), "cpu")
    held = list(zip(sources, trial._translate(after, sources), strict=True))
    outcome = trial.choose(after, held, [], tmp_path / "new", len(held))
    assert outcome.is_better
    assert "no short-list (--short-list) and no confidence (--calibrate); run dragoman package" in caplog.text
    assert load_bundle(tmp_path / "new").short_list is None


def test_bad_updates_are_refused(start: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from dragoman.experiments.updating import update

    with pytest.raises(DataError, match="needs 20"):
        update(start, NEW[:19], tmp_path / "x", ("en", "de"))
    memory = tmp_path / "m.tsv"
    export_units(memory, [Unit(*pair, "en", "de") for pair in NEW])
    command = ["update", "-m", str(start), "--memory", str(memory), "-o", str(tmp_path / "x")]
    assert run([*command, "--old-pairs", str(memory), "--old-source", str(memory)]) == 2
    capfd.readouterr()
    assert run([*command, "--target-lang", "fr"]) == 2
    assert "the model translates en to de" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()
