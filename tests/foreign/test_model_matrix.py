"""Exports of imported models to other programs, as docs/guide/models.md says; tests/model_matrix.py runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from extras import import_foreign
from model_matrix import FOREIGN_USES, KINDS, Kind, Use, assert_cell, bundle_of


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Kind, Path]:
    return request.param, bundle_of(request.param, tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("use", FOREIGN_USES, ids=lambda use: use.name)
def test_an_export_is_as_the_pages_say(use: Use, made: tuple[Kind, Path], tmp_path: Path) -> None:
    for package in use.packages:
        import_foreign(package, package)
    assert_cell(use, *made, tmp_path)
