"""The one door to all searches: it picks the search that a configuration describes.

B sentences, S source.
"""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.config import SearchConfig
from dragoman.decoding.beam import beam_search
from dragoman.decoding.constraints import Constraints
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.sampling import sample
from dragoman.decoding.scores import Ints
from dragoman.decoding.state import Scorer

__all__ = ["Hypothesis", "search"]


def search(
    scorer: Scorer, source_ids: Ints, config: SearchConfig, *, prefixes: Sequence[Sequence[int]] | None = None
) -> list[list[Hypothesis]]:
    """Translate source_ids (B, S), each row ending in eos and then padding: n_best hypotheses a sentence, best first.

    A translation has at most `max_length` tokens, the end mark included, and never more than the scorer allows: the
    last of them can only be the end mark. One that no token may follow (`no_repeat_ngram`) is cut, and ranks after
    those that ended.

    Args:
        prefixes: for each sentence the ids its translation must begin with, of any lengths; empty for none.

    Raises:
        ConfigError: lengths or prefixes do not fit the scorer.
        DragomanError: the scorer gives a probability that is not a number.
    """
    if not len(source_ids):
        return []
    constraints = Constraints.of(
        source_ids, config, prefixes=prefixes, vocab_size=scorer.vocab_size, max_length=scorer.max_length
    )
    state = scorer.start(source_ids)
    if config.sample:
        return sample(state, constraints, source_ids, config)
    if config.beam_size == 1:
        return [[hypothesis] for hypothesis in greedy_search(state, constraints, config.length_penalty)]
    return beam_search(state, constraints, config)
