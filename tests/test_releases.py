"""What each release writes loads later, too, and translates the same: see releases/README.md."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dragoman import Translator

RELEASES = Path(__file__).with_name("releases")


@pytest.mark.parametrize(
    "folder", sorted(RELEASES.glob("*/*/")), ids=lambda folder: f"{folder.parent.name}-{folder.name}"
)
def test_a_model_of_an_earlier_release_translates_the_same(folder: Path) -> None:
    rows = [line.split("\t") for line in (folder.parent / f"{folder.name}.tsv").read_text("utf-8").splitlines()]
    assert len(rows) >= 10
    found = Translator.load(folder, device="cpu").translate([source for source, _, _ in rows])
    assert [each.text for each in found] == [translation for _, translation, _ in rows]
    for each, (_, _, score) in zip(found, rows, strict=True):
        assert math.isclose(each.score, float(score), abs_tol=1e-3)
