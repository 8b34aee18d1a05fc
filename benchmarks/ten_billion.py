"""On paper: what ten billion pairs cost to clean and prepare, to back-translate, and to train on.

    python benchmarks/ten_billion.py            # or another number of pairs: ... 1e9

A calculation, not a measurement at that size. MEASURED are figures of this repository on two cores of a Xeon, with the
file that has them. ASSUMED are figures that nobody measured here; change them to those of your machines and prices.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

MEASURED = {
    "prepare, pairs a second on 2 cores": 41_793,  # scale.json, at ten million pairs
    "prepare, RAM a pair, bytes": 31,  # scale.json: from one to ten million pairs
    "a training process, RAM a pair, bytes": 46,  # scale.json: from one to ten million pairs
    "translation, lines a second on 1 core": 154,  # bulk.json: everyday (37 million weights), greedy, float32
    "two workers, times one": 1.74,  # bulk.json
    "disk, bytes a token": 2,  # the store of prepared pairs
}
ASSUMED = {
    "tokens of a sentence": 30,
    "bytes of a sentence": 120,
    "share of pairs that is back-translated": 0.3,
    "target tokens a second on one GPU, big": 60_000,  # a quarter of what 45 % of 700 TFLOP/s would give
    "passes over the pairs in training": 1.0,
    "scaling to 64 GPUs": 0.85,
    "cores of a machine": 64,
    "RAM of a machine, GB": 512,
    "GPUs of a machine": 8,
    "dollars a core hour": 0.04,
    "dollars a GPU hour": 2.5,
    "dollars a TB month of disk": 25.0,
}


@dataclass(frozen=True)
class Stage:
    """One stage of the work, and its cost."""

    name: str
    machines: float
    hours: float
    dollars: float

    def row(self) -> str:
        """Return a row of a Markdown table."""
        return f"| {self.name} | {self.machines:,.0f} | {self.hours:,.1f} | {self.dollars:,.0f} |"


def stages(n_pairs: float, hours_wanted: float = 72.0) -> list[Stage]:
    """Return the stages; the translation has as many machines as finish it in the time wanted."""
    core_dollars, gpu_dollars = ASSUMED["dollars a core hour"], ASSUMED["dollars a GPU hour"]
    cores = ASSUMED["cores of a machine"]
    # `prepare` makes one store on one machine, and uses four cores at most; two were measured.
    prepare_hours = n_pairs / MEASURED["prepare, pairs a second on 2 cores"] / 3600
    n_lines = n_pairs * ASSUMED["share of pairs that is back-translated"]
    per_core = MEASURED["translation, lines a second on 1 core"] * MEASURED["two workers, times one"] / 2
    core_hours = n_lines / per_core / 3600
    translate_machines = max(1.0, -(-core_hours / cores // hours_wanted))
    tokens = n_pairs * ASSUMED["tokens of a sentence"] * ASSUMED["passes over the pairs in training"]
    n_gpus = 64
    speed = ASSUMED["target tokens a second on one GPU, big"] * n_gpus * ASSUMED["scaling to 64 GPUs"]
    train_hours = tokens / speed / 3600
    return [
        Stage("clean and prepare", 1, prepare_hours, prepare_hours * 2 * core_dollars),
        Stage(
            "back-translate, on CPUs",
            translate_machines,
            core_hours / cores / translate_machines,
            core_hours * core_dollars,
        ),
        Stage("train big", n_gpus / ASSUMED["GPUs of a machine"], train_hours, train_hours * n_gpus * gpu_dollars),
    ]


def limits(n_pairs: float) -> dict[str, str]:
    """Return what a machine needs for all pairs at once, and the number of pairs at which it has too little."""
    ram = ASSUMED["RAM of a machine, GB"] * 1e9
    by_training = MEASURED["a training process, RAM a pair, bytes"] * ASSUMED["GPUs of a machine"]
    by_prepare = MEASURED["prepare, RAM a pair, bytes"]
    tokens = 2 * ASSUMED["tokens of a sentence"] * MEASURED["disk, bytes a token"]
    disk = n_pairs * (tokens + 2 * ASSUMED["bytes of a sentence"])
    month = ASSUMED["dollars a TB month of disk"]
    return {
        "index of the pairs in 8 training processes": _limit(n_pairs, by_training, ram),
        "index of the pairs in prepare": _limit(n_pairs, by_prepare, ram),
        "disk": f"{disk / 1e12:,.1f} TB, {disk / 1e12 * month:,.0f} dollars a month",
    }


def _limit(n_pairs: float, bytes_a_pair: float, ram: float) -> str:
    enough = ram / bytes_a_pair / 1e9
    return f"{n_pairs * bytes_a_pair / 1e9:,.0f} GB; {ram / 1e9:,.0f} GB are enough for {enough:,.1f} billion"


def main() -> None:
    """Print the tables."""
    n_pairs = float(sys.argv[1]) if len(sys.argv) > 1 else 1e10
    print(f"{n_pairs:,.0f} pairs\n")
    print("| stage | machines | hours | dollars |\n|---|---|---|---|")
    rows = stages(n_pairs)
    for stage in rows:
        print(stage.row())
    print(f"| together | | {sum(stage.hours for stage in rows):,.1f} | {sum(stage.dollars for stage in rows):,.0f} |\n")
    for name, limit in limits(n_pairs).items():
        print(f"- {name}: {limit}")


if __name__ == "__main__":
    main()
