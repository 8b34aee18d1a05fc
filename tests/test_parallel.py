"""Requests of a call, shared among worker processes in portions."""

import os
import sys
from pathlib import Path

import pytest

from dragoman.errors import ConfigError
from dragoman.machine.workers import Workers
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Request
from dragoman.translator.parallel import Portion, Portions

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")


def test_an_error_ends_a_call_before_its_other_portions_are_translated(tmp_path: Path) -> None:
    def work(portion: Portion) -> list[int]:
        descriptor = os.open(tmp_path / "done", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, b".")
        os.close(descriptor)
        if portion.requests[0].text == "wrong":
            raise ConfigError("a wrong text")
        return [0]

    portions = Portions(Workers(work, 2), batch_size=1)
    with pytest.raises(ConfigError, match="a wrong text"):
        portions.translate([Request("wrong")] + [Request("four")] * 500, SearchConfig())
    assert len((tmp_path / "done").read_bytes()) < 250


def test_a_call_without_equal_shares_for_its_workers_is_not_cut_into_portions() -> None:
    portions = Portions(Workers(lambda _: [], 2), batch_size=1)
    for texts in ([], ["one"], ["long " * 99, *["short"] * 9]):
        assert portions.translate([Request(text) for text in texts], SearchConfig()) is None
