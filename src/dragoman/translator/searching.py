"""The second stage, and the only slow one: search for the n best candidates of each job.

Any thread may search, and all searches of one translator share its worker processes. A search can be stopped.
"""

from __future__ import annotations

import copy
import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from dragoman.decoding.constraints.forbidden import ForbiddenTokens
from dragoman.decoding.constraints.protocol import Constraint
from dragoman.decoding.constraints.required import RequiredPhrases
from dragoman.decoding.hypothesis import Hypothesis, rank_of
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import DeadlineError, StoppedError, printable
from dragoman.machine.arrays import Ints
from dragoman.machine.workers import Workers
from dragoman.runtime.compiled_model import CompiledModel, ShortListedModel
from dragoman.runtime.sentence_search import SentenceJob, engine_of, is_fast, search_sentence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import sanitize
from dragoman.text.surfaces import Surfaces
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator.checking import positive
from dragoman.translator.padding import batches, pad_sources
from dragoman.translator.plans import SearchJob
from dragoman.translator.quality import BackPair, QualityEstimator, joint

if TYPE_CHECKING:
    from dragoman.runtime.tensor_search import TensorSearch

#: For a person whose RAM is too short for the worker processes.
FEWER_WORKERS = "use fewer --workers, or a smaller --batch-size"
#: Sentences from which on the beam search of a batch, in Python, is faster than the engine's of one after the other.
#: They are fewer if the output weights have more bytes than a processor's caches: a batch reads them once a step. With
#: 8-bit weights there are none, unless the output weights are far larger.
_LEAST_BATCH, _LEAST_LARGE_BATCH, _CACHED_BYTES, _MOST_BYTES_INT8 = 8, 4, 2**23, 2**24


class Candidate(NamedTuple):
    """A hypothesis of a segment's translation, as text."""

    hypothesis: Hypothesis
    text: str
    tokens: tuple[str, ...]
    #: What a search wrote whose source had masks in place of terms and numbers, which people or rules have written in.
    masked: Hypothesis | None = None
    #: As in `Translation`.
    fallback: str | None = None


@dataclass(frozen=True)
class StopCondition:
    """The reasons to stop a search before its end. A call returns True if there is one.

    Args:
        deadline: a time of `time.monotonic`, in seconds.
        is_cancelled: called before every decoding step, by the thread that searches. A worker process cannot call
            it, and has only the deadline.
    """

    deadline: float = math.inf
    is_cancelled: Callable[[], bool] | None = None

    @classmethod
    def after(cls, seconds: float) -> Self:
        """Return the condition that this many seconds have passed from now on."""
        return cls(time.monotonic() + seconds)

    def __call__(self) -> bool:
        return time.monotonic() >= self.deadline or (self.is_cancelled is not None and self.is_cancelled())

    def __reduce__(self) -> tuple[type[Self], tuple[float]]:
        return type(self), (self.deadline,)

    @property
    def seconds_left(self) -> float | None:
        """Time until the deadline, as far as a thread can wait; None without one."""
        return None if self.deadline == math.inf else min(max(0.0, self.deadline - time.monotonic()), TIMEOUT_MAX)

    @property
    def needs_python(self) -> bool:
        """True if it must be called by the main thread: an interrupt would be lost in a function called from C."""
        return self.is_cancelled is not None and threading.current_thread() is threading.main_thread()

    def error(self) -> StoppedError:
        """Return the error of a search that it stopped."""
        if self.is_cancelled is not None and time.monotonic() < self.deadline:
            return StoppedError("the translation was cancelled")
        return DeadlineError("there was not enough time for the translation", advice="allow more, or send less text")


class Search(Protocol):
    """Anything that searches: a `Searcher`, or a `Batcher` that several threads share."""

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """See `Pipeline.search`."""


class Batch(NamedTuple):
    """Jobs of equal settings that are searched at once; a worker process can be sent one."""

    jobs: Sequence[SearchJob]
    stop: StopCondition | None


class Searcher:
    """Search with the models of one translator.

    Args:
        scorer: the models.
        tokenizer: of the target language.
        batch_size: source tokens that are searched at once unless a call says otherwise.
        workers: processes that share the batches of a call by calling `search_batch`; None searches in this process.
        on_card: the search on the device of the models, which does all that it can; None without one.
        estimator: of the quality of candidates, for searches that read them back.
    """

    def __init__(
        self,
        scorer: TransformerScorer,
        tokenizer: Tokenizer,
        batch_size: int,
        workers: Workers[Any, Any] | None = None,
        on_card: TensorSearch | None = None,
        estimator: QualityEstimator | None = None,
    ) -> None:
        self._scorer = scorer
        self._estimator = estimator
        self._on_card = on_card
        self._engine = engine_of(scorer.models)
        self._tokenizer = tokenizer
        self.batch_size = batch_size
        self._workers = workers or Workers(self.search_batch, 1, FEWER_WORKERS)

    @property
    def n_workers(self) -> int:
        """Processes that share the batches of a call."""
        return self._workers.n_workers

    def split(self) -> list[Searcher]:
        """Return a searcher with a process of its own for each worker, for as many threads."""
        if self.n_workers == 1:
            return [self]
        return [self._apart() for _ in range(self.n_workers)]

    def _apart(self) -> Searcher:
        """Return a copy that does everything in a process of its own."""
        searcher = copy.copy(self)
        searcher._workers = Workers(searcher.search_batch, 1, FEWER_WORKERS, is_apart=True)
        return searcher

    def least_batch(self, config: SearchConfig) -> int:
        """Return the number of jobs from which on a batch is faster than one job after the other."""
        if self._engine is None or config.beam_size == 1 or config.sample:
            return 1
        n_bytes = self._engine.n_output_bytes
        if self._engine.kernels.largest_weight and n_bytes <= _MOST_BYTES_INT8:
            return sys.maxsize
        return _LEAST_BATCH if n_bytes <= _CACHED_BYTES else _LEAST_LARGE_BATCH

    def search(
        self, jobs: Sequence[SearchJob], *, batch_size: int | None = None, stop: StopCondition | None = None
    ) -> list[list[Candidate]]:
        """See `Pipeline.search`."""
        batch_size = self.batch_size if batch_size is None else positive(batch_size, "batch_size")
        candidates: list[list[Candidate]] = [[]] * len(jobs)
        rows_by_batch = [
            [group[index] for index in indices]
            for group in _groups(jobs)
            for indices in batches([len(jobs[row].ids) + 1 for row in group], batch_size)
        ]
        results = self._workers.map([Batch([jobs[row] for row in rows], stop) for rows in rows_by_batch])
        for rows, beams in zip(rows_by_batch, results, strict=True):
            if beams is None and stop is not None:
                raise stop.error()
            for row, beam in zip(rows, beams or (), strict=True):
                candidates[row] = beam
        return candidates

    def search_batch(self, batch: Batch) -> list[list[Candidate]] | None:
        """Return the candidates of a batch, or None if it was stopped: an error would end the worker processes."""
        if batch.stop is not None and batch.stop():
            return None
        jobs = [_widened(job) for job in batch.jobs]
        fallback = self._reason_against_card(jobs[0])
        try:
            beams = self._beams(jobs, batch.stop, on_card=None if fallback else self._on_card)
        except StoppedError:
            return None
        found = [
            [candidate_of(self._tokenizer, hypothesis)._replace(fallback=fallback) for hypothesis in beam]
            for beam in beams
        ]
        if any(job.back for job in jobs):
            if batch.stop is not None and batch.stop():
                return None
            found = self._reranked(jobs, found)
        return [beam[: job.config.n_best] for job, beam in zip(batch.jobs, found, strict=True)]

    def _reranked(self, jobs: Sequence[SearchJob], found: Sequence[list[Candidate]]) -> list[list[Candidate]]:
        """Sort the candidates of each job: sound ones first, then by their probability in both directions."""
        assert self._estimator is not None
        pairs = [
            BackPair(job.back[0], candidate.text, job.back[1])
            for job, beam in zip(jobs, found, strict=True)
            for candidate in beam
            if job.back is not None
        ]
        back = iter(self._estimator.back(pairs))
        beams = []
        for job, beam in zip(jobs, found, strict=True):
            if job.back is not None:
                keys = [(rank_of(one.hypothesis), -joint(_per_token(one.hypothesis), next(back))) for one in beam]
                beam = [beam[row] for row in sorted(range(len(beam)), key=keys.__getitem__)]
            beams.append(beam)
        return beams

    def _reason_against_card(self, job: SearchJob) -> str | None:
        """Return why a job like this one is not searched on the card; None if it is, or if there is no card."""
        if self._on_card is None:
            return None
        return self._on_card.reason_against(job.config, has_demands=bool(job.required))

    def _beams(
        self, jobs: Sequence[SearchJob], stop: StopCondition | None, on_card: TensorSearch | None
    ) -> list[list[Hypothesis]]:
        first, condition = jobs[0], stop or StopCondition()
        allowed = [self._allowed(job) for job in jobs]
        is_small = len(jobs) < max(2, self.least_batch(first.config))
        if self._engine is not None and is_small and not condition.needs_python and all(map(self._is_simple, jobs)):
            return [self._searched_alone(self._engine, job, condition) for job in jobs]
        source_ids = pad_sources([job.ids for job in jobs], self._scorer.special_ids.source)
        prefixes, forbidden = [job.prefix_ids for job in jobs], [job.forbidden_ids for job in jobs]
        if on_card is not None:
            return on_card.search(source_ids, first.config, prefixes=prefixes, forbidden=forbidden, should_stop=stop)
        rules: list[Constraint] = [ForbiddenTokens(forbidden)] if any(forbidden) else []
        if any(job.required for job in jobs):
            is_one = [job.is_sentence for job in jobs]
            rules.append(RequiredPhrases([job.required for job in jobs], self._surfaces, is_one))
        scorer = self._scorer
        if self._engine is not None and len(allowed[0]):
            scorer = TransformerScorer([ShortListedModel(self._engine, allowed)])
        return search(scorer, source_ids, first.config, prefixes=prefixes, constraints=rules, should_stop=stop)

    def _is_simple(self, job: SearchJob) -> bool:
        """Return True if the engine can search for a job by itself; it would take context for the text."""
        has_context = self._scorer.special_ids.source.end in job.ids
        return not job.required and not has_context and is_fast(sentence_of(job))

    def _searched_alone(self, engine: CompiledModel, job: SearchJob, stop: StopCondition) -> list[Hypothesis]:
        left = stop.seconds_left
        seconds = 0.0 if left is None else max(left, 1e-9)
        return search_sentence(engine, sentence_of(job), stop.is_cancelled, seconds=seconds)

    def _allowed(self, job: SearchJob) -> Ints:
        """Return the only ids that the translation may have, those of its demands too; none for all."""
        allowed = _allowed(job)
        if not len(allowed) or not job.required:
            return allowed
        more = [id for demand in job.required for phrase in demand for id in phrase.all_tokens(self._surfaces)]
        return np.append(allowed, np.array(more, dtype=np.int64))

    @cached_property
    def _surfaces(self) -> Surfaces:
        return Surfaces.of(self._tokenizer)


def _widened(job: SearchJob) -> SearchJob:
    """Return a job that finds all candidates of its beam, if it reads them back."""
    if job.back is None or job.config.sample:
        return job
    return job._replace(config=job.config.model_copy(update={"n_best": job.config.beam_size}))


def _per_token(hypothesis: Hypothesis) -> float:
    return hypothesis.log_prob / max(1, len(hypothesis.token_log_probs))


def candidate_of(tokenizer: Tokenizer, hypothesis: Hypothesis) -> Candidate:
    """Return a hypothesis as text, by the tokenizer of the target language."""
    ids = list(hypothesis.ids)
    return Candidate(hypothesis, decoded_text(tokenizer, ids), tuple(map(printable, tokenizer.pieces(ids))))


def sentence_of(job: SearchJob) -> SentenceJob:
    """Return a job as the engine takes it."""
    return SentenceJob(job.ids, job.config, job.prefix_ids, job.forbidden_ids, _allowed(job))


def decoded_text(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """Return the text that ids stand for: one line, which every terminal and file can take."""
    return sanitize(tokenizer.decode(list(ids))).strip()


def _allowed(job: SearchJob) -> Ints:
    """Return the only ids that the translation may have; none for the whole vocabulary."""
    allowed = np.asarray(job.allowed_ids, dtype=np.int64)
    return np.append(allowed, np.array(job.prefix_ids, dtype=np.int64)) if len(allowed) else allowed


def _groups(jobs: Sequence[SearchJob]) -> list[list[int]]:
    """Return the indices of the jobs of equal settings, in order."""
    groups: dict[tuple[SearchConfig, bool, bool], list[int]] = {}
    for index, job in enumerate(jobs):
        groups.setdefault(job.settings, []).append(index)
    return list(groups.values())
