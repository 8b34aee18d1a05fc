"""Annotate words of a source with their translations in the target, so that a model learns to obey term lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numpy.random import Generator

from dragoman.data.augmentation.shared import Pair, Place
from dragoman.text.annotations import Annotation, AnnotationMarks
from dragoman.text.terms import TermList, stands_alone

#: The most terms of a pair, and the most words of a term that are found one by one.
_MOST_TERMS, _MOST_WORDS = 5, 3
#: The share of pairs with one more term, if there are words left for it.
_SHARE = 0.8
#: Characters between the translations of neighbouring words, at most: "of the".
_GAP = 8


class _Link(NamedTuple):
    source: Place
    target: Place


def annotate_terms(pair: Pair, terms: TermList, marks: AnnotationMarks, generator: Generator) -> Pair:
    """Return the pair with some of its words annotated, alone or with the words beside them as one term.

    Args:
        terms: translations of words that a corpus has; only those in the target are taken.
    """
    source, target = pair
    links, chosen = _links(pair, terms), list[Annotation]()
    for at in generator.permutation(len(links)).tolist():
        if len(chosen) == _MOST_TERMS or (chosen and generator.random() >= _SHARE):
            break
        joined = _joined(links, at, pair, n_words=1 + int(generator.random() * _MOST_WORDS))
        if not any(joined.source[0] < end and start < joined.source[1] for start, end, _ in chosen):
            chosen.append(Annotation(*joined.source, _as_in_a_list(pair, joined)))
    return (marks.annotate(source, chosen), target) if chosen else pair


def _links(pair: Pair, terms: TermList) -> list[_Link]:
    """Return the words of a source, from left to right, whose translation stands once in the target."""
    target = pair[1].lower()
    if len(target) != len(pair[1]):  # a letter whose small form is longer
        return []
    links = []
    for start, end, term in terms.find(pair[0]):
        places = [place for word in term.targets for place in _places(target, word)]
        if len(places) == 1:
            links.append(_Link((start, end), places[0]))
    return links


def _places(text: str, word: str) -> list[Place]:
    places, at = [], text.find(word)
    while at >= 0:
        place = at, at + len(word)
        if stands_alone(text, place, goes_on=False):
            places.append(place)
        at = text.find(word, at + 1)
    return places


def _joined(links: Sequence[_Link], at: int, pair: Pair, *, n_words: int) -> _Link:
    """Return a link, or one of it and the links after it, if both sides are stretches that nothing else is in."""
    (start, end), (first, last) = links[at]
    for number, (source, target) in enumerate(links[at + 1 : at + n_words], at + 1):
        low, high = min(first, target[0]), max(last, target[1])
        is_near = not pair[0][end : source[0]].strip() and high - low <= last - first + target[1] - target[0] + _GAP
        others = [link.target for index, link in enumerate(links) if not at <= index <= number]
        if not is_near or any(other[0] < high and low < other[1] for other in others):
            break
        end, first, last = source[1], low, high
    return _Link((start, end), (first, last))


def _as_in_a_list(pair: Pair, link: _Link) -> str:
    """Return the translation of a link, without the capital letter that it has at the beginning of a target alone."""
    word, translation = (text[slice(*place)] for text, place in zip(pair, link, strict=True))
    is_first = not link.target[0] and word[:1].islower() and translation[1:].islower()
    return translation[:1].lower() + translation[1:] if is_first else translation
