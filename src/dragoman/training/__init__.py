"""From a recipe and parallel text to a trained bundle.

Read `run`, then `plan`, `trainer`, `loss`, `schedule`, `optimizer`, `muon`, `checkpoint`.
"""

from dragoman.training.run import train

__all__ = ["train"]
