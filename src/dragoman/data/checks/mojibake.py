"""UTF-8 that was read as Windows-1252 or Latin-1, such as "fÃ¼r" for "für", found and repaired where it is certain.

Two signs in a row that make one character of UTF-8 are rare in true text, but not impossible: a word in capitals before
a closing quotation mark, such as "CAFÉ“". So a sign is repaired only if true text would hardly have it.
"""

from __future__ import annotations

import re
import unicodedata

_UNDEFINED = frozenset((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # in Windows-1252
_BYTES = {chr(byte): byte for byte in range(256)} | {
    bytes([byte]).decode("cp1252"): byte for byte in range(0x80, 0xA0) if byte not in _UNDEFINED
}
_NEXT = "[" + "".join(re.escape(character) for character, byte in _BYTES.items() if 0x80 <= byte < 0xC0) + "]"
#: One character of UTF-8 as it is misread, and several in a row.
_CHARACTER = rf"[\xc2-\xdf]{_NEXT}|[\xe0-\xef]{_NEXT}{{2}}|[\xf0-\xf4]{_NEXT}{{3}}"
_RUN = re.compile(rf"(?:{_CHARACTER})+")
#: The signs and letters that European text has beyond ASCII, also when it was misread before, and emoji.
_LIKELY = re.compile(
    "[\u0080-\u017f\u0192\u02c6\u02dc\u0218-\u021b\u1e00-\u1eff\u2010-\u203a\u20a0-\u20bf\u2122\ufeff\U0001f000-\U0001faff]+"
)
#: Signs that may follow a capital letter in true text.
_MAY_FOLLOW = frozenset("\u00a0«»°®·‘’‚“”„‹›–—…™")
#: "à" misread: a word of its own in French, so that no letter is beside it.
_A_GRAVE = "Ã\u00a0"
#: Scripts that stand together in one text.
_EAST_ASIAN = frozenset(("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "FULLWIDTH"))
#: Text that was misread more often is left as it is.
_MAX_PASSES = 3


def has_mojibake(text: str) -> bool:
    """Return True if the text has misread UTF-8, or the sign U+FFFD for what could not be read."""
    return not text.isascii() and ("\ufffd" in text or mend_mojibake(text) != text)


def mend_mojibake(text: str) -> str:
    """Repair misread UTF-8 where it is certain; other text stays as it is.

    >>> mend_mojibake("Itâ€™s for MÃ¼ller, „im CAFÉ“")
    'It’s for Müller, „im CAFÉ“'
    """
    if text.isascii():
        return text
    for _ in range(_MAX_PASSES):
        before, text = text, _mended_once(text)
        if text == before:
            break
    return text


def _mended_once(text: str) -> str:
    has_letters = False  # of a script in which every letter is misread

    def mend(match: re.Match[str]) -> str:
        nonlocal has_letters
        run = _decoded(match.group())
        if run is None:
            return match.group()
        is_word = _is_of_one_script(run)
        has_letters |= is_word
        return run if is_word or _is_certain(match, run) else match.group()

    mended = _RUN.sub(mend, text)
    return (_decoded(text) or mended) if has_letters else mended


def _decoded(text: str) -> str | None:
    """Return the text whose UTF-8 was misread as this, or None."""
    try:
        return bytes(_BYTES[character] for character in text).decode()
    except (KeyError, UnicodeDecodeError):
        return None


def _is_of_one_script(run: str) -> bool:
    """Return True for two or more letters of one script other than the Latin one, and its punctuation."""
    scripts = [unicodedata.name(letter, "").split(" ")[0] for letter in run if letter.isalpha()]
    kinds = {"JAPANESE OR CHINESE" if script in _EAST_ASIAN else script for script in scripts}
    is_text = all(unicodedata.category(each)[0] in "LMNP" for each in run)
    return is_text and len(scripts) > 1 and len(kinds) == 1 and not kinds & {"LATIN", ""}


def _is_certain(match: re.Match[str], run: str) -> bool:
    """Return True if true text would hardly have the signs of a match, which can be read as `run`."""
    if not _LIKELY.fullmatch(run):
        return False
    text, start, end = match.string, match.start(), match.end()
    if len(match.group()) > 2 or text[end - 1] not in _MAY_FOLLOW or match.group() == _A_GRAVE:
        return True
    return text[start - 1 : start].islower() or text[end : end + 1].isalpha()
