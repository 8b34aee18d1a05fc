"""Word alignments of whole translations. Each segment is aligned alone; words are numbered in the whole text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import Link, Places, link_words, word_weights
from dragoman.text.sentence_pieces import SPACE
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.cutting import Segment
from dragoman.translator.forced_decoding import ForcedDecoder
from dragoman.translator.padding import IdPair, pair_batches
from dragoman.translator.plans import TextPlan
from dragoman.translator.results import Translation
from dragoman.translator.searching import Candidate


class AlignmentInput(NamedTuple):
    """A translation to align, with its plan and its candidates."""

    plan: TextPlan
    #: The n best of each segment.
    candidates: Sequence[Sequence[Candidate]]
    translation: Translation


@dataclass(frozen=True)
class _SegmentPair:
    """A segment and one translation of it, with their words in the whole texts."""

    ids: IdPair
    source: Places
    target: Places
    is_copied: bool

    def copied_links(self) -> Iterator[Link]:
        """Link word to word from the last one on, because a prefix may stand before the first."""
        pairs = zip(reversed(range(len(self.source.words))), reversed(range(len(self.target.words))), strict=False)
        return ((source + self.source.first_word, target + self.target.first_word) for source, target in pairs)


def align_words(
    decoder: ForcedDecoder,
    heads: AlignmentHeads,
    tokenizers: Tokenizers,
    inputs: Sequence[AlignmentInput],
    batch_size: int,
) -> list[Translation]:
    """Return the translations with the alignments of all their alternatives."""
    by_alternative = [pairs for item in inputs for pairs in _segment_pairs(tokenizers, item)]
    links = iter(_link(decoder, heads, by_alternative, batch_size))
    aligned = []
    for translation in (item.translation for item in inputs):
        alternatives = tuple(replace(alternative, alignment=next(links)) for alternative in translation.alternatives)
        best = alternatives[0].alignment if alternatives else ()
        aligned.append(replace(translation, alternatives=alternatives, alignment=best))
    return aligned


def _segment_pairs(tokenizers: Tokenizers, item: AlignmentInput) -> Iterator[list[_SegmentPair]]:
    """Yield the segment pairs of each alternative: the best candidates of all segments, then the second best ones."""
    segments, languages = item.plan.segments, item.plan.languages
    n_tags = len(languages.tags.split())
    parts = [
        ((), languages.typed_tags),
        *((_pieces(tokenizers, segment, n_tags), segment.text) for segment in segments),
    ]
    _, *sources = Places.in_parts(parts, item.plan.text)
    for candidates, alternative in zip(zip(*item.candidates, strict=False), item.translation.alternatives, strict=True):
        ids = [(segment.ids, candidate.hypothesis.ids) for segment, candidate in zip(segments, candidates, strict=True)]
        targets = target_places(tokenizers, segments, candidates, alternative.text)
        yield list(map(_SegmentPair, ids, sources, targets, (segment.is_copied for segment in segments)))


def target_places(
    tokenizers: Tokenizers, segments: Sequence[Segment], candidates: Sequence[Candidate], text: str
) -> Iterator[Places]:
    """Yield the places of each segment's tokens and words in a translation.

    Args:
        candidates: that of each segment.
        text: the translation that they make.
    """
    tags = tokenizers.target.tags  # which take no place in the text, as spaces

    def pieces(ids: Sequence[int]) -> list[str]:
        return [SPACE if piece in tags else piece for piece in tokenizers.target.pieces(ids)]

    parts = [
        (segment.reading.unmask_pieces(pieces(candidate.hypothesis.ids), is_translation=True), candidate.text)
        for segment, candidate in zip(segments, candidates, strict=True)
    ]
    return Places.in_parts(parts, text)


def _pieces(tokenizers: Tokenizers, segment: Segment, n_tags: int) -> Sequence[str]:
    """Return the piece of each id of a segment. Tags take no place in the text, as spaces."""
    if segment.is_copied:
        return []
    pieces = [*[SPACE] * n_tags, *tokenizers.source.split(segment.reading.text)]
    return segment.reading.unmask_pieces(pieces[: len(segment.ids)], is_translation=False)


def _link(
    decoder: ForcedDecoder, heads: AlignmentHeads, pairs: Sequence[Sequence[_SegmentPair]], batch_size: int
) -> list[tuple[Link, ...]]:
    """Return the links of each alternative, in the order of `pairs`, which has the segment pairs of each."""
    links = [{link for pair in row if pair.is_copied for link in pair.copied_links()} for row in pairs]
    searched = [(number, pair) for number, row in enumerate(pairs) for pair in row if not pair.is_copied]
    for rows in pair_batches([pair.ids for _, pair in searched], batch_size):
        attention = decoder.token_weights([searched[row][1].ids for row in rows], heads)
        for row, weights in zip(rows, attention, strict=True):
            number, pair = searched[row]
            first_source, first_target = pair.source.first_word, pair.target.first_word
            links[number].update(
                (source + first_source, target + first_target)
                for source, target in link_words(word_weights(weights, pair.source, pair.target))
            )
    return [tuple(sorted(row)) for row in links]
