"""Torchrun's environment, read without importing PyTorch."""

from __future__ import annotations

import os

from dragoman.errors import ConfigError


def is_main_process() -> bool:
    """Return True if this process is the one of its group that talks to the person."""
    return os.environ.get("RANK", "0") == "0"


def refuse_copies(command: str) -> None:
    """Refuse to be one of several copies, which torchrun started, of a command that does all of its work alone.

    Raises:
        ConfigError: this process is one of several.
    """
    if "TORCHELASTIC_RUN_ID" in os.environ and os.environ.get("WORLD_SIZE", "1") != "1":
        advice = "use --ray, as docs/many-machines.md shows, or --workers"
        raise ConfigError(f"torchrun started {os.environ['WORLD_SIZE']} times the same `{command}`", advice=advice)
