"""What was counted, said at the end: `make faults` is the source of the figures in docs/reliability.md."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Figure = Callable[..., None]
_FIGURES = pytest.StashKey[list[str]]()


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Figure:
    """figure("G1", "kill", interruptions=1000, ...): a line for the summary."""

    def say(goal: str, kind: str, **counts: object) -> None:
        counted = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in counts.items())
        request.config.stash.setdefault(_FIGURES, []).append(f"{goal:4} {kind}: {counted}")

    return say


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the lines."""
    if lines := config.stash.get(_FIGURES, []):
        terminalreporter.section("what was counted")
        for line in sorted(lines):
            terminalreporter.write_line(line)
