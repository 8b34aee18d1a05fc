"""Numbers about a server, for Prometheus. Each server has its own; none of them has a text, a key or an address."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from dragoman.translator import Candidate, SearchJob, StopCondition
from dragoman.translator.searching import Search

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Measures:
    """The numbers of one server."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)  # RAM, processor time, open files
        self.seconds = Histogram(
            "dragoman_http_request_duration_seconds",
            "Seconds from a request to its answer",
            ["endpoint", "status"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.in_flight = Gauge("dragoman_http_requests_in_flight", "Requests that are open", registry=registry)
        self.refused = Counter("dragoman_refused_requests", "Requests refused", ["status"], registry=registry)
        self.waiting = Gauge("dragoman_waiting_lines", "Lines accepted and not translated", registry=registry)
        self.lines = Counter("dragoman_lines", "Lines translated", registry=registry)
        self.cached = Counter("dragoman_cached_lines", "Lines that were answered from the cache", registry=registry)
        self.batch_sizes = Histogram(
            "dragoman_batch_segments", "Segments searched together", buckets=_SIZES, registry=registry
        )
        self.search_seconds = Histogram(
            "dragoman_search_seconds", "Seconds of a search", buckets=_SECONDS, registry=registry
        )
        self.fallbacks = Counter(
            "dragoman_python_searches", "Segments not searched on the card, by reason", ["reason"], registry=registry
        )
        self.source_tokens = Counter("dragoman_source_tokens", "Source tokens searched", registry=registry)
        self.target_tokens = Counter("dragoman_target_tokens", "Target tokens found", registry=registry)

    def observe_models(self, loaded: Callable[[], int], n_bytes: Callable[[], int]) -> None:
        """Ask for the number of loaded models and their RAM whenever somebody looks."""
        gauge = Gauge("dragoman_models_loaded", "Models in RAM", registry=self._registry)
        gauge.set_function(loaded)
        size = Gauge("dragoman_models_bytes", "RAM of the models, estimated", registry=self._registry)
        size.set_function(n_bytes)

    def text(self) -> bytes:
        """Return all numbers as Prometheus reads them."""
        return generate_latest(self._registry)


class MeasuredSearch:
    """A search that counts.

    Args:
        search: does the work.
    """

    def __init__(self, search: Search, measures: Measures) -> None:
        self._search = search
        self._measures = measures

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """See `Pipeline.search`."""
        start = time.perf_counter()
        found = self._search.search(jobs, batch_size=batch_size, stop=stop)
        self._measures.search_seconds.observe(time.perf_counter() - start)
        self._measures.batch_sizes.observe(len(jobs))
        for beam in found:
            if beam and beam[0].fallback:
                self._measures.fallbacks.labels(beam[0].fallback).inc()
        self._measures.source_tokens.inc(sum(len(job.ids) + 1 for job in jobs))
        self._measures.target_tokens.inc(sum(len(beam[0].hypothesis.ids) + 1 for beam in found if beam))
        return found
