"""Trainings in processes of their own that start in milliseconds: each is a fork of one that imported PyTorch already.

Everything here that runs in such a process is a function of this module, which imports nothing slow by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

#: Imported once, by the process that the others are forks of; much of it only when a training needs it.
PRELOADED = [
    *("pytest", "spacy", "spacy_loggers", "sacrebleu", "sacremoses", "safetensors.torch", "torch._dynamo"),
    *("dragoman.cli.program", "dragoman.cli.train", "dragoman.training.run", "loaded_detector"),
]
#: Seconds after which a process or a thread hangs. It is no measure of time: machines may be busy.
PATIENCE = 600

Work = Callable[..., None]


def command(*arguments: str) -> None:
    """Run `dragoman` with these arguments."""
    from dragoman.cli.program import run

    sys.exit(run(list(arguments)))


def training(chosen: dict[str, Any], folder: str) -> None:
    """Train."""
    from dragoman.training import train

    train(chosen, Path(folder), device="cpu")


def overlapping_training(chosen: dict[str, Any], folder: str) -> None:
    """Train with gradients sent during the backward pass, as several GPUs do; what sends them ends before the group."""
    import gc

    from torch.nn.parallel import DistributedDataParallel

    from dragoman.machine.processes import Processes
    from dragoman.training import run

    class Watched(Processes):
        def close(self) -> None:
            assert not [each for each in gc.get_objects() if type(each) is DistributedDataParallel]
            super().close()

    start = run.start_processes
    run.start_processes = lambda: Watched(**{**vars(start()), "overlaps": True})
    run.train(chosen, Path(folder), device="cpu")


def training_that_does_not_improve(chosen: dict[str, Any], folder: str) -> None:
    """Train with a validation of fixed scores; only the main process would choose bfloat16."""
    import pytest

    from dragoman.training import precision, train, trainer
    from dragoman.training.validation import Validation

    chosen_precision = "bfloat16" if os.environ.get("RANK", "0") == "0" else "float32"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(precision, "choose_precision", lambda config, device: (chosen_precision, "a reason"))
        patch.setattr(trainer, "validate", lambda *arguments: Validation(loss=1.0, bleu=0.0))
        train(chosen, Path(folder), device="cpu")


def _work(work: Work, arguments: tuple[Any, ...], said: str, environment: dict[str, str]) -> None:
    """Do the work, and write what it says, the package's log too, into a file or a named pipe."""
    import logging

    descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.environ.update(environment)
    if work is not command:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        work(*arguments)
    except KeyboardInterrupt:  # ends as Python would end, not as multiprocessing does
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def start(work: Work, *arguments: Any, said: Path, environment: dict[str, str] | None = None) -> ForkServerProcess:
    """Start a process that does some work."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_work, args=(work, arguments, str(said), environment or {}))
    process.start()
    return process


@contextmanager
def lines_of(work: Work, *arguments: Any, folder: Path) -> Iterator[tuple[ForkServerProcess, Iterator[str]]]:
    """A process, and the lines that it says as they come; it is waited for in the end."""
    pipe = folder / f"said-{random.getrandbits(64):x}"
    os.mkfifo(pipe)
    process = start(work, *arguments, said=pipe)
    with open(pipe, encoding="utf-8") as lines:
        yield process, lines
    process.join(PATIENCE)


def run_pair(work: Work, *arguments: Any, folder: Path, n_processes: int = 2) -> str:
    """Do some work in two processes that know of each other, as torchrun starts them, and return what they said."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    shared |= {"WORLD_SIZE": str(n_processes), "LOCAL_WORLD_SIZE": str(n_processes)}
    said = [folder / f"said-{random.getrandbits(64):x}" for _ in range(n_processes)]
    processes = [
        start(work, *arguments, said=path, environment={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank, path in enumerate(said)
    ]
    for process in processes:
        process.join(PATIENCE)
    for process in processes:
        process.kill()  # one that still waits for the other
    text = "".join(path.read_text(encoding="utf-8") for path in said)
    assert [process.exitcode for process in processes] == [0] * n_processes, text
    return text


def _free_port() -> int:
    """A port that nobody listens at, and that the system gives to no client."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port
