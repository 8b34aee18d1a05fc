"""The warning about cores that other programs use."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from dragoman.training.core_watch import CoreWatch

CORES = 4


def watch_twice(n_threads: int, *, busy: float, load: float) -> None:
    """Look twice at ten seconds of training."""
    watch = CoreWatch(n_threads)
    with patch("os.getloadavg", return_value=(load, load, load)), patch("os.cpu_count", return_value=CORES):
        for _ in range(2):
            for _ in range(10):
                watch.add(1.0, busy)
            watch.log()


def test_threads_that_get_little_time_on_a_crowded_machine_are_told_once(log_lines: list[str]) -> None:
    watch_twice(4, busy=1.8, load=6.0)
    (line,) = log_lines
    assert "4 threads got the time of 1.8" in line
    assert "OMP_NUM_THREADS=2" in line


@pytest.mark.parametrize(
    ("n_threads", "busy", "load"),
    [
        (4, 3.6, 6.0),  # they have their time
        (4, 1.8, 3.0),  # nobody else is there: the step has parts that one thread does
        (1, 0.5, 9.0),  # there is no smaller number
    ],
)
def test_otherwise_nothing_is_said(n_threads: int, busy: float, load: float, log_lines: list[str]) -> None:
    watch_twice(n_threads, busy=busy, load=load)
    assert log_lines == []


def test_a_moment_says_nothing(log_lines: list[str]) -> None:
    watch = CoreWatch(4)
    watch.add(1.0, 0.1)
    with patch("os.getloadavg", return_value=(9.0, 9.0, 9.0)):
        watch.log()
    assert log_lines == []
