"""Rows of a batch in groups that are computed one after the other, its micro-batches."""

from __future__ import annotations

from collections.abc import Sequence


def group_rows(costs: Sequence[int], budget: int | None) -> list[list[int]]:
    """Return rows in groups whose size times highest cost stays within the budget; a single row may exceed it."""
    groups: list[list[int]] = []
    highest = 0
    for row, cost in enumerate(costs):
        highest = max(highest, cost)
        if not groups or (budget is not None and (len(groups[-1]) + 1) * highest > budget):
            groups.append([])
            highest = cost
        groups[-1].append(row)
    return groups


def group_by_cost(costs: Sequence[int], budget: int, extra: int) -> list[list[int]]:
    """Return rows of differing costs in the cheapest groups within the budget, from high costs to low ones.

    A group costs its size times its highest cost, and `extra`. A single row may exceed the budget.
    """
    rows = sorted(range(len(costs)), key=lambda row: costs[row])
    ends = [
        0,
        *(end for end in range(1, len(rows) + 1) if end == len(rows) or costs[rows[end]] != costs[rows[end - 1]]),
    ]

    def n_groups(start: int, end: int) -> int:
        most = max(1, budget // costs[rows[end - 1]])
        return -(-(end - start) // most)

    # By an end: the least cost of all rows before it, and the start of the last of their groups.
    cheapest = {0: (0, 0)}
    for number, end in enumerate(ends[1:], 1):
        highest = costs[rows[end - 1]]
        cheapest[end] = min(
            (cheapest[start][0] + (end - start) * highest + n_groups(start, end) * extra, start)
            for start in ends[:number]
        )
    groups: list[list[int]] = []
    end = len(rows)
    while end:
        start = cheapest[end][1]
        size = -(-(end - start) // n_groups(start, end))
        groups += [rows[first : min(first + size, end)] for first in range(start, end, size)]
        end = start
    return groups
