"""The processes that train one model together, started by torchrun."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as distributed
from torch import Tensor

from dragoman.errors import ConfigError, ResourceError, is_out_of_memory

#: Longest time that processes wait for each other: the main one may be preparing a large corpus. If a process dies,
#: torchrun ends the others.
PATIENCE = timedelta(hours=12)


@dataclass(frozen=True)
class Processes:
    """This process in its group; a single process is rank 0 of 1."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    #: The number of processes on this machine.
    local_world_size: int = 1
    #: True if gradients are sent during the backward pass, which pays where processes do not share cores.
    overlaps: bool = False

    @property
    def is_main(self) -> bool:
        """True if this process writes files and prints messages."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Add `tensor` over all processes, in place, and return it."""
        if self.world_size > 1:
            with translate_lost_process():
                distributed.all_reduce(tensor)
        return tensor

    def any(self, flag: bool, device: torch.device) -> bool:
        """Return True if `flag` is set in any process."""
        return bool(self.max(int(flag), device))

    def device_name(self, name: str) -> str:
        """Return the device to use for `name`: "auto" is a GPU of its own for each of several processes."""
        several_on_cuda = self.world_size > 1 and torch.cuda.is_available()
        return f"cuda:{self.local_rank}" if name == "auto" and several_on_cuda else name

    def max(self, number: int, device: torch.device) -> int:
        """Return the largest number of all processes."""
        if self.world_size == 1:
            return number
        largest = torch.tensor(number, device=device)
        with translate_lost_process():
            distributed.all_reduce(largest, distributed.ReduceOp.MAX)
        return int(largest)

    def barrier(self) -> None:
        """Wait until every process has come here."""
        if self.world_size > 1:
            with translate_lost_process():
                distributed.barrier()

    def close(self) -> None:
        """Leave the group."""
        if self.world_size > 1:
            distributed.destroy_process_group()


@contextlib.contextmanager
def translate_lost_process() -> Iterator[None]:
    """Raise a ResourceError if another process can no longer be reached.

    Raises:
        ResourceError: another process has ended, and took its part of the sum with it.
    """
    try:
        yield
    except RuntimeError as error:
        if is_out_of_memory(error):
            raise
        advice = "its own message says why; the same command continues"
        raise ResourceError("another process of this training ended", advice=advice) from error


def start_processes() -> Processes:
    """Join the group that torchrun describes in the environment; without torchrun, return a group of one.

    Raises:
        ConfigError: the environment names several processes, but not which of them this one is.
        ResourceError: the others cannot be reached.
    """
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size == 1:
        return Processes()
    missing = [name for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
    if missing:
        raise ConfigError(f"WORLD_SIZE is set, but {missing[0]} is not", advice="start it with torchrun")
    local_rank = int(os.environ["LOCAL_RANK"])
    if local_rank < torch.cuda.device_count():  # where there are too few, `find_device` says so
        torch.cuda.set_device(local_rank)
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    try:
        distributed.init_process_group(backend, timeout=PATIENCE)
    except RuntimeError as error:
        problem = "the processes of this training could not reach each other"
        raise ResourceError(problem, advice="start them again; the same command continues") from error
    local_world_size = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    overlaps = torch.cuda.is_available()
    return Processes(int(os.environ["RANK"]), world_size, local_rank, local_world_size, overlaps)
