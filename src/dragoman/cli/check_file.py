"""`dragoman check-file`: check the Transformer that a reader of the book writes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import AsJson
from dragoman.cli.streams import print_result, stdout_is_terminal
from dragoman.errors import ConfigError, DataError, counted, printable

#: The chapters that add to the file.
FIRST, LAST = 2, 12
#: Seconds after which the process that checks is ended.
PATIENCE_S = 600.0
_WIDTH = 80

Row = dict[str, Any]


def check_file(
    file: Annotated[Path, typer.Argument(help="The file to which you add the book's cells.", metavar="FILE")],
    chapter: Annotated[
        int | None, typer.Option(help=f"Check this chapter's part only ({FIRST} to {LAST}).", metavar="N")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check the Transformer that you write with the book.

    Without --chapter, every chapter is checked up to the last that the file has begun. The exit code is 1 if something
    is wrong or missing.
    """
    require_package("check-file", "torch")
    if chapter is not None and not FIRST <= chapter <= LAST:
        raise ConfigError(f"chapter {chapter} adds nothing to the file", advice=f"choose one from {FIRST} to {LAST}")
    shown, details = (0, ""), set[str]()
    rows: list[Row] = []
    last_begun = LAST
    is_watched = stdout_is_terminal() and not as_json
    try:
        for row in _rows(file, chapter):
            if is_watched:
                _show_begun(row.get("begun", ""))
            if "last" in row:
                last_begun = row["last"]
            if "demand" not in row:
                continue
            rows.append(row)
            if as_json:
                print_result(json.dumps(row, ensure_ascii=False))
                continue
            if (row["chapter"], row["title"]) != shown:
                shown, details = (row["chapter"], row["title"]), set()
                print_result(f"{row['chapter']:>2}  {row['title']}")
            is_told = row["detail"] in details
            print_result(_entry(row | {"detail": "the same"} if is_told else row))
            details |= {row["detail"]} - {""}
    except DataError as error:
        first, *rest = textwrap.wrap(
            error.message, _WIDTH - len("error: "), break_long_words=False, break_on_hyphens=False
        )
        raise DataError(first, details=rest) from error
    finally:
        if is_watched:
            _show_begun("")
    if not as_json:
        print_result(f"\n{_verdict(rows, chapter, last_begun)}")
    if any(row["state"] != "ok" for row in rows):
        raise typer.Exit(1)


def _show_begun(demand: str) -> None:
    """Show the demand that is being checked in the terminal's last line, which its result then takes."""
    line = f"    ...   {printable(demand)}" if demand else ""
    sys.stdout.write(f"\r\x1b[K{line[:_WIDTH]}")
    sys.stdout.flush()


def _rows(file: Path, chapter: int | None) -> Iterator[Row]:
    """Yield the results as they come from a process of their own.

    Raises:
        DataError: the file cannot be read or run, or ended the process.
    """
    command = [
        sys.executable,
        "-P",
        "-m",
        "dragoman.doctor.lessons.checking_process",
        str(file),
        str(chapter or ""),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    ) as process:
        assert process.stdout
        is_ended = threading.Event()

        def end() -> None:
            is_ended.set()
            process.kill()

        watch = threading.Timer(PATIENCE_S, end)
        watch.daemon = True
        watch.start()
        row: Row = {}
        begun = ""
        try:
            for line in process.stdout:
                row = json.loads(line)
                if "error" in row:
                    raise DataError(row["error"])
                begun = row.get("begun", begun)
                yield row
        finally:
            watch.cancel()
            process.kill()
    if is_ended.is_set():
        raise DataError(
            f"the checks did not end within {PATIENCE_S:g} seconds", file, advice="check one chapter: --chapter N"
        )
    if "last" not in row:
        place = f"in the check `{begun}`" if begun else "before the first check"
        advice = "see if it leaves Python there, or takes too much RAM"
        raise DataError(f"the file ended the process that checks it, {place}", file, advice=advice)


def _entry(row: Row) -> str:
    """Return the lines of a result."""
    first = f"    {row['state']:<5} {printable(row['demand'])}"
    if not row["detail"]:
        return first
    indent = " " * 10
    return "\n".join(
        [first, textwrap.fill(printable(row["detail"]), _WIDTH, initial_indent=indent, subsequent_indent=indent)]
    )


def _verdict(rows: list[Row], chapter: int | None, last_begun: int) -> str:
    """Return the sum of all results in a sentence or two."""
    faults = [row for row in rows if row["state"] == "FAIL"]
    if faults:
        others = " Mend the first one first: others may follow from it." if len(faults) > 1 else ""
        return f"{counted(len(faults), 'fault')}.{others}"
    if any(row["state"] != "ok" for row in rows):
        return "Not checked."
    if chapter is not None:
        return f"Chapter {chapter} is right."
    if last_begun < LAST:
        begun = {FIRST: f"Chapter {FIRST} is", FIRST + 1: f"Chapters {FIRST} and {last_begun} are"}.get(
            last_begun, f"Chapters {FIRST} to {last_begun} are"
        )
        return f"{begun} right. Chapter {last_begun + 1} comes next."
    return "All chapters are right: your Transformer is complete."
