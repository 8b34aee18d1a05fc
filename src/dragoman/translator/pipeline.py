"""Plan, search, finish: the stages of every translation. Each can be called by itself."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from dragoman.errors import DeadlineError
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.demands import required_terms
from dragoman.translator.finishing import Finisher
from dragoman.translator.judging import or_source
from dragoman.translator.lost_names import NameCheck
from dragoman.translator.name_masks import attempts, with_names, with_warnings
from dragoman.translator.number_masks import quantities_to_mask
from dragoman.translator.planning import Planner
from dragoman.translator.plans import Plan, SearchJob, TextPlan
from dragoman.translator.recalling import recall
from dragoman.translator.request import Request
from dragoman.translator.results import Translation, has_lost_content, merge_flags
from dragoman.translator.searching import Candidate, Search, StopCondition

#: Yields the jobs of a search, takes their candidates, and returns the translations.
Stages = Generator[Sequence[SearchJob], Sequence[Sequence[Candidate]], list[Translation]]
#: The same, and returns candidates of jobs.
_Search = Generator[Sequence[SearchJob], Sequence[Sequence[Candidate]], Sequence[Sequence[Candidate]]]
#: The same, and returns a plan with the candidates of its jobs.
_Searches = Generator[Sequence[SearchJob], Sequence[Sequence[Candidate]], tuple[Plan, Sequence[Sequence[Candidate]]]]


@dataclass(frozen=True)
class SearchWanted:
    """The jobs that `Pipeline.stages` needs the candidates of before it goes on."""

    jobs: Sequence[SearchJob]


def advance(
    stages: Stages, found: Sequence[Sequence[Candidate]] | DeadlineError | None
) -> SearchWanted | list[Translation]:
    """Go on with `Pipeline.stages` to its next search, or to its end.

    Args:
        found: the candidates of the jobs before; None at the beginning. An error says that there was no time for them.

    Raises:
        DeadlineError: the one that was given, if there is nothing to return without these candidates.
    """
    try:
        if found is None:
            return SearchWanted(next(stages))
        return SearchWanted(stages.throw(found) if isinstance(found, DeadlineError) else stages.send(found))
    except StopIteration as end:
        translations: list[Translation] = end.value
        return translations


def _is_better(translation: Translation, other: Translation) -> bool:
    """Return True if a translation has lost neither a span nor a number, and has the other's terms, or more of them."""
    missing, missing_before = set(translation.missing_terms), set(other.missing_terms)
    if has_lost_content(translation):
        return False
    return missing <= missing_before if has_lost_content(other) else missing < missing_before


def _masked_request(text: TextPlan, translation: Translation) -> Request:
    """Return the request of a text for a search with masks: for all numbers, if its translation lacks a term."""
    return replace(text.request, rules=["numbers"]) if _may_gain_terms(text, translation) else text.request


def _may_gain_terms(text: TextPlan, translation: Translation) -> bool:
    """Return True if a translation lacks a term, and masks for the numbers of its text may make room for it."""
    return bool(translation.missing_terms) and any(map(str.isdigit, text.text))


@dataclass(frozen=True)
class Pipeline:
    """The stages from requests to translations. Any thread may call each of them."""

    planner: Planner
    searcher: Search
    finisher: Finisher
    #: The default search of a call.
    config: SearchConfig
    #: Finds the names that translations have lost; None to leave names unchecked.
    names: NameCheck | None = None

    def plan(self, requests: Sequence[Request], config: SearchConfig | None = None) -> Plan:
        """Cut the texts of requests into segments, and turn these into jobs for the search.

        Raises:
            ConfigError: a request has a value of a wrong type, or a prefix that cannot begin a translation; the
                message has the request's number, from 1.
        """
        return self.planner.plan(requests, self.config if config is None else config)

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """Return the n best candidates of each job, the best first. This is the only slow stage.

        Args:
            jobs: of any number of plans; those of equal settings are searched together.
            batch_size: source tokens, padding included, that are searched at once; None is a default for the device.
            stop: reasons to stop before the end.

        Raises:
            ConfigError: `batch_size` is no whole number of one or more.
            DeadlineError: the deadline of `stop` passed.
            StoppedError: `stop` was cancelled.
        """
        return self.searcher.search(jobs, batch_size=batch_size, stop=stop)

    def finish(
        self, plan: Plan, candidates: Sequence[Sequence[Candidate]], *, batch_size: int | None = None
    ) -> list[Translation]:
        """Join the candidates of a plan's jobs into translations, and align words where a request wants it.

        Args:
            batch_size: tokens that are aligned at once; None is a default for the device.

        Raises:
            ValueError: there are not as many candidates as jobs.
        """
        return self.finisher.finish(plan, candidates, batch_size)

    def translate(
        self,
        requests: Sequence[Request],
        config: SearchConfig | None = None,
        *,
        batch_size: int | None = None,
        stop: StopCondition | None = None,
    ) -> list[Translation]:
        """Plan, search and finish.

        Segments that lack a term or a span are searched again, and the search must write it; by the rule `numbers`, a
        number, too. Texts that still lack something are searched once more, with masks in place of times and prices.
        Protected stretches that are missing after that are put in their places. A text with too low a confidence is
        left as it is.
        """
        stages = self.stages(requests, config, batch_size=batch_size)
        found: list[list[Candidate]] | DeadlineError | None = None
        while isinstance(wanted := advance(stages, found), SearchWanted):
            try:
                found = self.search(wanted.jobs, batch_size=batch_size, stop=stop)
            except DeadlineError as error:
                found = error
        return wanted

    def stages(
        self, requests: Sequence[Request], config: SearchConfig | None = None, *, batch_size: int | None = None
    ) -> Stages:
        """Do what `translate` does, for a caller that searches by itself: yield jobs, and take their candidates.

        See `advance`.
        """
        config = self.config if config is None else config
        if all(request.memory is None for request in requests if isinstance(request, Request)):
            return (yield from self._searched(requests, config, batch_size))
        recalled = [recall(self.planner, request, number) for number, request in enumerate(requests, 1)]
        missing = [one.request for one in recalled if one.translation is None]
        searched = iter((yield from self._searched(missing, config, batch_size)))
        return [
            replace(next(searched), memory=one.matches)
            if one.translation is None
            else self.aligned(one.request, one.translation, batch_size)
            for one in recalled
        ]

    def aligned(self, request: Request, translation: Translation, batch_size: int | None = None) -> Translation:
        """Return a translation that was not searched for, aligned if its request wants it."""
        if not request.align:
            return translation
        plan = self.plan([replace(request, prefix="", sentences=False)])
        links = self.finisher.links_with(plan, translation.text, batch_size)
        alternatives = tuple(replace(each, alignment=links) for each in translation.alternatives)
        return replace(translation, alignment=links, alternatives=alternatives)

    def _searched(self, requests: Sequence[Request], config: SearchConfig, batch_size: int | None) -> Stages:
        """Plan, search and finish, with the searches that may follow."""
        plan = self.plan(requests, config)
        candidates = yield plan.jobs
        candidates = yield from self._with_demands(plan, candidates)
        plan, candidates = yield from self._with_names(plan, candidates)
        translations = self.finish(plan, candidates, batch_size=batch_size)
        translations = yield from self._with_masks(plan, translations, batch_size)
        translations = self.finisher.with_stretches(plan, candidates, translations, batch_size)
        return [or_source(text, translation) for text, translation in zip(plan.texts, translations, strict=True)]

    def _with_demands(self, plan: Plan, candidates: Sequence[Sequence[Candidate]]) -> _Search:
        """Search again for the jobs whose candidates all lack something; return the candidates of all jobs."""
        demands = {} if plan.config.sample else self.finisher.demands(plan, candidates, self.planner.phrases)
        if not demands:
            return candidates
        try:
            others = yield plan.jobs_with(demands)
        except DeadlineError:
            return candidates
        return self.finisher.with_others(plan, candidates, dict(zip(demands, others, strict=True)))

    def _with_names(self, plan: Plan, candidates: Sequence[Sequence[Candidate]]) -> _Searches:
        """Flag the segments that lost a name. By the rule `names`, search them again, with masks in place of it and of
        numbers."""
        lost = {} if plan.config.sample or self.names is None else self.names.find(plan, candidates)
        repaired = {
            number: names for number, names in lost.items() if "names" in plan.searched[number][0].request.rules
        }
        if not repaired or self.names is None:
            return plan, with_warnings(plan, candidates, lost)
        tried = attempts(repaired)
        requests, written = [each.request(plan) for each in tried], [each.written for each in tried]
        masked = self.planner.plan(requests, plan.config, masks_numbers=True, names=written)
        terms = [self.planner.phrases.demands(required_terms(segment.reading)) for _, segment in masked.searched]
        try:
            found = yield masked.jobs_with(dict(enumerate(terms)))
        except DeadlineError:
            return plan, with_warnings(plan, candidates, lost)
        plan, candidates = with_names(self.names, tried, (plan, masked), (candidates, found))
        return plan, with_warnings(plan, candidates, lost)

    def _with_masks(self, plan: Plan, translations: list[Translation], batch_size: int | None) -> Stages:
        """Search again for the texts that lost something, with masks in place of numbers; return the better ones.

        Masks stand for times and prices, and by the rule `numbers` for all numbers.

        A translation that lacks a term may have kept its numbers instead: with masks, a search can write both.
        """
        pairs = zip(plan.texts, translations, strict=True)
        lossy = [
            number
            for number, (text, each) in enumerate(pairs)
            if _may_gain_terms(text, each)
            or (has_lost_content(each) and quantities_to_mask(text.request, text.languages, is_lost=True))
        ]
        if not lossy or not self.planner.can_mask or plan.config.sample:
            return translations
        requests = [_masked_request(plan.texts[index], translations[index]) for index in lossy]
        masked = self.planner.plan(requests, plan.config, masks_numbers=True)
        terms = [self.planner.phrases.demands(required_terms(segment.reading)) for _, segment in masked.searched]
        try:
            found = yield masked.jobs_with(dict(enumerate(terms)))
        except DeadlineError:
            return translations
        results = list(translations)
        for index, other in zip(lossy, self.finish(masked, found, batch_size=batch_size), strict=True):
            if _is_better(other, before := results[index]):
                flags = merge_flags([*other.flags, *(flag for flag in before.flags if flag == "word")])
                results[index] = replace(other, alternatives=other.alternatives[: plan.config.n_best], flags=flags)
        return results
