"""The devices of this machine. With a CPU only, PyTorch is not imported, because that takes seconds."""

from __future__ import annotations

import os
import re
import sys
from typing import Literal

from dragoman.errors import ConfigError

#: Precision of a translation, in the order in which kernels.c counts. In bfloat16 a CPU computes products only, and a
#: GPU everything; in int8 a CPU computes the products of weights.
Precision = Literal["float32", "bfloat16", "int8"]

_NAME = re.compile(r"auto|(cpu|cuda|mps)(:[0-9]{1,4})?")
#: Files of the drivers of GPUs on Linux: NVIDIA's, that of its small boards, AMD's, Windows's for Linux.
DRIVERS = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvmap", "/dev/kfd", "/dev/dxg")
#: Number of times that a thread of PyTorch (GNU OpenMP) checks if the others are done before it sleeps. By default it
#: checks for milliseconds, and a run that shares its cores with another program falls to a hundredth of its speed.
SPIN_COUNT = "5000"
#: Number of shapes of a product in bfloat16 for which PyTorch, and oneDNN below it, keep compiled code. Each takes
#: about 1 MB, nearly every batch has new shapes, and a step needs about twenty; the default is 1,024.
COMPILED_SHAPES = "32"
SHAPE_CACHES = "LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"


def set_library_defaults() -> None:
    """Set what libraries do when they are imported, unless the environment sets it.

    PyTorch's wait and cache less; pydantic does not read the metadata of every installed package to find plugins.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN_COUNT)
    for name in SHAPE_CACHES:
        os.environ.setdefault(name, COMPILED_SHAPES)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def find_device(name: str = "auto") -> str:
    """Return the device called `name` as PyTorch names it; "auto" is CUDA, else Apple's MPS, else the CPU.

    Without PyTorch, "auto" is the CPU.

    Where there is CUDA, cuDNN computes no attention from then on: it compiles code for each new shape, which took a
    second for nearly every batch on an H100.

    Raises:
        ConfigError: there is no such device here.
    """
    if name == "cpu" or (name == "auto" and sys.platform == "linux" and not any(map(os.path.exists, DRIVERS))):
        return "cpu"
    if not _NAME.fullmatch(name):
        raise ConfigError(f"no device {name!r} here", advice="use auto, cpu, cuda, cuda:<n> or mps")
    try:
        import torch
    except ModuleNotFoundError as error:
        if name != "auto" or error.name != "torch":
            raise
        return "cpu"  # the only device for which there is code without PyTorch
    if torch.cuda.device_count():
        torch.backends.cuda.enable_cudnn_sdp(False)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return _named_device(name)


def _named_device(name: str) -> str:
    import torch

    mps, n_cuda = torch.backends.mps.is_available(), torch.cuda.device_count()
    try:
        device = torch.device(name)
        is_available = {"cpu": True, "cuda": (device.index or 0) < n_cuda, "mps": mps}[device.type]
    except (RuntimeError, KeyError):
        is_available = False
    if not is_available:
        devices = [
            "auto",
            "cpu",
            *(["cuda"] if n_cuda else []),
            *(f"cuda:{index}" for index in range(n_cuda)),
            *(["mps"] if mps else []),
        ]
        raise ConfigError(f"no device {name!r} here", advice=f"use one of {', '.join(devices)}")
    return device.type if device.type == "cpu" else str(device)


def all_cores() -> int:
    """Return the number of cores that this process may use, by OMP_NUM_THREADS or else by its affinity."""
    setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if setting.isascii() and setting.isdigit() and int(setting):
        return int(setting)
    return usable_cores()


def usable_cores() -> int:
    """Return the number of cores that this process may use by its affinity, whatever number of threads is set."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
