"""Warnings of lines: all of them for a person who types, else the first few and counts."""

from __future__ import annotations

import re

import pytest

from dragoman.cli.flags import MOST_NAMED, LineWarnings
from dragoman.translator import Translation
from dragoman.translator.results import Flag


def test_of_a_document_all_segments_are_named_in_a_file_and_a_terminal_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    n_segments = 2 * MOST_NAMED
    for names_all in (False, True):
        caplog.clear()
        warnings = LineWarnings("segment", names_all=names_all)
        for number in range(1, n_segments + 1):
            warnings.tell(number, Translation("", 0.0, (), flags=("number", "low_confidence")), "A cat.")
        warnings.finish(0.3)
        named = [line for line in caplog.messages if line.startswith("segment ")]
        assert len(named) == (n_segments if names_all else MOST_NAMED)
        assert all("probably wrong" in line for line in named) == names_all
        assert any("probably wrong; --min-confidence" in line for line in caplog.messages) == names_all
        assert ("2> FILE" in caplog.messages[-1]) != names_all


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


def test_all_lines_are_named_in_a_file(caplog: pytest.LogCaptureFixture) -> None:
    warnings = LineWarnings(names_all=True)
    for number in range(1, 2 * MOST_NAMED):
        warnings.tell(number, Translation("", 0.0, (), flags=("number",) if number % 2 else ("low_confidence",)))
    warnings.finish(0.3)
    said = " ".join(caplog.messages)
    assert all(re.search(rf"[a-z] {number}[:,]|, {number},", said) for number in range(1, 2 * MOST_NAMED))
    assert "lines 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, and those above; " in said
    assert "more" not in said


@pytest.mark.parametrize(
    ("n_lines", "quoted", "told_of"),
    [
        (25, "", "25 of 25 lines are probably wrong: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; "),
        (2, "", "2 of 2 lines are probably wrong: lines 1, 2; "),
        (1, "A cat.", '1 of 1 line is probably wrong: line 1 ("A cat."); '),
        (4, "A cat.", '4 of 4 lines are probably wrong: lines 1 ("A cat."), 2 ("A cat."), 3 ("A cat."), …; '),
    ],
)
def test_of_a_file_improbable_lines_are_counted_and_the_first_named(
    caplog: pytest.LogCaptureFixture, n_lines: int, quoted: str, told_of: str
) -> None:
    (line,) = told(caplog, "low_confidence", n_lines, is_typed=False, quoted=quoted)
    assert line.startswith(told_of)
    assert line.endswith(f"--min-confidence 0.3 leaves {'it' if n_lines == 1 else 'them'} untranslated")


def test_the_first_improbable_lines_of_many_files_are_named(caplog: pytest.LogCaptureFixture) -> None:
    warnings = LineWarnings()
    for number in range(1, MOST_NAMED + 5):
        warnings.tell(number, Translation("", 0.0, (), flags=("low_confidence",)), file=f"{number % 2}.txt")
    assert [line.split(":")[:2] for line in caplog.messages] == [
        [f"{number % 2}.txt", f" line {number}"] for number in range(1, MOST_NAMED + 1)
    ]


@pytest.mark.parametrize(
    ("quoted", "shown"),
    [("猫" * 51, "猫" * 50 + "…"), ("猫" * 50, "猫" * 50), ("A\n  cat \t sleeps.", "A cat sleeps.")],
)
def test_a_text_is_quoted_by_its_beginning(caplog: pytest.LogCaptureFixture, quoted: str, shown: str) -> None:
    (line,) = told(caplog, "number", 1, is_typed=False, quoted=quoted)
    assert line.startswith(f'line 1 ("{shown}"): ')
