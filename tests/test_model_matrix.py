"""What works with models of other programs, as docs/guide/models.md says; tests/foreign exports them."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_matrix import KINDS, PAGES, USES, Kind, Use, assert_cell, bundle_of, missing, read_table


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Kind, Path]:
    return request.param, bundle_of(request.param, tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("use", USES, ids=lambda use: use.name)
def test_a_cell_is_as_the_pages_say(use: Use, made: tuple[Kind, Path], tmp_path: Path) -> None:
    if lacking := missing(use):
        pytest.skip(f"no {lacking}")
    assert_cell(use, *made, tmp_path)


def test_the_tables_have_all_kinds_and_are_the_same() -> None:
    english, chinese = (read_table(page)[1:] for page in PAGES.values())
    assert english == chinese
    assert [row[0] for row in english] == [kind.name for kind in KINDS]
    assert not any("?" in row for row in english)
