"""Replace what stands on both sides of a pair by something else of its kind, or by reserved pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence

from numpy.random import Generator

from dragoman.data.augmentation.days import draw_day
from dragoman.data.augmentation.made_up_spans import draw_verbatim
from dragoman.data.augmentation.names import NAME_KINDS, NameKind, draw_name, names_with_chinese
from dragoman.data.augmentation.number_values import context, other_value, value_of, written
from dragoman.data.augmentation.shared import Languages, Pair, Shared
from dragoman.data.augmentation.shared_spans import find_shared
from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import UNSPACED

#: Of several spans in a pair, the share that is replaced.
_SHARE = 0.8
#: The share of names that a placeholder, an address or the like replaces, and the share of Chinese names for Chinese.
_VERBATIM_SHARE, _CHINESE_SHARE = 0.2, 0.35
#: The share of numbers that become reserved pieces, and the share of pairs whose pieces come in their order.
_NUMBER_SHARE, _IN_ORDER_SHARE = 0.5, 0.5
_TRIES = 20
_GENITIVE = re.compile(r"s\b")
_ENDING = re.compile(f"['’`´]|(?![{UNSPACED}])[^\\W\\d_]")
_VOWELS = "aeiouyhàáâäåæèéêëìíîïòóôöøœùúûü"
#: Words before a name whose form depends on its first sound.
_BEFORE_CONSONANT = re.compile(r"\b(?:an?|de|que|ne|je|se|me|te|jusque|lorsque|puisque|quoique)\s\Z", re.IGNORECASE)
_BEFORE_VOWEL = re.compile(r"(?:\ban\s|\w['’])\Z", re.IGNORECASE)


def replace_spans(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return the pair with most of the names, numbers and other spans on both sides replaced."""
    edits: list[tuple[Shared, Pair]] = []
    used: set[str] = set()
    for shared in find_shared(pair, languages):
        if generator.random() < _SHARE:
            new = _replacement(shared, pair, languages, generator, used)
            if new is not None:
                edits.append((shared, new))
                used.update(new)
    return edited(pair, edits)


def reserve_names(pair: Pair, languages: Languages, pieces: Sequence[str], generator: Generator) -> Pair:
    """Return the pair with reserved pieces for the names on both sides and half of the numbers that are not 1 or 0.

    A translator masks numbers too, if they are lost otherwise.
    """
    spans = [
        shared
        for shared in find_shared(pair, languages)
        if shared.kind in NAME_KINDS or (_is_many(shared, pair) and generator.random() < _NUMBER_SHARE)
    ]
    return reserve(pair, spans, pieces, generator)


def _is_many(shared: Shared, pair: Pair) -> bool:
    """Return True for a number of two digits or more."""
    (start, end), *_ = shared.places[0]
    return shared.kind == "number" and end - start > 1 and pair[0][start:end].isascii()


def reserve(pair: Pair, spans: Sequence[Shared], pieces: Sequence[str], generator: Generator) -> Pair:
    """Return the pair with a reserved piece in the place of each span, as far as there are pieces."""
    edits = []
    free = free_pieces(pair, pieces, generator)
    for shared, piece in zip(sorted(spans, key=lambda shared: shared.places[0]), free, strict=False):
        edits.append((shared, (piece, piece)))
    return edited(pair, edits)


def free_pieces(pair: Pair, pieces: Sequence[str], generator: Generator) -> list[str]:
    """Return the pieces that a pair does not have: in their order, as translators take them, or shuffled."""
    both = "\n".join(pair)
    has_some = any(piece[0] in both for piece in pieces[:1])  # all begin with the same character, which few texts have
    free = [piece for piece in pieces if piece not in both] if has_some else [*pieces]
    return free if generator.random() < _IN_ORDER_SHARE else [free[place] for place in generator.permutation(len(free))]


def edited(pair: Pair, edits: Sequence[tuple[Shared, Pair]]) -> Pair:
    """Return the pair with new texts in the places of spans, which do not overlap."""
    source, target = pair
    for side in (0, 1):
        places = sorted(((*place, new[side]) for shared, new in edits for place in shared.places[side]), reverse=True)
        for start, end, new_text in places:
            if side == 0:
                source = source[:start] + new_text + source[end:]
            else:
                target = target[:start] + new_text + target[end:]
    return source, target


def _replacement(shared: Shared, pair: Pair, languages: Languages, generator: Generator, used: set[str]) -> Pair | None:
    """Return the text that replaces a span, on each side; None if it must stay."""
    kind = shared.kind
    if kind == "number":
        return _other_number(shared, pair, languages, generator)
    if kind == "day":
        return _other_day(shared, pair, languages, generator)
    if kind not in NAME_KINDS:
        text = draw_verbatim(generator)
        return None if text in used or kind == "reserved" else (text, text)
    chance = generator.random()
    if chance < _CHINESE_SHARE and "zh" in languages and "en" in languages:
        names = _chinese_name(kind, languages, generator)
        return None if used.intersection(names) else names
    fits = _Fit(shared, pair, languages)
    if generator.random() < _VERBATIM_SHARE and not fits.has_ending:
        text = draw_verbatim(generator)
        return None if text in used else (text, text)
    for _ in range(_TRIES):
        name = draw_name(kind, generator)
        if name not in used and fits.accepts(name):
            return name, name
    return None


def _chinese_name(kind: NameKind, languages: Languages, generator: Generator) -> Pair:
    latin, forms = pick(names_with_chinese(kind), generator)
    form = pick(forms, generator)
    return (form, latin) if languages[0] == "zh" else (latin, form)


def _other_day(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair | None:
    fits = _Fit(shared, pair, languages)
    for _ in range(_TRIES):
        days = draw_day(shared, pair, languages, generator)
        if all(map(fits.accepts, days)):
            return days
    return None


def _other_number(shared: Shared, pair: Pair, languages: Languages, generator: Generator) -> Pair | None:
    ((source,), (target,)) = shared.places
    old = pair[0][slice(*source)], pair[1][slice(*target)]
    near = context(pair, (source, target), languages)
    new = other_value(value_of(old[0], languages[0]), near, generator)
    return None if new is None else (written(new, languages[0], old[0]), written(new, languages[1], old[1]))


class _Fit:
    """The demands of a name's neighbours on another name in its place."""

    def __init__(self, shared: Shared, pair: Pair, languages: Languages) -> None:
        self._is_genitive, self._starts = False, set[str]()
        #: True if letters or an apostrophe follow, which an address would swallow.
        self.has_ending = False
        for text, places, language in zip(pair, shared.places, languages, strict=True):
            for start, end in places:
                self._is_genitive |= language == "de" and _GENITIVE.match(text, end) is not None
                self.has_ending |= _ENDING.match(text, end) is not None
                before = text[max(0, start - 12) : start] if language in ("en", "fr") else ""
                if _BEFORE_CONSONANT.search(before):
                    self._starts.add("consonant")
                if _BEFORE_VOWEL.search(before):
                    self._starts.add("vowel")

    def accepts(self, name: str) -> bool:
        """Return True if a name may stand there."""
        if self._is_genitive and name[-1] in "sxzß":
            return False
        return not self._starts or self._starts == {"vowel" if name[0].lower() in _VOWELS else "consonant"}
