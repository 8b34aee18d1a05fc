"""Run folders that are removed, renamed or replaced at random moments under the training that writes into them.

A program of its own, as `interruptions.py` is. The training must end with one line and write nothing into what has the
folder's name afterwards. Prints one JSON object with counts; the first trial that fails ends it with the arguments that
repeat it.

    python removed_folders.py 80 --seed 3          # 80 trials, each kind in turn
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from interruptions import Life, outcome, write_recipe

from dragoman.errors import BundleError
from dragoman.machine.folders import verify_folder

#: What a training says whose folder was taken away, in one line.
LOST = r"error: the folder or its lock file was removed, renamed or replaced while in use: \S+; [^\n]+\n"

#: Files of a checkpoint: weights, their moving average, the optimizer's state, and the progress.
N_FILES = 4


def _is_whole(checkpoint: Path) -> bool:
    try:
        manifest = verify_folder(checkpoint)
    except BundleError:
        return False
    return len(manifest["files"]) == N_FILES  # what was removed before its manifest was written is missing there


def _without_older_bundles(found: dict[str, Any]) -> dict[str, Any]:
    """Leave out the bundles that only checkpoints before the last one name: they go with those checkpoints."""
    kept = {"checkpoints", *(f"bundles/{name}" for name in found["pointers"].values())}
    weights = {
        path: digest for path, digest in found["weights"].items() if any(path.startswith(f"{one}/") for one in kept)
    }
    return {**found, "weights": weights}


class Trial:
    """One training, and what happens to its folder."""

    def __init__(self, recipe: Path, place: Path, length: float, dice: random.Random, whole: dict[str, Any]) -> None:
        self.recipe, self.place, self.length, self.dice, self.whole = recipe, place, length, dice, whole
        self.parent = place / "parent"
        self.folder, self.moved, self.other = self.parent / "run", place / "moved", place / "other"

    def begin(self) -> Life:
        """Start the training, and wait until it has locked its folder, and for some moment after that."""
        life = Life(self.recipe, self.folder, say=self.place / "said")
        while not (self.folder / "lock").exists():
            time.sleep(0.0005)
        time.sleep(self.dice.uniform(0, 0.8 * self.length))
        return life

    def end(self, life: Life, *, may_finish: bool = False) -> bool:
        """Wait for the end; return True if the training noticed, False if it was over before."""
        code, said = life.wait(), life.said()
        assert "Traceback" not in said, said
        assert code in (0, 1), f"exit code {code}: {said}"
        if code == 0:
            assert may_finish or "saved step 30" in said, said
            return False
        assert re.search(f"^{LOST}$", said, re.MULTILINE), said
        assert said.count("error: ") == 1, said
        return True

    def finish(self, folder: Path) -> None:
        """The same command ends as if nothing had happened."""
        life = Life(self.recipe, folder, say=self.place / "said-again")
        assert life.wait() == 0, life.said()
        assert outcome(folder) == self.whole

    def removed(self) -> bool:
        life = self.begin()
        _remove(self.folder)
        noticed = self.end(life)
        assert not self.folder.exists(), list(self.folder.iterdir())
        return noticed

    def renamed(self) -> bool:
        life = self.begin()
        self.folder.rename(self.moved)
        noticed = self.end(life)
        assert not self.folder.exists()
        self.finish(self.moved)
        return noticed

    def renamed_and_back(self) -> bool:
        life = self.begin()
        self.folder.rename(self.moved)
        time.sleep(self.dice.uniform(0, 0.01))
        self.moved.rename(self.folder)
        noticed = self.end(life, may_finish=True)
        self.finish(self.folder)
        return noticed

    def recreated(self) -> bool:
        life = self.begin()
        self.folder.rename(self.moved)
        self.folder.mkdir()
        noticed = self.end(life)
        assert not list(self.folder.iterdir())
        return noticed

    def replaced_by_another_training(self) -> bool:
        life = self.begin()
        self.folder.rename(self.moved)
        second = Life(self.recipe, self.folder, say=self.place / "said-second")
        noticed = self.end(life)
        assert second.wait() == 0, second.said()
        assert not re.search("error|damaged|not saved", second.said()), second.said()
        assert outcome(self.folder) == self.whole
        self.finish(self.moved)
        return noticed

    def replaced_by_a_link(self) -> bool:
        self.other.mkdir()
        life = self.begin()
        self.folder.rename(self.moved)
        self.folder.symlink_to(self.other)
        noticed = self.end(life)
        assert not list(self.other.iterdir())
        return noticed

    def replaced_by_a_link_to_itself(self) -> bool:
        """It is the same folder still, for all but the moment between."""
        life = self.begin()
        self.folder.rename(self.moved)
        self.folder.symlink_to(self.moved)
        noticed = self.end(life, may_finish=True)
        self.finish(self.folder)
        return noticed

    def parent_removed(self) -> bool:
        life = self.begin()
        _remove(self.parent)
        noticed = self.end(life)
        assert not self.parent.exists()
        return noticed

    def lock_removed(self) -> bool:
        life = self.begin()
        (self.folder / "lock").unlink()
        noticed = self.end(life)
        self.finish(self.folder)
        return noticed

    def checkpoints_removed(self) -> bool:
        """The run goes on, and what it saves later is there; only a save that was hit may fail, if it was the last."""
        life = self.begin()
        _remove(self.folder / "checkpoints")
        code, said = life.wait(), life.said()
        assert "Traceback" not in said, said
        if code:
            assert re.search(r"^error: [^\n]+\n$", said, re.MULTILINE), said
        elif _is_whole(self.folder / "checkpoints" / "step-30"):  # else the removal hit the last save itself
            assert _without_older_bundles(outcome(self.folder)) == _without_older_bundles(self.whole)
        return bool(code)


def _remove(folder: Path) -> None:
    """As `rm -r` that is repeated while somebody writes there."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


KINDS: tuple[Callable[[Trial], bool], ...] = (
    Trial.removed,
    Trial.renamed,
    Trial.renamed_and_back,
    Trial.recreated,
    Trial.replaced_by_another_training,
    Trial.replaced_by_a_link,
    Trial.replaced_by_a_link_to_itself,
    Trial.parent_removed,
    Trial.lock_removed,
    Trial.checkpoints_removed,
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trials", type=int)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        recipe = write_recipe(Path(name))
        started = time.monotonic()
        life = Life(recipe, recipe.parent / "whole", say=recipe.parent / "said")
        assert life.wait() == 0, life.said()
        length, whole = time.monotonic() - started, outcome(recipe.parent / "whole")
        for number in range(arguments.trials):
            seed, kind = arguments.seed + number, KINDS[(arguments.seed + number) % len(KINDS)]
            place = Path(name) / f"trial-{seed}"
            place.mkdir()
            try:
                noticed = kind(Trial(recipe, place, length, random.Random(seed), whole))
            except AssertionError as error:
                raise AssertionError(f"{kind.__name__}: removed_folders.py 1 --seed {seed}: {error}") from error
            counts["trials"] += 1
            counts["noticed"] += noticed
            shutil.rmtree(place)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
