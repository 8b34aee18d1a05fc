"""Forward hooks that record the calls of a module's parts: the inputs and the output of each.

So a module is checked by what flows through it, whatever its parts are called in it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True)
class Call:
    """One call of a part: the part, its arguments in the order of its `forward`, and its result."""

    part: nn.Module
    inputs: tuple[Any, ...]
    output: Tensor


@contextmanager
def listening(module: nn.Module, *kinds: type[nn.Module]) -> Iterator[list[Call]]:
    """Yield the calls of all parts of some kinds, in order; more come while the module is used."""
    calls: list[Call] = []

    def note(part: nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], output: Tensor) -> None:
        bound = inspect.signature(part.forward).bind(*arguments, **named)
        calls.append(Call(part, tuple(bound.arguments.values()), output))

    handles = [
        part.register_forward_hook(note, with_kwargs=True) for part in module.modules() if isinstance(part, kinds)
    ]
    try:
        yield calls
    finally:
        for handle in handles:
            handle.remove()
