"""Variants of a recipe, trained under one budget and set side by side.

Each variant is an ordinary run in a process of its own, so that one that fails takes no other with it, its memory is
its own, and the same command continues what was stopped.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import json
import logging
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dragoman.errors import ConfigError, DragomanError
from dragoman.inspection.curves import read_metrics
from dragoman.machine.files import write_file
from dragoman.machine.locks import lock_folder
from dragoman.settings.parsing import check_request, parse_config
from dragoman.settings.recipe import override_settings, parse_vary, read_recipe
from dragoman.training.validation import Validation

_log = logging.getLogger(__name__)

#: The setting whose values are repetitions of one variant rather than variants.
SEED = "training.seed"
#: SIGHUP, SIGINT and SIGTERM: a training that one of them ended was to stop, and did not fail.
STOPPING = (1, 2, 15)
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Variant:
    """One point of the grid."""

    choices: Mapping[str, str]  # setting -> value, as given
    folder: Path

    @property
    def name(self) -> str:
        """What is special about it, without its seed."""
        return ", ".join(f"{key}={value}" for key, value in self.choices.items() if key != SEED) or "as the recipe"


@dataclass(frozen=True)
class Outcome:
    """What became of one variant, over all its seeds; each figure is a mean."""

    name: str
    n_seeds: int
    n_parameters: int
    bleu: float  # greedy, of the best validation, as the training chose it
    bleu_spread: float | None  # standard deviation over seeds
    loss: float  # of the best validation, nats a token
    target_tokens: int
    tokens_per_second: float
    seconds: float
    peak_memory: float | None  # MiB
    curves: list[list[tuple[int, float]]]  # for each seed (step, validation loss)


class Comparison(NamedTuple):
    """What became of the variants."""

    outcomes: list[Outcome]  # best BLEU first
    failed: dict[str, int]  # run folder's name -> exit code of its training


def grid(vary: Sequence[str], folder: Path, *, one_at_a_time: bool = False) -> list[Variant]:
    """The variants that `key=value,value,...` ask for, each with a run folder below `folder`.

    Every combination of the values; or, one at a time, the recipe itself and every single value. Either way with every
    seed, if seeds are given.

    Raises:
        ConfigError: one is not of that form, or a key is given twice.
    """
    axes: dict[str, list[str]] = {}
    for each in vary:
        key, values = parse_vary(each, "model.norm=post,pre")
        if key in axes:
            raise ConfigError(f"--vary {key} is given twice", advice="list all its values at once")
        axes[key] = values
    if one_at_a_time:
        seeds = [{SEED: seed} for seed in axes.pop(SEED, [])] or [{}]
        single = [{}, *({key: value} for key, values in axes.items() for value in values)]
        points = [choice | seed for choice in single for seed in seeds]
    else:
        points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    short = {key: key if _ambiguous(key, axes) else key.rpartition(".")[2] for key in (*axes, SEED)}
    variants = []
    for choices in points:
        name = ",".join(f"{short[key]}={value}" for key, value in choices.items())
        variants.append(Variant(choices, folder / (name or "recipe").replace("/", "-")))
    return variants


def _ambiguous(key: str, keys: Iterable[str]) -> bool:
    """Whether another key ends in the same word."""
    return sum(each.rpartition(".")[2] == key.rpartition(".")[2] for each in keys) > 1


def compare(
    settings: Mapping[str, Any],
    vary: Sequence[str],
    folder: Path,
    *,
    one_at_a_time: bool = False,
    device: str = "auto",
) -> Comparison:
    """Train every variant that is not trained yet, and gather what became of all.

    Args:
        settings: a recipe, as `recipe.read_recipe` gives it.
        vary: settings with their values, `model.norm=post,pre`.
        one_at_a_time: train the recipe and every single change of it, rather than all combinations.
        folder: holds a run folder for each, and `results.json`.

    Raises:
        ConfigError: a variant is not a valid configuration; nothing was trained then.
        DragomanError: no variant could be trained.
        RunFolderError: another process is at work in a folder.
    """
    variants = grid(vary, folder, one_at_a_time=one_at_a_time)
    recipes = [_recipe(settings, variant) for variant in variants]
    failed = {}
    with lock_folder(folder):
        for number, (variant, recipe) in enumerate(zip(variants, recipes, strict=True), 1):
            _log.info(f"variant {number} of {len(variants)}: {variant.folder.name}")
            code = _train(variant, recipe, device)
            ended_by = -code if code < 0 else code - 128
            if ended_by in STOPPING:
                raise SystemExit(128 + ended_by)
            if code != 0:
                _log.info(f"variant {variant.folder.name} failed with exit code {code}; it is left out")
                failed[variant.folder.name] = code
        trained = [variant for variant in variants if variant.folder.name not in failed]
        if not trained:
            raise DragomanError("no variant could be trained", folder, advice="see what each said above")
        outcomes = _gather(trained)
        rows = [asdict(outcome) for outcome in outcomes]
        rows += [{"failed": name, "exit_code": code} for name, code in failed.items()]
        write_file(folder / "results.json", (json.dumps(rows, indent=1) + "\n").encode())
    return Comparison(outcomes, failed)


def _recipe(settings: Mapping[str, Any], variant: Variant) -> dict[str, Any]:
    """The settings of one variant, checked."""
    recipe: dict[str, Any] = json.loads(json.dumps(settings))
    override_settings(recipe, [f"{key}={value}" for key, value in variant.choices.items()])
    check_request(recipe, variant.folder.name)
    return recipe


def _train(variant: Variant, recipe: Mapping[str, Any], device: str) -> int:
    """Train or continue one variant, and return the exit code.

    Raises:
        RunFolderError: another process is at work in its folder.
    """
    folder, file = variant.folder, variant.folder / "variant.yaml"
    with lock_folder(folder):
        earlier = file.read_bytes() if file.exists() else None
        write_file(file, yaml.safe_dump(recipe, sort_keys=False).encode())
    command = [sys.executable, "-m", "dragoman", "train", str(file), "-o", str(folder), "--device", device]
    code = _run(command)
    if code == ConfigError.exit_code and earlier is not None:
        write_file(file, earlier)  # the run was made with other settings, and keeps them
    return code


def _run(command: Sequence[str]) -> int:
    """Run a command that ends when this process does, and return its exit code."""
    end_with_parent = None
    if sys.platform == "linux":  # elsewhere it outlives a kill that this process cannot pass on
        end_with_parent = functools.partial(ctypes.CDLL(None).prctl, _PR_SET_PDEATHSIG, signal.SIGTERM)
    # In a session of its own, so that Ctrl-C on a terminal reaches it once, from here.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True, preexec_fn=end_with_parent)
    while True:
        try:
            return process.wait()
        except (KeyboardInterrupt, SystemExit):
            process.terminate()  # it finishes its step and saves; at the second time it stops at once


def _gather(variants: Sequence[Variant]) -> list[Outcome]:
    """One outcome for each name, best BLEU first."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for variant in variants:
        by_name.setdefault(variant.name, []).append(_figures(variant.folder))
    outcomes = [_outcome(name, runs) for name, runs in by_name.items()]
    return sorted(outcomes, key=lambda outcome: -outcome.bleu)


def _outcome(name: str, runs: Sequence[Mapping[str, Any]]) -> Outcome:
    def mean(key: str) -> float:
        return statistics.fmean(run[key] for run in runs)

    memory = [run["peak_memory"] for run in runs]
    return Outcome(
        name=name,
        n_seeds=len(runs),
        n_parameters=runs[0]["n_parameters"],
        bleu=mean("bleu"),
        bleu_spread=statistics.stdev(run["bleu"] for run in runs) if len(runs) > 1 else None,
        loss=mean("loss"),
        target_tokens=round(mean("target_tokens")),
        tokens_per_second=mean("tokens_per_second"),
        seconds=mean("seconds"),
        peak_memory=None if None in memory else statistics.fmean(memory),
        curves=[run["curve"] for run in runs],
    )


def _figures(run: Path) -> dict[str, Any]:
    """What the log of one run says of it."""
    records = read_metrics(run)
    steps = [record for record in records if "target_tokens" in record]
    validations = [record for record in records if "validation_bleu" in record]
    best_by = parse_config(read_recipe(run / "config.yaml")).training.best_by
    best = max(validations, key=lambda record: _validation(record).score(best_by))
    return {
        "n_parameters": validations[-1]["n_parameters"],
        "bleu": best["validation_bleu"],
        "loss": best["validation_loss"],
        "target_tokens": steps[-1]["target_tokens"],
        "tokens_per_second": statistics.median(record["target_tokens_per_second"] for record in steps),
        "seconds": steps[-1]["seconds"],
        "peak_memory": validations[-1].get("peak_memory_mib"),
        "curve": [(record["step"], record["validation_loss"]) for record in validations],
    }


def _validation(record: Mapping[str, Any]) -> Validation:
    return Validation(float(record["validation_loss"]), float(record["validation_bleu"]))


def require_matplotlib() -> None:
    """Refuse to plot without it.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError("the plot needs matplotlib", advice='pip install "dragoman[plot]"')


def plot_curves(outcomes: Sequence[Outcome], path: Path) -> None:
    """Validation loss over steps, one line a run, one colour and kind of line a variant, the best first.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    for number, outcome in enumerate(outcomes):
        for seed, curve in enumerate(outcome.curves):
            label = outcome.name if seed == 0 else None
            style = ("-", "--", ":")[number // 10 % 3]
            axes.plot(*zip(*curve, strict=True), color=f"C{number % 10}", linestyle=style, label=label, marker=".")
    axes.set(xlabel="step", ylabel="validation loss, nats a token")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1.0))
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
