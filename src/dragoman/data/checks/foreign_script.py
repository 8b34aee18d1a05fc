"""Text that is mostly in another script than its language, such as English where Chinese is due."""

from __future__ import annotations

import re
import unicodedata

from dragoman.text.languages import KNOWN_CODES, UNSPACED, base_language

#: Scripts of languages that are not written in Latin letters alone. A script is the first word of a letter's name in
#: Unicode.
SCRIPTS_OF = {
    **dict.fromkeys(("ru", "uk", "bg", "mk", "be", "ky", "tg"), ("CYRILLIC",)),
    **dict.fromkeys(("sr", "uz", "tt", "mn"), ("CYRILLIC", "LATIN")),
    **dict.fromkeys(("az", "kk"), ("CYRILLIC", "LATIN", "ARABIC")),
    **dict.fromkeys(("ar", "fa", "ur", "ps", "ug"), ("ARABIC",)),
    **dict.fromkeys(("ms", "ku"), ("LATIN", "ARABIC")),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), ("DEVANAGARI",)),
    **dict.fromkeys(("bn", "as"), ("BENGALI",)),
    **dict.fromkeys(("am", "ti"), ("ETHIOPIC",)),
    "pa": ("GURMUKHI", "ARABIC"),
    "zh": ("CJK", "BOPOMOFO"),
    "ja": ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"),
    "ko": ("HANGUL", "CJK"),
    "bo": ("TIBETAN",),
    "el": ("GREEK",),
    "gu": ("GUJARATI",),
    "he": ("HEBREW",),
    "hy": ("ARMENIAN",),
    "ka": ("GEORGIAN",),
    "km": ("KHMER",),
    "kn": ("KANNADA",),
    "lo": ("LAO",),
    "ml": ("MALAYALAM",),
    "my": ("MYANMAR",),
    "or": ("ORIYA",),
    "si": ("SINHALA",),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "th": ("THAI",),
}
#: Codes of scripts (ISO 15924) in codes of languages, such as zho_Hans.
_SCRIPT_CODES = {"latn": "LATIN", "cyrl": "CYRILLIC", "arab": "ARABIC", "deva": "DEVANAGARI", "grek": "GREEK"}
_WORD = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]+")
#: A text is foreign with so many foreign words or characters, and so many times its own: a name is no reason.
_MIN_WORDS, _MIN_RATIO = 3, 2


def scripts_of(language: str) -> tuple[str, ...] | None:
    """Return the scripts in which a language is written, or None if they are not known.

    >>> scripts_of("zh-TW"), scripts_of("de"), scripts_of("srp_Latn"), scripts_of("und")
    (('CJK', 'BOPOMOFO'), ('LATIN',), ('LATIN',), None)
    """
    for part in re.split("[-_]", language)[1:]:
        if part.lower() in _SCRIPT_CODES:
            return (_SCRIPT_CODES[part.lower()],)
    base = base_language(language)
    return SCRIPTS_OF.get(base, ("LATIN",) if base in KNOWN_CODES else None)


class ForeignScript:
    """Finds texts that are mostly in another script than a language's.

    Args:
        language: its code; of an unknown language no text is foreign.
    """

    def __init__(self, language: str) -> None:
        self._scripts = scripts_of(language)
        #: Characters seen that belong to the language, or are no letters.
        self._own: set[str] = set()

    def has(self, text: str) -> bool:
        """Return True if the text is mostly in another script."""
        if self._scripts is None or self._own.issuperset(text):
            return False
        letters = {each for each in set(text) - self._own if each.isalpha() and not self._is_own(each)}
        self._own |= set(text) - letters
        if not letters:
            return False
        words = _WORD.findall(text)
        n_foreign = sum(word[0] in letters for word in words)
        return n_foreign >= _MIN_WORDS and n_foreign > _MIN_RATIO * (len(words) - n_foreign)

    def _is_own(self, letter: str) -> bool:
        return self._scripts is not None and unicodedata.name(letter, "").split(" ")[0] in self._scripts
