"""Lengths of epochs. All have the same number of batches, except in stages of a training that weigh corpora anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Epochs:
    """The number of batches in each epoch.

    Args:
        sizes: batches in each epoch of each stage.
        ends: epochs that are done at the end of each stage, rising; the last stage has no end.
    """

    sizes: tuple[int, ...]
    ends: tuple[int, ...] = ()

    def stage(self, epoch: int) -> int:
        """Return the stage that an epoch belongs to; both are counted from 0."""
        return sum(end <= epoch for end in self.ends)

    def size(self, epoch: int) -> int:
        """Return the number of batches in an epoch."""
        return self.sizes[self.stage(epoch)]

    def start(self, epoch: int) -> int:
        """Return the index of the first batch of an epoch, which is the number of batches in so many epochs."""
        return sum((min(epoch, end) - first) * size for first, end, size in self._stages(epoch) if first < epoch)

    def find(self, index: int) -> tuple[int, int]:
        """Return the epoch of a batch, and its number in the epoch, given its index over all epochs."""
        epoch = 0
        for first, end, size in self._stages(index + 1):  # an epoch has at least one batch
            epoch, number = divmod(index, size)
            if first + epoch < end:
                return first + epoch, number
            index -= (end - first) * size
        raise AssertionError("the last stage has no end")

    def done(self, step: int) -> float:
        """Return the number of epochs after so many steps, with their fraction."""
        epoch, number = self.find(step)
        return epoch + number / self.size(epoch)

    def _stages(self, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield the first epoch, the end and the size of each stage; the last one ends after `last`."""
        firsts, ends = (0, *self.ends), (*self.ends, max(last, *self.ends, 0) + 1)
        return zip(firsts, ends, self.sizes, strict=True)
