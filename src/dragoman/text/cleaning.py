"""What every tokenizer does to text first, so that equal-looking text gives equal ids.

Characters without a picture are removed, and Unicode is brought to its composed form (NFC), which changes no visible
character: case, full-width punctuation and emoji stay, and so do joiners that a script needs. Compatibility forms
(NFKC) would turn a Chinese comma into an ASCII one, and so are not used.
"""

from __future__ import annotations

import re

from dragoman.text.composing import compose
from dragoman.text.invisible import is_visible, without_invisible

#: What is in no sentence: the control characters of ASCII, tab apart, and of Latin-1 (C0, DEL and C1), and halves of
#: surrogate pairs. A corpus loses its pairs that have any; elsewhere `harmless` makes something else of them.
NOT_TEXT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
REPLACEMENT = "\ufffd"
#: Control characters that have neither a picture nor a width. Those of Latin-1 are often quotes of Windows, misread.
_WITHOUT_WIDTH = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


def harmless(text: str) -> str:
    """Return the text as one line that every tokenizer, terminal and file can take.

    What has no picture is removed. Other control characters, such as line breaks, become spaces (a tab stays), and
    halves of a surrogate pair U+FFFD.
    """
    if is_visible(text):
        return text
    text = _WITHOUT_WIDTH.sub("", text)
    return without_invisible(NOT_TEXT.sub(lambda found: REPLACEMENT if found.group() >= "\ud800" else " ", text))


def clean(text: str) -> str:
    """Make text harmless, and compose its characters (NFC)."""
    return compose(harmless(text))


def comparable(text: str) -> str:
    """Return the form in which texts are compared: cleaned, with single spaces; equal for texts that look equal."""
    return collapse_spaces(clean(text))


def without_controls(text: str) -> str:
    """Remove what a model may write and no translation may send to a terminal: controls, and what has no picture."""
    if is_visible(text):
        return text
    return without_invisible(NOT_TEXT.sub("", text))


def collapse_spaces(text: str) -> str:
    """White space of every kind becomes one plain space between words, and none at the ends."""
    return " ".join(text.split())
