from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from node import Node


@pytest.fixture(scope="module")
def node(site: Path) -> Iterator[Node]:
    """Node with the modules of a test's own site."""
    node = Node(site)
    yield node
    node.close()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print a table of the shapes of models and the programs that they were exported to."""
    cells: dict[str, dict[str, str]] = defaultdict(dict)
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if name == "export":
                shape, program, result = value
                cells[shape][program] = result
    programs = list(dict.fromkeys(program for row in cells.values() for program in row))
    if programs:
        terminalreporter.write_line(f"| shape | {' | '.join(programs)} |")
        terminalreporter.write_line("|---" * (len(programs) + 1) + "|")
    for shape, row in cells.items():
        terminalreporter.write_line(f"| {shape} | {' | '.join(row.get(program, '') for program in programs)} |")
