"""From a recipe and parallel text to a trained bundle.

Read `run`, then `trainer`, `gradient`, `loss`, `optimizer`, `schedule`, `saver`, `recorder`, `resolve`, `plan`,
`timed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.training.run import train

__all__ = ["train"]


def __getattr__(name: str) -> object:
    """Import `train`, which needs PyTorch, when it is first asked for; other modules here do without."""
    if name != "train":
        raise AttributeError(f"module 'dragoman.training' has no attribute {name!r}")
    from dragoman.training.run import train

    return train
