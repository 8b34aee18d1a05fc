"""The one door to all searches: it picks the search that a configuration describes.

B sentences, S source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dragoman.decoding.beam import beam_search
from dragoman.decoding.constraints import Constraints
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
    should_stop: Callable[[], bool] | None = None,
) -> list[list[Hypothesis]]:
    """Translate source_ids (B, S), each row ending in eos and then padding: n_best hypotheses a sentence, best first.

    The search goes up to the natural limit: half as many tokens again as the source has, 50 more and the prefix, never
    more than the scorer allows. A translation that has not ended there, or that no token may follow
    (`no_repeat_ngram`), stays unfinished, and ranks after those that ended. A larger `max_length` takes the place of
    the natural limit. A smaller one changes nothing but what is returned: all are cut to that many tokens, the end mark
    included, in the order of the whole ones, with the scores of the tokens that stay; so what is found with less room
    is how that with more room begins. Those that then are the same become one, except samples.

    Args:
        prefixes: for each sentence the ids its translation must begin with, of any lengths; empty for none.
        should_stop: asked before every step; the search ends with an error when it returns True.

    Raises:
        ConfigError: lengths or prefixes do not fit the scorer.
        StoppedError: should_stop returned True.
        DragomanError: the scorer gives a probability that is not a number.
    """
    if not len(source_ids):
        return []
    constraints = Constraints.of(source_ids, config, scorer, prefixes)
    state = scorer.start(source_ids)
    if should_stop is not None:
        state = StoppableState(state, should_stop)
    if config.sample:
        pad = scorer.special_ids.source.pad
        sources = [[id for id in ids if id != pad] for ids in source_ids.tolist()]
        found = sample(state, constraints, sources, config)
    elif config.beam_size == 1:
        found = [[hypothesis] for hypothesis in greedy_search(state, constraints, config.length_penalty)]
    else:
        found = beam_search(state, constraints, config)
    limits = constraints.natural_limit.tolist()
    return [_returned(*each, config) for each in zip(found, constraints.finders, limits, strict=True)]


def _returned(
    hypotheses: list[Hypothesis], finder: FaultFinder, natural_limit: int, config: SearchConfig
) -> list[Hypothesis]:
    """Return the hypotheses of a sentence cut to max_length, with their faults."""
    if config.max_length is not None:
        hypotheses = [each.cut(config.max_length, config.length_penalty) for each in hypotheses]
        if not config.sample:
            best_of = {each.ids: each for each in reversed(hypotheses)}
            hypotheses = [each for each in hypotheses if best_of[each.ids] is each]
    return [replace(each, faults=_faults(each, finder, natural_limit, config)) for each in hypotheses]


def _faults(hypothesis: Hypothesis, finder: FaultFinder, natural_limit: int, config: SearchConfig) -> tuple[Fault, ...]:
    """Return the faults of a hypothesis; one that had all the room it could need and did not end is too long."""
    is_cut = not hypothesis.finished and len(hypothesis.ids) + 1 == config.max_length
    found = finder.find(hypothesis.ids, is_cut=is_cut)
    is_endless = not hypothesis.finished and len(hypothesis.ids) + 1 >= natural_limit
    return (*found, "length") if is_endless and "length" not in found else found
