"""`dragoman train` on one GPU: its speed, its losses, and what it learns in minutes; parts of gpu.py."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from dragoman.data.batches import Batch
from dragoman.data.prepared import Prepared, open_prepared
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.training.precision import multiplies_bfloat16

if TYPE_CHECKING:
    from gpu import Bench

#: Models whose speed is measured, and the tokens of their batches.
MODELS = {"base": 25_000, "big": 25_000, "tiny": 1024}
#: The time of a training for a trial of this script.
TRIAL_SECONDS = 60
#: Lengths of made-up batches.
LENGTHS = ((16, 16), (24, 24), (32, 40), (48, 48))
Record = dict[str, Any]


def training(bench: Bench) -> Iterator[Record]:
    """The speed of steps of each model, after the first ones."""
    prepared, store = _prepared(bench)
    models = {"tiny": 500} if bench.is_tiny else MODELS
    lengths = (float(sizes.mean()) + 1 for sizes in (store.train.source_lengths, store.train.target_lengths))
    source, target = lengths
    peak = _products_rate(bench)
    for index, (preset, n_tokens) in enumerate(models.items()):
        seconds = (bench.seconds_left - 2) / (len(models) - index)
        settings = {"model.preset": preset, "training.batch_tokens": n_tokens, "training.validate_every": 10**6}
        settings |= {"training.max_steps": 10**6, "training.log_every": 10}
        run = _copied(prepared, f"speed-{preset}")
        used = _train(bench, run, settings, seconds, lambda run=run: bench.is_tiny and len(_reports(run)) >= 4)
        records = _reports(run)
        later = records[len(records) // 2 :]
        if len(later) < 2:
            yield {"model": preset, "error": f"{len(records)} reports in {seconds:.0f} seconds"}
            continue
        first, last = later[0], later[-1]
        n_steps, time_passed = last["step"] - first["step"], last["seconds"] - first["seconds"]
        speed = (last["target_tokens"] - first["target_tokens"]) / time_passed
        sizes = {
            "source_vocab_size": store.tokenizers.source.vocab_size,
            "target_vocab_size": store.tokenizers.target.vocab_size,
        }
        config = ModelConfig.model_validate({**PRESETS[preset], **sizes})
        rate = speed * flops_of_pair(config, source, target) / target / 1e12
        row: Record = {"model": preset, "batch tokens": n_tokens, "target tokens/s": round(speed)}
        row |= {"ms a step": round(1000 * time_passed / n_steps, 2), "TFLOP/s": round(rate, 3)}
        row |= {
            "share of products": round(rate / peak, 3),
            "GiB": used,
            "training loss": round(last["training_loss"], 3),
        }
        yield row


def resume(bench: Bench) -> Iterator[Record]:
    """The last losses of a run: as it is, without graphs, with another seed, and killed and started again."""
    prepared, _ = _prepared(bench)
    n_steps = 20 if bench.is_tiny else 400
    settings = {"model.preset": "tiny", "training.batch_tokens": 500 if bench.is_tiny else 4096}
    settings |= {"training.max_steps": n_steps, "training.validate_every": 10**6, "training.log_every": n_steps // 10}
    runs: dict[str, dict[str, Any]] = {
        "as it is": {},
        "killed": {"training.save_every": n_steps // 4},
        "without graphs": {"training.cuda_graphs": "false"},
        "another seed": {"training.seed": 2},
    }
    losses: dict[str, dict[int, float]] = {}
    for index, (name, others) in enumerate(runs.items()):
        run, seconds = _copied(prepared, f"resume-{name.replace(' ', '-')}"), bench.seconds_left / (len(runs) - index)
        if name == "killed":
            _train(bench, run, settings | others, seconds / 2, lambda run=run: _saved_step(run) >= n_steps // 2)
        _train(bench, run, settings | others, seconds, lambda run=run: _last_report(run) >= n_steps)
        losses[name] = {record["step"]: record["training_loss"] for record in _reports(run)}
        row: Record = {"run": name, "losses": {step: round(loss, 4) for step, loss in losses[name].items()}}
        yield row if n_steps in losses[name] else row | {"error": f"no report of step {n_steps}"}
    usual = losses.pop("as it is")
    differences = {
        name: max((abs(usual[step] - loss) for step, loss in others.items() if step in usual), default=math.inf)
        for name, others in losses.items()
    }
    for name, difference in differences.items():
        row = {"run": name, "largest difference": difference}
        yield row if difference <= differences["another seed"] else row | {"error": "more than another seed changes"}


def minutes(bench: Bench) -> Iterator[Record]:
    """BLEU of the model of so many minutes, with nothing configured."""
    limit = TRIAL_SECONDS if bench.is_tiny else min(180, int(bench.seconds_left - 25))
    run = bench.folder / "minutes"
    shutil.rmtree(run, ignore_errors=True)
    lines = _program(bench, ["train", *bench.text, "--output", str(run), "--time", f"{limit}s"], bench.seconds_left)
    yield {"seconds": limit, "chosen": [line for line in lines if "chose" in line or "are left" in line]}
    scores = [record for record in _records(run) if "validation_bleu" in record]
    yield {"greedy BLEU": [round(record["validation_bleu"], 2) for record in scores]}
    command = ["evaluate", "-m", str(run), "--split", "validation", "--beam-size", "5", "--json"]
    (result,) = (json.loads(line) for line in _program(bench, command, bench.seconds_left) if line.startswith("{"))
    yield {"beam 5": {metric["name"]: round(metric["score"], 2) for metric in result["metrics"]}}


def _prepared(bench: Bench) -> tuple[Path, Prepared]:
    """Return the folder of the prepared text, made by the first part that asks, and its content."""
    place = bench.folder / "prepared"
    if not (place / "data").exists():
        _program(bench, ["prepare", *bench.text, "--output", str(place)], bench.seconds_left)
    return place, open_prepared(place)


def _copied(prepared: Path, name: str) -> Path:
    """Return a new run folder with the prepared text."""
    run = prepared.with_name(name)
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(prepared, run)
    return run


def _command(bench: Bench, arguments: list[str]) -> list[str]:
    device = [] if arguments[0] == "prepare" else ["--device", str(bench.device)]
    return [sys.executable, "-m", "dragoman", *arguments, *device]


def _program(bench: Bench, arguments: list[str], seconds: float) -> list[str]:
    """Run a command of dragoman, and return the lines of its output and its log."""
    done = subprocess.run(
        _command(bench, arguments), capture_output=True, text=True, timeout=max(1.0, seconds), check=False
    )
    sys.stderr.write(done.stderr)
    lines = (done.stdout + done.stderr).splitlines()
    if done.returncode:
        raise RuntimeError(" ".join(lines[-3:]))
    return lines


def _train(bench: Bench, run: Path, settings: Record, seconds: float, is_enough: Callable[[], bool]) -> float | None:
    """Train for so many seconds at most, or until there is enough, then kill; return the GiB of the GPU in use."""
    options = [option for name, value in settings.items() for option in ("--set", f"{name}={value}")]
    command = _command(bench, ["train", *bench.text, "--output", str(run), *options])
    program = subprocess.Popen(command, stdout=sys.stderr)
    end, used = time.monotonic() + seconds, 0.0
    while program.poll() is None and time.monotonic() < end and not is_enough():
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(0.5)
        if bench.device.type == "cuda":
            free, total = torch.cuda.mem_get_info(bench.device)
            used = max(used, (total - free) / 2**30)
    if program.poll() is None:
        program.send_signal(signal.SIGKILL)
    program.wait()
    return round(used, 2) if used else None


def _saved_step(run: Path) -> int:
    """Return the step of the newest checkpoint; 0 if there is none."""
    return max((int(path.name.removeprefix("step-")) for path in run.glob("checkpoints/step-*")), default=0)


def _reports(run: Path) -> list[Record]:
    """Return what a run told of its steps."""
    return [record for record in _records(run) if "training_loss" in record]


def _last_report(run: Path) -> int:
    """Return the step of the newest report; 0 if there is none."""
    return max((int(record["step"]) for record in _reports(run)), default=0)


def _records(run: Path) -> list[Record]:
    """Return the figures of a run; the last line may be half written."""
    records = []
    with contextlib.suppress(OSError):
        for line in (run / "metrics.jsonl").read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                records.append(json.loads(line))
    return records


def _products_rate(bench: Bench) -> float:
    """TFLOP/s of large products in the precision that a training chooses, before anything else is on the card."""
    size = 8192 if bench.device.type == "cuda" else 256
    dtype = torch.bfloat16 if multiplies_bfloat16(bench.device) else torch.float32
    left = torch.randn(size, size, device=bench.device, dtype=dtype)

    def multiply() -> float:
        left @ left
        return 2.0 * size**3 / 1e12

    return bench.rate(multiply, 0.5)


def flops_of_pair(config: ModelConfig, source: float, target: float) -> float:
    """The operations of the products of one pair in training: three times those forwards, two for a multiplication."""
    S, T, D, F = source, target, config.d_model, config.d_ff
    encoder = S * (4 * D * D + 2 * D * F) + 2 * S * S * D
    decoder = T * (6 * D * D + 2 * D * F) + S * 2 * D * D + 2 * T * T * D + 2 * T * S * D
    layers = config.n_encoder_layers * encoder + config.n_decoder_layers * decoder
    return 3 * 2.0 * (layers + T * D * config.target_vocab_size)


def made_up_batches(vocabulary: int, n_tokens: int) -> list[Batch]:
    """Batches of random ids, one for each of `LENGTHS`."""
    batches = []
    for source, target in LENGTHS:
        n_pairs = max(1, n_tokens // max(source, target))
        ids = (torch.randint(4, vocabulary, (n_pairs, length)) for length in (source, target + 1))
        batches.append(Batch(*ids))
    return batches
