"""Languages of a corpus, recognised in a sample, and of single texts, compared with the declared ones.

Only clear cases count: similar languages are not distinguished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from dragoman.text.languages import base_language
from dragoman.text.tags import UNKNOWN

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: The sample has this many pairs or at least half as many, evenly from the whole corpus.
_SAMPLE = 4000
_MIN_PAIRS = 20
#: A side is read in parts of so many characters, whole texts, and of so many parts at most.
_PART, _MOST_PARTS = 200, 100
#: A part is in a language from this probability on, and a side if this share of its parts is.
_SURE, _MAIN_SHARE = 0.9, 0.7
#: A single text is judged by its first characters. It is in another language than its own if it has at least so many
#: letters, more than most names of places, and if the detector finds that language more than so many times as probable.
_MOST_READ, _LEAST_LETTERS, _LEAST_ODDS = 100, 12, 400.0
#: The most pairs of the sample whose texts are judged one by one, and the share in another language that is reported.
_MOST_JUDGED, _LARGE_SHARE = 1000, 0.005
#: The detector's name of text in no language.
_NO_LANGUAGE = "zxx"
#: Groups of languages, or of names of one language, that are not told apart.
_GROUPS = (
    "da nb nn no sv",
    "hr bs sr sh sl",
    "cs sk",
    "id ms",
    "es ca gl pt an ext",
    "fr oc wa",
    "it co sc vec lij",
    "nl af fy",
    "de lb gsw nds",
    "ru uk be bg mk sr",
    "en sco pcm",
    "zh yue wuu",
    "ar ary arz",
    "hi mr ne",
)
ALIKE = {
    name: frozenset(name_alike for group in _GROUPS if name in group.split() for name_alike in group.split()) - {name}
    for name in {name for group in _GROUPS for name in group.split()}
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

    def lines(self, source_lang: str, target_lang: str, *, judge_pairs: bool = True) -> list[str]:
        """Return lines for people, given the declared languages; without `judge_pairs` only about whole sides."""
        if len(self._pairs) < _MIN_PAIRS:
            return []
        sides, detector = list(zip(*self._pairs, strict=True)), identifier()
        detected = recognise(sides[0], detector), recognise(sides[1], detector)
        lines = _judge((source_lang, target_lang), detected, {*ALIKE, *detector.nb_classes})
        if lines or not judge_pairs:
            return lines
        return self._judge_pairs(ForeignLanguage(source_lang, detector), ForeignLanguage(target_lang, detector))

    def _judge_pairs(self, source: ForeignLanguage, target: ForeignLanguage) -> list[str]:
        pairs = self._pairs[:: -(-len(self._pairs) // _MOST_JUDGED)]
        n_foreign = sum(source.has(left) or target.has(right) for left, right in pairs)
        if n_foreign < max(2, _LARGE_SHARE * len(pairs)):
            return []
        found = f"{n_foreign:,} of {len(pairs):,} checked pairs have a side in another language than its own"
        return [f"warning: {found}; --set data.drop=language checks all pairs, and drops these"]


class ForeignLanguage:
    """Finds texts that are clearly in another language than their own.

    Args:
        language: its code; of a language that the detector does not know no text is foreign.
        detector: of all languages.
    """

    def __init__(self, language: str, detector: LanguageIdentifier) -> None:
        base = base_language(language)
        self._own = {base, *ALIKE.get(base, ())} & set(detector.nb_classes)
        self._detector = detector

    def has(self, text: str) -> bool:
        """Return True if the text is clearly in another language."""
        text = text[:_MOST_READ]
        if not self._own or sum(map(str.isalpha, text)) < _LEAST_LETTERS:
            return False
        likely = self._detector.classify(text)[0]
        if likely in self._own or likely == _NO_LANGUAGE:
            return False
        ranked = dict(self._detector.rank(text))
        return bool(ranked[likely] > _LEAST_ODDS * sum(ranked[name] for name in self._own))


def identifier() -> LanguageIdentifier:
    """Return a detector of languages: naive Bayes over sequences of bytes (Lui and Baldwin 2011)."""
    # Loading it takes a second and 100 MiB.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def recognise(texts: Sequence[str], detector: LanguageIdentifier) -> str | None:
    """Return the language of texts, None if it is unclear or unknown."""
    guesses = [detector.classify(part) for part in _parts(texts)]
    if not guesses:
        return None
    language, count = Counter(name if p >= _SURE else _NO_LANGUAGE for name, p in guesses).most_common(1)[0]
    return language if language != _NO_LANGUAGE and count >= _MAIN_SHARE * len(guesses) else None


def _parts(texts: Sequence[str]) -> Iterator[str]:
    """Yield some texts, joined to parts, evenly from the whole."""
    step = max(1, sum(map(len, texts)) // (_PART * _MOST_PARTS))
    part = ""
    for text in texts[::step]:
        part = f"{part} {text}" if part else text
        if len(part) >= _PART:
            yield part
            part = ""
    if part:
        yield part


def _may_be(declared: str, detected: str | None, known: Collection[str]) -> bool:
    """Return False if the language of a text is clearly another than the declared one, if that is known."""
    language = base_language(declared)
    return detected is None or language not in known or detected in {language, *ALIKE.get(language, ())}


def _judge(declared: tuple[str, str], detected: tuple[str | None, str | None], known: Collection[str]) -> list[str]:
    """Return lines for people.

    Args:
        known: the languages that can be recognised, or taken for one that can.
    """
    names = [name or "another language" for name in detected]
    looks = f"the source looks like {names[0]} and the target like {names[1]}"
    is_given = [language != UNKNOWN for language in declared]
    if (
        detected[0] is not None
        and detected[0] == detected[1]
        and base_language(declared[0]) != base_language(declared[1])
    ):
        return [f"warning: both sides look like {detected[0]}; is one of them the wrong file or column?"]
    fits = [not is_given[side] or _may_be(declared[side], detected[side], known) for side in (0, 1)]
    if not all(fits):
        if all(is_given) and all(_may_be(declared[side], detected[1 - side], known) for side in (0, 1)):
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
