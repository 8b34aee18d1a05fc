"""Messages of ICU, whose forms depend on a number or a choice: "{n, plural, one {a cat} other {# cats}}".

A translation may need other forms, and their keywords must stay. So a text with such a message is left as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from dragoman.text.protection import Stretch

#: The beginning of a message, up to its first form, or to the end of a text that was cut there. Its name may be an
#: expression of a program, as in Angular.
_HEAD = re.compile(
    r"\{[^{},]{1,100},\s*(?:"
    r"(?:plural|selectordinal|select)\s*,\s*(?:offset:\s*\d{1,9}\s*)?(?:(?:=\d{1,9}|[^\s{},]{1,60})\s*\{|\Z)"
    r"|choice\s*,\s*(?:-?[\d.]{1,20}|-?\u221e)[#<\u2264])"
)


def has_icu_message(text: str, protected: Sequence[Stretch] = ()) -> bool:
    """Return True if a text has a message with forms. A lone argument ("{name}", "{n, number}") has none.

    Args:
        protected: stretches that stay as they are, in their order; a message that begins in one of them does not count.

    >>> has_icu_message("You have {n, plural, =0 {no cats} other {# cats}}."), has_icu_message("{name} of {a, b}")
    (True, False)
    """
    starts = [start for start, _ in protected]
    for match in _HEAD.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= protected[before][1]:
            return True
    return False
