"""All changes of a pair, each with the probability that the settings give it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from dragoman.data.augmentation.attaching import attach_emoji, attach_piece, attach_span
from dragoman.data.augmentation.clauses import cut_short
from dragoman.data.augmentation.letters import add_typos, change_case
from dragoman.data.augmentation.punctuation import change_punctuation
from dragoman.data.augmentation.replacing import replace_spans, reserve, reserve_names
from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.augmentation.shared_spans import shared_verbatim
from dragoman.data.augmentation.term_annotation import annotate_terms
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.text.annotations import AnnotationMarks
from dragoman.text.subword_sampling import keyed_draws
from dragoman.text.terms import TermList

#: Of the pairs that nothing can be replaced in, the share that gets something attached.
_ATTACHED_SHARE = 0.3


@dataclass(frozen=True)
class Augmentation:
    """Changes pairs of text.

    Args:
        doses: the probability of each change.
        pieces: the reserved pieces of the tokenizers.
        terms: translations of words, to be annotated, by base languages.
    """

    doses: AugmentationConfig
    pieces: Sequence[str] = ()
    terms: Mapping[Languages, TermList] = field(default_factory=dict)

    def change(self, pair: Pair, languages: Languages, key: tuple[int, ...]) -> Pair:
        """Return a changed pair, a function of the arguments alone.

        Args:
            languages: base languages of source and target.
            key: of all randomness.
        """
        pair = self._changed(pair, languages, key)
        terms, marks = self.terms.get(languages), self._marks
        if terms is None or marks is None or next(keyed_draws((*key, 2))) >= self.doses.terms:
            return pair
        return annotate_terms(pair, terms, marks, np.random.default_rng((*key, 2)))

    def _changed(self, pair: Pair, languages: Languages, key: tuple[int, ...]) -> Pair:
        """Return the pair with all changes except annotations, which do not change the others."""
        doses = self.doses
        shares = doses.cut, doses.punctuation, doses.reserved, doses.spans, doses.emoji, doses.case, doses.typos
        hits = [draw < share for draw, share in zip(keyed_draws(key), shares, strict=False)]
        if not any(hits):
            return self._masked(pair, (*key, 0))
        is_cut, has_punctuation, has_pieces, has_spans, has_emoji, has_case, has_typos = hits
        generator = np.random.default_rng(key)
        if is_cut:
            pair = cut_short(pair, languages, generator)
        if has_punctuation:
            pair = change_punctuation(pair, generator)
        pair = self._masked(pair, (*key, 0))
        if has_pieces:
            pair = self._with_pieces(pair, languages, generator)
        if has_spans:
            pair = _with_spans(pair, languages, generator)
        if has_emoji:
            pair = attach_emoji(pair, languages, generator)
        if has_spans or has_emoji:
            pair = self._masked(pair, (*key, 1))
        if has_case:
            pair = change_case(pair, generator)
        return add_typos(pair, generator) if has_typos else pair

    @property
    def _marks(self) -> AnnotationMarks | None:
        """The marks of annotations, if there are any."""
        return AnnotationMarks.of(self.pieces) if self.doses.terms else None

    @property
    def _masks(self) -> Sequence[str]:
        """The pieces that mask what is copied."""
        return self.pieces[: -len(marks)] if (marks := self._marks) else self.pieces

    def _masked(self, pair: Pair, key: tuple[int, ...]) -> Pair:
        """Return the pair as a translator reads it, with reserved pieces for what is copied character by character."""
        if not self.doses.reserved or not self._masks:
            return pair
        spans = [shared for shared in shared_verbatim(pair) if shared.kind != "reserved"]
        return reserve(pair, spans, self._masks, np.random.default_rng(key)) if spans else pair

    def _with_pieces(self, pair: Pair, languages: Languages, generator: Generator) -> Pair:
        """Return the pair with reserved pieces for its names, or with a piece at one end."""
        if not self._masks:
            return pair
        changed = reserve_names(pair, languages, self._masks, generator)
        if changed == pair and generator.random() < _ATTACHED_SHARE:
            return attach_piece(pair, languages, self._masks, generator)
        return changed


def _with_spans(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return the pair with other names, numbers and addresses, or with one at one end."""
    changed = replace_spans(pair, languages, generator)
    if changed == pair and generator.random() < _ATTACHED_SHARE:
        return attach_span(pair, languages, generator)
    return changed
