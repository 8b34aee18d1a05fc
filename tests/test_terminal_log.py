"""The package logs; only the command line prints, and only while a command runs."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from dragoman.cli.program import run
from dragoman.cli.terminal_log import log_to_terminal


def test_a_program_that_imports_the_package_sees_warnings_only() -> None:
    program = (
        "import logging; from dragoman.training.core_watch import _log\n_log.info('a step'); _log.warning('no cores')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "no cores\n")


def test_a_terminal_shows_each_line_once_and_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("dragoman.training.run")
    with log_to_terminal():
        log.info("100%s of 100% \x1b[2J")
        log.warning("few cores")
        log.error("no such file")
        log.debug("nobody asked")
    log.info("too late")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "100%s of 100% \\x1b[2J\nwarning: few cores\nerror: no such file\n"


def test_a_command_leaves_the_log_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("dragoman")
    before = logger.level, list(logger.handlers)
    assert run(["--version"]) == 0
    assert run(["translate", "--no-such-option"]) == 2
    assert (logger.level, logger.handlers) == before
    capsys.readouterr()
