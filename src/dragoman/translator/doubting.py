"""The probabilities of words, by which doubtful ones are found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dragoman.alignment.links import Places
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.aligning import AlignmentInput, target_places
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import pair_batches


def word_log_probs(
    decoder: ForcedDecoder, tokenizers: Tokenizers, inputs: Sequence[AlignmentInput], batch_size: int
) -> list[dict[int, float]]:
    """Return the log-probability of each word of translations, by its number as in alignments.

    It is that of the word's least probable token. Words that were copied have none.

    Args:
        batch_size: tokens that are read at once.
    """
    found: list[dict[int, float]] = [{} for _ in inputs]
    searched = []
    for number, (plan, candidates, translation) in enumerate(inputs):
        best = [beam[0] for beam in candidates]
        places = target_places(tokenizers, plan.segments, best, translation.text)
        searched += [
            (number, place, (segment.ids, candidate.hypothesis.ids))
            for segment, candidate, place in zip(plan.segments, best, places, strict=True)
            if not segment.is_copied
        ]
    for rows in pair_batches([ids for _, _, ids in searched], batch_size):
        log_probs = decoder.log_probs([searched[row][2] for row in rows])
        for row, values in zip(rows, log_probs, strict=True):
            number, place, _ = searched[row]
            for word, log_prob in _of_words(values, place):
                found[number][word] = min(log_prob, found[number].get(word, 0.0))
    return found


def _of_words(token_log_probs: Sequence[float], places: Places) -> list[tuple[int, float]]:
    """Return the number and the log-probability of each word of a segment."""
    tokens = [np.flatnonzero(share).tolist() for share in places.shares()]
    return [
        (places.first_word + word, min(token_log_probs[token] for token in own))
        for word, own in enumerate(tokens)
        if own
    ]
