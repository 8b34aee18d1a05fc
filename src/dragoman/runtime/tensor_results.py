"""The hypotheses that a search on tensors has kept, from its records.

B sentences, t steps, N slots, E hypotheses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dragoman.decoding.hypothesis import Hypothesis, length_penalty
from dragoman.machine.arrays import Floats, Ints
from dragoman.runtime.tensor_beam import ENDED, FAULTY, LIMIT, SETTLED, STUCK, SentenceTensors
from dragoman.settings.search_config import SearchConfig


class Records(NamedTuple):
    """Deeds of the slots in each step, (B, t, N) each; see `SentenceTensors`."""

    tokens: Ints
    parents: Ints
    log_probs: Floats
    events: NDArray[np.uint8]

    @classmethod
    def of(cls, sentences: SentenceTensors, rows: Tensor, n_steps: int) -> Records:
        """Read the records of some sentences (B,) from the device."""
        records = sentences.tokens, sentences.parents, sentences.log_probs, sentences.events
        return cls(*(each[:, :n_steps].index_select(0, rows).cpu().numpy() for each in records))


def kept_hypotheses(records: Records, config: SearchConfig) -> list[list[Hypothesis]]:
    """Return the n best hypotheses of each sentence, in the order of `dragoman.decoding.hypothesis.best_first`."""
    sentence, step, slot, event = _kept(records)
    # An event of the old hypothesis of a slot leaves out the token of its step.
    n_tokens = step + ((event == ENDED) | (event == SETTLED))
    ids, log_probs = _written(records, sentence, slot, n_tokens)
    longest = records.tokens.shape[1]
    penalties = np.array([length_penalty(n, config.length_penalty) for n in range(longest + 1)])
    scores = log_probs.sum(axis=1, dtype=np.float64) / penalties[n_tokens]
    has_ended = event == ENDED
    is_faulty = (records.events[sentence, step, slot] & FAULTY) > 0
    rank = np.where(has_ended, has_ended & is_faulty, 2)  # without a fault, with one, unfinished
    found: list[list[Hypothesis]] = [[] for _ in records.tokens]
    for number in np.lexsort((-scores, rank)).tolist():  # stable: of equal ones, the first that was kept
        beam, n = found[sentence[number]], n_tokens[number]
        if len(beam) < config.n_best:
            written = ids[number, :n].tolist(), log_probs[number, :n].tolist()
            beam.append(Hypothesis.of(*written, config.length_penalty, finished=bool(has_ended[number])))
    return found


def _kept(records: Records) -> tuple[Ints, Ints, Ints, Ints]:
    """Return sentence, step, slot and event (E,) of each hypothesis that was kept, in the order of the search."""
    order = STUCK, ENDED, SETTLED, LIMIT
    kept = [np.nonzero(records.events & event) for event in order]
    sentence, step, slot = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    event = np.repeat(order, [len(numbers) for numbers, *_ in kept])
    in_order = np.argsort(step, kind="stable")
    return sentence[in_order], step[in_order], slot[in_order], event[in_order]


def _written(records: Records, sentence: Ints, slot: Ints, n_tokens: Ints) -> tuple[Ints, Floats]:
    """Return the tokens of hypotheses (E,) and their log-probabilities, (E, t); zeros after the last token.

    Args:
        slot: the slot that wrote the last token of each.
    """
    shape = len(sentence), records.tokens.shape[1]
    ids, log_probs = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
    slot = slot.copy()
    for step in reversed(range(shape[1])):
        some = np.flatnonzero(n_tokens > step)
        cells = sentence[some], step, slot[some]
        ids[some, step], log_probs[some, step] = records.tokens[cells], records.log_probs[cells]
        slot[some] = records.parents[cells]
    return ids, log_probs
