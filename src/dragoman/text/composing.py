"""Unicode's composed form (NFC), in time proportional to the length of the text."""

from __future__ import annotations

import re
import unicodedata

#: No writing has as many marks on one letter. Python sorts the marks of a letter in time that grows with the square of
#: their number: a minute for 300,000.
_MOST_MARKS = 256
#: A run of characters that are no letters, in which all marks are; shorter runs are sorted quickly.
_LONG_RUN = re.compile(rf"[^\w\s\x00-\u02ff]{{{_MOST_MARKS + 1},}}")


def compose(text: str) -> str:
    """Return the NFC of a text; where a letter has more than 256 marks, these are composed some at a time."""
    if len(text) <= _MOST_MARKS or text.isascii():
        return unicodedata.normalize("NFC", text)
    places = [0]
    for run in _LONG_RUN.finditer(text):
        places += range(run.start() + _MOST_MARKS, run.end(), _MOST_MARKS)
    if len(places) == 1:
        return unicodedata.normalize("NFC", text)
    pieces = zip(places, [*places[1:], len(text)], strict=True)
    return "".join(unicodedata.normalize("NFC", text[start:end]) for start, end in pieces)
