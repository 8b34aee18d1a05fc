"""Variants of a recipe, trained under one budget and compared.

Each variant is an ordinary run in a process of its own, so that one that fails takes no other with it, its RAM is its
own, and the same command continues what was stopped.
"""

from __future__ import annotations

import ctypes
import functools
import json
import logging
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dragoman.errors import ConfigError, DragomanError
from dragoman.experiments.outcomes import Outcome, gather_outcomes
from dragoman.experiments.variants import Variant, grid
from dragoman.machine.files import write_file
from dragoman.machine.locks import lock_folder
from dragoman.machine.signals import ending_signals

_log = logging.getLogger(__name__)

_PR_SET_PDEATHSIG = 1


class Comparison(NamedTuple):
    """The results of all variants."""

    outcomes: list[Outcome]  # best BLEU first
    failed: dict[str, int]  # run folder's name -> exit code of its training


def compare(
    settings: Mapping[str, Any],
    vary: Sequence[str],
    folder: Path,
    *,
    one_at_a_time: bool = False,
    device: str = "auto",
) -> Comparison:
    """Train every variant that is not trained yet, and gather the results of all.

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
    recipes = [variant.recipe(settings) for variant in variants]
    with lock_folder(folder):
        failed = _train_all(variants, recipes, device)
        trained = [variant for variant in variants if variant.folder.name not in failed]
        if not trained:
            raise DragomanError("no variant could be trained", folder, advice="see what each said above")
        outcomes = gather_outcomes(trained)
        rows = [asdict(outcome) for outcome in outcomes]
        rows += [{"failed": name, "exit_code": code} for name, code in failed.items()]
        write_file(folder / "results.json", (json.dumps(rows, indent=1) + "\n").encode())
    return Comparison(outcomes, failed)


def _train_all(variants: Sequence[Variant], recipes: Sequence[Mapping[str, Any]], device: str) -> dict[str, int]:
    """Train the variants one after another, and return the exit codes of those that failed, by folder name.

    Raises:
        SystemExit: a signal ended a training, which then did not fail: the comparison ends, too.
    """
    failed = {}
    for number, (variant, recipe) in enumerate(zip(variants, recipes, strict=True), 1):
        name = variant.folder.name
        _log.info(f"variant {number} of {len(variants)}: {name}")
        code = _train(variant, recipe, device)
        ended_by = -code if code < 0 else code - 128
        if ended_by in ending_signals():
            raise SystemExit(128 + ended_by)
        if code != 0:
            _log.info(f"variant {name} failed with exit code {code}; it is left out")
            failed[name] = code
    return failed


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
