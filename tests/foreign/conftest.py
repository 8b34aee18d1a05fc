from collections.abc import Iterator
from pathlib import Path

import pytest
from node import Node


@pytest.fixture(scope="module")
def node(site: Path) -> Iterator[Node]:
    """Node with the modules of a test's own site."""
    node = Node(site)
    yield node
    node.close()
