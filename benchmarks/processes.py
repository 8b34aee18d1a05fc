"""Training speed of two processes and of one: target tokens a second on a CPU, one thread each, summed by gloo.

    make bench-processes RUN=...     # or: torchrun --standalone --nproc-per-node=2 benchmarks/processes.py RUN

RUN is a run folder that `dragoman train` made. In turns, with the same batches: one process trains while the other
waits; both train on the same batches, each by itself (what the processor gives two programs that do not talk); both
share each batch (what `torchrun` does), also with PyTorch's `DistributedDataParallel`. And the sum alone.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from measuring import in_turns, summary, write

from dragoman.data.prepared import open_prepared
from dragoman.machine.processes import Processes, start_processes
from dragoman.settings.parsing import parse_config
from dragoman.settings.recipe import read_recipe
from dragoman.training.checkpoint import Progress
from dragoman.training.gradient import sum_gradients
from dragoman.training.run import build_model
from dragoman.training.run_folder import RunFolder
from dragoman.training.trainer import Trainer
from dragoman.training.training_state import TrainingState, describe_environment

BATCH_TOKENS = (1024, 4096)
N_STEPS, N_ROUNDS = 4, 9
ONE, APART, TOGETHER, SUM = "one process", "two, each by itself", "two, sharing each batch", "the sum alone, ms"
OVERLAPPING = "two, sharing each batch, gradients sent during the backward pass"


def main() -> None:
    """Measure, and write processes.json."""
    torch.set_num_threads(1)
    processes = start_processes()
    with TemporaryDirectory() as folder:
        results = {f"batches of {size:,} tokens": measure(size, processes, Path(folder)) for size in BATCH_TOKENS}
    if processes.is_main:
        write(__file__, {"unit": "target tokens a second", "ratio_to": ONE, "speeds": results})
    processes.close()


def measure(batch_tokens: int, processes: Processes, folder: Path) -> dict[str, Any]:
    """The speeds at one size of batch."""
    run = Path(sys.argv[1])
    config = parse_config(read_recipe(run / "config.yaml"))
    training = config.training.model_copy(update={"batch_tokens": batch_tokens, "precision": "float32"})
    config, prepared = config.model_copy(update={"training": training}), open_prepared(run)

    def trainer(group: Processes) -> Trainer:
        model = build_model(config, prepared, torch.device("cpu"))
        environment = describe_environment(training, torch.device("cpu"), group.world_size)
        state = TrainingState.at_start(model, training, Progress(environment=environment))
        return Trainer(config, prepared, state, RunFolder(folder), group)

    alone, shared, overlapping = map(trainer, (Processes(), processes, replace(processes, overlaps=True)))

    def steps(trained: Trainer) -> float:
        before = trained.state.progress.target_tokens
        for step in range(N_STEPS):
            trained.state.progress.step = step  # the same batches each time
            trained.train_step(trained.micro_batches.of_step(step))
        return trained.state.progress.target_tokens - before

    def sums() -> float:
        for _ in range(N_STEPS):
            sum_gradients(shared.state.model, torch.zeros(2), processes)
        return N_STEPS

    def at_once(work: Callable[[], float]) -> Callable[[], float]:
        def timed() -> float:
            processes.barrier()
            done = work()
            processes.barrier()
            return done

        return timed

    systems = {
        ONE: lambda: steps(alone) if processes.is_main else 0.0,
        APART: lambda: processes.world_size * steps(alone),
        TOGETHER: lambda: steps(shared),
        OVERLAPPING: lambda: steps(overlapping),
        SUM: sums,
    }
    speeds = in_turns({name: at_once(work) for name, work in systems.items()}, N_ROUNDS)
    if not processes.is_main:
        return {}
    seconds = 1 / statistics.median(speeds.pop(SUM))
    return {**summary(speeds, ONE), SUM: round(1000 * seconds, 1)}


if __name__ == "__main__":
    main()
