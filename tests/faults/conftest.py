"""Counts for the summary at the end: `make faults` is the source of the figures in docs/reliability.md."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Figure = Callable[..., None]


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Figure:
    """figure("G1", "kill", interruptions=1000, ...): a line for the summary."""

    def say(goal: str, kind: str, **counts: object) -> None:
        counted = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counts.items())
        record_property("figure", f"{goal:4} {kind}: {counted}")

    return say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines; they come with the reports, which may be those of other processes."""
    reports = [each for some in terminalreporter.stats.values() for each in some if hasattr(each, "user_properties")]
    lines = {str(line) for each in reports for name, line in each.user_properties if name == "figure"}
    if lines:
        terminalreporter.section("what was counted")
        for line in sorted(lines):
            terminalreporter.write_line(line)
