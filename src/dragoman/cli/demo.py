"""`dragoman demo`: make a corpus, train on it, evaluate, translate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dragoman.cli.missing_packages import require_package
from dragoman.cli.options import Device, option
from dragoman.cli.streams import program
from dragoman.cli.training_settings import require_folder


def demo(
    output: Annotated[Path, option("The run folder.", "--output", "-o")] = Path("runs/demo"),
    device: Device = "auto",
) -> None:
    """Make a corpus, train on it, evaluate, translate.

    It takes a few minutes on two cores; run again, it continues. At the end, a shipped model translates a sentence.
    """
    require_package("demo", "torch")
    require_folder(output)
    from dragoman.demo import show
    from dragoman.machine.devices import find_device

    find_device(device)

    show(output, device, program())
