"""Parallel text in two files: each line of one is the translation of the same line of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from dragoman.data.formats.pair_file import InvalidUtf8, LocatedPair, PairFile
from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.data.text_files.lines import check_text_file, count_lines, read_lines
from dragoman.errors import DataError


class LineCountError(DataError):
    """Two files with different numbers of lines.

    Args:
        counts: lines of the source and of the target.
        details: lines of the message, each with a place where a line may be missing.
    """

    def __init__(self, counts: tuple[int, int], source: Path, target: Path, details: Sequence[str] = ()) -> None:
        self.counts, self.files = counts, (source, target)
        super().__init__(
            f"different numbers of lines, {counts[0]:,} and {counts[1]:,}",
            f"{source} and {target}",
            advice="each line of one must be the translation of the same line of the other",
            details=details,
        )


def open_two_files(source: Path, target: Path, invalid_utf8: InvalidUtf8) -> PairFile:
    """Return the pairs of two text files.

    Raises:
        DataError: a file is missing or is not text. While reading, also as `read_lines`.
        LineCountError: one of them has more lines (while reading).
    """
    states = check_text_file(source), check_text_file(target)  # the same in every pass over the text
    for path in (source, target):
        refuse_documents(path)

    def read() -> Iterator[LocatedPair]:
        sides = read_lines(source, invalid_utf8, states[0]), read_lines(target, invalid_utf8, states[1])
        for number, (left, right) in enumerate(zip_longest(*sides), start=1):
            if left is None or right is None:
                n_longer = number + sum(1 for _ in sides[left is None])
                counts = (number - 1, n_longer) if left is None else (n_longer, number - 1)
                raise LineCountError(counts, source, target)
            yield number, left, right

    return PairFile(read, lambda: count_lines(source), is_line_by_line=True)
