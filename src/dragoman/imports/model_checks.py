"""Checks that all kinds of models share: of settings, and of the names, shapes and numbers of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dragoman.bundle.weights import not_finite
from dragoman.errors import BundleError, ConfigError
from dragoman.machine.arrays import Floats
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.sections import S, parse_section

#: The largest difference of a table of sines that was stored in 16 bits.
_SINES_TOLERANCE = 5e-3


def parsed(section: type[S], settings: Mapping[str, Any], path: Path, separator: str = "_") -> S:
    """Return checked settings.

    Args:
        separator: between the words of a name in the file, for messages.

    Raises:
        BundleError: they are none of this section.
    """
    try:
        return parse_section(section, settings)
    except ConfigError as error:
        first, *others = error.message.split("\n  ")
        problem = f"settings are missing or wrong ({first.replace('_', separator)})"
        raise BundleError(problem, path, advice="use another copy", details=others) from None


class HasShape(Protocol):
    """A tensor of a file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""


def tensor_problems(stored: Mapping[str, HasShape], needed: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """Yield a line for each tensor that is missing or has another shape."""
    for name, shape in needed.items():
        if name not in stored:
            yield f"missing: {name}"
        elif stored[name].shape != shape:
            yield f"{name}: shape {stored[name].shape} instead of {shape}"


def require_finite(weights: Mapping[str, Floats], path: Path) -> None:
    """Refuse weights with a NaN or an infinity.

    Raises:
        BundleError: there is one.
    """
    if bad := not_finite(weights):
        raise BundleError(f"weights that are not finite ({bad})", path, advice="use another copy")


def are_sines(table: Floats, *, halves: bool) -> bool:
    """Return True if vectors of positions (L, D) are sines and cosines: all sines first with `halves`, else in turn."""
    return np.allclose(table, sinusoidal_table(range(len(table)), table.shape[1], halves=halves), 0, _SINES_TOLERANCE)


def tie_of(*, is_tied: bool, is_shared: bool) -> str:
    """Return our setting where target and output have one matrix (`is_tied`), and source and target (`is_shared`)."""
    return ("all" if is_shared else "decoder") if is_tied else "none"
