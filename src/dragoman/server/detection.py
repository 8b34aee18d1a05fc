"""The language of a text, with a confidence that is low for a short text.

It is one of those that the server translates, unless the text is clearly in another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from dragoman.text.languages import UNSPACED, base_language, foreign_scripts

#: Characters of a text that are looked at.
_MOST_CHARACTERS = 2_000
#: Letters from which on a guess is as sure as its probability; one of a script without spaces counts as three.
_SURE_LETTERS, _PER_UNSPACED = 20, 3
#: Letters from which on a text may be in a language that the server does not translate, and the most probability that
#: all others have together then. No English, German or French sentence of 4,000 has less.
_LEAST_LETTERS, _MOST_SHARE = 10, 0.02
_LETTER, _UNSPACED_LETTER = re.compile(r"[^\W\d_]"), re.compile(f"[{UNSPACED}]")


class Detection(NamedTuple):
    """A language that a text may be in."""

    #: From 0 to 100.
    confidence: int
    #: As the server names it.
    language: str


#: LibreTranslate's answer for a text that no language can be told of.
UNDETECTABLE = Detection(0, "en")


class Detector:
    """Naive Bayes over sequences of bytes (Lui and Baldwin 2011), among some languages. Any thread may use it."""

    def __init__(self) -> None:
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def detect(self, text: str, languages: Sequence[str]) -> list[Detection]:
        """Return the languages that a text may be in, the most likely first; those below 1 % are left out.

        Args:
            languages: that the server translates. One that the detector does not know is never chosen. If the text is
                clearly in none of them, the others that the detector knows are returned.
        """
        text = text[:_MOST_CHARACTERS]
        codes = {base_language(code): code for code in reversed(languages)}
        n_unspaced = len(_UNSPACED_LETTER.findall(text))
        n_letters = len(_LETTER.findall(text)) + (_PER_UNSPACED - 1) * n_unspaced
        if not n_letters:
            return [UNDETECTABLE]
        ranked = dict(self._identifier.rank(text))
        scores = {code: ranked[name] for name, code in reversed(codes.items()) if name in ranked}
        total = sum(scores.values())
        is_known = any(_may_write(text, code) for code in languages)
        if scores and (not is_known or (n_letters >= _LEAST_LETTERS and total < _MOST_SHARE)):
            scores, total = {name: p for name, p in ranked.items() if name not in codes}, 1.0
        if not total:
            return [UNDETECTABLE]
        sureness = 100 * min(1.0, n_letters / _SURE_LETTERS)
        likely = sorted(scores.items(), key=lambda item: -item[1])  # of equal ones, the first language
        return [Detection(round(sureness * p / total), code) for code, p in likely if p / total >= 0.01]


def _may_write(text: str, language: str) -> bool:
    """Return True unless most letters of a text are of scripts that a language is not written in."""
    foreign = foreign_scripts(language)
    letters = _LETTER.findall(text)
    return not foreign or 2 * len(re.findall(f"[{foreign}]", "".join(letters))) <= len(letters)
