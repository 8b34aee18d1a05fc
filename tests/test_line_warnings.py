"""Warnings of lines: all of them for a person who types, else the first few and counts."""

from __future__ import annotations

import pytest

from dragoman.cli.flags import MOST_NAMED, LineWarnings
from dragoman.translator import Translation
from dragoman.translator.results import Flag


def told(caplog: pytest.LogCaptureFixture, flag: Flag, n_lines: int, *, is_typed: bool, quoted: str = "") -> list[str]:
    warnings = LineWarnings(is_typed=is_typed)
    for number in range(1, n_lines + 1):
        warnings.tell(number, Translation("", 0.0, (), flags=(flag,)), quoted)
    warnings.finish(0.3)
    return caplog.messages


@pytest.mark.parametrize("flag", ["low_confidence", "number"])
def test_each_typed_line_is_warned_of(caplog: pytest.LogCaptureFixture, flag: Flag) -> None:
    lines = told(caplog, flag, MOST_NAMED + 5, is_typed=True)
    assert [line.split(":")[0] for line in lines] == [f"line {n}" for n in range(1, MOST_NAMED + 6)]


def test_of_a_file_the_first_lines_are_named_and_the_others_counted(caplog: pytest.LogCaptureFixture) -> None:
    *named, last = told(caplog, "number", MOST_NAMED + 5, is_typed=False)
    assert (len(named), last.split(":")[0]) == (MOST_NAMED, "5 more lines")


def test_of_a_file_improbable_lines_are_only_counted(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = told(caplog, "low_confidence", 25, is_typed=False)
    assert line.startswith("25 of 25 lines are probably wrong")


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [("猫" * 51, "猫" * 50 + "…"), ("猫" * 50, "猫" * 50), ("A\n  cat \t sleeps.", "A cat sleeps.")],
)
def test_a_text_is_quoted_by_its_beginning(caplog: pytest.LogCaptureFixture, quoted: str, shown: str) -> None:
    (line,) = told(caplog, "number", 1, is_typed=False, quoted=quoted)
    assert line.startswith(f'line 1 ("{shown}"): ')
