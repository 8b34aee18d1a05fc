"""Everything about one GPU in ten minutes, a program for each part, the most wanted ones first.

    python benchmarks/gpu.py --source train.en.gz --target train.de.gz --old ../old/src
    python benchmarks/gpu.py --tiny --device cpu        # a trial of a few minutes; its figures say nothing

The package `dragoman` must be importable: an installed wheel, or PYTHONPATH=src. `--old` names a folder that holds the
package of an older version, such as an unpacked wheel, or what `git archive 7cfb5055 src` has; the parts that compare
two versions run with both. The text is English and German, for example Tatoeba's; without it, made-up captions are
used. The folder gpu gets two small files: gpu.jsonl has a line of JSON for each row, written when it is known, so that
a run that is cut short keeps what it has; gpu.log has what the programs say. A part that fails or takes too long is a
row too, and the next one begins; the exit code is then 1. `--first` runs another script first, such as one that
measures what plain PyTorch reaches.

- products: what a product of large matrices reaches in each precision, which is the yardstick of the training.
- training: `dragoman train` itself, with the models base, big and tiny: target tokens a second, milliseconds a step,
  share of the products' rate, and memory.
- translation: sentences a second, greedy and with beam 4, and milliseconds for one sentence, beside CTranslate2 in
  float16 and Hugging Face's generate, if they are there, with the same weights; equal outputs are counted.
- correctness: the model, its gradients and its search against the CPU, the doctor's checks, two programs on one card.
- resume: the losses of a training with and without CUDA graphs, with another seed, and killed on the way.
- minutes: `dragoman train --time` with nothing configured, and the BLEU of its model with a beam of 5.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Minutes of each part for one version, and True if an older version has them too.
MINUTES: Mapping[str, tuple[float, bool]] = {
    "products": (0.3, False),
    "training": (1.4, True),
    "translation": (0.9, True),
    "correctness": (0.5, False),
    "resume": (0.9, False),
    "minutes": (3.6, False),
}
#: Minutes of all parts, and the seconds that each part of a trial may take: it ends when its little work is done.
ALL_MINUTES, TRIAL_SECONDS = 9.5, 300.0


@dataclass(frozen=True)
class Bench:
    """What all parts need: the device, small sizes for a trial, a clock, text, and a folder for what they share.

    Args:
        deadline: by `time.monotonic`, of the present part.
        text: options of `dragoman` that name the corpus.
    """

    device: Any
    is_tiny: bool
    deadline: float
    text: tuple[str, ...] = ("--corpus", "captions")
    folder: Path = Path("gpu")

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    def synchronize(self) -> None:
        """Wait until the device has done all that it was asked for."""
        if self.device.type == "cuda":
            import torch

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


def products(bench: Bench) -> Iterator[dict[str, Any]]:
    """The machine, and the rate of products of square matrices by precision."""
    import torch

    yield machine(bench.device)
    for name in ("bfloat16", "float16", "float32"):
        size = 256 if bench.is_tiny else 8192
        left, right = (torch.randn(size, size, device=bench.device, dtype=getattr(torch, name)) for _ in range(2))

        def multiply(left: Any = left, right: Any = right) -> float:
            for _ in range(10):
                left @ right
            return 10 * 2.0 * len(left) ** 3

        rate = bench.rate(multiply, 0.2 if bench.is_tiny else 2.0)
        yield {"products": name, "TFLOP/s": round(rate / 1e12, 3)}


def rows_of(part: str, bench: Bench) -> Iterable[dict[str, Any]]:
    """Return the rows of a part, each when it is known."""
    if part == "products":
        return products(bench)
    if part == "correctness":
        from gpu_correctness import correctness

        return correctness(bench)
    if part == "translation":
        from gpu_translation import translation

        return translation(bench)
    import gpu_training

    found: Iterable[dict[str, Any]] = getattr(gpu_training, part)(bench)
    return found


def machine(device: Any) -> dict[str, Any]:
    """The facts that the figures depend on."""
    import torch

    facts: dict[str, Any] = {"python": platform.python_version(), "torch": torch.__version__, "device": str(device)}
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        facts |= {"gpu": properties.name, "GiB": round(properties.total_memory / 2**30, 1), "cuda": torch.version.cuda}
    return facts


def run_part(given: argparse.Namespace) -> None:
    """Print the rows of one part, in a program of its own."""
    import torch

    device = torch.device("cuda" if given.device == "auto" and torch.cuda.is_available() else given.device)
    text = ("--source", given.source, "--target", given.target) if given.source else ("--corpus", "captions")
    languages = ("--source-lang", "en", "--target-lang", "de") if given.source else ()
    bench = Bench(device, given.tiny, time.monotonic() + given.seconds, (*text, *languages), given.folder)
    try:
        for row in rows_of(given.part, bench):
            print(json.dumps(row), flush=True)
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)


def watch(command: list[str], environment: Mapping[str, str], seconds: float, log: Path) -> Iterator[dict[str, Any]]:
    """Run a program with all that it starts for so many seconds at most, and yield its lines of JSON."""
    is_late = threading.Event()
    with (
        log.open("a") as errors,
        subprocess.Popen(
            command, env=dict(environment), stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        ) as program,
    ):

        def end() -> None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)

        clock = threading.Timer(seconds, lambda: (is_late.set(), end()))
        clock.start()
        assert program.stdout is not None
        try:
            for line in program.stdout:
                with contextlib.suppress(json.JSONDecodeError):
                    row = json.loads(line)
                    yield row if isinstance(row, dict) else {"value": row}
            program.wait()
        finally:
            clock.cancel()
            end()
    if is_late.is_set():
        yield {"error": f"not done after {seconds:.0f} seconds"}
    elif program.returncode:
        yield {"error": f"ended with {program.returncode}"}


def main() -> None:
    """Run the parts, and write gpu.jsonl and gpu.log."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=ALL_MINUTES, help=f"for all; default {ALL_MINUTES}")
    options.add_argument("--device", default="auto")
    options.add_argument("--tiny", action="store_true", help="small sizes, to try the script")
    options.add_argument("--source", help="English text")
    options.add_argument("--target", help="its German translation")
    options.add_argument("--old", type=Path, help="the folder of an older package, to compare with")
    options.add_argument("--first", type=Path, help="a script to run first, with its lines of JSON; 75 seconds at most")
    options.add_argument("--only", choices=list(MINUTES), action="append", help="these parts; may be repeated")
    options.add_argument("--output", type=Path, default=Path("gpu"), help="a folder for gpu.jsonl and gpu.log")
    options.add_argument("--folder", type=Path, default=Path("gpu-runs"), help="for models and prepared text")
    options.add_argument("--part", help=argparse.SUPPRESS)
    options.add_argument("--seconds", type=float, default=60.0, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.part:
        run_part(given)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the program that is running, too
    for folder in (given.folder, given.output):
        folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * given.minutes
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    versions = {"new": paths} | ({"old": [str(given.old), *paths]} if given.old else {})
    wanted = [(part, version) for part in given.only or MINUTES for version in versions]
    wanted = [(part, version) for part, version in wanted if version == "new" or MINUTES[part][1]]
    weights = [MINUTES[part][0] for part, _ in wanted]
    same = [sys.executable, __file__, "--device", given.device, "--folder", str(given.folder)]
    same += ["--tiny"] * given.tiny + (["--source", given.source, "--target", given.target] if given.source else [])
    n_errors = 0

    def record(part: str, version: str, command: list[str], seconds: float) -> None:
        nonlocal n_errors
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(versions[version])}
        if given.tiny:  # threads that wait for each other beside other programs take many times as long
            environment["OMP_NUM_THREADS"] = "1"
        started = time.monotonic()
        for row in watch(command, environment, seconds, given.output / "gpu.log"):
            passed = round(time.monotonic() - started, 1)
            line = json.dumps({"part": part, "version": version, **row, "after s": passed})
            with (given.output / "gpu.jsonl").open("a") as file:
                file.write(line + "\n")
            print(line, flush=True)
            n_errors += "error" in row

    if given.first:
        record(given.first.stem, "new", [sys.executable, str(given.first)], 75)
    for index, (part, version) in enumerate(wanted):
        share = weights[index] / sum(weights[index:])
        seconds = TRIAL_SECONDS if given.tiny else max(5.0, (end - time.monotonic()) * share)
        record(part, version, [*same, "--part", part, "--seconds", str(seconds)], seconds + 5)
    sys.exit(1 if n_errors else 0)


if __name__ == "__main__":
    main()
