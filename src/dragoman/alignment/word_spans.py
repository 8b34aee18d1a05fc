"""The places of words and tokens in a text.

Spaces separate words, so that a word's number is its index after `split`; in scripts without spaces each character is a
word. Places are counted in visible characters, because tokenizers change white space only.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from dragoman.text.cleaning import clean
from dragoman.text.invisible import without_joiners
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern

_WORD = lazy_pattern(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
#: White space, and SentencePiece's mark of a space.
_INVISIBLE = lazy_pattern(r"[\s▁]")
#: Two texts are compared by proportion if the product of their lengths is larger.
_MOST_COMPARED = 10**7
_BYTE = lazy_pattern(r"<0x([0-9A-F]{2})>")

#: Start and end, in visible characters except where a function says otherwise.
Span = tuple[int, int]


def words(text: str) -> list[str]:
    """Return the words of a text, in the order in which alignments number them.

    >>> words("Ein Mann, ein Pferd.")
    ['Ein', 'Mann,', 'ein', 'Pferd.']
    """
    return _WORD.findall(clean(text))


def words_in_place(text: str) -> list[Span]:
    """Return the start and the end of each word in the characters of the text itself, invisible ones included.

    >>> words_in_place(" Ein  Mann")
    [(1, 4), (6, 10)]
    """
    return [match.span() for match in _WORD.finditer(text) if words(match[0])]


def touching(words: Sequence[Span], stretch: Span) -> range:
    """Return the numbers of the words that share characters with a stretch; words are in their order.

    >>> touching([(1, 4), (6, 10)], (3, 6))
    range(0, 1)
    """
    first = bisect_right(words, stretch[0], key=lambda word: word[1])
    return range(first, max(first, bisect_left(words, stretch[1], key=lambda word: word[0])))


def visible(text: str) -> str:
    """Return the visible characters of a text in composed form; joiners of letters or emoji are left out."""
    return without_joiners(_INVISIBLE.sub("", clean(text)))


def word_spans(text: str) -> list[Span]:
    """Return the place of each word."""
    return _in_a_row([len(visible(word)) for word in words(text)])


def token_spans(pieces: Sequence[str], text: str) -> list[Span]:
    """Return the place of each token of a text; an empty place for a token that is a space.

    Args:
        pieces: the tokens as their tokenizer writes them, without start and end.
        text: the text that they were made from, or decoded to. If it differs from the pieces (unknown tokens, repairs
            of a detokenizer), equal characters around a token give its place.
    """
    surfaces = _surfaces(pieces)
    spans = _in_a_row([len(surface) for surface in surfaces])
    for number in range(1, len(pieces)):  # the bytes of one character
        if not surfaces[number] and _BYTE.fullmatch(pieces[number]):
            spans[number] = spans[number - 1]
    written, shown = "".join(surfaces), visible(text)
    if len(written) == len(shown) and written.lower() == shown.lower():
        return spans
    places = _places(written, shown)
    return [(places[start], places[end]) for start, end in spans]


def _in_a_row(lengths: Sequence[int]) -> list[Span]:
    ends = list(accumulate(lengths))
    return [(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def _surfaces(pieces: Sequence[str]) -> list[str]:
    """Return the visible characters of each piece; a character spelled in bytes belongs to its first byte."""
    surfaces = [visible(piece) for piece in pieces]
    first = 0
    while first < len(pieces):
        last = first
        while last < len(pieces) and _BYTE.fullmatch(pieces[last]):
            last += 1
        if last > first:
            values = bytes(int(piece[3:5], 16) for piece in pieces[first:last])
            characters = iter(values.decode(errors="replace"))
            surfaces[first:last] = ["" if value & 0xC0 == 0x80 else next(characters, "") for value in values]
        first = max(last, first + 1)
    return surfaces


def _places(written: str, shown: str) -> list[int]:
    """Map each offset in `written`, its end included, to one in `shown`: exactly where both are equal, by proportion in
    between."""
    if len(written) * len(shown) > _MOST_COMPARED:
        return [offset * len(shown) // max(1, len(written)) for offset in range(len(written) + 1)]
    offsets = [0] * (len(written) + 1)
    lowered, other = ([character.lower() for character in text] for text in (written, shown))
    matcher = SequenceMatcher(None, lowered, other, autojunk=False)
    for _, start, end, other_start, other_end in matcher.get_opcodes():
        for offset in range(start, end):
            offsets[offset] = other_start + (offset - start) * (other_end - other_start) // (end - start)
    offsets[-1] = len(shown)
    return offsets
