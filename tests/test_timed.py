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

from dragoman.bundle.bundle import load_bundle
from dragoman.cli.program import run as run_program
from dragoman.errors import ConfigError, ResourceError
from dragoman.settings.duration import duration_text, parse_duration
from dragoman.settings.presets import PRESETS
from dragoman.settings.recipe import read_recipe
from dragoman.training import budget, time_plan, timed, train
from dragoman.training.budget import Budget, training_budget
from dragoman.training.checkpoint import Progress, saved_steps
from dragoman.training.outlook import describe_failure, describe_outlook
from dragoman.training.run_folder import RunFolder
from dragoman.training.sizes import FINE_TUNINGS, SIZES, Size
from dragoman.training.time_plan import (
    CHECKED_SHARE,
    FEWEST_STEPS,
    MISSED_SHARE,
    MOST_VALIDATIONS,
    OTHER_SHARE,
    Speed,
    TimeKeeper,
    TimePlan,
    plan_steps,
)
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
    kept = [line for line in log_lines if line.startswith("kept training.")]
    assert not any("max_steps" in line or "max_epochs" in line for line in kept)  # the time says the length
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
        patch.setattr(
            timed, "plan_steps", lambda seconds, found, every, share: speeds.append(found) or TimePlan(30, every)
        )
        patch.setattr(time_plan, "CHECKED_SHARE", math.inf)
        speeds = list[Speed]()
        asked["training"]["schedule"] = "inverse_sqrt"
        train(asked, tmp_path / "run", device="cpu", time_limit=30)
    assert given_length == {"max_steps": 30}
    assert 0 < speeds[0].step < 30
    assert 0 < speeds[0].validation < 60
    assert_same_training(tmp_path / "run", reference)


#: The rows of a table for corpora of any size.
ROWS = tuple(replace(size, below=math.inf) for size in SIZES[:2])
FINE, FINER = FINE_TUNINGS


@pytest.mark.parametrize(
    ("limit", "n_directions", "with_start", "chosen_row"),
    [
        (5e6, 1, False, ROWS[1]),  # time for all
        (600.0, 1, False, ROWS[0]),  # for the smaller one's passes, not for the larger one's
        (30.0, 1, False, ROWS[0]),  # for neither
        (30.0, 2, False, ROWS[0]),
        (5e6, 2, False, ROWS[1]),
        (5e6, 1, True, FINER),
        (5.0, 1, True, FINE),
    ],
)
def test_the_plan_of_every_kind_follows_the_measured_step(
    corpus: Path,
    reference: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: float,
    n_directions: int,
    with_start: bool,
    chosen_row: Size,
) -> None:
    """The largest row that has time for its passes, and the smallest where none has; with all that belongs to it."""
    n_measured = list[int]()

    def measured(trainer: Trainer, *_: Any) -> Speed:
        n_measured.append(trainer.training.batch_tokens)
        return Speed(trainer.state.model.config.d_model * trainer.training.batch_tokens / 1e5, 0.1)

    monkeypatch.setattr(timed, "sizes_for", lambda n, *, fine_tuning, on_gpu: FINE_TUNINGS if fine_tuning else ROWS)
    monkeypatch.setattr(timed, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(timed, "measure_speed", measured)
    start = load_bundle(reference / "last") if with_start else None
    data = settings(corpus)["data"]
    if n_directions == 2:
        one = {key: data[key] for key in ("source", "target", "validation_source", "validation_target") if key in data}
        data = {"corpora": [{**one, "source_lang": "en", "target_lang": "de", "both_ways": True}]}
    asked = {"data": data, "tokenizer": {"kind": "characters"} if n_directions == 1 and start is None else {}}
    run = RunFolder(tmp_path / "run")
    with captured_log() as lines:
        resolved = TimedStart(asked, limit, run, start, torch.device("cpu"), began=0.0).resolve()
    training, n_steps = resolved.config.training, resolved.chosen["training.max_steps"]
    assert training.batch_tokens == chosen_row.training["batch_tokens"]
    assert training.optimizer == (chosen_row.optimizer or "adam")
    assert training.lr == chosen_row.training["lr"]
    assert training.warmup_steps <= max(1, n_steps // 4)
    assert training.schedule == "cosine"
    n_validations = math.ceil(n_steps / training.validate_every)
    cost = n_steps * measured_step(chosen_row, resolved.config.model.d_model) + n_validations * 0.1
    assert 0.9 * 0.97 * limit - 1 < cost <= limit
    assert len(n_measured) <= 2
    assert sum("are left; a step takes" in line for line in lines) == 1
    assert any("not even time for all its passes" in line for line in lines) == (limit <= 30)
    if start is None:
        assert resolved.config.model.d_model == PRESETS[chosen_row.preset or ""]["d_model"]
    assert read_recipe(run.config)["training"]["batch_tokens"] == training.batch_tokens


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ConfigError("the time is too short: nothing is left for it"), "the largest for which there is time"),
        (ResourceError("out of memory at step 1"), "the largest for which there is enough RAM"),
        (torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), "there is enough RAM"),
        (None, "the largest for which there is enough RAM"),  # it is not even measured
        (RuntimeError("shapes do not fit"), None),
    ],
)
def test_a_larger_size_that_cannot_be_measured_leaves_the_smaller_one(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception | None, told: str | None
) -> None:
    measured = list[int]()

    def measure(trainer: Trainer, *_: Any) -> Speed:
        measured.append(trainer.training.batch_tokens)
        if len(measured) == 2 and failure is not None:
            raise failure
        return Speed(1e-4, 0.1)

    def free_only_for_the_first(*given: Any) -> Budget:
        return replace(training_budget(*given), available=0 if measured and failure is None else None)

    monkeypatch.setattr(timed, "sizes_for", lambda n, **_: ROWS)
    monkeypatch.setattr(timed, "measure_speed", measure)
    monkeypatch.setattr(timed, "training_budget", free_only_for_the_first)
    asked = {"data": settings(corpus)["data"], "tokenizer": {"kind": "characters"}}
    began = TimedStart(asked, 5e6, RunFolder(tmp_path / "run"), None, torch.device("cpu"), time.monotonic())
    if told is None:
        with pytest.raises(RuntimeError, match="shapes do not fit"):
            began.resolve()
        return
    with captured_log() as lines:
        resolved = began.resolve()
    assert resolved.config.training.batch_tokens == ROWS[0].training["batch_tokens"]
    assert len(measured) == (2 if failure is not None else 1)
    assert any(line.startswith("chose model.preset=tiny") and told in line for line in lines)


def test_a_size_for_which_there_is_no_ram_is_refused_before_it_is_measured(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed, "measure_speed", None)
    monkeypatch.setattr(budget, "available_memory", lambda device: 1000)
    with pytest.raises(ConfigError, match="MiB are free; choose a smaller model"):
        train(timed_settings(corpus), tmp_path / "run", device="cpu", time_limit=60)


def measured_step(row: Size, d_model: int) -> float:
    return float(d_model * row.training["batch_tokens"] / 1e5)


@given(
    limit=st.floats(60, 3600),
    step_time=st.floats(0.01, 0.5),
    drift=st.floats(0.3, 3),
    validation=st.floats(0, 3),
    spent=st.floats(0, 20),
)
def test_a_training_ends_in_time_whatever_becomes_of_its_speed(
    limit: float, step_time: float, drift: float, validation: float, spent: float
) -> None:
    """With a fake clock: in the second third of the time each step takes `drift` times as long."""
    plan_ = plan_steps(limit - spent, Speed(step_time, validation))
    progress, keeper, n_steps = Progress(spent=spent, validation_seconds=validation), TimeKeeper(limit), plan_.n_steps
    while progress.step < n_steps:
        seconds = step_time * (drift if limit / 3 < progress.spent < limit * 2 / 3 else 1)
        progress.step += 1
        progress.seconds += seconds
        progress.spent += seconds
        n_steps = keeper.better_length(progress, n_steps, plan_.validate_every) or n_steps
        if progress.step % plan_.validate_every == 0 or progress.step >= n_steps:
            progress.spent += validation
    slack = (
        (CHECKED_SHARE * drift + MISSED_SHARE + OTHER_SHARE) * limit + 2 * validation + 2 * step_time * max(1, drift)
    )
    assert limit - slack <= progress.spent <= limit + slack


def test_another_length_is_kept_in_the_run(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]
) -> None:
    """A run that would miss its time by far has another number of steps, and so has its config.yaml."""
    monkeypatch.setattr(timed, "plan_steps", lambda *_: TimePlan(30, 10))
    monkeypatch.setattr(
        TimeKeeper, "better_length", lambda self, progress, n, every: 20 if (progress.step, n) == (12, 30) else None
    )
    train(timed_settings(corpus), run := tmp_path / "run", device="cpu", time_limit=600)
    assert "steps take more time than planned: 30 -> 20 steps, to end in time" in log_lines
    assert saved_steps(run / "checkpoints")[-1] == read_recipe(run / "config.yaml")["training"]["max_steps"] == 20
    checkpoint = RunFolder(run).load()
    assert checkpoint is not None
    assert checkpoint.progress.chosen_for_time["training.max_steps"] == checkpoint.progress.n_steps == 20
    train(timed_settings(corpus), run, device="cpu")  # it is finished
    assert saved_steps(run / "checkpoints")[-1] == 20


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


def test_a_model_that_does_not_translate_is_called_so_with_what_helps() -> None:
    assert describe_failure({"": 5.0}, 0.1, 5, is_fine_tuning=False) is None
    one = describe_failure({"": 0.42}, 0.6, 5, is_fine_tuning=False) or ""
    assert one.startswith("BLEU 0.42 is below 5: this model does not translate yet; it has seen each pair 0.6 times")
    assert "--time" in one
    assert "--init-from" in one
    assert "direction" not in one
    several = describe_failure({"en-fr": 9.0, "fr-en": 3.0}, 0.6, 5, is_fine_tuning=False) or ""
    assert several.startswith("BLEU fr-en 3.00 is below 5")
    assert "one direction alone" in several
    enough = describe_failure({"": 0.42}, 5.0, 5, is_fine_tuning=True) or ""
    assert "more text" in enough
    assert "--time" not in enough
    assert "--init-from" not in enough
