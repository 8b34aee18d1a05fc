"""Translations from a memory: those of equal texts and sentences, in place of a search, and those of similar texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from dragoman.alignment.word_spans import words
from dragoman.memories import TranslationMemory
from dragoman.memories.translation_memory import ALMOST, MemoryMatch
from dragoman.text.cleaning import collapse_spaces, sanitize
from dragoman.text.icu_messages import has_icu_message
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.protection import Stretch, occurrences
from dragoman.text.sentences import sentence_spans
from dragoman.text.tags import UNKNOWN
from dragoman.text.terms import missing_terms
from dragoman.translator.directions import TaggedText
from dragoman.translator.judging import as_source
from dragoman.translator.request import Request, checked_request
from dragoman.translator.results import Alternative, FirstStep, Flag, PartTranslation, Translation, merge_flags


class Reader(Protocol):
    """Something that finds the languages of a request: a `Planner`."""

    def tagged(self, request: Request) -> TaggedText:
        """Return the text of a request, and its languages."""


@dataclass(frozen=True)
class RecalledPart:
    """A text, or some of its sentences, and the translation that a memory has for it."""

    request: Request
    #: None if it must be searched for.
    translation: Translation | None = None


@dataclass(frozen=True)
class Recalled:
    """A request in parts. It is one part, unless its memory has some of its sentences."""

    request: Request
    parts: Sequence[RecalledPart]
    matches: tuple[MemoryMatch, ...] = ()

    @property
    def missing(self) -> list[Request]:
        """The parts to search for."""
        return [part.request for part in self.parts if part.translation is None]

    def joined(self, found: Iterator[Translation]) -> Translation:
        """Return the translation.

        Args:
            found: the translations of the missing parts; as many are taken.
        """
        own = [next(found) if part.translation is None else part.translation for part in self.parts]
        translation = own[0] if len(own) == 1 else _joined(self.request, self.parts, own)
        return replace(translation, memory=self.matches) if self.matches != translation.memory else translation


def recall(planner: Reader, request: Request, number: int) -> Recalled:
    """Look a request up in its memory.

    The translation of an equal text is used, unless it lacks a protected stretch, or does not begin with the prefix.
    Else those of its sentences are used.

    Args:
        number: of the request, for messages.

    Raises:
        ConfigError: a value of the request has a wrong type, or the model has no such language.
    """
    checked_request(request, number)
    if request.memory is None:
        return Recalled(request, (RecalledPart(request),))
    tagged = planner.tagged(request)
    target = None if tagged.target_lang == UNKNOWN else tagged.target_lang
    source = None if tagged.source_lang == UNKNOWN else tagged.source_lang
    matches = tuple(request.memory.lookup(tagged.text, source, target, threshold=request.memory_threshold))
    if matches and matches[0].score == 1:
        if (translation := fitting_translation(request, matches)) is not None:
            return Recalled(request, (RecalledPart(request, translation),), matches)
        best, *others = matches
        matches = (replace(best, score=ALMOST), *others)
    known = replace(request, source_lang=source or request.source_lang, target_lang=target or request.target_lang)
    return Recalled(request, recalled_parts(known, request.memory) or (RecalledPart(request),), matches)


def recalled_parts(request: Request, memory: TranslationMemory) -> list[RecalledPart]:
    """Return a request in parts: each sentence that a memory has, and all others, as many together as there are.

    Args:
        request: with the languages of the text and of its translation.

    Returns:
        An empty list if the memory has none of them, or if the text cannot be cut: the beginning of its translation is
        given, or it has a message of ICU.
    """
    stretches = request.stretches()
    if request.prefix or has_icu_message(request.text, stretches):
        return []
    parts = list[RecalledPart]()
    first = 0  # of the sentences that are searched for
    end = 0
    for start, stop in _sentence_spans(request.text, stretches):
        sentence = _part(request, start, stop)
        match = memory.exact(sentence.text, request.source_lang, request.target_lang)
        translation = None if match is None else fitting_translation(sentence, (match,))
        if translation is not None:
            if request.text[first:end].strip():
                parts.append(RecalledPart(_part(request, first, end)))
            parts.append(RecalledPart(sentence, translation))
            first = stop
        end = stop
    if parts and request.text[first:end].strip():
        parts.append(RecalledPart(_part(request, first, end)))
    return parts


def fitting_translation(request: Request, matches: Sequence[MemoryMatch]) -> Translation | None:
    """Return the translation of an equal text, the first match, if it fits the request; else None.

    A person chose its words, so terms are only checked.
    """
    text = collapse_spaces(sanitize(matches[0].target))
    if not _fits(request, text):
        return None
    terms = [term for _, _, term in request.demanded_terms]
    missing = tuple(term.source for term in missing_terms(terms, text))
    flags: tuple[Flag, ...] = ("term_missing",) if missing else ()
    alternatives = (Alternative(text, 0.0, 0.0, ()),)
    memory, recalled = tuple(matches), tuple(matches[:1])
    return Translation(
        text, 0.0, (), alternatives, flags=flags, memory=memory, recalled=recalled, missing_terms=missing
    )


def _fits(request: Request, translation: str) -> bool:
    """Return True if a translation begins as the request demands, and has its protected stretches."""
    kept = [request.text[start:end] for start, end in request.stretches()]
    is_kept = all(len(occurrences(translation, stretch)) >= kept.count(stretch) for stretch in dict.fromkeys(kept))
    return is_kept and translation.startswith(collapse_spaces(sanitize(request.prefix)))


def _sentence_spans(text: str, stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the start and the end of each sentence; none ends within a protected stretch."""
    first: int | None = None
    for start, end in sentence_spans(text):
        first = start if first is None else first
        if not any(begin < end < stop for begin, stop in stretches):
            yield first, end
            first = None
    if first is not None:  # the last one ends in a stretch that goes on behind it
        yield first, len(text)


def _part(request: Request, start: int, end: int) -> Request:
    """Return the request for a part of a text."""
    inside = [stretch for stretch in request.verbatim if start <= stretch[0] and stretch[1] <= end]
    text = request.text[start:end]
    verbatim = tuple((begin - start, stop - start) for begin, stop in inside)
    marked = tuple(part for part in request.marked if part in text)
    before = (*request.context, request.text[:start]) if start else request.context
    return replace(request, text=text, verbatim=verbatim, marked=marked, memory=None, context=before)


def _joined(request: Request, parts: Sequence[RecalledPart], found: Sequence[Translation]) -> Translation:
    """Return the translation of a text, given those of its parts; its k-th alternative has the k-th of each."""
    target = next(part.request.target_lang for part in parts)
    between = "" if target is not None and base_language(target) in WITHOUT_SPACES else " "
    sources = [len(words(part.request.text)) for part in parts]
    searched = [one for part, one in zip(parts, found, strict=True) if part.translation is None]
    n_best = min((len(one.alternatives) for one in searched), default=1)
    alternatives = tuple(
        _alternative([one.alternatives[0 if one.recalled else rank] for one in found], sources, between)
        for rank in range(n_best)
    )
    best = _alternative([_best(one) for one in found], sources, between)
    confidences = [one.confidence for one in searched if one.confidence is not None]
    doubtful = [(one.doubtful or (), one.text) for one in found]
    joined = Translation(
        best.text,
        best.score,
        best.tokens,
        alternatives,
        alignment=best.alignment,
        n_parts=sum(one.n_parts for one in found),
        flags=merge_flags(chain.from_iterable(one.flags for one in found)),
        recalled=tuple(chain.from_iterable(one.recalled for one in found)),
        missing_terms=tuple(dict.fromkeys(chain.from_iterable(one.missing_terms for one in found))),
        repairs=tuple(dict.fromkeys(chain.from_iterable(one.repairs for one in found))),
        confidence=min(confidences, default=None),
        doubtful=tuple(_shifted(doubtful)) if request.doubts else None,
        pivot=_first_step([one.pivot for one in searched if one.pivot is not None]),
        fallback=next((one.fallback for one in searched if one.fallback is not None), None),
    )
    return as_source(request, joined) if "unsure" in joined.flags else joined


def _first_step(steps: Sequence[FirstStep]) -> FirstStep | None:
    """Return the first steps of the parts that were searched as one; None if there was none."""
    if not steps:
        return None
    between = "" if base_language(steps[0].language) in WITHOUT_SPACES else " "
    confidences = [step.confidence for step in steps if step.confidence is not None]
    text, score = between.join(step.text for step in steps), sum(step.score for step in steps)
    return FirstStep(steps[0].language, text, score, min(confidences, default=None))


def _best(translation: Translation) -> Alternative:
    parts = translation.alternatives[0].parts if translation.alternatives else ()
    score, tokens, links = translation.score, translation.tokens, translation.alignment
    return Alternative(translation.text, score, score, tokens, parts, links)


def _alternative(parts: Sequence[Alternative], sources: Sequence[int], between: str) -> Alternative:
    """Join alternatives of parts.

    Args:
        sources: the number of words of each part's text.
    """
    texts = [(between if index and part.text else "") + part.text for index, part in enumerate(parts)]
    own = [
        PartTranslation(gap + text, score)
        for index, part in enumerate(parts)
        for number, (text, score) in enumerate(part.parts or [(part.text, part.score)])
        for gap in [between if index and not number and text else ""]
    ]
    alignment = None
    if all(part.alignment is not None for part in parts):
        links, n_sources, n_targets = list[tuple[int, int]](), 0, 0
        for part, n_words in zip(parts, sources, strict=True):
            links += [(source + n_sources, target + n_targets) for source, target in part.alignment or ()]
            n_sources, n_targets = n_sources + n_words, n_targets + len(words(part.text))
        alignment = tuple(links)
    return Alternative(
        "".join(texts),
        sum(part.score for part in parts),
        sum(part.log_prob for part in parts),
        tuple(chain.from_iterable(part.tokens for part in parts)),
        tuple(own),
        alignment,
    )


def _shifted(doubtful: Sequence[tuple[Sequence[int], str]]) -> Iterator[int]:
    """Yield the numbers of the doubtful words of parts, as they are in the whole."""
    before = 0
    for numbers, text in doubtful:
        yield from (number + before for number in numbers)
        before += len(words(text))
