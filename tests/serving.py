"""Servers of very small models, inside the process of a test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from extras import import_extra
from tiny import many_tokenizers, tiny_bundle

from dragoman.bundle.bundle import write_bundle
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.settings.sections import parse_section
from dragoman.settings.server_config import ServerConfig
from dragoman.translator import Candidate, SearchJob, StopCondition

#: What a test of the server needs besides the core.
NEEDED = ("fastapi", "uvicorn", "python_multipart", "prometheus_client", "httpx2")
SOURCE_FOLDER = Path(__file__).resolve().parent.parent / "src"
KEY, ADMIN, METRICS = "key-of-a-client", "key-of-an-admin", "key-for-metrics"


def require_server() -> None:
    """Skip a file of tests where the extra is missing."""
    for module in NEEDED:
        import_extra(module, "serve,dev")


def write_many(folder: Path, seed: int = 1) -> Path:
    """Write a model of English to German and Chinese, and German to English; what it says is nonsense."""
    write_bundle(folder, tiny_bundle(many_tokenizers(), seed, max_length=40))
    return folder


def server_config(*models: Path, **settings: Any) -> ServerConfig:
    return parse_section(ServerConfig, {"models": tuple(map(str, models)), "workers": 1, **settings})


@contextmanager
def client_of(*models: Path, **settings: Any) -> Iterator[Any]:
    """Yield a client of a new server. An internal error is answered with 500, as to any client."""
    from starlette.testclient import TestClient

    from dragoman.server import app

    with TestClient(app(server_config(*models, **settings)), raise_server_exceptions=False) as client:
        yield client


@contextmanager
def served(model: str | Path, *options: str, log: list[str] | None = None) -> Iterator[tuple[Any, str]]:
    """A running server, and its address.

    Args:
        log: gets the lines that it writes after its address; all are there when it has ended.
    """
    command = [sys.executable, "-m", "dragoman", "serve", "-m", str(model), "--port", "0", "--device", "cpu", *options]
    path = os.pathsep.join(map(str, (Path(__file__).parent / "without_torch", SOURCE_FOLDER)))  # it needs no PyTorch
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if match := re.search(r"serving at (http://\S+);", line):
            break
    else:
        raise AssertionError(said)
    lines = [] if log is None else log
    reader = threading.Thread(target=lambda: lines.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield process, match[1]
    finally:
        process.kill()
        process.wait()
        reader.join(10)
        process.stderr.close()


class NamingSearch:
    """A search whose translation of a segment is the list of its ids, so that it belongs to this segment alone."""

    def __init__(self, *_: object) -> None:
        self.n_rounds = 0

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        self.n_rounds += 1
        return [[self._candidate(job, rank) for rank in range(job.config.n_best)] for job in jobs]

    def _candidate(self, job: SearchJob, rank: int) -> Candidate:
        text = "-".join(map(str, job.ids)) + f"/{rank}" * (rank > 0)
        return Candidate(Hypothesis((), -1.0 - rank, -1.0 - rank, (), finished=True), text, (text,))
