"""The second search for lost names: requests with names to be masked, and the segments that replace others.

A segment that has lost several names is searched with all of them masked, and with each alone, because a translation
with several masks loses one more often than that with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from dragoman.text.protection import merged, occurrences, overlaps
from dragoman.translator.choosing import Choice, choose, rank
from dragoman.translator.cutting import Segment
from dragoman.translator.demands import demanded_terms
from dragoman.translator.lost_names import LostName, LostNames, NameCheck
from dragoman.translator.plans import Plan, TextPlan
from dragoman.translator.request import Request
from dragoman.translator.searching import Candidate
from dragoman.translator.segment_names import keeps_names, languages_of

#: A segment and its candidates.
_Searched = tuple[Segment, Sequence[Candidate]]


class Attempt(NamedTuple):
    """A second search of a segment."""

    #: The number of its job.
    number: int
    #: The names that are masked.
    names: Sequence[LostName]

    @property
    def written(self) -> list[str]:
        """The names that a translation writes in another form."""
        return [each.name.text for each in self.names if each.name.forms]

    def request(self, plan: Plan) -> Request:
        """Return the request of the segment; names that stay as they are are protected, so masked."""
        return _masked(*plan.searched[self.number], [each.name.text for each in self.names if not each.name.forms])


def attempts(lost: LostNames) -> list[Attempt]:
    """Return the second searches of the segments that have lost names, the best of each segment first."""
    return [
        Attempt(number, masked)
        for number, names in lost.items()
        for masked in (names, *([each] for each in names if len(names) > 1))
    ]


def with_names(
    check: NameCheck,
    tried: Sequence[Attempt],
    plans: tuple[Plan, Plan],
    found: tuple[Sequence[Sequence[Candidate]], ...],
) -> tuple[Plan, list[Sequence[Candidate]]]:
    """Return a plan and its candidates, with the segments that keep their names in place of those that lost them.

    A segment stays as it is if the others would lose a span, a number or another name.

    Args:
        check: of the names.
        tried: the second searches.
        plans: the plan, and that of the masked requests.
        found: the candidates of their jobs.
    """
    plan, masked = plans
    candidates, remaining = found[0], iter(found[1])
    better: dict[int, _Searched] = {}
    for attempt, text in zip(tried, masked.texts, strict=True):
        beams = list(islice(remaining, sum(not segment.is_copied for segment in text.segments)))
        if attempt.number not in better and len(beams) == len(text.segments) == 1:
            old, segment = plan.searched[attempt.number][1], text.segments[0]
            before = rank(old.reading, candidates[attempt.number], languages_of(text))
            ranked = rank(segment.reading, beams[0], languages_of(text)).candidates
            # A noun that is no name is in the best translation or better left to the model.
            usable = ranked if all(name.is_marked for name in attempt.names) else ranked[:1]
            for best in usable:
                if _is_sound(best, text, (old, before), check, attempt.names):
                    beam = [best, *(one for one in ranked if one is not best)]
                    new = segment._replace(text=old.text, flag=old.flag, gap=old.gap)
                    better[attempt.number] = new, beam[: plan.config.n_best]
                    break
    return _replaced(plan, candidates, better)


def _is_sound(
    candidate: Candidate, text: TextPlan, old: tuple[Segment, Choice], check: NameCheck, names: Sequence[LostName]
) -> bool:
    """Return True if a candidate of a masked segment has the names, and all that the translation before has.

    Args:
        text: the plan of the masked segment.
        old: the segment without masks, and its candidates.
    """
    segment, before = old
    after = choose(text.segments[0].reading, [candidate], languages_of(text))
    pair = before.candidates[0], after.candidates[0]
    return (
        candidate.hypothesis.finished
        and not candidate.hypothesis.faults
        and set(after.flags) <= set(before.flags)
        and keeps_names(text, segment.reading, (pair[0].text, pair[1].text))
        and check.is_probable(names, segment, pair)
    )


def with_warnings(plan: Plan, candidates: Sequence[Sequence[Candidate]], lost: LostNames) -> list[Sequence[Candidate]]:
    """Return the candidates of a plan's jobs, with those marked that lack a lost name.

    A name that may be there in another form does not count.
    """
    marked = list(candidates)
    for number, names in lost.items():
        certain = [each.name for each in names if each.is_certain]
        reading = plan.searched[number][1].reading
        marked[number] = [
            one._replace(lacks_word=not all(name.n_in(reading.unmask(one.text)) for name in certain))
            for one in candidates[number]
        ]
    return marked


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
        rules=text.request.rules,
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
