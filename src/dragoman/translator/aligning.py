"""Word alignments of whole translations: the parts of a long text are read one by one and linked together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import Link, Places, link_words, word_weights
from dragoman.model.transformer import Transformer
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator.batching import pair_batches
from dragoman.translator.cutting import Part
from dragoman.translator.forcing import IdPair, forced_attention
from dragoman.translator.results import Translation
from dragoman.translator.writing import Written


@dataclass(frozen=True)
class Found:
    """What a search found for a text."""

    text: str
    parts: Sequence[Part]
    #: The n best of each part.
    beams: Sequence[Sequence[Written]]
    translation: Translation


@dataclass(frozen=True)
class _Reading:
    """A part of a text and its translation, with their places in the whole texts."""

    ids: IdPair
    source: Places
    target: Places
    is_copied: bool

    def copied_links(self) -> Iterator[Link]:
        """Word to word, from the last on: a prefix may stand before the first."""
        pairs = zip(reversed(range(len(self.source.words))), reversed(range(len(self.target.words))), strict=False)
        return ((source + self.source.first_word, target + self.target.first_word) for source, target in pairs)


def align_words(
    model: Transformer, heads: AlignmentHeads, tokenizers: Tokenizers, found: Sequence[Found], batch_size: int
) -> list[Translation]:
    """The translations with the alignments of all their alternatives."""
    readings = [list(each) for one in found for each in _alternatives(tokenizers, one)]
    links = iter(_link(model, heads, readings, batch_size))
    aligned = []
    for translation in (each.translation for each in found):
        alternatives = tuple(replace(each, alignment=next(links)) for each in translation.alternatives)
        best = alternatives[0].alignment if alternatives else ()
        aligned.append(replace(translation, alternatives=alternatives, alignment=best))
    return aligned


def _alternatives(tokenizers: Tokenizers, found: Found) -> Iterator[Iterator[_Reading]]:
    """The readings of each alternative: the k-th is made of the k-th best of each part."""
    source_parts = [(_source_pieces(tokenizers, part), part.text) for part in found.parts]
    sources = list(Places.in_parts(source_parts, found.text))
    source_ids, copied = [part.ids for part in found.parts], [part.is_copied for part in found.parts]
    for best, alternative in zip(zip(*found.beams, strict=False), found.translation.alternatives, strict=True):
        ids = [written.hypothesis.ids for written in best]
        target_parts = [(tokenizers.target.pieces(each.hypothesis.ids), each.text) for each in best]
        targets = Places.in_parts(target_parts, alternative.text)
        yield map(_Reading, zip(source_ids, ids, strict=True), sources, targets, copied)


def _source_pieces(tokenizers: Tokenizers, part: Part) -> Sequence[str]:
    return [] if part.is_copied else tokenizers.source.split(part.text)[: len(part.ids)]


def _link(
    model: Transformer, heads: AlignmentHeads, readings: Sequence[Sequence[_Reading]], batch_size: int
) -> list[tuple[Link, ...]]:
    """The links of each translation, which is given by its readings."""
    flat = [(number, reading) for number, each in enumerate(readings) for reading in each if not reading.is_copied]
    links = [
        {link for each in readings_of if each.is_copied for link in each.copied_links()} for readings_of in readings
    ]
    for rows in pair_batches([reading.ids for _, reading in flat], batch_size):
        for row, weights in zip(rows, forced_attention(model, [flat[row][1].ids for row in rows], heads), strict=True):
            number, reading = flat[row]
            of_part = link_words(word_weights(weights, reading.source, reading.target))
            first_source, first_target = reading.source.first_word, reading.target.first_word
            links[number].update((source + first_source, target + first_target) for source, target in of_part)
    return [tuple(sorted(each)) for each in links]
