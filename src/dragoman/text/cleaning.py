"""What every tokenizer does to text first, so that equal-looking text gives equal ids.

Unicode is brought to its composed form (NFC), which changes no visible character: case, full-width punctuation,
joiners and emoji stay. Compatibility forms (NFKC) would turn a Chinese comma into an ASCII one, and so are not used.
"""

from __future__ import annotations

import re
import unicodedata

#: C0 and C1 controls that are not white space, and halves of surrogate pairs, which are not text.
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """Compose characters (NFC), and put U+FFFD in place of control characters."""
    return unicodedata.normalize("NFC", _NOT_TEXT.sub(REPLACEMENT, text))


def without_controls(text: str) -> str:
    """Remove the C0 controls except tab, which no translation may send to a terminal."""
    return _CONTROL.sub("", text)


def collapse_spaces(text: str) -> str:
    """White space of every kind becomes one plain space between words, and none at the ends."""
    return " ".join(text.split())
