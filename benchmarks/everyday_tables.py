"""Tables of benchmarks/everyday.py, 80 columns wide, and what is printed to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everyday_made_up import KINDS, N_SENTENCES

#: The goals of the everyday models: points of BLEU that a perturbation may cost, and the share of made-up sentences.
MOST_LOST = {"CAPS": 3.0, "no final mark": 1.0, "typo": 8.0}
MADE_UP_GOAL = 99.0


def n_made_up(result: Mapping[str, Any]) -> float:
    """Return the percentage of made-up sentences that are right."""
    return 100 * sum(result["made up"].values()) / (N_SENTENCES * len(KINDS))


def table(result: Mapping[str, Any]) -> list[str]:
    """Return the lines of a direction's table, 80 columns wide."""
    notes = {True: "", False: "  (missed)"}
    title = f"{result['direction']}: {result['sources']:,} sources, {result['pairs']:,} pairs, beam {result['beam']}"
    lines = ["=" * 80, f"{title}, {result['sentences a second']:,.0f} sentences/s", "=" * 80]
    lines.append(f"BLEU {result['BLEU']:.2f}   chrF2 {result['chrF2']:.2f}   with all references")
    lines.append(f"BLEU {result['BLEU, one reference']:.2f}                 of all pairs, one reference each")
    if result["BLEU, long"] is not None:
        lines.append(f"BLEU {result['BLEU, long']:.2f}                 of {result['long sources']} long sources")
    lines.append("perturbed, all compared lower-cased and without final marks:")
    scores = result["perturbed"]
    for name, score in scores.items():
        lost = scores["clean"] - score
        goal = f"goal: at most {MOST_LOST[name]:g}{notes[lost <= MOST_LOST[name]]}" if name in MOST_LOST else ""
        lines.append(f"  {name:<14}{score:>7.2f}" + ("" if name == "clean" else f"{-lost:>+8.2f}   {goal}").rstrip())
    share = n_made_up(result)
    lines.append(
        f"made up: {share:.1f} % of 200 right, goal: {MADE_UP_GOAL:g}{notes[share >= MADE_UP_GOAL]}; of 25 each:"
    )
    cells = [f"{kind} {result['made up'][kind]}" for kind in KINDS]
    lines += ["  " + "  ".join(cells[:4]), "  " + "  ".join(cells[4:])]
    lines.append("phrases as listed (others may be right, too):")
    cells = [f"{kind} {n}/{of}" for kind, (n, of) in result["phrases"].items()]
    return [*lines, "  " + "  ".join(cells[:3]), "  " + "  ".join(cells[3:])]


def reading(result: Mapping[str, Any]) -> list[str]:
    """Return the lines to be read by hand."""
    marks = {True: "+", False: "-"}
    lines = ["", "phrases (+ as listed; - read it):"]
    for each in result["phrases read"]:
        expected = "" if each["right"] else f"   [{each['expected']}]"
        lines.append(f"  {marks[each['right']]} {each['source']}  ->  {each['translation']}{expected}")
    lines += ["", "unusual sentences, to be marked by hand:"]
    for each in result["unusual read"]:
        lines += [
            f"  {each['kind']}: {each['source']}",
            f"      -> {each['translation']}",
            f"         {each['by hand']}",
        ]
    return lines


def summary(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of the table of all directions, 80 columns wide."""
    changes = ("CAPS", "no final mark", "typo", "lower case")
    head = ("BLEU", "1 ref", "long", "chrF2", "CAPS", "mark", "typo", "lower")
    lines = ["=" * 80, f"{'':<6}" + "".join(f"{each:>7}" for each in head) + f"{'made up':>9}{'phrases':>9}"]
    for result in results:
        scores = result["perturbed"]
        cells = [result["BLEU"], result["BLEU, one reference"], result["BLEU, long"], result["chrF2"]]
        row = f"{result['direction']:<6}" + "".join("      -" if each is None else f"{each:>7.2f}" for each in cells)
        row += "".join(f"{scores[name] - scores['clean']:>+7.2f}" if name in scores else "      -" for name in changes)
        right, of = (sum(column) for column in zip(*result["phrases"].values(), strict=True))
        lines.append(row + f"{n_made_up(result):>8.1f}%" + f"{100 * right / of:>8.1f}%")
    return lines
