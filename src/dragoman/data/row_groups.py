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


def group_by_cost(costs: Sequence[int], budget: int) -> list[list[int]]:
    """Return rows of differing costs in groups of similar ones, within the budget, so that there is little padding.

    The rows are sorted by falling cost. A group ends at the budget, and before a row of half its highest cost.
    """
    groups: list[list[int]] = []
    highest = 0
    for row in sorted(range(len(costs)), key=lambda row: -costs[row]):
        if not groups or (len(groups[-1]) + 1) * highest > budget or 2 * costs[row] <= highest:
            groups.append([])
            highest = costs[row]
        groups[-1].append(row)
    return groups
