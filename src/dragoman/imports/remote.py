"""A model on the network: what it is called, where it is, under which terms, and how its files are fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dragoman.errors import DragomanError
from dragoman.text.languages import Languages

#: Called with the number of bytes that have come, for a display.
Progress = Callable[[int], None]


@dataclass(frozen=True)
class RemoteModel:
    """A model that can be fetched.

    Args:
        title: its name where it is published, with the version.
        page: where people read about it.
        license: as its publisher names it; None if nothing is said.
        n_bytes: of all files to fetch; None if the publisher does not say.
        languages: codes of the source and the target, where the publisher says them.
        is_hashed: the publisher names SHA-256 sums, with which the files are compared.
        fetch: puts the files into a folder; what an earlier call has left there is not fetched again.
    """

    title: str
    page: str
    license: str | None
    n_bytes: int | None
    languages: Languages
    is_hashed: bool
    fetch: Callable[[Path, Progress], None]

    def describe(self) -> str:
        """Return what people want to know before they fetch it, in a line."""
        size = f"{self.n_bytes / 1e6:,.1f} MB" if self.n_bytes is not None else "size unknown"
        checked = "compared with their published hashes" if self.is_hashed else "without published hashes"
        return f"{self.title}: licence {self.license or 'unknown'}, {size}, files {checked}; {self.page}"


class NetworkError(DragomanError):
    """A file or a list that could not be fetched."""
