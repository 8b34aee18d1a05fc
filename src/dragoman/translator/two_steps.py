"""Translations in two steps, through a language in the middle: the requests of both, and what they make together.

What must survive is compared in the first text and the last one. Words are aligned through the words in the middle, and
so are terms, which the second step is told by the words that the first has written for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching, words_in_place
from dragoman.text.cleaning import sanitize
from dragoman.text.protection import merged, occurrences
from dragoman.text.terms import Term, TermList, missing_terms
from dragoman.translator.content_check import CheckContext, content_flags
from dragoman.translator.judging import confidence_flags, or_source
from dragoman.translator.request import Request
from dragoman.translator.results import Alternative, FirstStep, Flag, Translation, merge_flags

#: Options of the search that are about the translation, so that the first step does not have them.
OF_LAST_STEP = ("min_length", "max_length")

#: Flags by which a text in the middle is compared with its neighbours; the whole translation has its own.
_COMPARED: frozenset[Flag] = frozenset(("span", "number", "script", "term_missing", "low_confidence"))
#: Characters around a word that are no part of a term.
_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_NOTHING = Alternative("", 0.0, 0.0, (), alignment=())


def first_request(request: Request, middle: str) -> Request:
    """Return the request for the translation of a text into the language in the middle.

    The text's prefix and terms belong to the second step, except terms that are not translated.
    """
    kept = TermList(term for term in request.terms or () if term.is_kept)
    return replace(
        _without_bound(request),
        target_lang=middle,
        prefix="",
        memory=None,
        terms=kept or None,
        align=request.align or request.doubts or bool(request.demanded_terms),
    )


def second_requests(request: Request, middle: str, first: Translation, n_best: int) -> list[Request]:
    """Return the requests for the translations of the best texts in the middle: as many as are wanted in the end."""
    return [_onward(request, middle, each) for each in _different(first.alternatives or (_NOTHING,))[:n_best]]


def joined(
    request: Request, languages: tuple[str, str], middle: str, first: Translation, seconds: Sequence[Translation]
) -> Translation:
    """Return a translation in two steps: the best translation of the best text in the middle.

    The alternatives are those of all texts in the middle, by the sum of both scores, as many as one step has.

    Args:
        languages: codes of source and target.
        middle: code of the language in the middle.
        first: the translation into it.
        seconds: those of the texts that `second_requests` returned.
    """
    second = seconds[0]
    if not second.alternatives:
        flags = merge_flags((*first.flags, *second.flags))
        return replace(second, n_parts=first.n_parts, flags=flags, pivot=FirstStep.of(middle, first))
    pairs = zip(_different(first.alternatives or (_NOTHING,)), seconds, strict=False)
    best, *others = [_alternative(before, each) for before, found in pairs for each in found.alternatives]
    others.sort(key=lambda each: -each.score)
    alternatives = _different([best, *others])[: max(len(found.alternatives) for found in seconds)]
    confidences = [each.confidence for each in (first, second) if each.confidence is not None]
    translation = replace(
        second,
        score=best.score,
        alternatives=tuple(each if request.align else replace(each, alignment=None) for each in alternatives),
        alignment=best.alignment if request.align else None,
        n_parts=first.n_parts,
        repairs=tuple(dict.fromkeys((*first.repairs, *second.repairs))),
        confidence=min(confidences) if len(confidences) == 2 else None,
        doubtful=_doubtful(first, second),
        pivot=FirstStep.of(middle, first),
        fallback=first.fallback or second.fallback,
    )
    return or_source(request, _checked(request, languages, first, translation))


def _checked(request: Request, languages: tuple[str, str], first: Translation, translation: Translation) -> Translation:
    """Return a translation with its flags, and the terms that it lacks.

    Args:
        translation: with the flags of the second step.
    """
    if request.plain:
        return replace(translation, flags=merge_flags((*first.flags, *translation.flags)))
    terms, stretches = [term for _, _, term in request.demanded_terms], request.stretches()
    missing = missing_terms(terms, translation.text)
    kept = [request.text[start:end] for start, end in stretches]
    flags = [flag for flag in (*first.flags, *translation.flags) if flag not in _COMPARED]
    flags += ["script"] if "script" in translation.flags else []
    flags += ["term_missing"] if missing else []
    context = CheckContext(languages, kept, request.off, terms)
    flags += content_flags(sanitize(request.text), translation.text, context)
    flags += confidence_flags(request, languages[1], translation.confidence)
    return replace(translation, flags=merge_flags(flags), missing_terms=tuple(term.source for term in missing))


def _onward(request: Request, middle: str, before: Alternative) -> Request:
    """Return the request for the translation of a text in the middle, with the stretches and terms of the first."""
    stretches = {request.text[start:end] for start, end in request.verbatim}
    terms = TermList(_terms(request, before))
    return replace(
        _without_bound(request),
        text=before.text,
        verbatim=tuple(merged(place for stretch in stretches for place in occurrences(before.text, stretch))),
        source_lang=middle,
        memory=None,
        terms=terms or None,
        context=(),
        align=request.align or request.doubts,
    )


def _without_bound(request: Request) -> Request:
    """Return a request whose translation stays, however low its confidence; only the last one is compared."""
    return request if request.min_confidence is None else replace(request, min_confidence=0.0)


def _terms(request: Request, before: Alternative) -> Iterator[Term]:
    """Yield the terms of a text, by the words that a text in the middle has for them.

    A term whose words are apart there, or that it lacks, is left out.
    """
    kept = TermList(term for term in request.terms or () if term.is_kept)
    yield from kept
    if not request.demanded_terms:
        return
    sources, places = words_in_place(request.text), words_in_place(before.text)
    for start, end, term in request.demanded_terms:
        own = touching(sources, (start, end))
        linked = sorted({middle for source, middle in before.alignment or () if source in own})
        if linked and linked[-1] - linked[0] < len(linked):
            phrase = _AROUND.sub("", before.text[places[linked[0]][0] : places[linked[-1]][1]])
            if phrase and not kept.find(phrase):
                yield Term(phrase, term.targets, term.case)


def _alternative(before: Alternative, after: Alternative) -> Alternative:
    """Return the translation of a translation, with the scores of both."""
    return replace(
        after,
        score=before.score + after.score,
        log_prob=before.log_prob + after.log_prob,
        alignment=_composed(before.alignment or (), after.alignment or ()),
    )


def _composed(first: Sequence[Link], second: Sequence[Link]) -> tuple[Link, ...]:
    """Return the links of words that have a word in the middle.

    >>> _composed([(0, 1), (1, 0)], [(0, 3), (1, 2), (2, 5)])
    ((0, 2), (1, 3))
    """
    onward: dict[int, list[int]] = {}
    for middle, target in second:
        onward.setdefault(middle, []).append(target)
    return tuple(sorted({(source, target) for source, middle in first for target in onward.get(middle, ())}))


def _doubtful(first: Translation, second: Translation) -> tuple[int, ...] | None:
    """Return the numbers of words that the second step doubts, or that come from a word that the first one does."""
    if second.doubtful is None:
        return None
    doubted = set(first.doubtful or ())
    from_doubted = (target for middle, target in second.alignment or () if middle in doubted)
    return tuple(sorted({*second.doubtful, *from_doubted}))


def _different(alternatives: Sequence[Alternative]) -> list[Alternative]:
    """Return the first alternative of each text."""
    by_text: dict[str, Alternative] = {}
    for each in alternatives:
        by_text.setdefault(each.text, each)
    return list(by_text.values())
