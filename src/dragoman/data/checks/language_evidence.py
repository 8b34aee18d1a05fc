"""Languages of a corpus, recognised in a sample, and compared with the declared ones.

Scripts decide for most languages; for those in Latin and Cyrillic letters, frequent words do. Only clear cases count:
similar languages are not distinguished.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dragoman.data.checks.language_words import ALIKE, FREQUENT_WORDS
from dragoman.data.corpus import UNKNOWN_LANGUAGE
from dragoman.text.languages import base_language, scripts

#: The sample has this many pairs or at least half as many, evenly from the whole corpus.
_SAMPLE = 4000
_MIN_PAIRS = 20
#: A language is recognised from this share and number of its frequent words, and this ratio to those of another.
_MIN_SHARE, _MIN_WORDS, _MIN_LEAD = 0.12, 40, 1.5
_MAIN_SHARE, _TRACE_SHARE = 0.7, 0.02
_WORD = re.compile(r"[^\W\d_]+")
#: The main language of each script that has one.
_OF_SCRIPT = {
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "GREEK": "el",
    "HEBREW": "he",
    "THAI": "th",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KHMER": "km",
    "LAO": "lo",
    "MYANMAR": "my",
}
#: Scripts of the languages known here.
_SCRIPTS_OF = {
    "zh": ("CJK",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    **{language: (script,) for script, language in _OF_SCRIPT.items() if language != "ja"},
    **dict.fromkeys(("ru", "uk", "bg", "mk", "be"), ("CYRILLIC",)),
    **dict.fromkeys(("ar", "fa", "ur"), ("ARABIC",)),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), ("DEVANAGARI",)),
}


class LanguageSample:
    """Takes the pairs of a corpus in order and keeps some of them."""

    def __init__(self) -> None:
        self._pairs: list[tuple[str, str]] = []
        self._step = 1
        self._n_seen = 0

    def add(self, source: str, target: str) -> None:
        """Take the next pair."""
        if self._n_seen % self._step == 0:
            self._pairs.append((source, target))
            if len(self._pairs) >= _SAMPLE:
                self._pairs = self._pairs[::2]
                self._step *= 2
        self._n_seen += 1

    def lines(self, source_lang: str, target_lang: str) -> list[str]:
        """Return lines for people, given the declared languages."""
        if len(self._pairs) < _MIN_PAIRS:
            return []
        sides = list(zip(*self._pairs, strict=True))
        return _judge((source_lang, target_lang), (recognise(sides[0]), recognise(sides[1])), sides)


def recognise(texts: Sequence[str]) -> str | None:
    """Return the language of texts, None if it is unclear or unknown."""
    letters = scripts(texts)
    if not letters:
        return None
    script, count = letters.most_common(1)[0]
    kana = letters["HIRAGANA"] + letters["KATAKANA"]
    if (letters["CJK"] + kana) > _MAIN_SHARE * letters.total():
        return "ja" if kana > 0.1 * letters["CJK"] else "zh" if not kana else None
    if count < _MAIN_SHARE * letters.total():
        return None
    return _by_words(texts) if script in ("LATIN", "CYRILLIC") else _OF_SCRIPT.get(script)


def _by_words(texts: Iterable[str]) -> str | None:
    words = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    total = max(1, words.total())
    counts = sorted(
        ((sum(words[word] for word in frequent), name) for name, frequent in FREQUENT_WORDS.items()), reverse=True
    )
    (most, name), *others = counts
    rival = next((count for count, other in others if other not in ALIKE.get(name, ())), 0)
    is_plain = most >= _MIN_WORDS and most >= _MIN_SHARE * total and most >= _MIN_LEAD * rival
    return name if is_plain else None


def _may_be(declared: str, detected: str | None, texts: Sequence[str]) -> bool:
    """Return False if texts are clearly not in the declared language."""
    language = base_language(declared)
    if language in _SCRIPTS_OF:
        letters = scripts(texts)
        share = sum(letters[script] for script in _SCRIPTS_OF[language]) / max(1, letters.total())
        if letters.total() and share < _TRACE_SHARE:
            return False
    is_known = language in FREQUENT_WORDS or language in _SCRIPTS_OF
    return detected is None or not is_known or detected == language or detected in ALIKE.get(language, ())


def _judge(
    declared: tuple[str, str], detected: tuple[str | None, str | None], texts: Sequence[Sequence[str]]
) -> list[str]:
    names = [name or "another language" for name in detected]
    looks = f"the source looks like {names[0]} and the target like {names[1]}"
    is_given = [language != UNKNOWN_LANGUAGE for language in declared]
    if (
        detected[0] is not None
        and detected[0] == detected[1]
        and base_language(declared[0]) != base_language(declared[1])
    ):
        return [f"warning: both sides look like {detected[0]}; is one of them the wrong file or column?"]
    fits = [not is_given[side] or _may_be(declared[side], detected[side], texts[side]) for side in (0, 1)]
    if not all(fits):
        if (
            all(is_given)
            and _may_be(declared[0], detected[1], texts[1])
            and _may_be(declared[1], detected[0], texts[0])
        ):
            advice = "swap --source and --target, or the languages"
        else:
            advice = "check the files, --source-lang and --target-lang"
        return [f"warning: {looks}, but {declared[0]} to {declared[1]} is asked for; {advice}"]
    missing = [
        (side, name)
        for side, name, declared_side in zip(("source", "target"), detected, is_given, strict=True)
        if name and not declared_side
    ]
    if not missing:
        return []
    sides = " and ".join(f"the {side} looks like {name}" for side, name in missing)
    return [f"{sides}; if so, say it: {' '.join(f'--{side}-lang {name}' for side, name in missing)}"]
