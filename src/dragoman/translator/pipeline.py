"""Plan, search, check and repair, finish: the stages of every translation. Each can be called by itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

from dragoman.errors import ConfigError, DeadlineError
from dragoman.settings.search_config import SearchConfig
from dragoman.translator.choosing import Choice, ranked
from dragoman.translator.finishing import Finisher
from dragoman.translator.parallel import Portions
from dragoman.translator.planning import Planner
from dragoman.translator.plans import Plan, SearchJob
from dragoman.translator.recalling import Recalled, recall
from dragoman.translator.repairs.second_search import SecondSearch
from dragoman.translator.request import Request
from dragoman.translator.results import Translation
from dragoman.translator.searching import Candidate, Search, StopCondition

#: Yields the jobs of a search, takes their candidates, and returns the translations.
Stages = Generator[Sequence[SearchJob], Sequence[Sequence[Candidate]], list[Translation]]
#: The same, and returns the choices of the jobs of a plan.
_Searches = Generator[Sequence[SearchJob], Sequence[Sequence[Candidate]], list[Choice]]


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


@dataclass(frozen=True)
class Pipeline:
    """The stages from requests to translations. Any thread may call each of them."""

    planner: Planner
    searcher: Search
    finisher: Finisher
    second: SecondSearch
    #: The default search of a call.
    config: SearchConfig
    #: Worker processes for `translate`; None where the callers share the work.
    portions: Portions | None = None

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
        return self.finisher.finish(plan, ranked(plan, candidates), batch_size)

    def translate(
        self,
        requests: Sequence[Request],
        config: SearchConfig | None = None,
        *,
        batch_size: int | None = None,
        stop: StopCondition | None = None,
    ) -> list[Translation]:
        """Plan, search, check and repair, finish.

        A segment whose candidates all fail a check is searched once more, if a repair knows what the search must do
        then (`translator/repairs/`); what it finds is taken if it has lost less, and the model finds it plausible.
        Protected stretches that are missing after that are put in their places. A text with too low a confidence is
        left as it is.
        """
        config = self.config if config is None else config
        missing, join = self._recalled(requests, batch_size)
        if self.portions is not None:
            try:
                translations = self.portions.translate(missing, config, batch_size=batch_size, stop=stop)
            except ConfigError:
                self.plan(missing, config)  # which names the request by its number among all
                raise
            if translations is not None:
                return join(translations)
        stages = self._searched(missing, config, batch_size)
        found: list[list[Candidate]] | DeadlineError | None = None
        while isinstance(wanted := advance(stages, found), SearchWanted):
            try:
                found = self.search(wanted.jobs, batch_size=batch_size, stop=stop)
            except DeadlineError as error:
                found = error
        return join(wanted)

    def stages(
        self, requests: Sequence[Request], config: SearchConfig | None = None, *, batch_size: int | None = None
    ) -> Stages:
        """Do what `translate` does, for a caller that searches by itself: yield jobs, and take their candidates.

        See `advance`.
        """
        missing, join = self._recalled(requests, batch_size)
        return join((yield from self._searched(missing, self.config if config is None else config, batch_size)))

    def _recalled(
        self, requests: Sequence[Request], batch_size: int | None
    ) -> tuple[Sequence[Request], Callable[[list[Translation]], list[Translation]]]:
        """Return what no memory has, and a function that puts its translations among those of the memories."""
        if all(request.memory is None for request in requests if isinstance(request, Request)):
            return requests, lambda found: found
        recalled = [recall(self.planner, request, number) for number, request in enumerate(requests, 1)]

        def join(found: list[Translation]) -> list[Translation]:
            remaining = iter(found)
            return [self.with_alignment(one, batch_size).joined(remaining) for one in recalled]

        return [request for one in recalled for request in one.missing], join

    def with_alignment(self, recalled: Recalled, batch_size: int | None = None) -> Recalled:
        """Return what a memory has for a request, aligned if the request wants it."""
        if not recalled.request.align:
            return recalled
        parts = [
            part
            if part.translation is None
            else replace(part, translation=self.aligned(part.request, part.translation, batch_size))
            for part in recalled.parts
        ]
        return replace(recalled, parts=parts)

    def aligned(self, request: Request, translation: Translation, batch_size: int | None = None) -> Translation:
        """Return a translation that was not searched for, aligned if its request wants it."""
        if not request.align:
            return translation
        plan = self.plan([replace(request, prefix="", sentences=False)])
        links = self.finisher.links_with(plan, translation.text, batch_size)
        alternatives = tuple(replace(each, alignment=links) for each in translation.alternatives)
        return replace(translation, alignment=links, alternatives=alternatives)

    def _searched(self, requests: Sequence[Request], config: SearchConfig, batch_size: int | None) -> Stages:
        """Plan, search, check and repair, finish."""
        plan = self.plan(requests, config)
        choices = ranked(plan, (yield plan.jobs))
        choices = yield from self._repaired(plan, choices)
        return self.finisher.finish(plan, choices, batch_size)

    def _repaired(self, plan: Plan, choices: list[Choice]) -> _Searches:
        """Search again for the segments whose candidates fail a check, and take what is better."""
        proposals = self.second.proposals(plan, choices)
        if not proposals:
            return choices
        try:
            found = yield [proposal.job for proposal in proposals.values()]
        except DeadlineError:
            return choices
        return self.second.accepted(plan, choices, proposals, found)
