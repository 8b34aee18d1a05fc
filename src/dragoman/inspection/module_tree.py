"""A model as a tree of modules, with the shapes of its weights and the numbers of its parameters."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn


def module_tree(model: nn.Module) -> str:
    """Return a line for each module: name, class, shapes of its own weights, number of parameters in and below it.

    Runs of equal siblings are one line, "(0-5) 6 x ...". A weight that several modules share counts once in their
    common parent, and is marked "tied" where it appears again.
    """
    seen: set[int] = set()
    return "\n".join(_lines(model, type(model).__name__, "", seen))


def _lines(module: nn.Module, title: str, indent: str, seen: set[int]) -> Iterator[str]:
    total = sum(parameter.numel() for parameter in module.parameters())
    shapes = [_shape(name, weight, seen) for name, weight in module.named_parameters(recurse=False)]
    extra = module.extra_repr() if not shapes else ""
    facts = [*([extra] if extra else []), *shapes, *([f"{total:,} parameters"] if total else [])]
    yield f"{indent}{title}" + (f"  {', '.join(facts)}" if facts else "")
    children = list(module.named_children())
    while children:
        name, child = children.pop(0)
        last, n_equal = name, 1
        while children and name.isdigit() and repr(children[0][1]) == repr(child):
            last, _ = children.pop(0)
            n_equal += 1
        kind = type(child).__name__
        title = f"{name}: {kind}" if n_equal == 1 else f"{name}-{last}: {n_equal} x {kind}, each"
        yield from _lines(child, title, indent + "  ", seen)


def _shape(name: str, weight: Tensor, seen: set[int]) -> str:
    tied = " (tied)" if id(weight) in seen else ""
    seen.add(id(weight))
    return f"{name} {' x '.join(map(str, weight.shape))}{tied}"
