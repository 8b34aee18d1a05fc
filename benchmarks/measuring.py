"""How all benchmarks measure: the systems take turns, so that a drift of the machine's speed meets all of them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import torch

from dragoman import Translator
from dragoman.devices import Precision
from dragoman.runtime.kernels import usable_kernels


def in_turns(systems: Mapping[str, Callable[[], float]], n_rounds: int) -> dict[str, list[float]]:
    """Call each system once to warm up, then all of them `n_rounds` times in turn.

    Each call returns how much work it did; the result is work per second, for each system and round.
    """
    for run in systems.values():
        run()
    speeds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(n_rounds):
        for name, run in systems.items():
            started = time.perf_counter()
            work = run()
            speeds[name].append(work / (time.perf_counter() - started))
    return speeds


def loaders() -> dict[str, Callable[..., Translator]]:
    """The ways in which we translate on a CPU: `load` of each takes a run, and the number of workers."""

    def in_numpy(run: str, workers: int = 1) -> Translator:
        """As it is where nothing could be compiled."""
        with patch("dragoman.translator.models.usable_kernels", return_value=()):
            return Translator.load(run, device="cpu", workers=workers)

    ways: dict[str, Callable[..., Translator]] = {"dragoman": partial(Translator.load, device="cpu")}
    for precision in get_args(Precision):
        if usable_kernels(precision) != usable_kernels():
            ways[f"dragoman {precision}"] = partial(Translator.load, device="cpu", precision=precision)
    return ways | {"dragoman in NumPy": in_numpy}


def summary(speeds: Mapping[str, list[float]], yardstick: str) -> dict[str, dict[str, float]]:
    """Each system's median, lowest and highest speed, and the median of its ratios to the yardstick in each round."""
    return {
        name: {
            "median": round(statistics.median(values), 1),
            "lowest": round(min(values), 1),
            "highest": round(max(values), 1),
            "ratio": round(statistics.median(a / b for a, b in zip(values, speeds[yardstick], strict=True)), 3),
        }
        for name, values in speeds.items()
    }


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    flags = {word for line in _lines("/proc/cpuinfo") if line.startswith("flags") for word in line.split()}
    return {
        "processor": names[0] if names else platform.processor(),
        "hardware_threads": os.cpu_count(),
        "threads_used": torch.get_num_threads(),
        "has": sorted(flags & {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8"}),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }


def write(script: str, result: Mapping[str, Any]) -> None:
    """Write `result` and the machine beside the script, and print it."""
    text = json.dumps({"machine": machine(), **result}, indent=2) + "\n"
    Path(script).with_suffix(".json").write_text(text)
    print(text, end="")


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
