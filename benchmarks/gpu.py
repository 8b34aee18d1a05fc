"""Everything about one GPU in ten minutes: training, translation beside other systems, and correctness.

    python benchmarks/gpu.py                  # on a GPU, with the extra `bench`
    python benchmarks/gpu.py --tiny --device cpu --minutes 3     # a trial on a CPU; its figures say nothing

Each part has a share of the minutes, and an error of one does not stop the others. gpu.json is written after each part,
so that a run that is cut short keeps what it has:

- products: what a product of large matrices reaches in each precision, which is the yardstick of the training.
- training: target tokens a second, share of the products' rate and memory, for base and big, in bfloat16 and float16,
  as it is and with compiled layers.
- translation: sentences a second, greedy and with beam 4, and milliseconds for one sentence, beside CTranslate2 in
  float16 and Hugging Face's generate, with the same weights; equal outputs are counted.
- correctness: the model, its gradients and its search against the CPU, the doctor's checks, two programs on one card.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

#: Shares of the minutes. What a part leaves is used by those after it.
SHARES = {"products": 0.05, "training": 0.4, "translation": 0.35, "correctness": 0.2}


@dataclass(frozen=True)
class Bench:
    """What all parts need: the device, small sizes for a trial, and a clock.

    Args:
        deadline: by `time.monotonic`, of the present part.
    """

    device: torch.device
    is_tiny: bool
    deadline: float

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def synchronize(self) -> None:
        """Wait until the device has done all that it was asked for."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def rate(self, work: Callable[[], float], seconds: float, n_warm: int = 2) -> float:
        """Return work per second, repeated for `seconds`, after a few calls that do not count."""
        for _ in range(n_warm):
            work()
        self.synchronize()
        began, done = time.perf_counter(), 0.0
        while True:
            done += work()
            self.synchronize()
            if (passed := time.perf_counter() - began) >= seconds:
                return done / passed


def products(bench: Bench, results: dict[str, Any]) -> dict[str, float]:
    """The rate of products of square matrices in TFLOP/s, by precision."""
    size = 256 if bench.is_tiny else 8192
    rates = {}
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16), ("float32", torch.float32)):
        left, right = (torch.randn(size, size, device=bench.device).to(dtype) for _ in range(2))
        rates[name] = bench.rate(lambda left=left, right=right: _multiply(left, right), 0.2 if bench.is_tiny else 3.0)
    return {name: round(rate / 1e12, 3) for name, rate in rates.items()}


def _multiply(left: torch.Tensor, right: torch.Tensor) -> float:
    for _ in range(10):
        left @ right
    return 10 * 2.0 * left.size(0) ** 3


def machine(device: torch.device) -> dict[str, Any]:
    """The facts that the figures depend on."""
    facts: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__, "device": str(device)}
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        facts |= {"gpu": properties.name, "GiB": round(properties.total_memory / 2**30, 1), "cuda": torch.version.cuda}
    return facts


def main() -> None:
    """Run the parts, and write gpu.json."""
    from gpu_correctness import correctness
    from gpu_training import training
    from gpu_translation import translation

    from dragoman.machine.devices import find_device

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=9.5)
    options.add_argument("--device", default="cuda")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script")
    options.add_argument("--only", choices=list(SHARES), action="append", help="these parts; may be repeated")
    options.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    given = options.parse_args()
    device, began = torch.device(find_device(given.device)), time.monotonic()
    results: dict[str, Any] = {"machine": machine(device), "tiny": given.tiny}
    parts = {"products": products, "training": training, "translation": translation, "correctness": correctness}
    share, seconds = 0.0, 60 * given.minutes
    for name, part in parts.items():
        if given.only and name not in given.only:
            continue
        share += SHARES[name]
        bench, started = Bench(device, given.tiny, began + share * seconds), time.monotonic()
        try:
            results[name] = part(bench, results)
        except Exception as error:  # the other parts go on
            results[name] = {"error": f"{type(error).__name__}: {error}"}
            traceback.print_exc()
        results[name]["seconds"] = round(time.monotonic() - started, 1)
        given.output.write_text(json.dumps(results, indent=2) + "\n")
        print(json.dumps({name: results[name]}, indent=2), flush=True)


if __name__ == "__main__":
    main()
