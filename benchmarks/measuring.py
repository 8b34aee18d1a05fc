"""Measuring for all benchmarks: the systems take turns, so that a drift of the machine's speed affects all of them."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import torch

from dragoman import Translator
from dragoman.machine.devices import Precision
from dragoman.native.kernels import Kernels, usable_kernels

#: What of a processor matters here, as Linux names it.
FLAGS = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "amx_int8"}
#: Whether the libraries were told to do without, by `make bench-translate-avx2`, so that we do, too.
WITHOUT_AVX512 = os.environ.get("ONEDNN_MAX_CPU_ISA") == "AVX2"


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


def memory_mib(process: int | str = "self") -> dict[str, int]:
    """Return the memory of a process in MiB, by the kernel's names; nothing after its end."""
    lines = [line.split() for line in _lines(f"/proc/{process}/status")]
    return {line[0].rstrip(":"): int(line[1]) // 1024 for line in lines if line[0].startswith(("Rss", "VmHWM"))}


def run_measured(command: Sequence[str]) -> tuple[float, int]:
    """Run a command; return its seconds, and the most MiB that it had resident, read shortly before its end."""
    peak, started = 0, time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory_mib(process.pid).get("VmHWM", 0))
            time.sleep(0.02)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)[:200]} failed")
    return time.perf_counter() - started, peak


def loaders() -> dict[str, Callable[..., Translator]]:
    """The ways in which we translate on a CPU: `load` of each takes a run, and the number of workers."""

    def usable(precision: Precision) -> list[Kernels]:
        return [each for each in usable_kernels(precision) if not WITHOUT_AVX512 or each.name.endswith("avx2")]

    def load(kernels: Sequence[Kernels], run: str, workers: int = 1) -> Translator:
        with patch("dragoman.translator.models.usable_kernels", return_value=kernels):
            return Translator.load(run, device="cpu", workers=workers)

    floats, *others = get_args(Precision)
    ways = {"dragoman": usable(floats)}
    ways |= {f"dragoman {each}": usable(each) for each in others if usable(each) != usable(floats)}
    return {name: partial(load, kernels) for name, kernels in ways.items()}


def summary(speeds: Mapping[str, list[float]], yardstick: str) -> dict[str, dict[str, float]]:
    """Return each system's median, lowest and highest speed, and the median of its ratios to the yardstick."""
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
    """Return the facts about this machine that the figures depend on."""
    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    flags = {word for line in _lines("/proc/cpuinfo") if line.startswith("flags") for word in line.split()}
    return {
        "processor": names[0] if names else platform.processor(),
        "hardware_threads": os.cpu_count(),
        "threads_used": torch.get_num_threads(),
        "has": sorted(flags & ({"avx2"} if WITHOUT_AVX512 else FLAGS)),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }


def write(script: str, result: Mapping[str, Any]) -> None:
    """Write `result` and the machine beside the script, in place of what such a processor had there, and print it."""
    path, own = Path(script).with_suffix(".json"), {"machine": machine(), **result}
    results = json.loads(path.read_text()) if path.exists() else []
    kinds = [(each["machine"]["processor"], each["machine"]["has"]) for each in (*results, own)]
    place = kinds.index(kinds[-1])
    results[place : place + 1] = [own]
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(json.dumps(own, indent=2))


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []
