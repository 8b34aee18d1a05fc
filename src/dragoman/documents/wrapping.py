"""Lines of a text, and text that is wrapped as its lines were."""

from __future__ import annotations

import re
import textwrap

#: Text is not wrapped to fewer columns than this.
MIN_WIDTH = 40
_LINE_END = re.compile(r"(\r\n|\n|\r)")


def lines_and_ends(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of a text and their ends; the last line has none.

    >>> lines_and_ends("a\\r\\nb")
    (['a', 'b'], ['\\r\\n', ''])
    """
    pieces = [*_LINE_END.split(text), ""]
    return pieces[::2], pieces[1::2]


def wrap(text: str, width: int, first_indent: str = "", indent: str = "") -> list[str]:
    """Return the lines of a wrapped text, with no word cut."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first_indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
