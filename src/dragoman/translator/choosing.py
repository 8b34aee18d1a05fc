"""The choice among the candidates of a segment: the first that keeps its spans and its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.text.currencies import currencies_kept
from dragoman.text.languages import base_language
from dragoman.text.numbers import numbers_kept
from dragoman.text.odd_characters import symbols
from dragoman.text.protection import occurrences
from dragoman.text.shouting import capitalize, shout
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.terms import missing_terms
from dragoman.translator.reading import RESERVED, Reading
from dragoman.translator.results import Flag
from dragoman.translator.searching import Candidate


class Choice(NamedTuple):
    """The candidates of a segment, the chosen one first."""

    candidates: Sequence[Candidate]
    #: What the first has lost.
    losses: Sequence[Flag]
    #: The sources of the terms that the first lacks.
    missing_terms: Sequence[str] = ()


def choose(reading: Reading, candidates: Sequence[Candidate], languages: tuple[str, str]) -> Choice:
    """Choose the best candidate without a fault that has each span once, the same numbers and all terms, if there is
    one; else the best that lacks terms only. The others stay in their order.

    Args:
        reading: what the model read.
        candidates: of a segment, the best first; they come back with their spans in place.
        languages: codes of the source and the target language.
    """
    candidates = [candidate._replace(text=_repaired(reading, candidate.text)) for candidate in candidates]
    losses = [find_losses(reading.text, candidate.text, reading.unmasked, languages) for candidate in candidates]
    missing = [_missing(reading, candidate.text) for candidate in candidates]
    ranks = range(len(candidates))
    is_sound = [candidate.hypothesis.finished and not candidate.hypothesis.faults for candidate in candidates]
    usable = [rank for rank in ranks if is_sound[rank] or not any(is_sound)]
    without_losses = [rank for rank in usable if not {"span", "number"} & set(losses[rank])]
    first = next((rank for rank in without_losses if not missing[rank]), next(iter(without_losses), 0))
    order = [first, *(rank for rank in ranks if rank != first)]
    chosen = [_restored(reading, candidates[rank], languages[1]) for rank in order]
    flags: list[Flag] = ["term_missing"] if missing[first] else []
    return Choice(chosen, [*losses[first], *flags], missing[first])


def _missing(reading: Reading, translation: str) -> list[str]:
    """Return the sources of the terms that a translation lacks, which is not in capitals yet."""
    missing = missing_terms(reading.terms, translation, any_case=reading.is_shouted)
    return [term.source for term in missing]


def _repaired(reading: Reading, translation: str) -> str:
    """Return a translation with the one mask that it lacks in place of the one that its source lacks."""
    masks, written = [piece for piece, _ in reading.masks], RESERVED.findall(translation)
    missing = [piece for piece in masks if piece not in written]
    invented = [piece for piece in written if piece not in masks]
    return translation.replace(*invented, *missing) if len(missing) == len(invented) == 1 else translation


def find_losses(source: str, translation: str, stretches: Sequence[str], languages: tuple[str, str]) -> list[Flag]:
    """Return `span` if a span or a protected stretch is missing, repeated or invented, or a symbol is missing; and
    `number` if a number is, or the currency of a price is missing."""
    spans = {source[span.start : span.end] for span in find_spans(source) if span.kind in VERBATIM}
    losses: list[Flag] = []
    is_invented = any(piece not in spans for piece in RESERVED.findall(translation))
    is_lost = any(translation.count(span) != source.count(span) for span in spans) or any(
        count_error(source, translation, stretch, least) for stretch, least in Counter(stretches).items()
    )
    is_lost = is_lost or any(symbol not in translation for symbol in symbols(source))
    if is_invented or is_lost:
        losses.append("span")
    texts = [source, translation]
    for span in sorted(spans.union(stretches), key=len, reverse=True):
        texts = [text.replace(span, " ") for text in texts]
    source, target = (RESERVED.sub(" ", text) for text in texts)
    is_kept = numbers_kept(source, target, *languages)
    if not is_kept or not currencies_kept(source, target, base_language(languages[1])):
        losses.append("number")
    return losses


def count_error(source: str, translation: str, stretch: str, least: int) -> int:
    """Return by how many a protected stretch is too often in a translation; a negative number if it is too rare.

    Args:
        least: the times that it is protected; the source may have it more often.
    """
    found, most = len(occurrences(translation, stretch)), max(least, len(occurrences(source, stretch)))
    return min(found - least, 0) or max(found - most, 0)


def _restored(reading: Reading, candidate: Candidate, target_lang: str) -> Candidate:
    """Return a candidate with its spans, and with the capitals that the segment has."""
    text = candidate.text
    if reading.is_shouted:
        text = shout(text, target_lang)
    elif reading.is_capitalized:
        text = capitalize(text)
    return candidate._replace(text=reading.unmask(text))
