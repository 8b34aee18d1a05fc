"""Segments of text that a model can read.

A text stays whole if it is like the lines that the model learned from. A text of more sentences is cut between
sentences, and a much longer sentence at commas or spaces. Text that no model can translate is copied: encoded data
and hashes (too long for a word), words of more tokens than a line of the training text, and marks without letters or
digits.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from dragoman.machine.arrays import Ints
from dragoman.text.cleaning import collapse_spaces
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.protection import Stretch
from dragoman.text.sentences import PARAGRAPH_END, has_words, sentence_spans
from dragoman.text.tags import UNKNOWN
from dragoman.text.unmarked_sentences import has_splitter, unmarked_spans
from dragoman.translator.frames import Part, parts
from dragoman.translator.reading import Reading
from dragoman.translator.results import Flag

#: A text of more characters for each token that the model reads is cut before it is encoded, so that the time for a
#: text grows no faster than its length.
MAX_CHARACTERS_PER_TOKEN = 16
#: Words have fewer characters in every language that writes spaces.
LONGEST_WORD = 100
#: Most characters of almost all words. A longer word is copied if it has more tokens than a line of the training text.
LONG_WORD = 40
#: Characters of scripts that write long stretches without a space: UNSPACED, Tibetan, New Tai Lue, Tai Tham, Hangul,
#: Yi, and the marks and full-width forms of Chinese and Japanese.
_UNBROKEN = (
    UNSPACED
    + "\u0f00-\u0fff\u1100-\u11ff\u1950-\u19df\u1a20-\u1aaf\u3000-\u31ff\ua000-\ua4cf\uac00-\ud7af\uff00-\uffef"
)
#: A row of characters that is too long for a word, or a hash in hexadecimal digits.
_NO_WORD = lazy_pattern(
    rf"[^\s{_UNBROKEN}]{{{LONGEST_WORD + 1},}}"
    r"|(?<!\S)[\"'(\[]*(?:[\w-]+[:=])?(?=[a-fA-F]*\d)[0-9a-fA-F]{32,}[.,;:!?)\]\"']*(?!\S)"
)
#: The end of a clause.
_CLAUSE = lazy_pattern(r"[,;:،؛](?=\s)|[、，；：]|\s[–—-](?=\s)")
_SPACE = lazy_pattern(r"\s")
_BETWEEN_UNBROKEN = lazy_pattern(rf"[{_UNBROKEN}](?=[{_UNBROKEN}])")
#: Characters on either side of the middle of a text in which a cut is looked for.
_NEAR = 200


class Segment(NamedTuple):
    """A part of a text that the model reads at once, or that is copied or written by a rule."""

    text: str
    ids: list[int]
    #: `copied` or `unusual`; None for a usual segment, and for one that a rule writes.
    flag: Flag | None = None
    #: The beginning of its translation, as text and as ids.
    prefix: str = ""
    prefix_ids: Sequence[int] = ()
    #: The ids that its translation must not contain.
    forbidden_ids: Sequence[int] = ()
    #: The only ids that it may contain, beside those of the prefix; none for the whole vocabulary.
    allowed_ids: Sequence[int] | Ints = ()
    #: What `ids` were made of; empty for a copied segment.
    reading: Reading = Reading()
    #: The places in `text` that the request protects.
    protected: Sequence[Stretch] = ()
    #: Its translation, if a rule writes it.
    written: str = ""
    is_frame: bool = False  # it stands around sentences; of it, only quotation marks change
    #: The ids of the sentences before it that the model reads with it, with end marks; they are no part of the text.
    context_ids: Sequence[int] = ()
    #: The white space before it, where it or its neighbour is a frame; None is what the target language has.
    gap: str | None = None

    @property
    def read_ids(self) -> list[int]:
        """All ids that the model reads, except the end mark."""
        return [*self.context_ids, *self.ids]

    @property
    def is_copied(self) -> bool:
        """True if the model does not read it."""
        return self.is_frame or self.flag == "copied" or bool(self.written)

    @property
    def copy(self) -> str:
        """The translation of a segment that the model does not read."""
        text = self.written or self.text
        return f"{self.prefix} {text}" if self.prefix else text


@dataclass(frozen=True)
class SegmentLimits:
    """The most that a segment may have."""

    #: Tokens that the model reads.
    max_length: int
    #: Sentences; None is as many as fit.
    sentences: int | None = None
    #: Tokens of a sentence that is not cut, and of the segments of a longer one; None is `max_length`.
    long_tokens: int | None = None
    usual_tokens: int | None = None
    #: Copy text without letters and digits.
    copies_marks: bool = False
    copies_codes: bool = True  # text that is no word: encoded data and hashes
    takes_frames: bool = True  # off sentences
    language: str = UNKNOWN  # of the text

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence that is not cut."""
        return min(self.long_tokens or self.max_length, self.max_length)

    @property
    def usual(self) -> int:
        """Tokens of the segments that a longer sentence is cut into."""
        return min(self.usual_tokens or self.max_length, self.longest)


Encode = Callable[[str], list[int]]


def cut(text: str, encode: Encode, limits: SegmentLimits) -> list[Segment]:
    """Cut a text into segments, none for an empty text.

    All segments together have the characters of the text in their order, except white space.
    """
    return _in_frames(text, limits, lambda core: _cut_core(core, encode, limits))


def _in_frames(text: str, limits: SegmentLimits, cut_core: Callable[[str], list[Segment]]) -> list[Segment]:
    """Return the segments of a text without its frames, and the frames around them."""
    segments: list[Segment] = []
    for part in parts(text) if limits.takes_frames else [Part(text)]:
        own = [Segment(part.text, [], is_frame=True)] if part.is_frame else cut_core(part.text)
        if own and segments and (part.is_frame or segments[-1].is_frame):
            own[0] = own[0]._replace(gap=part.gap.replace(PARAGRAPH_END, " "))
        segments += own
    return segments


def _cut_core(text: str, encode: Encode, limits: SegmentLimits) -> list[Segment]:
    if limits.copies_marks and not has_words(text):
        return [_copied(text)] if text.strip() else []
    segments: list[Segment] = []
    end = 0
    for start, next_end in _spans_to_copy(text) if limits.copies_codes else ():
        segments += _cut_words(text[end:start], encode, limits)
        segments.append(_copied(text[start:next_end]))
        end = next_end
    return segments + _cut_words(text[end:], encode, limits)


def _copied(text: str) -> Segment:
    return Segment(collapse_spaces(text), [], "copied")


def encode_if_short(text: str, encode: Encode, max_length: int) -> list[int] | None:
    """Return the ids of a text, none for an empty text; None if they are more than `max_length`."""
    if not text.strip():
        return []
    if len(text) > MAX_CHARACTERS_PER_TOKEN * max_length:
        return None
    ids = encode(text)
    return ids if len(ids) <= max_length else None


def _spans_to_copy(text: str) -> list[tuple[int, int]]:
    """Return the places of copied stretches: characters that are no word, and marks beside them."""
    spans: list[tuple[int, int]] = []
    for match in _NO_WORD.finditer(text):
        before = spans[-1][1] if spans else 0
        if has_words(text[before : match.start()]):
            spans.append(match.span())
        else:
            spans[-1:] = [(spans[-1][0] if spans else 0, match.end())]
    if spans and not has_words(text[spans[-1][1] :]):
        spans[-1] = spans[-1][0], len(text)
    return spans


def _cut_words(text: str, encode: Encode, limits: SegmentLimits) -> list[Segment]:
    """Cut a text that has words only."""
    if limits.sentences is not None:
        groups = (group.replace(PARAGRAPH_END, " ") for group in _groups(text, encode, limits))
        cut_core = partial(_cut_sentence, encode=encode, limits=limits)
        # What is left of a text without its frame has no other one.
        return [
            segment
            for group in groups
            for segment in (cut_core(group) if group == text else _in_frames(group, limits, cut_core))
        ]
    whole = text.replace(PARAGRAPH_END, " ")
    ids = encode_if_short(whole, encode, limits.max_length)
    if ids is None:
        sentences = (text[start:end] for start, end in _sentence_spans(text, encode, limits))
        segments = (segment for sentence in sentences for segment in _cut_sentence(sentence, encode, limits))
        return [segment if segment.is_copied else segment._replace(flag="unusual") for segment in segments]
    return [Segment(whole, ids, "unusual" if len(ids) > limits.longest else None)] if ids else []


def _groups(text: str, encode: Encode, limits: SegmentLimits) -> Iterator[str]:
    """Yield groups of as many sentences as a segment may have."""
    first, end, n_sentences, n_tokens = 0, 0, 0, 0
    for start, next_end in _sentence_spans(text, encode, limits):
        ids = None if limits.sentences == 1 else _encode(text[start:next_end], encode, limits.longest, limits)
        size = limits.longest if ids is None else len(ids)
        if n_sentences == limits.sentences or (n_sentences and n_tokens + size > limits.longest):
            yield text[first:end]
            n_sentences = n_tokens = 0
        if not n_sentences:
            first = start
        end, n_sentences, n_tokens = next_end, n_sentences + 1, n_tokens + size
    if n_sentences:
        yield text[first:end]


def _sentence_spans(text: str, encode: Encode, limits: SegmentLimits) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each sentence.

    In a language without marks between sentences, they are guesses. So what is no longer than almost all lines of the
    training text stays whole.
    """
    is_unmarked = has_splitter(limits.language)
    for start, end in sentence_spans(text):
        if is_unmarked and _encode(text[start:end], encode, limits.usual_tokens or 0, limits) is None:
            yield from unmarked_spans(text, start, end, limits.language)
        else:
            yield start, end


def _cut_sentence(text: str, encode: Encode, limits: SegmentLimits) -> list[Segment]:
    """Return a sentence as one segment, or cut into segments that are flagged as unusual."""
    if limits.copies_marks and not has_words(text):
        return [_copied(text)] if text.strip() else []
    ids = _encode(text, encode, limits.longest, limits)
    if ids is not None:
        return [Segment(text, ids)] if ids else []
    return _halve(text, encode, limits)


def _encode(text: str, encode: Encode, n_tokens: int, limits: SegmentLimits) -> list[int] | None:
    """Return the ids of a text that the model can read; None if they are more than `n_tokens`."""
    ids = encode_if_short(text, encode, limits.max_length)
    return ids if ids is not None and len(ids) <= n_tokens else None


def _halve(text: str, encode: Encode, limits: SegmentLimits) -> list[Segment]:
    ids = _encode(text, encode, limits.usual, limits)
    cut = _place_to_cut(text) if ids is None else None
    if ids is None and cut is None:  # one word
        ids = encode_if_short(text, encode, limits.max_length)
        is_too_long = ids is None or len(ids) > limits.longest
        if limits.long_tokens is not None and is_too_long and len(text) > LONG_WORD:
            return [_copied(text)]
    if ids is not None:
        return [Segment(text, ids, "unusual")] if ids else []
    if len(text) == 1:  # a character of more bytes than the model reads tokens cannot be cut further
        return [Segment(text, encode(text)[: limits.max_length], "unusual")]
    cut = cut or len(text) // 2
    return _halve(text[:cut], encode, limits) + _halve(text[cut:], encode, limits)


def _place_to_cut(text: str) -> int | None:
    """Return the best place to cut near the middle: after a clause, else at a space, else between characters that need
    no space; None if there is none."""
    middle, near = len(text) // 2, min(len(text) // 4, _NEAR)
    for mark in (_CLAUSE, _SPACE, _BETWEEN_UNBROKEN):
        ends = (match.end() for match in mark.finditer(text, middle - near, middle + near))
        cuts = [cut for cut in ends if not unicodedata.category(text[cut]).startswith("M")]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - middle))
    spaces = text.find(" ", middle), text.rfind(" ", 1, middle)
    return next((cut for cut in spaces if 0 < cut < len(text) - 1), None)
