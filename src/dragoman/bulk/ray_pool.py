"""A pool of workers on a Ray cluster: each is an actor that holds the models and translates one part after another.

Ray (Moritz et al. 2018) starts the workers, sends them their parts, and starts them again elsewhere when one dies. The
process that asks reads the input and writes the output, so other machines need the models and no file of the texts.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dragoman.bulk.input_files import DocumentContent, Lines, Part
from dragoman.bulk.worker import BulkJob, BulkWorker, Failure, Outcome
from dragoman.errors import DragomanError, ResourceError, counted

_log = logging.getLogger(__name__)

#: Parts that a worker has at once: one that it translates, and the next, so that it never waits.
PARTS_A_WORKER = 2
#: Times that a part may kill its worker, or a worker may die while it loads the models.
MAX_TRIES = 3


class _Actor:
    """A worker in a process of its own. It returns errors that concern all parts, because Ray would add to them."""

    def __init__(self, job: BulkJob, device: str) -> None:
        self._job, self._device = job, device
        self._worker: BulkWorker | None = None

    def load(self) -> DragomanError | None:
        """Load the models; return the error if that fails."""
        try:
            self._worker = self._job.load(self._device)
        except DragomanError as error:
            return error
        return None

    def outcome(self, work: Lines | DocumentContent) -> Outcome | DragomanError:
        """Translate a part."""
        assert self._worker is not None
        try:
            return self._worker.outcome(work)
        except DragomanError as error:
            return error


@dataclass
class _Task:
    """A part, how often it has killed its worker, and the worker that has it now."""

    part: Part
    n_deaths: int = 0
    actor: Any = None


class RayPool:
    """Workers on a cluster.

    A worker that dies is replaced where there is room. Its parts go to any worker that is free, so that a machine that
    is lost costs its parts, and nobody waits for it.

    Args:
        ray: the module, with a cluster that it is connected to.
        n_workers: None is one a GPU, if the cluster has GPUs and the device allows it, else one a core.
        device: of each worker. On GPUs, Ray gives each worker one of its own.
    """

    def __init__(self, ray: Any, job: BulkJob, n_workers: int | None, device: str) -> None:
        self._ray, self._job = ray, job
        resources = ray.cluster_resources()
        n_gpus, n_cores = int(resources.get("GPU", 0)), int(resources.get("CPU", 1))
        on_gpu = device.startswith("cuda") or (device == "auto" and n_gpus > 0 and job.precision != "int8")
        if on_gpu and not n_gpus:
            raise ResourceError("the cluster has no GPU", advice="use --device cpu")
        self.n_workers = n_workers or (n_gpus if on_gpu else max(1, n_cores))
        # A worker with a GPU of its own sees that one alone, as the first.
        self._device = "cuda" if on_gpu else device
        self._kind = ray.remote(_Actor).options(num_cpus=1, num_gpus=1 if on_gpu else 0)
        self._n_failed_starts = 0
        self._free, self._again = deque[Any](), deque[_Task]()
        #: Calls that are not done: workers that load the models, and parts.
        self._starting: dict[Any, Any] = {}
        self._tasks: dict[Any, _Task] = {}
        for _ in range(self.n_workers):
            self._start()

    def outcomes(self, parts: Iterable[Part]) -> Iterator[tuple[Part, Outcome]]:
        """See `Pool`: at most `PARTS_A_WORKER` parts are on their way to each worker, and no more are read.

        Raises:
            DragomanError: an error that concerns all parts, such as a missing model.
            ResourceError: workers die before they have loaded the models.
        """
        remaining, is_read = iter(parts), False
        while True:
            while self._free and not is_read:
                part = next(remaining, None)
                is_read = part is None
                if part is not None:
                    self._send(_Task(part))
            if is_read and not self._tasks and not self._again:
                return
            (call, *_), _ = self._ray.wait([*self._tasks, *self._starting], num_returns=1)
            if call in self._starting:
                self._take_started(call)
            elif (done := self._take_done(call)) is not None:
                yield done
            while self._free and self._again:
                self._send(self._again.popleft())

    def _start(self) -> None:
        actor = self._kind.remote(self._job, self._device)
        self._starting[actor.load.remote()] = actor

    def _send(self, task: _Task) -> None:
        task.actor = self._free.popleft()
        self._tasks[task.actor.outcome.remote(task.part.work)] = task

    def _take_started(self, call: Any) -> None:
        """Give parts to a worker from now on, or start another one in its place."""
        actor = self._starting.pop(call)
        try:
            failure = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._refuse_error_of_work(error)
            self._n_failed_starts += 1
            if self._n_failed_starts >= MAX_TRIES:
                advice = "use fewer --workers, or a smaller model"
                raise ResourceError("workers die while they load the model", advice=advice) from None
            self._start()
            return
        if failure is not None:
            raise failure
        self._n_failed_starts = 0
        self._free.extend([actor] * PARTS_A_WORKER)

    def _take_done(self, call: Any) -> tuple[Part, Outcome] | None:
        """Return a part with its outcome; None if its worker died, and the part is to be translated again."""
        actor = self._tasks[call].actor
        try:
            outcome: Outcome | DragomanError = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._refuse_error_of_work(error)
            return self._replace(actor)
        task = self._tasks.pop(call)
        self._free.append(actor)
        if isinstance(outcome, DragomanError):
            raise outcome
        return task.part, outcome

    def _refuse_error_of_work(self, error: Exception) -> None:
        """Raise an error that the work raised, and no other: a dead worker, a lost machine, a result lost with it."""
        if isinstance(error, self._ray.exceptions.RayTaskError):
            raise error

    def _replace(self, actor: Any) -> tuple[Part, Failure] | None:
        """Start a worker in the place of one that died, and take back its parts; return the first if it is given up."""
        calls = [call for call, task in self._tasks.items() if task.actor is actor]
        first, *others = [self._tasks.pop(call) for call in calls]
        self._free = deque(each for each in self._free if each is not actor)
        self._ray.kill(actor)  # it may live, and only be out of reach
        self._start()
        self._again.extend(others)
        first.n_deaths += 1  # parts are done in the order in which they were sent
        where = f"{first.part.file.path}, part {first.part.index + 1}"
        if first.n_deaths >= MAX_TRIES:
            return first.part, Failure(f"{where}: its worker died {MAX_TRIES} times; use fewer --workers")
        _log.warning(f"{where}: its worker died; the part is translated again")
        self._again.appendleft(first)
        return None


@contextlib.contextmanager
def ray_pool(address: str, job: BulkJob, n_workers: int | None, device: str) -> Iterator[RayPool]:
    """Connect to a cluster, start workers there, and end them.

    Args:
        address: "auto" is the cluster of this machine, or a new one on it alone; else as Ray takes it.

    Raises:
        ResourceError: there is no cluster at the address, or no GPU in it.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send a report to its makers
    import ray

    where = None if address == "auto" else address
    try:
        _knock(address)
        ray.init(where, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (OSError, ValueError, RuntimeError) as error:
        problem = f"no Ray cluster at {address} ({str(error).splitlines()[0]})"
        raise ResourceError(problem, advice="start it: ray start --head; or use --ray auto") from error
    try:
        pool = RayPool(ray, job, n_workers, device)
        _log.info(f"{counted(pool.n_workers, 'worker')} on a Ray cluster of {counted(len(ray.nodes()), 'machine')}")
        yield pool
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raise an OSError at once if nothing listens at host:port, because Ray would go on asking for ten minutes."""
    if (place := re.fullmatch(r"(?:ray://)?(.+):([0-9]+)", address)) is not None:
        socket.create_connection((place[1], int(place[2])), timeout=10).close()
