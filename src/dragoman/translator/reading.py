"""The text that a model reads in place of a segment: spans masked by reserved pieces, capitals in small letters.

Before a text is cut into segments, each span becomes one mark, a character for private use, so that no cut goes through
it. Each segment then counts its own spans: the first is read as ⟨1⟩.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from dragoman.text.sentences import PARAGRAPH_END
from dragoman.text.shouting import calm, is_shouted
from dragoman.text.spans import VERBATIM, find_spans

#: Characters for private use, of the last plane but one.
_FIRST_MARK, _LAST_MARK = 0xF0000, 0xFFFFD
RESERVED = re.compile("⟨[0-9]{1,3}⟩")
_AFTER_SPACE = re.compile(r"\s?(⟨[0-9]{1,3}⟩)")
#: Numbers of fewer characters are not masked: a language may write them in words.
_SHORTEST_NUMBER = 2


class Reading(NamedTuple):
    """The text that a model reads in place of a segment."""

    text: str = ""
    #: Reserved pieces in it, each with the span that it stands for.
    masks: Sequence[tuple[str, str]] = ()
    #: The segment is in capitals, and its translation should be.
    is_shouted: bool = False
    #: The model has reserved pieces. One in a translation that is not in `text` stands for nothing.
    has_pieces: bool = False

    def unmask(self, text: str) -> str:
        """Return a translation with the spans in place of their masks, without pieces that stand for nothing."""
        spans = dict(self.masks)

        def restored(match: re.Match[str]) -> str:
            piece = match[1]
            return "" if self._is_nothing(piece) else match[0].replace(piece, spans.get(piece, piece))

        is_clean = not any(map(self._is_nothing, RESERVED.findall(text)))
        restored_text = _AFTER_SPACE.sub(restored, text)
        return restored_text if is_clean else restored_text.strip()

    def unmask_pieces(self, pieces: Sequence[str]) -> list[str]:
        """Return the pieces of a text with the spans in place of their masks."""
        spans = dict(self.masks)
        return [
            "" if RESERVED.fullmatch(piece) and self._is_nothing(piece) else spans.get(piece, piece) for piece in pieces
        ]

    def _is_nothing(self, piece: str) -> bool:
        return self.has_pieces and piece not in self.text

    def mask(self, text: str) -> str:
        """Return the beginning of a translation with masks in place of the spans, each once."""
        left = {span: piece for piece, span in reversed(self.masks)}
        parts, end = [], 0
        for span in find_spans(text) if left else ():
            if piece := left.pop(text[span.start : span.end], None):
                parts += [text[end : span.start], piece]
                end = span.end
        return "".join([*parts, text[end:]])


class TextReader:
    """The readings of the segments of one text.

    Args:
        text: sanitized, without tags.
        language: the code of its language.
        reserved: pieces of the model that may mask spans; none if it has not learned any.
        cost: of a word: the number of its pieces.
        masks_numbers: mask numbers too.
    """

    def __init__(
        self, text: str, language: str, reserved: Sequence[str], cost: Callable[[str], int], *, masks_numbers: bool
    ) -> None:
        self._language = language
        self._reserved = reserved
        self._cost = cost
        #: By their marks.
        self._spans: Mapping[str, str] = {}
        #: The text, with its spans as marks.
        self.text = self._mark(text, masks_numbers=masks_numbers) if reserved else text

    def original(self, segment: str) -> str:
        """Return a stretch of `text` as it was."""
        return "".join(self._spans.get(character, character) for character in segment) if self._spans else segment

    def read(self, segment: str) -> Reading:
        """Return what the model reads in place of a stretch of `text`."""
        shouted = is_shouted(segment)
        text = calm(segment, self._language, self._cost) if shouted else segment
        pieces = dict(zip(self._masked(text), self._reserved, strict=False)) if self._spans else {}
        if self._spans:
            text = "".join(pieces.get(character) or self._spans.get(character, character) for character in text)
        masks = [(piece, self._spans[mark]) for mark, piece in pieces.items()]
        return Reading(text, masks, shouted, bool(self._reserved))

    def _masked(self, text: str) -> list[str]:
        """Return the marks of a text to be masked: as many as there are reserved pieces.

        Text that looks like a reserved piece comes first; with more of it than pieces, there are no masks.
        """
        marks = [character for character in text if character in self._spans]
        alike = {mark for mark in marks if RESERVED.fullmatch(self._spans[mark])}
        if len(alike) > len(self._reserved):
            return []
        others = [mark for mark in marks if mark not in alike][: len(self._reserved) - len(alike)]
        masked = alike.union(others)
        return [mark for mark in marks if mark in masked]

    def _mark(self, text: str, *, masks_numbers: bool) -> str:
        taken = _private(text)
        free = (chr(code) for code in range(_FIRST_MARK, _LAST_MARK + 1) if chr(code) not in taken)
        marked, spans, end = [], {}, 0
        for span in find_spans(text):
            found = text[span.start : span.end]
            is_masked = span.kind in VERBATIM or (masks_numbers and len(found) >= _SHORTEST_NUMBER)
            if not is_masked or PARAGRAPH_END in found or (mark := next(free, None)) is None:
                continue
            marked += [text[end : span.start], mark]
            spans[mark] = found
            end = span.end
        self._spans = spans
        return "".join([*marked, text[end:]])


def _private(text: str) -> Collection[str]:
    return {character for character in text if character >= chr(_FIRST_MARK)}
