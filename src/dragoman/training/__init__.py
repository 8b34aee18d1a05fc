"""From a recipe and parallel text to a trained bundle.

Read `run`, then `trainer`, `gradient`, `loss`, `optimizer`, `schedule`, `saver`, `recorder`, `resolve`, `plan`,
`timed`.
"""

from dragoman.training.run import train

__all__ = ["train"]
