"""Checks that all kinds of models share: of settings, and of the names, shapes and numbers of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from dragoman.bundle.weights import not_finite
from dragoman.errors import BundleError, ConfigError
from dragoman.machine.arrays import Floats
from dragoman.settings.sections import S, parse_section


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
