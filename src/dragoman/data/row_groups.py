"""Rows of a batch in groups that are computed one after the other, its micro-batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

#: The time that one more group costs, in tokens of padding that take the same time.
_GROUP_COST = 200


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
    """Return rows of differing costs in groups of similar ones, within the budget, for little padding in few groups.

    The rows are sorted by falling cost and cut where the sum of all groups, size times highest cost and something for
    each group, is least.
    """
    order = sorted(range(len(costs)), key=lambda row: -costs[row])
    levels = [(cost, len(list(rows))) for cost, rows in groupby(costs[row] for row in order)]
    # The least sum for all rows up to a level, and the level at which its last group begins.
    sums, starts = [0], [0]
    for end in range(1, len(levels) + 1):
        n_rows, best, start = 0, 0, end
        for begin in range(end - 1, -1, -1):
            cost, count = levels[begin]
            n_rows += count
            n_groups = -(-n_rows // max(1, budget // cost))
            total = sums[begin] + n_rows * cost + n_groups * _GROUP_COST
            if start == end or total < best:
                best, start = total, begin
        sums.append(best)
        starts.append(start)
    groups: list[list[int]] = []
    end, last = len(levels), len(order)
    while end:
        first = last - sum(count for _, count in levels[starts[end] : end])
        rows = order[first:last]
        groups += [[rows[row] for row in group] for group in group_rows([costs[row] for row in rows], budget)][::-1]
        end, last = starts[end], first
    return groups[::-1]
