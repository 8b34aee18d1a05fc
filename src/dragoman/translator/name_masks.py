"""The second search for lost names: requests with names to be masked, and the segments that replace others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from dragoman.text.protection import merged, occurrences, overlaps
from dragoman.translator.choosing import choose, rank
from dragoman.translator.cutting import Segment
from dragoman.translator.demands import demanded_terms
from dragoman.translator.lost_names import LostNames, NameCheck
from dragoman.translator.plans import Plan, TextPlan
from dragoman.translator.request import Request
from dragoman.translator.searching import Candidate
from dragoman.translator.segment_names import keeps_names, languages_of

#: A segment and its candidates.
_Searched = tuple[Segment, Sequence[Candidate]]


def masked_requests(plan: Plan, lost: LostNames) -> list[Request]:
    """Return a request for each segment that has lost names; those that stay as they are are protected, so masked."""
    kept = {number: [each.name.text for each in names if not each.name.forms] for number, names in lost.items()}
    return [_masked(*plan.searched[number], names) for number, names in kept.items()]


def written_names(lost: LostNames) -> list[list[str]]:
    """Return the lost names of each segment that are to be masked and written in another form."""
    return [[each.name.text for each in names if each.name.forms] for names in lost.values()]


def with_names(
    check: NameCheck, lost: LostNames, plans: tuple[Plan, Plan], found: tuple[Sequence[Sequence[Candidate]], ...]
) -> tuple[Plan, list[Sequence[Candidate]]]:
    """Return a plan and its candidates, with the segments that keep their names in place of those that lost them.

    A segment stays as it is if the other would lose a span, a number or another name.

    Args:
        check: of the names.
        lost: the names.
        plans: the plan, and that of the masked requests.
        found: the candidates of their jobs.
    """
    plan, masked = plans
    candidates, remaining = found[0], iter(found[1])
    better: dict[int, _Searched] = {}
    for number, text in zip(lost, masked.texts, strict=True):
        beams = list(islice(remaining, sum(not segment.is_copied for segment in text.segments)))
        if len(beams) == len(text.segments) == 1:
            old = plan.searched[number][1]
            languages, segment = languages_of(text), text.segments[0]
            before = rank(old.reading, candidates[number], languages)
            after = choose(segment.reading, beams[0], languages)
            best = after.candidates[0]
            pair = before.candidates[0], best
            is_sound = best.hypothesis.finished and set(after.flags) <= set(before.flags)
            is_sound &= keeps_names(text, old.reading, (pair[0].text, best.text))
            if is_sound and not best.hypothesis.faults and check.is_probable(lost[number], old, pair):
                ranked = rank(segment.reading, beams[0], languages).candidates
                better[number] = segment._replace(text=old.text, flag=old.flag), ranked[: plan.config.n_best]
    return _replaced(plan, candidates, better)


def _masked(text: TextPlan, segment: Segment, names: Sequence[str]) -> Request:
    terms = [(start, end) for start, end, _ in demanded_terms(segment.text, text.request.terms, segment.protected)]
    places = [place for name in names for place in occurrences(segment.text, name) if not overlaps(place, terms)]
    source_lang, target_lang = languages_of(text)
    return Request(
        segment.text,
        sentences=text.request.sentences,
        source_lang=source_lang,
        target_lang=target_lang,
        verbatim=merged([*segment.protected, *places]),
        terms=text.request.terms,
    )


def _replaced(
    plan: Plan, candidates: Sequence[Sequence[Candidate]], better: Mapping[int, _Searched]
) -> tuple[Plan, list[Sequence[Candidate]]]:
    numbers = iter(range(len(candidates)))
    texts = [replace(text, segments=list(_segments(text, numbers, better))) for text in plan.texts]
    beams = [better[number][1] if number in better else beam for number, beam in enumerate(candidates)]
    return replace(plan, texts=texts), beams


def _segments(text: TextPlan, numbers: Iterator[int], better: Mapping[int, _Searched]) -> Iterator[Segment]:
    for segment in text.segments:
        number = -1 if segment.is_copied else next(numbers)
        yield better[number][0] if number in better else segment
