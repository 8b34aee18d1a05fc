"""`dragoman demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dragoman.cli.options import Device
from dragoman.cli.streams import program, say


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The run folder.")] = Path("runs/demo"),
    device: Device = "auto",
) -> None:
    """Make a corpus, train on it, evaluate, translate.

    It takes a few minutes on two cores; run again, it continues.
    """
    from dragoman.demo import show

    show(output, device, say, program())
