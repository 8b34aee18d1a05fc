"""Epochs, which all have the same number of batches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Epochs:
    """Epochs of so many batches each."""

    n_batches: int

    def start(self, epoch: int) -> int:
        """Return the index of the first batch of an epoch, which is the number of batches in so many epochs."""
        return epoch * self.n_batches

    def find(self, index: int) -> tuple[int, int]:
        """Return the epoch of a batch, and its number in the epoch, given its index over all epochs."""
        return divmod(index, self.n_batches)

    def done(self, step: int) -> float:
        """Return the number of epochs after so many steps, with their fraction."""
        epoch, number = self.find(step)
        return epoch + number / self.n_batches
