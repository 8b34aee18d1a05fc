"""The last stage: join the candidates of a text's segments into its translation, and align words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import Link
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.protection import merged
from dragoman.text.spans import VERBATIM, find_spans
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.choosing import Choice, ranked, restored
from dragoman.translator.content_check import CheckContext, content_flags, quote_flags
from dragoman.translator.cutting import Segment
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.judging import confidence, confidence_flags, or_source
from dragoman.translator.placing import place
from dragoman.translator.plans import Plan, TextPlan, with_gaps
from dragoman.translator.results import Alternative, Flag, PartTranslation, Translation, merge_flags
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

    def finish(self, plan: Plan, choices: Sequence[Choice], batch_size: int | None = None) -> list[Translation]:
        """See `Pipeline.finish`.

        Args:
            choices: among the candidates of each of the plan's jobs.
        """
        remaining = iter(choices)
        chosen = [_by_segment(text, remaining) for text in plan.texts]
        translations = [self._translation(text, segments) for text, segments in zip(plan.texts, chosen, strict=True)]
        batch_size = self._batch_size if batch_size is None else batch_size

        def inputs(indices: Sequence[int]) -> list[AlignmentInput]:
            return [_input(plan.texts[index], chosen[index], translations[index]) for index in indices]

        to_place = {index for index, text in enumerate(plan.texts) if _lacks_stretch(text, translations[index])}
        if to_align := [index for index, text in enumerate(plan.texts) if text.request.align or index in to_place]:
            from dragoman.translator.aligning import align_words

            aligned = align_words(self._decoder, self._heads, self._tokenizers, inputs(to_align), batch_size)
            for index, translation in zip(to_align, aligned, strict=True):
                text = plan.texts[index]
                translations[index] = _with_stretches(text, translation) if index in to_place else translation
        if to_doubt := [index for index, text in enumerate(plan.texts) if text.request.doubts]:
            for index, translation in zip(to_doubt, self._with_doubts(inputs(to_doubt), batch_size), strict=True):
                translations[index] = translation
        return [
            or_source(text.request, translation) for text, translation in zip(plan.texts, translations, strict=True)
        ]

    def _with_doubts(self, inputs: Sequence[AlignmentInput], batch_size: int) -> list[Translation]:
        from dragoman.translator.judging import doubtful_words

        doubtful = doubtful_words(self._decoder, self._tokenizers, inputs, batch_size)
        return [replace(item.translation, doubtful=words) for item, words in zip(inputs, doubtful, strict=True)]

    def links_with(self, plan: Plan, translation: str, batch_size: int | None) -> tuple[Link, ...]:
        """Return the alignment of words of a text with another translation; none if the model cannot read both.

        Args:
            plan: of one text, which wants its words aligned.
        """
        (text,), target = plan.texts, self._tokenizers.target
        ids = tuple(target.encode(translation))
        is_short = len(text.segments) == 1 and len(ids) < plan.max_length
        if not is_short or text.segments[0].is_copied:
            return ()
        candidate = Candidate(Hypothesis(ids, 0.0, 0.0, (), finished=True), translation, tuple(target.pieces(ids)))
        (aligned,) = self.finish(plan, ranked(plan, [[candidate]]), batch_size)
        return aligned.alignment or () if aligned.text.casefold() == translation.casefold() else ()

    def _translation(self, plan: TextPlan, chosen: Sequence[Choice]) -> Translation:
        """Make one translation; its k-th alternative consists of the k-th candidates of all segments."""
        if not chosen:
            return Translation(text="", score=0.0, tokens=())
        between = "" if base_language(plan.languages.target_lang) in WITHOUT_SPACES else " "
        ranks = zip(*(choice.candidates for choice in chosen), strict=False)
        alternatives = [_alternative(plan, candidates, between) for candidates in ranks]
        best = alternatives[0]
        found = confidence(plan, [choice.candidates[0] for choice in chosen])
        low_confidence = confidence_flags(plan.request, plan.languages.target_lang, found)
        lone_quotes = [] if plan.request.plain else quote_flags(plan.text, best.text, plan.request.off)
        return Translation(
            best.text,
            best.score,
            best.tokens,
            tuple(alternatives),
            n_parts=max(1, sum(not segment.is_frame for segment in plan.segments)),
            flags=merge_flags([*_flags(plan, chosen), *lone_quotes, *low_confidence]),
            confidence=found,
            missing_terms=tuple(dict.fromkeys(term for choice in chosen for term in choice.missing_terms)),
            repairs=tuple(dict.fromkeys(name for choice in chosen for name in choice.repairs)),
            fallback=next((reason for choice in chosen if (reason := choice.candidates[0].fallback)), None),
        )


def _alternative(plan: TextPlan, candidates: Sequence[Candidate], between: str) -> Alternative:
    """Join a candidate of each segment."""
    texts = with_gaps(plan.segments, [one.text for one in candidates], between)
    scores = [one.hypothesis.score for one in candidates]
    return Alternative(
        text="".join(texts),
        score=math.fsum(scores),
        log_prob=math.fsum(one.hypothesis.log_prob for one in candidates),
        tokens=tuple(token for one in candidates for token in one.tokens),
        parts=tuple(map(PartTranslation, texts, scores)) if len(texts) > 1 else (),
    )


def _flags(plan: TextPlan, chosen: Sequence[Choice]) -> Iterator[Flag]:
    """Yield the flags of a translation; of a plain one, only those of the markup of a document."""
    for segment, choice in zip(plan.segments, chosen, strict=True):
        yield from choice.flags
        if plan.request.plain and not segment.is_copied:
            continue
        yield from choice.candidates[0].hypothesis.faults
        if segment.flag is not None and _has_own_text(segment):
            yield segment.flag
        if segment.reading.has_foreign:
            yield "copied"


def _has_own_text(segment: Segment) -> bool:
    """Return False for what a translation has unchanged, so that copying it needs no flag: marks, verbatim spans, and
    what the request protects."""
    spans = [(span.start, span.end) for span in find_spans(segment.text) if span.kind in VERBATIM]
    own, end = [], 0
    for start, next_end in merged([*spans, *segment.protected]):
        own.append(segment.text[end:start])
        end = next_end
    return any(map(str.isalnum, "".join([*own, segment.text[end:]])))


def _lacks_stretch(plan: TextPlan, translation: Translation) -> bool:
    """Return True if a translation has lost one of the stretches that its request protects."""
    return "span" in translation.flags and bool(plan.request.stretches())


def _with_stretches(plan: TextPlan, translation: Translation) -> Translation:
    """Return an aligned translation with the protected stretches that it has lost, and its flags as they are then."""
    request = plan.request
    stretches = request.stretches()
    placed = place(request.text, stretches, translation.text, translation.alignment or ())
    kept = [request.text[start:end] for start, end in stretches]
    terms = [term for segment in plan.segments for term in segment.reading.terms]
    lost = content_flags(plan.text, placed.text, CheckContext(plan.languages.pair, kept, request.off, terms))
    flags = merge_flags([*(flag for flag in translation.flags if flag not in ("span", "number")), *lost])
    first, *others = translation.alternatives
    if not request.align:
        first, *others = (replace(alternative, alignment=None) for alternative in (first, *others))
    links = placed.links if request.align else None
    first = replace(first, text=placed.text, parts=(), alignment=links)
    return replace(translation, text=placed.text, alignment=links, flags=flags, alternatives=(first, *others))


def _input(plan: TextPlan, chosen: Sequence[Choice], translation: Translation) -> AlignmentInput:
    from dragoman.translator.aligning import AlignmentInput

    return AlignmentInput(plan, [segment.candidates for segment in chosen], translation)


def _by_segment(plan: TextPlan, remaining: Iterator[Choice]) -> list[Choice]:
    """Return the choice of each segment; a copied segment has the same text in all of its candidates."""
    target_lang = plan.languages.target_lang
    found = [None if each.is_copied else restored(each.reading, next(remaining), target_lang) for each in plan.segments]
    n_best = min((len(choice.candidates) for choice in found if choice is not None), default=1)
    return [
        Choice([_copied(segment.copy)] * n_best, ()) if choice is None else choice
        for segment, choice in zip(plan.segments, found, strict=True)
    ]


def _copied(text: str) -> Candidate:
    return Candidate(Hypothesis((), 0.0, 0.0, (), finished=True), text, (text,))
