"""The table of sines and cosines of `dragoman.model.positions`, without PyTorch."""

from __future__ import annotations

import numpy as np

from dragoman.machine.arrays import Floats


def sinusoidal_table(positions: range, width: int, *, halves: bool) -> Floats:
    """Return rows of the table of `dragoman.model.positions`, (T, width)."""
    angles = np.arange(positions.start, positions.stop)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    waves = np.sin(angles), np.cos(angles)
    table = np.concatenate(waves, axis=1) if halves else np.stack(waves, axis=2).reshape(len(positions), -1)
    return table.astype(np.float32)
