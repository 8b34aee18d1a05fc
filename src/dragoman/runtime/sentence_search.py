"""Search for one sentence in the engine: the candidates of `dragoman.decoding.search.search`, in one call."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.decoding.constraints.lengths import Limits
from dragoman.decoding.constraints.prefix import check_prefixes
from dragoman.decoding.faults import Fault
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import refuse_nan
from dragoman.decoding.state import Model
from dragoman.errors import StoppedError
from dragoman.machine.arrays import Ints
from dragoman.native.kernels import address, check, header
from dragoman.runtime.compiled_model import MOST_SORTED, CompiledModel
from dragoman.settings.search_config import SearchConfig

#: While the engine searches, Python notices no Ctrl-C, so longer sources are searched in Python. They gain least.
MAX_SOURCE = 256
_FAULTS: dict[str, Fault] = {"REPETITION": "repetition", "LENGTH": "length"}


@dataclass(frozen=True)
class SentenceJob:
    """A sentence to search for.

    Args:
        ids: of the source, without special ones.
        prefix: the ids that its translation begins with.
        forbidden: the ids that its translation does not have, except in the prefix.
        allowed: the only ids that it has, those of the prefix and the end mark among them; none for the whole
            vocabulary.
    """

    ids: Sequence[int]
    config: SearchConfig
    prefix: Sequence[int] = ()
    forbidden: Sequence[int] = ()
    allowed: Sequence[int] | Ints = ()


class TraceNode(NamedTuple):
    """A token that a search has read; a hypothesis is a path of such tokens."""

    #: The index of the node before it; -1 for the root, which is the start mark.
    parent: int
    id: int
    #: Natural-log probability of the token, and of the path up to it.
    log_prob: float
    total: float


def search_sentence(
    model: CompiledModel, job: SentenceJob, should_stop: Callable[[], bool] | None = None, *, seconds: float = 0
) -> list[Hypothesis]:
    """Return the n best hypotheses, best first, without sampling.

    Args:
        should_stop: called before every step; the search ends with an error when it returns True. A Ctrl-C would be
            lost in it, so the main thread must not use it.
        seconds: after which the search ends with the same error; 0 for any time.

    Raises:
        ConfigError, StoppedError, DragomanError: as `search` does.
        IndexError, ValueError: the source has an unknown id, or is longer than the model reads.
    """
    with _searched(model, job, should_stop, seconds) as found:
        return _hypotheses(model, found)


def trace_sentence(
    model: CompiledModel, job: SentenceJob, *, seconds: float = 0
) -> tuple[list[Hypothesis], list[TraceNode]]:
    """Return what `search_sentence` does, and all tokens that the search has read, each after its parent."""
    with _searched(model, job, None, seconds) as found:
        nodes = ctypes.POINTER(header().type("Node"))()
        n_nodes = model.kernels.nodes(found, ctypes.byref(nodes))
        read = (nodes[number] for number in range(n_nodes))
        return _hypotheses(model, found), [
            TraceNode(node.parent, node.id, node.token_log_prob, node.log_prob) for node in read
        ]


@contextmanager
def _searched(
    model: CompiledModel, job: SentenceJob, should_stop: Callable[[], bool] | None, seconds: float
) -> Iterator[ctypes.c_void_p]:
    """Search, and yield the engine's translation until the block ends."""
    constants, kernels, found = header().constants, model.kernels, ctypes.c_void_p()
    stop, errors = _stop_function(should_stop)
    source = model.special_ids.source.ended(job.ids)[:-1]  # the engine adds the end itself
    ids, *lists = (np.array(given, dtype=np.int64) for given in (source, job.prefix, job.forbidden, job.allowed))
    options = _options(job.config, dict(zip(("prefix", "forbidden", "allowed"), lists, strict=True)))
    options.should_stop, options.seconds = stop, seconds
    arguments = address(ids), len(ids), ctypes.byref(options), ctypes.byref(found)
    status = kernels.translate(model.loaded.pointer, *arguments)
    if errors:
        raise errors[0]
    if status == constants["STOPPED"]:
        raise StoppedError("the search was stopped before it was done")
    if status == constants["NOT_A_NUMBER"]:
        refuse_nan(np.array([math.nan], dtype=np.float32))
    if status == constants["BAD_OPTIONS"]:
        _refuse(model, job)
    check(status)
    try:
        yield found
    finally:
        kernels.free_translation(found)


def engine_of(models: Sequence[Model]) -> CompiledModel | None:
    """Return the model if it is one that the engine has loaded, and None for other models and for ensembles."""
    if len(models) == 1 and isinstance(models[0], CompiledModel):
        return models[0]
    return None


def is_fast(job: SentenceJob) -> bool:
    """Return True if the engine searches as the configuration says, and faster than Python."""
    return not job.config.sample and job.config.beam_size <= MOST_SORTED and len(job.ids) <= MAX_SOURCE


def _options(config: SearchConfig, lists: Mapping[str, NDArray[np.int64]]) -> Any:
    names = "beam_size", "n_best", "length_penalty", "min_length", "no_repeat_ngram", "repetition_penalty"
    return header().structure(
        "SearchOptions",
        **{name: getattr(config, name) for name in names},
        max_length=config.max_length or 0,
        **{f"n_{name}": len(ids) for name, ids in lists.items()},
        **{name: address(ids) for name, ids in lists.items()},
        seconds=0.0,
        should_stop=header().type("StopFunction")(),
        stop_argument=None,
    )


def _stop_function(should_stop: Callable[[], bool] | None) -> tuple[Any, list[BaseException]]:
    """Return the function for the engine, and the list to which it adds an error that it cannot raise there."""
    kind, errors = header().type("StopFunction"), list[BaseException]()

    def call(_: object) -> int:
        try:
            return int(should_stop is not None and should_stop())
        except BaseException as error:
            errors.append(error)
            return 1

    return kind() if should_stop is None else kind(call), errors


def _hypotheses(model: CompiledModel, found: ctypes.c_void_p) -> list[Hypothesis]:
    candidates = ctypes.POINTER(header().type("Candidate"))()
    n_found = model.kernels.candidates(found, ctypes.byref(candidates))
    return [_hypothesis(candidates[number]) for number in range(n_found)]


def _hypothesis(candidate: Any) -> Hypothesis:
    ids = (ctypes.c_int64 * candidate.n_ids).from_address(candidate.ids)
    log_probs = (ctypes.c_float * candidate.n_log_probs).from_address(candidate.log_probs)
    constants = header().constants
    return Hypothesis(
        ids=tuple(ids),
        score=candidate.score,
        log_prob=candidate.log_prob,
        token_log_probs=tuple(log_probs),
        finished=bool(candidate.is_finished),
        faults=tuple(fault for name, fault in _FAULTS.items() if candidate.faults & constants[name]),
    )


def _refuse(model: CompiledModel, job: SentenceJob) -> None:
    """Raise the error of the search in Python, which says what is wrong.

    Raises:
        ConfigError, ValueError: lengths or the prefix do not fit the model, or the source is too long.
    """
    n_tokens, most = len(job.ids) + 1, model.config.max_length
    if n_tokens > most:
        raise ValueError(f"a source of {n_tokens} tokens for a model that reads {most}")
    source, special_ids = [*job.ids, model.special_ids.source.end], model.special_ids.target
    limits = Limits.of([source], [job.prefix], job.config, most)
    check_prefixes([job.prefix], limits.returned, model.config.target_vocab_size, special_ids.marks)
