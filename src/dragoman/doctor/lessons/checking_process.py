"""The checks of a reader's file in a process of their own: a line of JSON for each demand, and for an error.

The reader's code may print, wait for input, leave Python or never end; the process that started this one goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import torch

from dragoman.doctor.lessons.readers_file import FileExamination, load
from dragoman.errors import DragomanError


def main(name: str, chapter: str) -> None:
    """Write the results of a file's checks to standard output, and nothing else.

    Args:
        chapter: its number, or "" for all that the file has begun.
    """
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background may ignore it
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output, open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # the reader's code prints there
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            try:
                path = Path(name)

                def begin(demand: str) -> None:
                    print(json.dumps({"begun": demand}), file=output, flush=True)

                examination = FileExamination(load(path), path, begin=begin)
                for number in [int(chapter)] if chapter else examination.begun:
                    for result in examination.of(number):
                        print(json.dumps(asdict(result)), file=output, flush=True)
                print(json.dumps({"last": examination.last_begun}), file=output, flush=True)
            except DragomanError as error:
                print(json.dumps({"error": error.message}), file=output, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
