"""The last stage: join the candidates of a text's segments into its translation, and align words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.word_spans import words
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.text.cleaning import sanitize
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.tags import UNKNOWN
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.choosing import Choice, choose, find_losses
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.placing import place
from dragoman.translator.planning import Plan, TextPlan
from dragoman.translator.results import Alternative, Translation, merge_flags
from dragoman.translator.searching import Candidate

if TYPE_CHECKING:
    from dragoman.translator.aligning import AlignmentInput


class Finisher:
    """Maker of translations from candidates.

    Args:
        decoder: the models, of which the first one aligns words.
        tokenizers: those of the models.
        heads: the heads of the first model that align words.
        batch_size: tokens that are aligned at once unless a call says otherwise.
    """

    def __init__(self, decoder: ForcedDecoder, tokenizers: Tokenizers, heads: AlignmentHeads, batch_size: int) -> None:
        self._decoder = decoder
        self._tokenizers = tokenizers
        self._heads = heads
        self._batch_size = batch_size

    def finish(
        self, plan: Plan, candidates: Sequence[Sequence[Candidate]], batch_size: int | None = None
    ) -> list[Translation]:
        """See `Pipeline.finish`."""
        if len(candidates) != len(plan.jobs):
            raise ValueError(f"candidates of {len(candidates)} jobs for a plan of {len(plan.jobs)}")
        remaining = iter(candidates)
        chosen = [self._choose(text, _by_segment(text, remaining)) for text in plan.texts]
        translations = [self._translation(text, segments) for text, segments in zip(plan.texts, chosen, strict=True)]
        batch_size = self._batch_size if batch_size is None else batch_size
        if to_align := [index for index, text in enumerate(plan.texts) if text.request.align]:
            from dragoman.translator.aligning import align_words

            inputs = [_input(plan.texts[index], chosen[index], translations[index]) for index in to_align]
            aligned = align_words(self._decoder, self._heads, self._tokenizers, inputs, batch_size)
            for index, translation in zip(to_align, aligned, strict=True):
                translations[index] = translation
        if to_doubt := [index for index, text in enumerate(plan.texts) if text.request.doubts]:
            inputs = [_input(plan.texts[index], chosen[index], translations[index]) for index in to_doubt]
            for index, words in zip(to_doubt, self._doubtful(inputs, batch_size), strict=True):
                translations[index] = replace(translations[index], doubtful=words)
        return translations

    def _doubtful(self, inputs: Sequence[AlignmentInput], batch_size: int) -> list[tuple[int, ...]]:
        """Return the numbers of the doubtful words of each translation."""
        by_input = self.word_log_probs(inputs, batch_size)
        calibrations = [item.plan.calibration for item in inputs]
        return [() if one is None else one.doubtful(words) for one, words in zip(calibrations, by_input, strict=True)]

    def word_log_probs(self, inputs: Sequence[AlignmentInput], batch_size: int | None = None) -> list[dict[int, float]]:
        """See `dragoman.translator.doubting.word_log_probs`."""
        from dragoman.translator.doubting import word_log_probs

        return word_log_probs(self._decoder, self._tokenizers, inputs, batch_size or self._batch_size)

    def with_stretches(
        self,
        plan: Plan,
        candidates: Sequence[Sequence[Candidate]],
        translations: Sequence[Translation],
        batch_size: int | None,
    ) -> list[Translation]:
        """Return the translations with the protected stretches that they have lost, placed by the alignment of words.

        Args:
            candidates: of the plan's jobs.
            translations: of the plan's texts. One that has lost a stretch is the best of its candidates.
        """
        results, remaining = list(translations), iter(candidates)
        for index, text in enumerate(plan.texts):
            found = list(islice(remaining, sum(not segment.is_copied for segment in text.segments)))
            if "span" in results[index].flags and text.request.stretches():
                aligned = replace(text, request=replace(text.request, align=True))
                (translation,) = self.finish(Plan([aligned], plan.config), found, batch_size)
                results[index] = placed = _with_stretches(text, translation)
                if text.request.doubts:
                    chosen = self._choose(text, _by_segment(text, iter(found)))
                    (words,) = self._doubtful([_input(text, chosen, placed)], batch_size or self._batch_size)
                    results[index] = replace(placed, doubtful=words)
        return results

    def _choose(self, plan: TextPlan, candidates: Sequence[Sequence[Candidate]]) -> list[Choice]:
        """Put the candidates of each segment that is not copied in order."""
        languages = plan.languages.source_lang or UNKNOWN, plan.languages.target_lang
        return [
            Choice(beam, ()) if segment.is_copied else choose(segment.reading, beam, languages)
            for segment, beam in zip(plan.segments, candidates, strict=True)
        ]

    def _translation(self, plan: TextPlan, chosen: Sequence[Choice]) -> Translation:
        """Make one translation; its k-th alternative consists of the k-th candidates of all segments."""
        if not chosen:
            return Translation(text="", score=0.0, tokens=())
        between = "" if base_language(plan.languages.target_lang) in WITHOUT_SPACES else " "
        alternatives = [
            Alternative(
                text=between.join(candidate.text for candidate in segments if candidate.text),
                score=math.fsum(candidate.hypothesis.score for candidate in segments),
                log_prob=math.fsum(candidate.hypothesis.log_prob for candidate in segments),
                tokens=tuple(token for candidate in segments for token in candidate.tokens),
            )
            for segments in zip(*(choice.candidates for choice in chosen), strict=False)
        ]
        best = alternatives[0]
        flags = [flag for choice in chosen for flag in (*choice.candidates[0].hypothesis.faults, *choice.losses)]
        flags += [segment.flag for segment in plan.segments if segment.flag is not None]
        translation = Translation(
            best.text, best.score, best.tokens, tuple(alternatives), n_parts=len(chosen), flags=merge_flags(flags)
        )
        return replace(translation, confidence=_confidence(plan, best.log_prob, [one.candidates[0] for one in chosen]))


def _with_stretches(plan: TextPlan, translation: Translation) -> Translation:
    """Return an aligned translation with the protected stretches that it has lost, and its flags as they are then."""
    request = plan.request
    stretches = request.stretches()
    placed = place(request.text, stretches, translation.text, translation.alignment or ())
    kept = [request.text[start:end] for start, end in stretches]
    languages = plan.languages.source_lang or UNKNOWN, plan.languages.target_lang
    losses = find_losses(plan.text, placed.text, kept, languages)
    flags = merge_flags([*(flag for flag in translation.flags if flag not in ("span", "number")), *losses])
    first, *others = translation.alternatives
    if not request.align:
        first, *others = (replace(alternative, alignment=None) for alternative in (first, *others))
    links = placed.links if request.align else None
    first = replace(first, text=placed.text, alignment=links)
    return replace(translation, text=placed.text, alignment=links, flags=flags, alternatives=(first, *others))


def _confidence(plan: TextPlan, log_prob: float, candidates: Sequence[Candidate]) -> float | None:
    """Return the confidence in a translation of this log-probability; None for one that is copied."""
    pairs = zip(plan.segments, candidates, strict=True)
    n_tokens = sum(len(candidate.hypothesis.ids) + 1 for segment, candidate in pairs if not segment.is_copied)
    return plan.calibration.confidence(log_prob, n_tokens) if plan.calibration is not None and n_tokens else None


def _input(plan: TextPlan, chosen: Sequence[Choice], translation: Translation) -> AlignmentInput:
    from dragoman.translator.aligning import AlignmentInput

    return AlignmentInput(plan, [segment.candidates for segment in chosen], translation)


def or_source(plan: TextPlan, translation: Translation) -> Translation:
    """Return a translation, or the text itself where its confidence is below what the request asks for.

    The alternatives stay. Each word of the text is linked to itself.
    """
    request, confidence = plan.request, translation.confidence
    if request.min_confidence is None or confidence is None or confidence >= request.min_confidence:
        return translation
    text = sanitize(request.text).strip()
    links = tuple((number, number) for number in range(len(words(text)))) if request.align else None
    flags = merge_flags([*translation.flags, "unsure"])
    doubtful = () if request.doubts else None
    return replace(translation, text=text, tokens=(), alignment=links, flags=flags, doubtful=doubtful)


def _by_segment(plan: TextPlan, remaining: Iterator[Sequence[Candidate]]) -> list[Sequence[Candidate]]:
    """Return the candidates of each segment; a copied segment has the same text in all of them."""
    searched = [None if segment.is_copied else next(remaining) for segment in plan.segments]
    n_best = min((len(candidates) for candidates in searched if candidates is not None), default=1)
    return [
        [_copied(segment.copy)] * n_best if candidates is None else candidates
        for segment, candidates in zip(plan.segments, searched, strict=True)
    ]


def _copied(text: str) -> Candidate:
    return Candidate(Hypothesis((), 0.0, 0.0, (), finished=True), text, (text,))
