"""The entry point of all searches: run the one that a configuration describes.

B sentences, S source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dragoman.decoding.beam import beam_search
from dragoman.decoding.constraints.active import ActiveConstraints
from dragoman.decoding.constraints.protocol import Constraint
from dragoman.decoding.faults import Fault, FaultFinder
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.sampling import sample
from dragoman.decoding.state import Scorer, StoppableState
from dragoman.machine.arrays import Ints
from dragoman.settings.search_config import SearchConfig

__all__ = ["Hypothesis", "search"]


def search(
    scorer: Scorer,
    source_ids: Ints,
    config: SearchConfig,
    *,
    prefixes: Sequence[Sequence[int]] | None = None,
    constraints: Sequence[Constraint] = (),
    should_stop: Callable[[], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Translate source_ids (B, S), each row ending in eos and then padding: n_best hypotheses a sentence, best first.

    A translation that has not ended at the natural limit stays unfinished, and so does one that no token may follow.
    The unfinished rank last, and need not satisfy the constraints. A `max_length` above the natural limit replaces it.
    A smaller one does not change the search: the translations are cut to that many tokens, the end mark included, in
    the order of the whole ones, with the scores of the tokens that stay. Equal ones then become one, except samples.

    Args:
        prefixes: the ids that each sentence's translation must begin with, or none.
        constraints: rules beside those of the configuration.
        should_stop: called before every step; the search ends with an error when it returns True.

    Raises:
        ConfigError: lengths or prefixes do not fit the scorer.
        StoppedError: should_stop returned True.
        DragomanError: the scorer gives a probability that is not a number.
    """
    if not len(source_ids):
        return []
    active = ActiveConstraints(scorer, source_ids, config, prefixes, constraints)
    state = scorer.start(source_ids)
    if should_stop is not None:
        state = StoppableState(state, should_stop)
    if config.sample:
        beams = sample(state, active, config)
    elif config.beam_size == 1:
        beams = [[hypothesis] for hypothesis in greedy_search(state, active, config.length_penalty)]
    else:
        beams = beam_search(state, active, config)
    return returned(beams, active, config)


def returned(
    beams: Sequence[list[Hypothesis]], active: ActiveConstraints, config: SearchConfig
) -> list[list[Hypothesis]]:
    """Return what a search has found as `search` returns it: cut to max_length, with faults."""
    limits = active.limits.natural.tolist()
    return [_cut(*sentence, config) for sentence in zip(beams, active.finders, limits, strict=True)]


def _cut(
    hypotheses: list[Hypothesis], finder: FaultFinder, natural_limit: int, config: SearchConfig
) -> list[Hypothesis]:
    """Return the hypotheses of a sentence cut to max_length, with their faults."""
    if config.max_length is not None:
        hypotheses = [hypothesis.cut(config.max_length, config.length_penalty) for hypothesis in hypotheses]
        if not config.sample:
            best_of = {hypothesis.ids: hypothesis for hypothesis in reversed(hypotheses)}
            hypotheses = [hypothesis for hypothesis in hypotheses if best_of[hypothesis.ids] is hypothesis]
    found = [(each, _faults(each, finder, natural_limit, config.max_length)) for each in hypotheses]
    return [each if each.faults == faults else replace(each, faults=faults) for each, faults in found]


def _faults(
    hypothesis: Hypothesis, finder: FaultFinder, natural_limit: int, max_length: int | None
) -> tuple[Fault, ...]:
    """Return the faults of a hypothesis; one that reached its natural limit without an end is too long."""
    is_cut = not hypothesis.finished and len(hypothesis.ids) + 1 == max_length
    faults = finder.find(hypothesis.ids, is_cut=is_cut)
    is_endless = not hypothesis.finished and len(hypothesis.ids) + 1 >= natural_limit
    return (*faults, "length") if is_endless and "length" not in faults else faults
