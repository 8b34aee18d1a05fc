"""The marks of a text as a tree: each has those inside it as children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dragoman.text.mark import Mark


@dataclass
class Node:
    """A mark in the tree of marks, with its place in the translation, in units."""

    mark: Mark
    order: int
    children: list[Node] = field(default_factory=list)
    start: int = 0
    end: int = 0


def mark_tree(marks: Sequence[Mark]) -> list[Node]:
    """Return the outermost marks; each has those inside it as children."""
    roots: list[Node] = []
    path: list[Node] = []
    for order, mark in enumerate(marks):
        node = Node(mark, order)
        while path and not (
            path[-1].mark.depth < mark.depth and path[-1].mark.start <= mark.start and mark.end <= path[-1].mark.end
        ):
            path.pop()
        (path[-1].children if path else roots).append(node)
        if not mark.is_point:
            path.append(node)
    return roots
