"""The text that a model reads in place of a segment: spans masked by reserved pieces, capitals in small letters.

Before a text is cut into segments, each span becomes one mark, a character for private use, so that no cut goes through
it (`marks.py`). Each segment then counts its own spans: the first is read as ⟨1⟩. A model without reserved pieces reads
what the marks stand for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dragoman.text.odd_characters import has_foreign_letter, odd_stretches
from dragoman.text.protection import Stretch, longer, merged, occurrences, overlaps
from dragoman.text.sentences import PARAGRAPH_END
from dragoman.text.shouting import is_shouted
from dragoman.text.spans import VERBATIM, Span, find_spans
from dragoman.text.terms import Term
from dragoman.translator.marks import BREAK_MARKS, TAG_MARKS, Marks, joined_again, letters_around, set_apart
from dragoman.translator.number_masks import Written

RESERVED = re.compile("⟨[0-9]{1,3}⟩")
_AFTER_SPACE = re.compile(r"\s?(⟨[0-9]{1,3}⟩)")
_TAG = re.compile(f"[{TAG_MARKS}{BREAK_MARKS}]")
#: A number that is not masked: a language may write it in words.
_DIGIT = re.compile(r"\d")


class Reading(NamedTuple):
    """The text that a model reads in place of a segment."""

    text: str = ""
    #: Reserved pieces in it, each with the span that it stands for.
    masks: Sequence[tuple[str, str]] = ()
    #: The segment is in capitals, and its translation should be.
    is_shouted: bool = False
    #: The model has reserved pieces. One in a translation that is not in `text` stands for nothing.
    has_pieces: bool = False
    #: The stretches that the request protects, and those of them that are not masked.
    verbatim: Sequence[str] = ()
    unmasked: Sequence[str] = ()
    #: The terms in it whose translations are demanded, each as often as it is there.
    terms: Sequence[Term] = ()
    #: Of pieces that mask a number, a date or the like, what they stand for in a translation.
    written: Sequence[tuple[str, str]] = ()
    #: Pieces that mask tags, each with the letters and digits right before and right after it.
    tags: Mapping[str, tuple[str, str]] = MappingProxyType({})  # the model reads a space there
    #: A masked word has a letter that the model does not know, and that is not Latin.
    has_foreign: bool = False
    #: The model reads the text as it is, and its translation is not checked.
    is_plain: bool = False
    #: Checks that are switched off.
    off: Sequence[str] = ()

    @property
    def original(self) -> str:
        """The text with the spans in place of their masks."""
        spans = dict(self.masks)
        return RESERVED.sub(lambda match: spans.get(match[0], match[0]), self.text) if spans else self.text

    @property
    def kept(self) -> list[str]:
        """The spans and protected stretches that a translation must have as they are."""
        written = {piece for piece, _ in self.written}
        return [*(span for piece, span in self.masks if piece not in written), *self.unmasked]

    def unmask(self, text: str) -> str:
        """Return a translation with the spans in place of their masks, without pieces that stand for nothing."""
        if "⟨" not in text:  # no piece
            return text
        spans = dict(self.masks) | dict(self.written)

        def restored(match: re.Match[str]) -> str:
            piece = match[1]
            return "" if self._is_nothing(piece) else match[0].replace(piece, spans.get(piece, piece))

        for piece, joints in self.tags.items():
            text = joined_again(text, piece, spans[piece], joints)
        for piece, span in self.masks:
            if span.endswith("."):  # of an abbreviation; it also ends the sentence
                text = re.sub(rf"{piece}\.(?!\.)", piece, text)
        is_clean = not any(map(self._is_nothing, RESERVED.findall(text)))
        restored_text = _AFTER_SPACE.sub(restored, text)
        return restored_text if is_clean else restored_text.strip()

    def unmask_pieces(self, pieces: Sequence[str], *, is_translation: bool) -> list[str]:
        """Return the pieces of a text with the spans in place of their masks."""
        spans = dict(self.masks) | (dict(self.written) if is_translation else {})
        return [
            "" if RESERVED.fullmatch(piece) and self._is_nothing(piece) else spans.get(piece, piece) for piece in pieces
        ]

    def _is_nothing(self, piece: str) -> bool:
        return self.has_pieces and piece not in self.text

    def mask(self, text: str) -> str:
        """Return the beginning of a translation with masks in place of the spans, each once."""
        left = {span: piece for piece, span in reversed(self.masks)}
        parts, end = [], 0
        for start, next_end in self._spans(text) if left else ():
            if piece := left.pop(text[start:next_end], None):
                parts += [text[end:start], piece]
                end = next_end
        return "".join([*parts, text[end:]])

    def _spans(self, text: str) -> list[Stretch]:
        spans = [(span.start, span.end) for span in find_spans(text)]
        for stretch in self.verbatim:
            places = occurrences(text, stretch)
            spans = [span for span in spans if merged([span, *places]) != places] + places
        return sorted(set(spans))


class KnownParts(NamedTuple):
    """Parts of a text that a reader treats apart."""

    #: Numbers, dates and the like that are masked too.
    numbers: Sequence[Written] = ()
    #: The places of terms, which the model reads as they are.
    terms: Sequence[Stretch] = ()


class TextReader:
    """The readings of the segments of one text.

    Args:
        text: sanitized, without tags, with marks for the stretches that its request protects.
        marks: those of the text.
        reserved: pieces of the model that may mask spans; none if it has not learned any.
        calmed: returns a text in capitals as a sentence.
        is_known: returns True for a character that has a piece of its own.
        known: parts of the text to treat apart.
    """

    def __init__(
        self,
        text: str,
        marks: Marks,
        reserved: Sequence[str],
        calmed: Callable[[str], str],
        is_known: Callable[[str], bool],
        known: KnownParts,
    ) -> None:
        self._marks = marks
        self._verbatim: Collection[str] = {character for character in text if character in marks} if marks else ()
        self._reserved = reserved
        self._calmed = calmed
        self._is_known = is_known
        #: The text, with its spans as marks.
        spans = [span for span in find_spans(text) if PARAGRAPH_END not in text[span.start : span.end]]
        tags = {span[:2]: span.kind for span in spans if span.kind in ("tag", "break")}
        stretches = self._stretches(text, spans, known) if reserved else list(tags)
        self.text = marks.replace(text, stretches, tags)
        self._written = {text[each.start : each.end]: each.form for each in known.numbers}

    def original(self, segment: str) -> str:
        """Return a stretch of `text` as it was."""
        return self._marks.original(segment)

    def written(self, segment: str) -> str:
        """Return a copied stretch of `text` as the target language writes its numbers; "" if none is masked."""
        forms = {
            mark: form for mark in segment if mark in self._marks and (form := self._written.get(self._marks[mark]))
        }
        forms = {mark: form for mark, form in forms.items() if mark not in self._verbatim}
        return "".join(forms.get(mark) or self.original(mark) for mark in segment) if forms else ""

    def protected(self, segment: str) -> list[Stretch]:
        """Return the places of protected stretches in the original of a stretch of `text`."""
        return self._marks.places(segment, self._verbatim) if self._verbatim else []

    def read(self, segment: str) -> Reading:
        """Return what the model reads in place of a stretch of `text`."""
        shouted = is_shouted(segment)
        text = self._calmed(segment) if shouted else segment
        if not self._marks:
            return Reading(text, (), shouted, bool(self._reserved))
        pieces = dict(zip(self._masked(text), self._reserved, strict=False))
        verbatim = [character for character in text if character in self._verbatim]
        tags = {
            pieces[mark]: letters_around(text, place, place + 1)
            for place, mark in enumerate(text)
            if mark in pieces and _TAG.match(mark)
        }
        apart = {mark: set_apart(piece, tags.get(piece, ("", ""))) for mark, piece in pieces.items()}
        return Reading(
            self._marks.original("".join(apart.get(mark, mark) for mark in text)),
            [(piece, self._marks[mark]) for mark, piece in pieces.items()],
            shouted,
            bool(self._reserved),
            [self._marks[mark] for mark in verbatim],
            [self._marks[mark] for mark in verbatim if mark not in pieces],
            written=[
                (piece, form)
                for mark, piece in pieces.items()
                if mark not in self._verbatim and (form := self._written.get(self._marks[mark]))
            ],
            tags=tags,
            has_foreign=any(self._is_foreign(mark) for mark in pieces if mark not in self._verbatim),
        )

    def _is_foreign(self, mark: str) -> bool:
        span = self._marks[mark]
        return has_foreign_letter(span, self._is_known) and not find_spans(span)

    def _masked(self, text: str) -> list[str]:
        """Return the marks of a text to be masked: as many as there are reserved pieces.

        Text that looks like a reserved piece comes first; with more of it than pieces, there are no masks.
        """
        marks = [character for character in text if character in self._marks]
        alike = {mark for mark in marks if RESERVED.fullmatch(self._marks[mark])}
        if len(alike) > len(self._reserved):
            return []
        others = [mark for mark in marks if mark not in alike][: len(self._reserved) - len(alike)]
        masked = alike.union(others)
        return [mark for mark in marks if mark in masked]

    def _stretches(self, text: str, spans: Sequence[Span], known: KnownParts) -> list[Stretch]:
        """Return the places of spans and quantities to be masked, and of characters that the model cannot translate."""
        found = odd_stretches(text, self._is_known)
        found += [
            (each.start, each.end)
            for each in known.numbers
            if not (_DIGIT.fullmatch(text, each.start, each.end) and _DIGIT.fullmatch(each.form))
        ]
        if known.terms:
            found = [place for place in found if not overlaps(place, known.terms)]
        found += longer([(span.start, span.end) for span in spans if span.kind in VERBATIM], known.terms)
        return merged([place for place in found if PARAGRAPH_END not in text[slice(*place)]])
