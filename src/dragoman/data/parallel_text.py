"""Parallel text, from files or generated: pairs that can be read again and again, and their origin."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Self

from dragoman.data.formats.pair_file import LocatedPair, PairFile
from dragoman.data.text_files.lines import Line, check_text_file
from dragoman.errors import DataError, reading_problem
from dragoman.machine.files import sha256


@dataclass(frozen=True)
class ParallelText:
    """Pairs that can be read again and again.

    Args:
        name: for messages.
        pair_file: reads and counts the pairs.
        files: the files they come from, by role ("source", "target", "pairs").
    """

    name: str
    pair_file: PairFile
    files: Mapping[str, Path] = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, name: str, read: Callable[[], Iterator[tuple[Line, Line]]]) -> Self:
        """Return text that lies in no file.

        Args:
            read: starts reading the pairs.
        """

        def numbered() -> Iterator[LocatedPair]:
            return ((number, source, target) for number, (source, target) in enumerate(read(), start=1))

        return cls(name, PairFile(numbered, lambda: sum(1 for _ in read()), is_line_by_line=True))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of which both sides are readable."""
        for _, source, target in self.numbered():
            if isinstance(source, str) and isinstance(target, str):
                yield source, target

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for people about how the file is read."""
        return self.pair_file.notes

    def numbered(self) -> Iterator[LocatedPair]:
        """Yield (line, source, target) for every pair, also one with an unreadable side."""
        return self.pair_file.read()

    def line_of(self, index: int) -> int:
        """Return the line where a pair begins, given its index."""
        return index + 1 if self.pair_file.is_line_by_line else next(islice(self.numbered(), index, None))[0]

    def count(self) -> int:
        """Count the pairs. A pair with an unreadable side counts too if the pairs are the lines of a file.

        Raises:
            DataError: a file cannot be read.
        """
        return self.pair_file.count()

    def fingerprints(self) -> dict[str, str]:
        """Return the SHA-256 of each file's bytes, or of the text where there is no file.

        Raises:
            DataError: a file cannot be read.
        """
        if self.files:
            return {role: _file_hash(path) for role, path in self.files.items()}
        digest = hashlib.sha256()
        for source, target in self:
            digest.update(f"{source}\n{target}\n".encode(errors="surrogatepass"))
        return {"text": digest.hexdigest()}


def _file_hash(path: Path) -> str:
    check_text_file(path)
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(reading_problem(error), path, advice="check the file") from None
