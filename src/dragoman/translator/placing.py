"""Protected stretches that a translation has lost are put where the alignment of words says.

A stretch takes the place of the words that are aligned with it. If there are none, it goes beside the words of its
neighbour. Stretches that are there too often are removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching, words_in_place
from dragoman.text.languages import UNSPACED
from dragoman.text.lazy_patterns import lazy_pattern
from dragoman.text.protection import Stretch, occurrences
from dragoman.translator.content_check import count_error

_WORD_CHARACTER = lazy_pattern(r"\w")
#: Characters beside which no space is needed.
_NEEDS_NO_SPACE = lazy_pattern(rf"[\s{UNSPACED}([{{«„“‘/\u3000-\u303f\uff00-\uffef]")


class Placed(NamedTuple):
    """A translation with its stretches, and the alignment of its words."""

    text: str
    links: tuple[Link, ...]


class _Edit(NamedTuple):
    """A stretch of the translation, and what replaces it."""

    start: int
    end: int
    text: str = ""
    #: The words of the source that it stands for.
    words: Sequence[int] = ()


def place(source: str, stretches: Sequence[Stretch], translation: str, links: Iterable[Link]) -> Placed:
    """Return a translation that has each stretch of its source as often as the source protects it.

    Args:
        stretches: of the source, in their order.
        links: the alignment; words are numbered as by `words_in_place`.
    """
    return _Placing(source, translation, tuple(links)).place(stretches)


class _Placing:
    def __init__(self, source: str, translation: str, links: tuple[Link, ...]) -> None:
        self._source, self._translation, self._links = source, translation, links
        self._source_words = words_in_place(source)
        self._target_words = words_in_place(translation)
        self._targets: dict[int, list[int]] = defaultdict(list)
        for source_word, target_word in links:
            if target_word < len(self._target_words):
                self._targets[source_word].append(target_word)
        #: Words of the translation that no stretch may replace any more.
        self._taken: set[int] = set()
        #: Places of stretches in the translation, into which nothing is inserted.
        self._kept: list[Stretch] = []

    def place(self, stretches: Sequence[Stretch]) -> Placed:
        source, edits = self._source, []
        missing: list[Stretch] = []
        by_text: dict[str, list[Stretch]] = defaultdict(list)
        for stretch in stretches:
            by_text[source[slice(*stretch)]].append(stretch)
        for text, own in by_text.items():
            places = occurrences(self._translation, text)
            error = count_error(source, self._translation, text, len(own))
            missing += own[error:] if error < 0 else []
            kept = places[: len(places) - max(error, 0)]
            self._kept += kept
            self._taken.update(number for span in kept for number in touching(self._target_words, span))
            edits += [self._removal(span) for span in places[len(kept) :]]
        edits += [self._edit(stretch) for stretch in sorted(missing)]
        return self._apply(sorted(edits, key=lambda edit: edit[:2]))

    def _removal(self, span: Stretch) -> _Edit:
        """Remove a stretch, with one of the spaces around it."""
        start, end = span
        text = self._translation
        if text[start - 1 : start].isspace() and (end == len(text) or not _WORD_CHARACTER.match(text, end)):
            start -= 1
        return _Edit(start, end)

    def _edit(self, stretch: Stretch) -> _Edit:
        text, words = self._source[slice(*stretch)], touching(self._source_words, stretch)
        outside = [
            self._source[start:end].replace(text, "") for start, end in (self._source_words[word] for word in words)
        ]
        run = self._run(words)
        if run and not any(map(_WORD_CHARACTER.search, outside)):
            self._taken.update(run)
            start, end = self._target_words[run[0]][0], self._target_words[run[-1]][1]
            return self._spaced(*_core(self._translation, start, end), text, words)
        return self._beside(words, stretch, text)

    def _run(self, words: Sequence[int]) -> list[int]:
        """Return the longest run of words of the translation that are aligned with some of the source."""
        free = sorted({target for word in words for target in self._targets[word]} - self._taken)
        runs: list[list[int]] = []
        for number in free:
            if runs and runs[-1][-1] == number - 1:
                runs[-1].append(number)
            else:
                runs.append([number])
        return max(runs, key=len, default=[])

    def _beside(self, words: Sequence[int], stretch: Stretch, text: str) -> _Edit:
        """Insert a stretch after what the words before it became, or before what the words after it became."""
        first = words[0] if words else sum(end <= stretch[0] for _, end in self._source_words)
        last = words[-1] if words else first - 1
        for word in range(first - 1, -1, -1):
            if self._targets[word]:
                start, end = self._target_words[max(self._targets[word])]
                _, end = _core(self._translation, start, end)
                at = max([end, *(stop for begin, stop in self._kept if begin < end < stop)])
                return self._spaced(at, at, text, words)
        for word in range(last + 1, len(self._source_words)):
            if self._targets[word]:
                start, _ = self._target_words[min(self._targets[word])]
                start = min([start, *(begin for begin, stop in self._kept if begin < start < stop)])
                return self._spaced(start, start, text, words)
        return self._spaced(len(self._translation), len(self._translation), text, words)

    def _spaced(self, start: int, end: int, text: str, words: Sequence[int]) -> _Edit:
        """Return an edit with the spaces that it needs."""
        before, after = self._translation[start - 1 : start] if start else "", self._translation[end : end + 1]
        left = " " if start == end and before and not _NEEDS_NO_SPACE.match(before) else ""
        right = " " if start == end and _WORD_CHARACTER.match(after) and not _NEEDS_NO_SPACE.match(after) else ""
        return _Edit(start, end, left + text + right, words)

    def _apply(self, edits: Sequence[_Edit]) -> Placed:
        """Return the translation with its edits, and the links of its new words."""
        parts: list[tuple[str, int, Sequence[int]]] = []  # text, where it was, the source words that it stands for
        end = 0
        for edit in edits:
            start = max(end, edit.start)
            beside = parts[-1][0] if parts and start == end else ""
            space = " " if beside and edit.text and not _needs_no_space(beside[-1], edit.text[0]) else ""
            parts += [(self._translation[end:start], end, ()), (space + edit.text, -1, edit.words)]
            end = max(start, edit.end)
        parts.append((self._translation[end:], end, ()))
        text = "".join(part for part, _, _ in parts)
        return Placed(text, tuple(sorted(set(self._new_links(text, parts)))) if edits else self._links)

    def _new_links(self, text: str, parts: Sequence[tuple[str, int, Sequence[int]]]) -> Iterator[Link]:
        old_links: dict[int, list[int]] = defaultdict(list)
        for source_word, target_word in self._links:
            old_links[target_word].append(source_word)
        words, offset = words_in_place(text), 0
        for part, place, stands_for in parts:
            for number in touching(words, (offset, offset + len(part))):
                start, end = (min(max(at - offset, 0), len(part)) for at in words[number])
                old = touching(self._target_words, (place + start, place + end)) if place >= 0 else []
                sources = stands_for if place < 0 else [source for word in old for source in old_links[word]]
                yield from ((source, number) for source in sources)
            offset += len(part)


def _core(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place of a part of a text without the marks around it; all of it if it has nothing else."""
    part = text[start:end]
    first, last = _WORD_CHARACTER.search(part), _WORD_CHARACTER.search(part[::-1])
    return (start + first.start(), end - last.start()) if first and last else (start, end)


def _needs_no_space(*characters: str) -> bool:
    """Return True if one of two neighbours needs no space beside it."""
    return any(map(_NEEDS_NO_SPACE.match, characters))
