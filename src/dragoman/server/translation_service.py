"""Translations for all clients: from the cache, or searched together.

A request's lines are planned and finished in small portions, by a few processes, so that a long text delays nobody. All
of its segments are given to the model's batcher at once, which takes turns between requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any, TypeVar

from dragoman.inspection.inside import Inside, look_inside
from dragoman.server.helpers import STOP, Helpers
from dragoman.server.line_queue import LineQueue
from dragoman.server.measures import Measures
from dragoman.server.model_shelf import LoadedModel, ModelShelf
from dragoman.server.portions import translate_portions
from dragoman.server.preparing import first_steps, join_steps, second_steps, segments
from dragoman.server.result_cache import ResultCache
from dragoman.server.routing import Leg
from dragoman.server.server_memory import ServerMemory
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.server_config import ServerConfig
from dragoman.translator import Request, StopCondition, Translation
from dragoman.translator.recalling import Recalled, RecalledPart
from dragoman.translator.two_steps import OF_LAST_STEP

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Threads for what takes milliseconds, and processes that read documents.
_THREADS = _PROCESSES = 2
#: Lines after which the event loop does something else.
_AT_ONCE = 500


class TranslationService:
    """The translations of one server. Its methods belong to the thread of the event loop.

    Args:
        config: limits.
        shelf: the models.
        memory: translations by people, which win.
    """

    def __init__(self, config: ServerConfig, shelf: ModelShelf, measures: Measures, memory: ServerMemory) -> None:
        self._shelf = shelf
        self._memory = memory
        self._measures = measures
        self._timeout = config.timeout
        self._cache = ResultCache(config.cache * 2**20)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dragoman thread")
        #: For documents, and for texts between two models.
        self.helpers: Helpers[None] = Helpers(_PROCESSES, config.timeout, None)
        self._numbers = count()
        #: One thread for looks inside, which search there, so that the others always have time to plan.
        self._looking = ThreadPoolExecutor(1, thread_name_prefix="dragoman inside")
        self.queue = LineQueue(config.queue_limit)
        measures.waiting.set_function(lambda: self.queue.n_waiting)

    async def translate(
        self, legs: Sequence[Leg], lines: Sequence[Request], options: Mapping[str, Any]
    ) -> list[Translation]:
        """Translate lines by one model, or by two, one after the other.

        Args:
            legs: at least one; see `translator/two_steps.py` for what of two steps has which option.
            lines: requests without languages.
            options: of the search.

        Raises:
            ApiError: the queue is full.
            ConfigError: an option is out of range, or a prefix cannot begin a translation.
            DeadlineError: there was not enough time.
            ResourceError: a worker was killed twice.
        """
        with self.queue.accept(len(lines)):
            return await self.translate_accepted(legs, lines, options)

    async def translate_accepted(
        self, legs: Sequence[Leg], lines: Sequence[Request], options: Mapping[str, Any]
    ) -> list[Translation]:
        """Translate lines that the queue has accepted already; see `translate`."""
        recalled = await self._recalled(legs, lines)
        missing = list(chain.from_iterable(one.missing for one in recalled))
        found = iter(await self._by_models(legs, missing, options) if missing else [])
        self._measures.lines.inc(len(lines))
        return [one.joined(found) async for one in in_turns(recalled)]

    async def _recalled(self, legs: Sequence[Leg], lines: Sequence[Request]) -> list[Recalled]:
        """Return what the memory has for each line, aligned if that is wanted."""
        if self._memory.is_empty or any(line.plain for line in lines):
            return [Recalled(line, (RecalledPart(line),)) for line in lines]
        requests = [_between(line, legs[0].source, legs[-1].target) for line in lines]
        recalled = await self.in_thread(lambda: [self._memory.recall(request) for request in requests])
        if len(legs) > 1 or not any(one.request.align and len(one.missing) < len(one.parts) for one in recalled):
            return recalled
        async with self._model(legs[0].model) as model:
            align = model.translator.pipeline.with_alignment
            return [await self.in_thread(partial(align, one)) for one in recalled]

    async def _by_models(
        self, legs: Sequence[Leg], lines: Sequence[Request], options: Mapping[str, Any]
    ) -> list[Translation]:
        """Translate lines by the models."""
        stop = self.stop()
        if len(legs) == 1:
            return await self._by_model(legs[0], lines, options, stop)
        first, second = legs
        of_both = {name: options[name] for name in {*options} - {*OF_LAST_STEP}}
        into = await self.helpers.call(first_steps, lines, first.target, stop=stop)
        firsts = await self._by_model(first, into, of_both, stop)
        async with self._model(second.model) as model:
            n_best = _search_config(model, options).n_best
        onward = await self.helpers.call(second_steps, lines, second.source, firsts, n_best, stop=stop)
        seconds = await self._by_model(second, list(chain.from_iterable(onward)), options, stop)
        counts = [len(one) for one in onward]
        return await self.helpers.call(
            join_steps, lines, (first.source, first.target, second.target), firsts, seconds, counts, stop=stop
        )

    async def segments(self, leg: Leg, lines: Sequence[str], *, plain: bool) -> list[list[str]]:
        """Cut lines into the segments that a model reads at once; `plain` is that of `Request`."""
        requests = [Request(line, source_lang=leg.source, target_lang=leg.target, plain=plain) for line in lines]
        async with self._model(leg.model) as model:
            return await model.helpers.call(segments, requests, stop=self.stop())

    async def look_inside(
        self,
        leg: Leg,
        line: Request,
        options: Mapping[str, Any],
        answer: Callable[[Inside, int], Result],
    ) -> Result | None:
        """Return what `answer` makes of the inside of a line's translation and of the beam size; see `look_inside`.

        Raises:
            ApiError, DeadlineError: as `translate`.
        """
        stop = self.stop()
        request = _between(line, leg.source, leg.target)

        def look(model: LoadedModel) -> Result | None:
            config = _search_config(model, options)
            inside = look_inside(model.translator, request, config, stop)
            return None if inside is None else answer(inside, config.beam_size)

        async with self._model(leg.model) as model:
            with self.queue.accept(1):
                return await asyncio.get_running_loop().run_in_executor(self._looking, look, model)

    def stop(self) -> StopCondition:
        """Return the reasons to stop the work for the request that is being answered."""
        return STOP.get() or StopCondition.after(self._timeout)

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Call something that takes milliseconds in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Accept nothing more."""
        self.queue.is_closed = True
        for threads in (self._threads, self._looking):
            threads.shutdown(wait=False, cancel_futures=True)
        self.helpers.close()

    @asynccontextmanager
    async def _model(self, name: str) -> AsyncIterator[LoadedModel]:
        """Load a model if it was unloaded, and use it."""
        if not self._shelf.is_ready(name):
            await asyncio.to_thread(self._shelf.prepare, name)
        with self._shelf.borrow(name) as model:
            yield model

    async def _by_model(
        self, leg: Leg, lines: Sequence[Request], options: Mapping[str, Any], stop: StopCondition
    ) -> list[Translation]:
        async with self._model(leg.model) as model:
            config = _search_config(model, options)
            planner = model.translator.pipeline.planner
            is_calibrated, reads_context = planner.is_calibrated(leg.source, leg.target), planner.reads_context
            keys = list[Hashable]()
            found = dict[Hashable, Translation | None]()
            missing = dict[Hashable, Request]()
            async for line in in_turns(lines):
                request = replace(_between(line, leg.source, leg.target), doubts=line.doubts and is_calibrated)
                request = request if reads_context else replace(request, context=())  # one entry for all contexts
                # A list of terms is equal to itself only.
                key: Hashable = (model.number, replace(request, terms=None), tuple(request.terms or ()), config)
                keys.append(key)
                found[key] = self._cache.get(key)
                if found[key] is None:
                    missing[key] = request
                else:
                    self._measures.cached.inc()
            translations = await translate_portions(model, list(missing.values()), config, self._numbers, stop)
            async for (key, request), translation in in_turns(zip(missing.items(), translations, strict=True)):
                found[key] = translation
                self._cache.add(key, request, translation)
        return [one for key in keys if (one := found[key]) is not None]


async def in_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield items, and let the event loop answer others in between."""
    for number, item in enumerate(items, 1):
        yield item
        if not number % _AT_ONCE:
            await asyncio.sleep(0)


def _search_config(model: LoadedModel, options: Mapping[str, Any]) -> SearchConfig:
    """Return the search with these options. More results than the model's beam has make the beam wider."""
    widest = max(options.get("n_best") or 1, model.translator.search.beam_size)
    return model.translator.search_config(**{"beam_size": widest, **options})


def _between(line: Request, source: str, target: str) -> Request:
    """Return the request for a translation between two languages."""
    return replace(line, source_lang=source, target_lang=target)
