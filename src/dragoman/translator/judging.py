"""The judgement of a model on its translations: confidence, doubtful words, and texts that stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dragoman.alignment.links import Places
from dragoman.alignment.word_spans import words
from dragoman.text.cleaning import sanitize
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.aligning import AlignmentInput, target_places
from dragoman.translator.confidence import least_confidence
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import pair_batches
from dragoman.translator.plans import TextPlan
from dragoman.translator.request import CONFIDENCE, Request
from dragoman.translator.results import Flag, Translation, merge_flags
from dragoman.translator.searching import Candidate


def confidence(plan: TextPlan, candidates: Sequence[Candidate]) -> float | None:
    """Return the confidence in a translation: that of its least sure segment; None for one that is copied.

    What masks stand for does not count: a term of a list is right, however improbable the model finds it.
    """
    if (calibration := plan.calibration) is None:
        return None
    pairs = zip(plan.segments, candidates, strict=True)
    written = (candidate.masked or candidate.hypothesis for segment, candidate in pairs if not segment.is_copied)
    return min((calibration.confidence(each.log_prob, len(each.ids) + 1) for each in written), default=None)


def confidence_flags(request: Request, target_lang: str, found: float | None) -> list[Flag]:
    """Return the flag of a translation that is probably wrong, by its confidence; none if the request wants none."""
    if found is None or request.plain or CONFIDENCE in request.off:
        return []
    return ["low_confidence"] if found < least_confidence(target_lang) else []


def or_source(request: Request, translation: Translation) -> Translation:
    """Return a translation, or the text itself where its confidence is below what the request asks for.

    The alternatives stay. Each word of the text is linked to itself.
    """
    found = translation.confidence
    if request.min_confidence is None or found is None or found >= request.min_confidence:
        return translation
    flags = merge_flags([*(flag for flag in translation.flags if flag != "low_confidence"), "unsure"])
    return replace(as_source(request, translation), flags=flags)


def as_source(request: Request, translation: Translation) -> Translation:
    """Return the text in place of its translation, because the model is not sure of it, or of a part of it."""
    text = sanitize(request.text).strip()
    links = tuple((number, number) for number in range(len(words(text)))) if request.align else None
    doubtful = () if request.doubts else None
    return replace(translation, text=text, tokens=(), alignment=links, doubtful=doubtful, recalled=(), repairs=())


def doubtful_words(
    decoder: ForcedDecoder, tokenizers: Tokenizers, inputs: Sequence[AlignmentInput], batch_size: int
) -> list[tuple[int, ...]]:
    """Return the numbers of the doubtful words of each translation; see `word_log_probs`."""
    calibrations = [item.plan.calibration for item in inputs]
    by_input = word_log_probs(decoder, tokenizers, inputs, batch_size)
    return [() if one is None else one.doubtful(found) for one, found in zip(calibrations, by_input, strict=True)]


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
