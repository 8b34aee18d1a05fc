"""Invisible characters: zero-width spaces, direction marks, soft hyphens, variation selectors and others.

They must change neither a translation nor a comparison of two texts. They are removed, except joiners in a place where
they change how the text looks: between letters of scripts that join, and in emoji.

The set is Unicode's Default_Ignorable_Code_Point, the marks of interlinear annotations and the null notehead. Visible
format characters, such as U+0600 ARABIC NUMBER SIGN, are not in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from dragoman.text.lazy_patterns import lazy_pattern

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_FREE_VARIATIONS, _VOWEL_SEPARATOR = "\u180b-\u180d\u180f", "\u180e"
_STYLES = "\ufe0e\ufe0f"
_TAGS = "\U000e0020-\U000e007f"
#: Characters that may stay in a text. All these strings are for classes of regular expressions.
_JOINERS = f"{_ZWNJ}{_ZWJ}{_FREE_VARIATIONS}{_VOWEL_SEPARATOR}{_STYLES}{_TAGS}"
#: Characters that never stay.
_OTHERS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff"
    "\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e0fff"
)
#: Characters that look like spaces: the separators of lines and paragraphs, and the blank of Braille.
_SPACES = "\u2028\u2029\u2800"
#: Those of them that `str.isprintable` calls printable.
_PRINTABLE = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U0001d159\U000e0100-\U000e01ef"

_SUSPECT, _SUSPECT_PRINTABLE = lazy_pattern(f"[{_JOINERS}{_OTHERS}{_SPACES}]"), lazy_pattern(f"[{_PRINTABLE}]")
_OTHER = lazy_pattern(f"[{_OTHERS}{_SPACES}]")
_JOINER, _RUN = lazy_pattern(f"[{_JOINERS}]"), lazy_pattern(f"[{_JOINERS}]+")
_BLANK = lazy_pattern(rf"[\s{_JOINERS}{_OTHERS}{_SPACES}]*\Z")

#: Blocks of scripts whose letters join: Arabic to Mandaic, the scripts of India, Tibetan and Burmese, Khmer and
#: Mongolian, those of Indonesia and their neighbours, and old and new ones beyond U+FFFF.
_JOINING_LETTERS = (
    "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1c7f\u1cd0-\u1cff\ua800-\ua95f\ua980-\uaaff"
    "\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010fff\U00011000-\U00011fff\U0001e900-\U0001e95f"
)
_JOINING = lazy_pattern(f"[{_JOINING_LETTERS}]")
#: A joiner other than a ZERO WIDTH NON-JOINER between two letters that would join, the most common of all.
_UNCOMMON = lazy_pattern(f"[{_JOINERS}](?:(?<!{_ZWNJ})|(?<![{_JOINING_LETTERS}].)|(?![{_JOINING_LETTERS}]))")
_MONGOLIAN = lazy_pattern("[\u1820-\u18aa]")
#: Emoji, and the symbols that a variation selector turns into one.
_EMOJI = lazy_pattern(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa"
    "\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030"
    "\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_FLAG, _KEYCAP = "\U0001f3f4", "\u20e3"
_SKIN = lazy_pattern("[\U0001f3fb-\U0001f3ff]")
_KEY = lazy_pattern("[0-9#*]")
#: The region of a flag: letters and digits, then the end.
_REGION = lazy_pattern("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")


def is_blank(text: str) -> bool:
    """Return True if a text shows nothing: it has only white space and invisible characters."""
    if "!" <= text[:1] <= "~":
        return False
    return _BLANK.match(text) is not None


def is_visible(text: str) -> bool:
    """Return True if a text has only spaces and visible characters: no controls, and none that are removed here."""
    return text.isprintable() and (text.isascii() or not _SUSPECT_PRINTABLE.search(text))


def without_invisible(text: str) -> str:
    """Remove the invisible characters, except joiners that change how the text looks.

    A character that only looks like a space becomes one. A text with joiners comes back composed (NFC): otherwise the
    neighbours of a joiner would depend on the order of combining marks.

    >>> without_invisible("so\u00adft"), without_invisible("\u0645\u06cc\u200c\u0631") == "\u0645\u06cc\u200c\u0631"
    ('soft', True)
    """
    if text.isascii() or not _SUSPECT.search(text):
        return text
    text = _OTHER.sub(lambda match: " " if match[0] in _SPACES else "", text)
    if not _JOINER.search(text):
        return text
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", _RUN.sub(_kept, text)) if _UNCOMMON.search(text) else text


def has_joiners(text: str) -> bool:
    """Return True if a text has joiners, which `without_invisible` may leave."""
    return not text.isascii() and _JOINER.search(text) is not None


def is_one_emoji(before: str, after: str) -> bool:
    """Return True if `after` continues the emoji `before`: it is a joiner, a skin colour, or a joined character."""
    is_joined = before.endswith(_ZWJ) and _EMOJI.match(after) is not None
    return is_joined or has_joiners(after[:1]) or _SKIN.match(after) is not None


def unknown_joiners(entries: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of the joiners that no entry of a vocabulary contains."""
    known: set[str] = set().union(*map(_JOINER.findall, entries))
    return re.compile(f"(?![{''.join(sorted(known))}])[{_JOINERS}]" if known else _JOINER.pattern)


def without_joiners(text: str, unknown: re.Pattern[str] = _JOINER) -> str:
    """Remove all joiners, or those that a vocabulary lacks, and compose the characters around them."""
    if text.isascii() or not unknown.search(text):
        return text
    return unicodedata.normalize("NFC", unknown.sub("", text))


def _kept(match: re.Match[str]) -> str:
    """Return the part of a run of joiners that stays."""
    run, text = match[0], match.string
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    if _EMOJI.match(before):
        return _kept_in_emoji(run, before, after)
    if _KEY.match(before):
        return _first(_STYLES, run) if after == _KEYCAP else ""
    in_mongolian = _MONGOLIAN.match(before) is not None
    kept = _first(_FREE_VARIATIONS, run) if in_mongolian else ""
    if in_mongolian and _MONGOLIAN.match(after):
        kept += _first(_VOWEL_SEPARATOR, run)
    n_joining = (_JOINING.match(before) is not None) + (_JOINING.match(after) is not None)
    # A ZERO WIDTH JOINER also shapes a letter that stands alone.
    return kept + _first(("", _ZWJ, _ZWJ + _ZWNJ)[n_joining], run)


def _kept_in_emoji(run: str, before: str, after: str) -> str:
    region = _REGION.search(run) if before == _FLAG else None
    kept = region[0] if region else _first(_STYLES, run)
    return kept + _ZWJ if _ZWJ in run and _EMOJI.match(after) else kept


def _first(joiners: str, run: str) -> str:
    """Return the first of some joiners in a run, given as a class of a regular expression; none if there is none."""
    match = re.search(f"[{joiners}]", run) if joiners else None
    return match[0] if match else ""
