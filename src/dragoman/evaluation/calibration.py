"""Learning what a model's probabilities say: the calibration of its confidence, on text with references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from dragoman.alignment.word_spans import words
from dragoman.errors import DataError, counted
from dragoman.evaluation.evaluation import equal_lists
from dragoman.text.tags import Direction
from dragoman.translator import BATCH_TOKENS, Request, Translator
from dragoman.translator.aligning import AlignmentInput
from dragoman.translator.confidence import MOST_POINTS, Calibration
from dragoman.translator.judging import word_log_probs

Numbers = NDArray[np.float64]

#: The fewest pairs that a calibration is learned from; sentences or words of a point of a curve.
FEWEST, _OF_A_POINT = 100, 40
#: The least distance of two points of a curve, so that four digits tell them apart.
_LEAST_STEP = 2e-4
#: A doubtful word is one of which so many, or fewer, are in the reference.
_DOUBTFUL = 1 / 3
#: Groups of sentences in which confidence and chrF2 are compared.
_GROUPS = 10
_MARKS = ".,!?;:«»„“”\"'()[]。，！？；：（）"


class Group(NamedTuple):
    """Sentences of similar confidence."""

    confidence: float
    #: Mean chrF2 of their translations, 0 to 1.
    chrf: float


class Reliability(NamedTuple):
    """The agreement of the confidence in translations with their chrF2."""

    #: From the least confidence to the greatest, of equal size.
    groups: tuple[Group, ...]
    #: The mean distance of confidence and chrF2 in the groups.
    error: float
    #: Pearson's, of the confidence in each sentence with its chrF2.
    correlation: float


def calibrate(
    translator: Translator, sources: Sequence[str], references: Sequence[str], direction: Direction
) -> Calibration:
    """Learn a calibration from validation text.

    `error` and `correlation` are of sentences that the calibration was not learned from: each half is judged by what
    the other half teaches.

    Raises:
        DataError: there are fewer than `FEWEST` pairs that are one segment each, or not as many references as sources.
    """
    sentences = _observe(translator, *equal_lists(sources, references), direction)
    if len(sentences) < FEWEST:
        advice = f"give {FEWEST} or more sentences with their translations"
        raise DataError(f"{counted(len(sentences), 'pair is', 'pairs are')} too few to calibrate from", advice=advice)
    log_probs = np.array([sentence.log_prob for sentence in sentences])
    chrf = np.array([sentence.chrf for sentence in sentences])
    seen = [pair for sentence in sentences for pair in sentence.words]
    held_out = reliability(_across(log_probs, chrf), chrf)
    points, scores = isotonic(log_probs, chrf)
    return Calibration(
        log_probs=tuple(np.minimum(points, 0).round(4).tolist()),
        chrf=tuple(scores.round(4).tolist()),
        doubtful_below=round(_crossing(*isotonic(*map(np.array, zip(*seen, strict=True)))), 4),
        n_sentences=len(sentences),
        error=round(held_out.error, 4),
        correlation=round(held_out.correlation, 4),
    )


def reliability(confidence: Numbers, chrf: Numbers) -> Reliability:
    """Compare confidence, (n,), with the chrF2 of the same translations, (n,), both from 0 to 1."""
    parts = np.array_split(np.argsort(confidence, kind="stable"), min(_GROUPS, len(confidence)))
    groups = tuple(Group(float(confidence[part].mean()), float(chrf[part].mean())) for part in parts)
    error = float(np.mean([abs(group.confidence - group.chrf) for group in groups]))
    varies = min(confidence.std(), chrf.std()) > 0
    return Reliability(groups, error, float(np.corrcoef(confidence, chrf)[0, 1]) if varies else 0.0)


def isotonic(values: Numbers, outcomes: Numbers) -> tuple[Numbers, Numbers]:
    """Return the rising curve that is nearest to the mean outcomes of values: its points (k,), and its heights (k,).

    Values are put into groups of equal size; neighbours whose means fall, or whose values are the same to four digits,
    are joined, until none are left (pool adjacent violators; Zadrozny and Elkan 2002, section 3.3).

    Args:
        values, outcomes: (n,) each, n at least 1.
    """
    n_points = min(MOST_POINTS, max(1, len(values) // _OF_A_POINT))
    parts = np.array_split(np.argsort(values, kind="stable"), n_points)
    pools: list[tuple[float, float, int]] = []  # the sums of values and of outcomes, and how many
    for part in parts:
        pools.append((float(values[part].sum()), float(outcomes[part].sum()), len(part)))
        while len(pools) > 1 and _belong_together(pools[-2], pools[-1]):
            last, previous = pools.pop(), pools.pop()
            pools.append((last[0] + previous[0], last[1] + previous[1], last[2] + previous[2]))
    sums, totals, counts = map(np.array, zip(*pools, strict=True))
    return sums / counts, totals / counts


def _belong_together(one: tuple[float, float, int], other: tuple[float, float, int]) -> bool:
    """Return True if the mean outcome does not rise from one pool to the next, or their values are the same."""
    rise = other[1] / other[2] - one[1] / one[2]
    return rise <= 0 or other[0] / other[2] - one[0] / one[2] < _LEAST_STEP


class _Sentence(NamedTuple):
    """A translation of the validation text, as calibrations see it."""

    #: Divided by its tokens.
    log_prob: float
    chrf: float
    #: The log-probability of each word's least probable token, and 1 if the reference has the word, else 0.
    words: Sequence[tuple[float, float]]


def _observe(
    translator: Translator, sources: Sequence[str], references: Sequence[str], direction: Direction
) -> list[_Sentence]:
    """Translate the sources, and look at the translations of those that are one segment."""
    pipeline, metric = translator.pipeline, CHRF()
    source_lang, target_lang = direction
    requests = [Request(source, source_lang=source_lang, target_lang=target_lang) for source in sources]
    plan = pipeline.plan(requests, pipeline.config.model_copy(update={"n_best": 1}))
    found = iter(pipeline.search(plan.jobs))
    candidates = [[next(found) for segment in text.segments if not segment.is_copied] for text in plan.texts]
    translations = pipeline.finish(plan, [beam for beams in candidates for beam in beams])
    chosen = [
        (AlignmentInput(text, beams, translation), reference)
        for text, beams, translation, reference in zip(plan.texts, candidates, translations, references, strict=True)
        if len(beams) == len(text.segments) == 1 and reference.strip()
    ]
    inputs = [item for item, _ in chosen]
    by_word = word_log_probs(translator.forced_decoder, translator.tokenizers, inputs, BATCH_TOKENS)
    return [
        _Sentence(
            item.candidates[0][0].hypothesis.log_prob / (len(item.candidates[0][0].hypothesis.ids) + 1),
            metric.sentence_score(item.translation.text, [reference]).score / 100,
            _in_reference(words(item.translation.text), log_probs, reference),
        )
        for (item, reference), log_probs in zip(chosen, by_word, strict=True)
    ]


def _in_reference(translated: Sequence[str], log_probs: dict[int, float], reference: str) -> list[tuple[float, float]]:
    """Return the log-probability of each word, and whether the reference has it; each of its words counts once."""
    left = Counter(map(_plain, words(reference)))
    found = []
    for word, log_prob in sorted(log_probs.items()):
        plain = _plain(translated[word])
        found.append((log_prob, float(left[plain] > 0)))
        left[plain] -= 1
    return found


def _plain(word: str) -> str:
    return word.lower().strip(_MARKS) or word


def _across(log_probs: Numbers, chrf: Numbers) -> Numbers:
    """Return the confidence in each sentence that the sentences of the other half teach, (n,)."""
    confidence = np.empty_like(chrf)
    halves = np.arange(len(chrf)) % 2 == 0
    for half in (halves, ~halves):
        confidence[half] = np.interp(log_probs[half], *isotonic(log_probs[~half], chrf[~half]))
    return confidence


def _crossing(points: Numbers, shares: Numbers) -> float:
    """Return the point at which a rising curve of shares reaches `_DOUBTFUL`: its first if it begins higher."""
    return float(min(0.0, np.interp(_DOUBTFUL, shares, points)))
