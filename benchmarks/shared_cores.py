"""Speed of a training's gradients on one thread and on two, beside programs that use the cores.

    python benchmarks/shared_cores.py

Each setting runs in a process of its own, several times in turn. Prints target tokens/s, and the processor time of each
second.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time

ROUNDS, SECONDS = 2, 6.0
#: Threads, and how often one that waits looks before it sleeps (`GOMP_SPINCOUNT`).
SETTINGS = ((1, 5000), (2, 0), (2, 500), (2, 2000), (2, 5000))
ROWS, LENGTH, VOCABULARY = 64, 16, 8000


def measure() -> None:
    import torch

    from dragoman.data.batches import Batch
    from dragoman.machine.processes import Processes
    from dragoman.model.transformer import Transformer
    from dragoman.settings.model_config import ModelConfig
    from dragoman.settings.training_config import TrainingConfig
    from dragoman.training.gradient import Gradients

    torch.manual_seed(0)
    shape = {"d_model": 128, "d_ff": 256, "n_heads": 4, "n_encoder_layers": 4, "n_decoder_layers": 4}
    choices = {"norm": "pre", "positions": "rotary", "memory": "layerwise", "bias": False}
    sizes = {"source_vocab_size": VOCABULARY, "target_vocab_size": VOCABULARY}
    model = Transformer(ModelConfig.model_validate({**shape, **choices, **sizes})).train()

    def step() -> None:
        source, target = (torch.randint(4, VOCABULARY, (ROWS, LENGTH)) for _ in range(2))
        Gradients(model, TrainingConfig(), Processes()).of_batch([Batch(source, target)], "float32")
        model.zero_grad()

    for _ in range(3):
        step()
    n_steps, started, cpu_started = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - started < SECONDS:
        step()
        n_steps += 1
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    print(f"{n_steps * ROWS * (LENGTH - 1) / seconds:8,.0f} tokens/s  {cpu_seconds / seconds:.2f} s/s", flush=True)


@contextlib.contextmanager
def others(number: int):  # type: ignore[no-untyped-def]
    """Programs that only count."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def main() -> None:
    if sys.argv[1:] == ["measure"]:
        measure()
        return
    for _ in range(ROUNDS):
        for n_others in range(3):
            with others(n_others):
                for n_threads, n_looks in SETTINGS:
                    print(f"beside {n_others}, {n_threads} threads, {n_looks:5} looks", end="  ", flush=True)
                    environment = {**os.environ, "OMP_NUM_THREADS": str(n_threads), "GOMP_SPINCOUNT": str(n_looks)}
                    subprocess.run([sys.executable, __file__, "measure"], env=environment, check=True)


if __name__ == "__main__":
    main()
