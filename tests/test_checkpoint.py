"""Checkpoints: what was saved comes back, and only what is whole and fits is gone on from."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from runs import captured_log
from torch import Tensor

from dragoman.errors import BundleError, ConfigError, ResourceError
from dragoman.machine.folders import save_folder, verify_folder
from dragoman.machine.json_files import to_json
from dragoman.training import checkpoint as module
from dragoman.training.checkpoint import Checkpoint, Progress, Window, load_checkpoint, save_checkpoint, saved_steps

pytestmark = pytest.mark.torch

PROGRESS = Progress(
    step=7,
    target_tokens=1234,
    seconds=1.5,
    skipped_steps=2,
    precision="bfloat16",
    micro_batch_tokens=64,
    best_score=-0.25,
    best_step=5,
    validations_since_best=1,
    last_validation=6,
    window=Window(loss=0.1, nll=0.2, norm=0.3, n_tokens=4, n_steps=5, seconds=0.6),
    fingerprints={"data": "a", "tokenizer": "b"},
    environment={"threads": "1", "processes": "1"},
)


def tensors(step: int, kind: float) -> dict[str, Tensor]:
    return {name: torch.full((3, 2), step + kind + number) for number, name in enumerate(("one", "two"))}


def checkpoint(step: int = 7, *, average: bool = True) -> Checkpoint:
    progress = replace(PROGRESS, step=step)
    return Checkpoint(progress, tensors(step, 0.1), tensors(step, 0.2), tensors(step, 0.3) if average else None)


def load(folder: Path) -> Checkpoint:
    """The newest checkpoint, which nothing may be said about."""
    with captured_log() as lines:
        found = load_checkpoint(folder)
    assert found is not None
    assert lines == []
    return found


@pytest.mark.parametrize("average", [True, False])
def test_a_saved_checkpoint_is_loaded_unchanged(tmp_path: Path, average: bool) -> None:
    saved = checkpoint(average=average)
    save_checkpoint(tmp_path / "checkpoints", saved)
    found = load(tmp_path / "checkpoints")
    assert found.progress == saved.progress
    for one, other in ((saved.model, found.model), (saved.optimizer, found.optimizer)):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)
    assert (found.average is None) == (saved.average is None)
    if saved.average is not None and found.average is not None:
        assert all(torch.equal(saved.average[name], found.average[name]) for name in saved.average)
    manifest = verify_folder(tmp_path / "checkpoints" / "step-7")
    assert manifest["step"] == 7
    assert manifest["fingerprints"] == PROGRESS.fingerprints


def test_the_newest_whole_one_is_used_by_its_number(tmp_path: Path, log_lines: list[str]) -> None:
    assert load_checkpoint(tmp_path) is None
    for step in (2, 10, 9):
        save_checkpoint(tmp_path, checkpoint(step))
    for other in ("step-11x", ".dragoman-step-12", "damaged-step-13", "step-"):
        (tmp_path / other).mkdir()
    assert saved_steps(tmp_path) == [2, 9, 10]
    assert load(tmp_path).progress.step == 10
    assert log_lines == []
    for step in (10, 9):
        (tmp_path / f"step-{step}" / "optimizer.safetensors").write_bytes(b"")
    found = load_checkpoint(tmp_path)
    assert found is not None
    assert found.progress.step == 2
    assert [line.split()[2] for line in log_lines] == ["step-10", "step-9"]
    assert all("optimizer.safetensors" in line for line in log_lines)
    (tmp_path / "step-2" / "state.json").unlink()
    with pytest.raises(BundleError, match="every checkpoint is damaged"):
        load_checkpoint(tmp_path)


def test_a_checkpoint_of_another_version_is_told(tmp_path: Path, log_lines: list[str]) -> None:
    """One that is whole but has more than this version knows was written by a newer one; it is not passed over."""
    save_checkpoint(tmp_path, checkpoint(2))
    state = asdict(PROGRESS) | {"step": 3, "mood": "good"}
    save_folder(tmp_path / "step-3", lambda folder: (folder / "state.json").write_bytes(to_json(state)) and None)
    with pytest.raises(BundleError, match=r"another version of dragoman.*step-3") as caught:
        load_checkpoint(tmp_path)
    assert caught.value.exit_code == 3
    assert log_lines == []


def test_a_checkpoint_that_would_not_fit_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly the bytes of all tensors are asked for."""
    asked: list[int] = []

    def full(folder: Path, n_bytes: int) -> None:
        asked.append(n_bytes)
        raise ResourceError("no space left")

    monkeypatch.setattr(module, "require_space", full)
    for average, n_sets in ((True, 3), (False, 2)):
        with pytest.raises(ResourceError):
            save_checkpoint(tmp_path / "deep" / "checkpoints", checkpoint(average=average))
        assert asked.pop() == n_sets * 2 * 6 * 4
    assert not list((tmp_path / "deep" / "checkpoints").iterdir())


def test_the_window_sums() -> None:
    window = Window()
    window.add(Window(1.0, 2.0, 3.0, 4, 1, 0.5))
    window.add(Window(10.0, 20.0, 30.0, 40, 2, 0.25))
    assert window == Window(loss=11.0, nll=22.0, norm=33.0, n_tokens=44, n_steps=3, seconds=0.75)


def test_a_new_training_has_done_nothing() -> None:
    assert asdict(Progress()) == {
        **dict.fromkeys(asdict(PROGRESS), 0),
        **dict.fromkeys(("n_steps", "micro_batch_tokens", "best_score", "best_step", "last_validation")),
        "time_limit": None,
        "loss_scale": None,
        "chosen_for_time": {},
        "precision": "float32",
        "window": {"loss": 0.0, "nll": 0.0, "norm": 0.0, "n_tokens": 0, "n_steps": 0, "seconds": 0.0},
        "lasting_facts": {},
        "fingerprints": {},
        "environment": {},
    }


def test_other_data_is_refused_and_another_machine_is_told(tmp_path: Path, log_lines: list[str]) -> None:
    PROGRESS.follow(PROGRESS, tmp_path)
    assert log_lines == []
    moved = replace(PROGRESS, environment={"threads": "1", "processes": "2"})
    moved.follow(PROGRESS, tmp_path)
    assert log_lines == ["warning: processes: 1 -> 2; the continuation is no longer bit-exact"]
    for name in ("data", "tokenizer"):
        changed = replace(PROGRESS, fingerprints={**PROGRESS.fingerprints, name: "c"})
        with pytest.raises(ConfigError, match=f"the {name} of this run changed since step 7: .*{tmp_path.name}"):
            changed.follow(PROGRESS, tmp_path)
