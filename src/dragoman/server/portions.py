"""The lines of a request in portions: planned and finished by processes, searched for together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from dragoman.errors import DeadlineError, ResourceError
from dragoman.server.model_shelf import LoadedModel
from dragoman.server.preparing import Found, go_on
from dragoman.settings.search_config import SearchConfig
from dragoman.translator import Candidate, Request, SearchJob, StopCondition, Translation
from dragoman.translator.pipeline import SearchWanted

#: Lines, and characters of more than one, that a process plans or finishes before another request has its turn.
_PORTION, _PORTION_CHARACTERS = 16, 8_000


async def translate_portions(
    model: LoadedModel, requests: Sequence[Request], config: SearchConfig, numbers: Iterator[int], stop: StopCondition
) -> list[Translation]:
    """Go through the stages of all lines together: each stage of all portions, then one search for all.

    Args:
        numbers: of portions, each used once.
    """
    open_portions = {next(numbers): portion for portion in _portions(requests)}
    done: dict[int, list[Translation]] = {}
    found: dict[int, list[Found]] = {number: [] for number in open_portions}
    while open_portions:
        wanted: dict[int, Sequence[SearchJob]] = {}
        for number, portion in list(open_portions.items()):
            outcome = await model.helpers.call(go_on, number, portion, config, found[number], stop=stop, number=number)
            if isinstance(outcome, SearchWanted):
                wanted[number] = outcome.jobs
            else:
                done[number] = outcome
                del open_portions[number]
        for number, candidates in (await _candidates(model, wanted, stop)).items():
            found[number].append(candidates)
    return [translation for number in sorted(done) for translation in done[number]]


def _portions(requests: Sequence[Request]) -> list[list[Request]]:
    """Cut requests into portions of equal work, at most."""
    portions: list[list[Request]] = [[]]
    size = 0
    for request in requests:
        if portions[-1] and (len(portions[-1]) == _PORTION or size + len(request.text) > _PORTION_CHARACTERS):
            portions.append([])
            size = 0
        portions[-1].append(request)
        size += len(request.text)
    return portions if requests else []


async def _candidates(
    model: LoadedModel, wanted: Mapping[int, Sequence[SearchJob]], stop: StopCondition
) -> Mapping[int, list[list[Candidate]] | DeadlineError]:
    """Search for the jobs of all portions. Without enough time, each portion gets the error."""
    jobs = [job for portion in wanted.values() for job in portion]
    try:
        candidates = iter(await _search_jobs(model, jobs, stop))
    except DeadlineError as error:
        return dict.fromkeys(wanted, error)
    return {number: list(islice(candidates, len(portion))) for number, portion in wanted.items()}


async def _search_jobs(model: LoadedModel, jobs: Sequence[SearchJob], stop: StopCondition) -> list[list[Candidate]]:
    """Search; once more if a worker was killed. If the caller is cancelled, so is the search."""
    if not jobs:
        return []
    for is_last in (False, True):
        future = asyncio.wrap_future(model.batcher.submit(jobs, stop=stop))
        try:
            async with asyncio.timeout(stop.seconds_left):
                return await future
        except TimeoutError:
            raise stop.error() from None
        except ResourceError:
            if is_last:
                raise
    raise AssertionError
