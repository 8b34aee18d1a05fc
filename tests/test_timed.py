"""A training for a given time: durations, the steps that fit, what later starts keep, and the outlook at the end."""

from __future__ import annotations

import math
import re
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from runs import assert_same_training, captured_log, settings

from dragoman.cli.program import run as run_program
from dragoman.errors import ConfigError
from dragoman.settings.duration import duration_text, parse_duration
from dragoman.settings.recipe import read_recipe
from dragoman.training import plan, timed, train
from dragoman.training.checkpoint import saved_steps
from dragoman.training.outlook import describe_outlook
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import SIZES
from dragoman.training.time_plan import FEWEST_STEPS, MOST_VALIDATIONS, Speed, TimePlan, plan_steps
from dragoman.training.timed import TimedStart
from dragoman.training.trainer import Trainer

pytestmark = pytest.mark.torch


@given(st.integers(1, 10**9))
def test_a_duration_is_read_as_it_is_written(seconds: int) -> None:
    assert parse_duration(duration_text(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), (" 1m1s ", 61)]
)
def test_durations(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "0", "0s", "0h0m", "30", "3x", "-5m", "1.5h", "5m1h", "1m1m", "m", "٣m", "9" * 50 + "h", "inf", "1h 5m"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is no duration; write it as 90s, 30m, 2h or 1h30m"):
        parse_duration(text)


@given(
    seconds=st.floats(1, 10**6),
    step=st.floats(1e-4, 1),
    validation=st.floats(0, 10),
    every=st.none() | st.integers(1, 10**4),
)
def test_steps_and_validations_fit_into_the_time(
    seconds: float, step: float, validation: float, every: int | None
) -> None:
    speed_ = Speed(step, validation)
    try:
        fitting = plan_steps(seconds, speed_, every)
    except ConfigError:
        n_validations = 2 if every is None else math.ceil(FEWEST_STEPS / every)
        assert seconds * 0.97 < FEWEST_STEPS * step + n_validations * validation
        return
    n_validations = fitting.n_steps // fitting.validate_every
    assert fitting.n_steps * step + n_validations * validation <= seconds
    longer = fitting.n_steps + 2 + fitting.n_steps // 2
    assert longer * step + (MOST_VALIDATIONS if every is None else longer / every) * validation > 0.97 * seconds * 0.9
    assert fitting.validate_every == every or n_validations <= MOST_VALIDATIONS


def timed_settings(corpus: Path) -> dict[str, Any]:
    asked = settings(corpus)
    for name in ("max_steps", "validate_every", "warmup_steps"):
        del asked["training"][name]
    return asked


def test_a_time_becomes_plain_settings_that_later_starts_keep(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """Killed in the middle, started again by time, without it, or by its folder: the same bits as plainly."""
    asked, run = timed_settings(corpus), tmp_path / "run"
    monkeypatch.setattr(timed, "plan_steps", lambda *_: TimePlan(30, 10))
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_save", dying := Dying(Trainer._save, after=4))
        with pytest.raises(Killed):
            train(asked, run, device="cpu", time_limit=60)
    assert dying.calls == 4
    assert any("time for 30 steps" in line for line in log_lines)
    monkeypatch.setattr(timed, "plan_steps", None)  # nothing is chosen again
    monkeypatch.setattr(timed, "measure_speed", None)
    for start in ({"time_limit": 60}, {}):
        train(asked, run, device="cpu", **start)
    assert any("of 1m are spent; the steps stay as they were chosen" in line for line in log_lines)
    saved = read_recipe(run / "config.yaml")["training"]
    assert (saved["max_steps"], saved["validate_every"], saved["schedule"], saved["warmup_steps"]) == (
        30,
        10,
        "cosine",
        7,
    )
    train(read_recipe(run / "config.yaml"), tmp_path / "plain", device="cpu")
    assert_same_training(tmp_path / "plain", run)
    log_lines.clear()
    train(read_recipe(run / "config.yaml"), run, device="cpu")
    assert any(line.startswith("this run is finished: ") for line in log_lines)


def test_more_time_counts_what_was_spent(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    asked, run = timed_settings(corpus), tmp_path / "run"
    left = list[float]()

    def planned(seconds: float, *_: Any) -> TimePlan:
        left.append(seconds)
        return TimePlan(12, 6)

    monkeypatch.setattr(timed, "plan_steps", planned)
    started = time.monotonic()
    train(asked, run, device="cpu", time_limit=1000)
    spent = time.monotonic() - started
    train(asked, run, device="cpu", time_limit=3000)
    assert 1000 - spent < left[0] < 1000
    assert 3000 - (time.monotonic() - started) - 1 < left[1] < 3000 - (1000 - left[0])
    assert saved_steps(run / "checkpoints")[-1] == 24
    assert any(line.startswith("12 -> 24 steps: the learning rate goes up at once from 0 to ") for line in log_lines)
    checkpoint = RunFolder(run).load()
    assert checkpoint is not None
    assert (checkpoint.progress.time_limit, checkpoint.progress.chosen_for_time["training.max_steps"]) == (3000, 24)
    assert 0 < checkpoint.progress.spent < time.monotonic() - started
    assert (
        run_program(["train", "-o", str(run), "--time", "50m", "--device", "cpu"]) == 0
    )  # config.yaml is no other length


def test_the_measurement_is_forgotten(corpus: Path, reference: Path, tmp_path: Path) -> None:
    """A real one; the training after it is that of the settings alone."""
    asked = settings(corpus)
    given_length = {name: asked["training"].pop(name) for name in ("max_steps",)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed, "plan_steps", lambda seconds, found, every: speeds.append(found) or TimePlan(30, every))
        speeds = list[Speed]()
        asked["training"]["schedule"] = "inverse_sqrt"
        train(asked, tmp_path / "run", device="cpu", time_limit=30)
    assert given_length == {"max_steps": 30}
    assert 0 < speeds[0].step < 30
    assert 0 < speeds[0].validation < 60
    assert_same_training(tmp_path / "run", reference)


def test_the_largest_shape_for_which_there_is_time(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replace(SIZES[0], presets_by_time=("tiny", "small"), fewest_passes=50, pairs_seen=1)
    monkeypatch.setattr(timed, "size_for", lambda n_pairs: row)
    monkeypatch.setattr(plan, "size_for", lambda n_pairs: row)
    monkeypatch.setattr(timed, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(
        timed, "measure_speed", lambda trainer, *_: Speed(trainer.state.model.config.d_model / 1e4, 0.0)
    )
    asked = {"data": settings(corpus)["data"], "tokenizer": {"kind": "characters"}}
    for limit, preset, width in ((5000.0, "small", 256), (1.2, None, 128)):
        run = RunFolder(tmp_path / str(limit))
        start = TimedStart(asked, limit, run, None, torch.device("cpu"), began=0.0)
        with captured_log() as lines:
            config, _, chosen = start.resolve()
        told = [line for line in lines if "model.preset=" in line]
        assert [f"model.preset={preset or 'tiny'}" in line for line in told] == [True]
        assert config.model.d_model == width
        assert chosen.get("model.preset") == preset
        assert config.training.max_steps == chosen["training.max_steps"]
        assert read_recipe(run.config)["model"]["d_model"] == width


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--time", "0"], "'0' is no duration"),
        (["--time", "3x"], "'3x' is no duration"),
        (
            ["--time", "5m", "--set", "training.max_epochs=2"],
            "--time and training.max_epochs both say how long to train",
        ),
        (["--time", "5m", "--set", "training.max_steps=2"], "--time and training.max_steps both say how long to train"),
    ],
)
def test_nonsense_is_refused_before_anything_is_written(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    folder = tmp_path / "run"
    text = ["--source", str(corpus / "rows.low"), "--target", str(corpus / "rows.up")]
    assert run_program(["train", *text, "-o", str(folder), "--device", "cpu", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert told in lines[0]
    assert not folder.exists()


@pytest.mark.parametrize("limit", [0, -3, math.nan, math.inf, "30m", True])
def test_a_limit_is_a_number_of_seconds(corpus: Path, tmp_path: Path, limit: Any) -> None:
    with pytest.raises(ConfigError, match="time_limit is "):
        train(timed_settings(corpus), tmp_path / "run", device="cpu", time_limit=limit)
    assert not (tmp_path / "run").exists()


def test_a_time_that_is_too_short_says_how_long(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"the time is too short: .* left for it, .*; add \d\w+ or more to --time"):
        train(timed_settings(corpus), tmp_path / "run", device="cpu", time_limit=0.01)
    assert not (tmp_path / "run" / "config.yaml").exists()
    with pytest.raises(ConfigError, match="both say how long to train"):
        train(settings(corpus), tmp_path / "run", device="cpu", time_limit=60)


class Killed(BaseException):
    """Stands for `kill -9`."""


class Dying:
    """A method whose call number `after` dies."""

    def __init__(self, method: Any, after: int) -> None:
        self.method, self.after, self.calls = method, after, 0

    def __get__(self, owner: Any, kind: Any) -> Any:
        def call() -> Any:
            self.calls += 1
            if self.calls == self.after:
                raise Killed
            return self.method(owner)

        return call


# ------------------------------------------------------------------------------------------------------- outlook


def curve(*bleu: float) -> list[tuple[int, float]]:
    return [(100 * number, value) for number, value in enumerate(bleu, 1)]


@given(st.floats(0.5, 5), st.floats(10, 30), st.integers(8, 40))
def test_the_rise_of_a_doubling_is_found(rise: float, first: float, n: int) -> None:
    line = describe_outlook(curve(*(first + rise * math.log2(number) for number in range(1, n + 1))))
    assert line is not None
    assert "over the second half" in line
    least, most = (float(number) for number in re.findall(r"bring (\S+) to (\S+) more$", line)[0])
    assert least == pytest.approx(rise / 2, abs=0.06)
    assert most == pytest.approx(rise, abs=0.06)


def test_the_outlook_says_only_what_the_curve_does() -> None:
    assert "hardly rose" in (describe_outlook(curve(*[10, 20, 29, 30] + [30.0, 30.1] * 6)) or "")
    falling = describe_outlook(curve(10, 20, 30, 32, 33, 32, 31.5, 31, 30.5, 30)) or ""
    assert falling.startswith("BLEU was best at step 500 and fell by 3.0 until the end")
    assert describe_outlook(curve(10, 20, 15, 25, 12, 28, 13, 27)) is None  # noise
    assert describe_outlook(curve(10, 20, 30, 31)) is None  # few points
    assert describe_outlook(curve(5, 20, 40, 55, 66, 76, 86)) is None  # would lead beyond 100
    assert describe_outlook([]) is None
