"""Cleaning that every tokenizer does first, so that text that looks the same has the same ids.

Invisible characters are removed, and Unicode is brought to its composed form (NFC), which changes no visible character:
case, full-width punctuation and emoji stay, and so do joiners that a script needs. Compatibility forms (NFKC) are not
used, because they would turn a Chinese comma into an ASCII one.
"""

from __future__ import annotations

import re

from dragoman.text.composing import compose
from dragoman.text.invisible import is_visible, without_invisible

#: Characters that no sentence has: the controls of ASCII except tab, those of Latin-1 (C0, DEL and C1), and halves of
#: surrogate pairs. Pairs of a corpus that have any are left out; elsewhere, `sanitize` replaces them.
NOT_TEXT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\ud800-\udfff]")
REPLACEMENT = "\ufffd"
#: Controls that take no space on a screen. Those of Latin-1 are not among them: they are often misread Windows quotes.
_WITHOUT_WIDTH = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")


def sanitize(text: str) -> str:
    """Return the text as one line that every tokenizer, terminal and file can take.

    Invisible characters are removed. Other controls, such as line breaks, become spaces (a tab stays a tab), and halves
    of a surrogate pair become U+FFFD.
    """
    if is_visible(text):
        return text
    text = _WITHOUT_WIDTH.sub("", text)
    return without_invisible(NOT_TEXT.sub(lambda match: REPLACEMENT if match.group() >= "\ud800" else " ", text))


def clean(text: str) -> str:
    """Return the sanitized text with its characters composed (NFC)."""
    return compose(sanitize(text))


def comparable(text: str) -> str:
    """Return the cleaned text with single spaces; texts that look the same give equal ones."""
    return collapse_spaces(clean(text))


def without_controls(text: str) -> str:
    """Remove controls and invisible characters, which a model may write and no terminal should get."""
    if is_visible(text):
        return text
    return without_invisible(NOT_TEXT.sub("", text))


def collapse_spaces(text: str) -> str:
    """Return the text with one plain space between words, and no white space at its ends."""
    return " ".join(text.split())
