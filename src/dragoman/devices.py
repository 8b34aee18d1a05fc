"""The devices of this machine, found without PyTorch (whose import takes seconds) where there is only the CPU."""

from __future__ import annotations

import os
import sys

from dragoman.errors import ConfigError

#: Where Linux shows that there is a driver of a GPU: NVIDIA's, that of its small boards, AMD's, Windows's for Linux.
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvmap", "/dev/kfd", "/dev/dxg")


def find_device(name: str = "auto") -> str:
    """The device called `name`, as PyTorch names it; "auto" is CUDA, then Apple's MPS, then the CPU.

    Raises:
        ConfigError: there is no such device here.
    """
    if name == "cpu" or (name == "auto" and sys.platform == "linux" and not any(map(os.path.exists, DRIVERS))):
        return "cpu"
    import torch

    mps = torch.backends.mps.is_available()
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    try:
        device = torch.device(name)
        known = {"cpu": True, "cuda": (device.index or 0) < torch.cuda.device_count(), "mps": mps}[device.type]
    except (RuntimeError, KeyError):
        known = False
    if not known:
        raise ConfigError(f"no device {name!r} here", advice="use auto, cpu, cuda, cuda:<n> or mps")
    return device.type if device.type == "cpu" else str(device)


def all_cores() -> int:
    """The cores that this process may use, as OMP_NUM_THREADS or its affinity says."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isascii() and asked.isdigit() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
