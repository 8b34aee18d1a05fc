"""The RAM that this process has used and may still take."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import torch

#: The folder of a container's limits on Linux.
CONTROL_GROUP = Path("/sys/fs/cgroup")


def peak_memory(device: torch.device) -> float | None:
    """Return the most memory this process has used so far, in MiB: of the GPU on CUDA, else of the machine.

    None if unknown.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    if (used := _kibibytes("/proc/self/status", "VmHWM")) is not None:
        return used / 2**10
    try:
        import resource
    except ImportError:  # Windows
        return None
    # Last resort: on Linux, ru_maxrss includes the parent's memory from before exec.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def available_memory(device: torch.device) -> int | None:
    """Return the bytes that this process may still take, of the GPU on CUDA, else of RAM; None if unknown."""
    if device.type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)  # by PyTorch, for its next use
        return torch.cuda.mem_get_info(device)[0] + kept
    available = _kibibytes("/proc/meminfo", "MemAvailable")  # free, or quickly made so
    limits = [None if available is None else 1024 * available, _control_group()]
    return min((limit for limit in limits if limit is not None), default=None)


def _kibibytes(path: str, name: str) -> int | None:
    """Return the number after `name:` in a file of the Linux kernel, or None."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        lines = Path(path).read_text(encoding="ascii").splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith(name + ":")), None)
    return None


def _control_group() -> int | None:
    """Return the rest of a container's limit. The kernel's cache of files counts as free: it makes room when needed."""
    with contextlib.suppress(OSError, ValueError, StopIteration):
        limit, used, details = (
            (CONTROL_GROUP / f"memory.{name}").read_text(encoding="ascii") for name in ("max", "current", "stat")
        )
        cached = next(int(line.split()[1]) for line in details.splitlines() if line.startswith("inactive_file "))
        return max(0, int(limit) - int(used) + cached)  # "max" is no number, and no limit
    return None
