"""The number of trials: a sample with the other tests, all of them by `make faults`."""

import os

FULL = os.environ.get("DRAGOMAN_FAULTS") == "full"


def sampled(number: int, one_in: int) -> bool:
    """Return True if trial `number` belongs to this run."""
    return FULL or number % one_in == 0
