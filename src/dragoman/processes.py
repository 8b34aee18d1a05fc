"""The one room that knows where the work runs: the device, and how many processes share it (torchrun's environment)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.distributed as distributed
from torch import Tensor

from dragoman.errors import ConfigError

T = TypeVar("T")


def find_device(name: str = "auto") -> torch.device:
    """The device called `name`; "auto" is CUDA, then Apple's MPS, then the CPU.

    Raises:
        ConfigError: there is no such device here.
    """
    mps = torch.backends.mps.is_available()
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "mps" if mps else "cpu")
    try:
        device = torch.device(name)
        known = {"cpu": True, "cuda": (device.index or 0) < torch.cuda.device_count(), "mps": mps}[device.type]
    except (RuntimeError, KeyError):
        known = False
    if not known:
        raise ConfigError(f"no device {name!r} here", advice="use auto, cpu, cuda, cuda:<n> or mps")
    return device


@dataclass(frozen=True)
class Processes:
    """This process among its equals; a single process is rank 0 of 1."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and talks to the person."""
        return self.rank == 0

    def sum(self, tensor: Tensor) -> Tensor:
        """Add `tensor` over all processes, in place, and return it."""
        if self.world_size > 1:
            distributed.all_reduce(tensor)
        return tensor

    def any(self, flag: bool, device: torch.device) -> bool:
        """Whether `flag` is set in any process."""
        return bool(self.sum(torch.tensor(int(flag), device=device)) > 0)

    @property
    def on_cuda(self) -> bool:
        """Whether each process has a CUDA device of its own."""
        return self.world_size > 1 and torch.cuda.is_available()

    def main_first(self, work: Callable[[], T]) -> T:
        """Do `work` in the main process, then in the others, who find what it left on the shared disk."""
        result = work() if self.is_main else None
        self.barrier()
        return result if result is not None else work()

    def barrier(self) -> None:
        """Wait until every process has come here."""
        if self.world_size > 1:
            distributed.barrier()

    def close(self) -> None:
        """Leave the group."""
        if self.world_size > 1:
            distributed.destroy_process_group()


def start_processes() -> Processes:
    """Join the group that `torchrun` describes in the environment; without torchrun, be alone."""
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size == 1:
        return Processes()
    local_rank = int(os.environ["LOCAL_RANK"])
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)
    distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return Processes(int(os.environ["RANK"]), world_size, local_rank)
