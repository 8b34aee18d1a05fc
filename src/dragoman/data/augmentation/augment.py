"""All changes of a pair, each with the probability that the settings give it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from dragoman.data.augmentation.letters import add_typos, change_case
from dragoman.data.augmentation.made_up_spans import draw_verbatim
from dragoman.data.augmentation.names import draw_name
from dragoman.data.augmentation.replacing import free_pieces, replace_spans, reserve, reserve_names
from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.augmentation.shared_spans import shared_verbatim
from dragoman.data.perturbations.final_marks import final_mark, without_final_marks
from dragoman.data.perturbations.picking import pick
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.text.languages import WITHOUT_SPACES
from dragoman.text.subword_sampling import keyed_draws

#: Of the pairs that nothing can be replaced in, the share that gets something attached.
_ATTACHED_SHARE = 0.3
#: Ways to put something ({1}) beside a text ({0}), in scripts with spaces and in scripts without.
_FORMS = (
    ("{0} {1}", "{0}{1}"),
    ("{0} {1}", "{0} {1}"),
    ("{0} ({1})", "{0}（{1}）"),
    ("{0} – {1}", "{0} – {1}"),
    ("{1}: {0}", "{1}：{0}"),
    ("{1} {0}", "{1}{0}"),
    ("[{1}] {0}", "[{1}]{0}"),
)
#: Final marks of two kinds.
_QUESTION, _STATEMENT = "?？", ".。｡!！"


@dataclass(frozen=True)
class Augmentation:
    """Changes pairs of text.

    Args:
        doses: the probability of each change.
        pieces: the reserved pieces of the tokenizers.
    """

    doses: AugmentationConfig
    pieces: Sequence[str] = ()

    def change(self, pair: Pair, languages: Languages, key: tuple[int, ...]) -> Pair:
        """Return a changed pair, a function of the arguments alone.

        Args:
            languages: base languages of source and target.
            key: of all randomness.
        """
        hits = [draw < share for draw, share in zip(keyed_draws(key), self._shares, strict=False)]
        has_punctuation, *others = hits
        if has_punctuation:
            pair = change_punctuation(pair)
        pair = self._masked(pair, (*key, 0))
        if not any(others):
            return pair
        generator, (has_pieces, has_spans, has_case, has_typos) = generator_of(key), others
        if has_pieces:
            pair = self._with_pieces(pair, languages, generator)
        if has_spans:
            pair = self._masked(_with_spans(pair, languages, generator), (*key, 1))
        if has_case:
            pair = change_case(pair, generator)
        return add_typos(pair, generator) if has_typos else pair

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        doses = self.doses
        return doses.punctuation, doses.reserved, doses.spans, doses.case, doses.typos

    def _masked(self, pair: Pair, key: tuple[int, ...]) -> Pair:
        """Return the pair as a translator reads it, with reserved pieces for what is copied character by character."""
        if not self.doses.reserved or not self.pieces:
            return pair
        spans = [shared for shared in shared_verbatim(pair) if shared.kind != "reserved"]
        return reserve(pair, spans, self.pieces, generator_of(key)) if spans else pair

    def _with_pieces(self, pair: Pair, languages: Languages, generator: Generator) -> Pair:
        """Return the pair with reserved pieces for its names, or with a piece at one end."""
        if not self.pieces:
            return pair
        changed = reserve_names(pair, languages, self.pieces, generator)
        free = free_pieces(pair, self.pieces, generator)
        if changed == pair and free and generator.random() < _ATTACHED_SHARE:
            return attach(pair, languages, free[0], generator)
        return changed


def _with_spans(pair: Pair, languages: Languages, generator: Generator) -> Pair:
    """Return the pair with other names, numbers and addresses, or with a name or an address at one end."""
    changed = replace_spans(pair, languages, generator)
    if changed == pair and generator.random() < _ATTACHED_SHARE:
        addition = draw_name("person", generator) if generator.random() < 0.5 else draw_verbatim(generator)
        return attach(pair, languages, addition, generator)
    return changed


def attach(pair: Pair, languages: Languages, addition: str, generator: Generator) -> Pair:
    """Return the pair with the same text at the same end of both sides."""
    form = pick(_FORMS, generator)
    source, target = (
        form[language in WITHOUT_SPACES and not (text[:1].isascii() or text[-1:].isascii())].format(text, addition)
        for text, language in zip(pair, languages, strict=True)
    )
    return source, target


def change_punctuation(pair: Pair) -> Pair:
    """Return the pair without its final marks: a translation ends as its source does.

    A question keeps its mark in the target. A pair whose marks are of two kinds stays.
    """
    source, target = pair
    marks = final_mark(source), final_mark(target)
    if all(mark and mark in _QUESTION for mark in marks):
        return without_final_marks(source), target
    if all(mark and mark in _STATEMENT for mark in marks):
        return without_final_marks(source), without_final_marks(target)
    return pair


def generator_of(key: tuple[int, ...]) -> Generator:
    """Return the generator of `np.random.default_rng(key)`, made in two thirds of the time where the key is small."""
    try:
        words = np.array(key, np.uint32)
    except OverflowError:
        return np.random.default_rng(key)
    return Generator(np.random.PCG64(np.random.SeedSequence(words)))
