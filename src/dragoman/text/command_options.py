"""The options of commands in a text, told from words after a dash: "use --help", but not "he left --then came back"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern

#: What no word after a dash looks like: "--output=FILE", "--no-verify", "--utf8", "-x", a name that most programs know.
_CLEAR = lazy_pattern(
    r"-[^=]*(?:[=\[\d._]|[a-z]-[a-z])|-[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]\Z"
    r"|--(?:config|debug|help|output|verbose|version)\Z"
)
#: What stands only beside an option: a sign or a Chinese character before it; a closing quotation mark or bracket, the
#: name of a value or the end of a line after it.
_BEFORE = lazy_pattern(rf"[=/|\[{{<`{UNSPACED}]\s?\Z")
_AFTER = lazy_pattern(rf"\s?(?:['\"`”“»’)\]）|/}}>{UNSPACED}]|[A-Z]{{2}}|[<\[]|%[sd]|\Z|\n)")
_ABOUT_OPTIONS = lazy_pattern("option|选项|選項", re.IGNORECASE)
#: Characters beside an option that are looked at.
_NEAR = 4


def without_dashes(text: str, places: Sequence[tuple[int, int]], *, has_code: bool) -> list[tuple[int, int]]:
    """Return the places of a text that look like options; none if they are words after a dash.

    A text keeps all if it has code, the word "option", one clear option, or two different ones.

    Args:
        text: the text.
        places: those that look like options.
        has_code: it has other code.

    >>> without_dashes("He came, --then he left.", [(9, 15)], has_code=False)
    []
    >>> without_dashes("Say: use --help for more.", [(9, 15)], has_code=False)
    [(9, 15)]
    """
    are_options = has_code or len({text[start:end] for start, end in places}) > 1 or _ABOUT_OPTIONS.search(text)
    return list(places) if are_options or any(_is_option(text, *place) for place in places) else []


def _is_option(text: str, start: int, end: int) -> bool:
    option, before, after = text[start:end], text[max(0, start - _NEAR) : start], text[end : end + _NEAR]
    may_be_speech = option.startswith("--") and option[2].isupper()
    is_beside = _BEFORE.search(before) or (not may_be_speech and _AFTER.match(after))
    return bool(_CLEAR.match(option) or is_beside)
