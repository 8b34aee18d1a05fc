"""Marks of a text, put into its translation by the alignment of words.

A mark wraps the translation of the words that it wrapped, in one piece. Marks nest as in the source, and each is there
once, whatever the translation and its alignment are. A point mark, such as a line break, goes where it separates the
same words as in the source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching
from dragoman.documents.word_units import Cuts, WordUnits
from dragoman.text.mark import Mark
from dragoman.text.marked_text import MarkedText
from dragoman.text.protection import Stretch
from dragoman.text.sentences import has_words
from dragoman.text.sub_superscripts import after_digits


@dataclass
class Node:
    """A mark in the tree of marks, with its place in the translation, in units."""

    mark: Mark
    order: int
    children: list[Node] = field(default_factory=list)
    start: int = 0
    end: int = 0


def mark_tree(marks: Sequence[Mark]) -> list[Node]:
    """Return the outermost marks; each has those inside it as children."""
    roots: list[Node] = []
    path: list[Node] = []
    for order, mark in enumerate(marks):
        node = Node(mark, order)
        while path and not (
            path[-1].mark.depth < mark.depth and path[-1].mark.start <= mark.start and mark.end <= path[-1].mark.end
        ):
            path.pop()
        (path[-1].children if path else roots).append(node)
        if not mark.is_point:
            path.append(node)
    return roots


#: A mark wraps everything between its first and its last word if so many of the words there are its own.
_DENSE = 0.5
#: Marks of sentences that no space stands before.
_CLOSING = ",.;:!?)]}»”、。，！？"


def project(
    source: MarkedText, translation: str, alignment: Iterable[Link] | None, escape: Callable[[str], str] = str
) -> str:
    """Return a translation with the marks of its source.

    Args:
        alignment: pairs of a word of the source and one of the translation, numbered as by `words_in_place`; None
            places marks by proportion.
        escape: writes text between marks in the format of the document. Verbatim stretches stay as they are.
    """
    return _Projection(source, translation, alignment, escape).write()


class _Projection:
    """Marks around units; see `WordUnits`."""

    def __init__(
        self, source: MarkedText, translation: str, alignment: Iterable[Link] | None, escape: Callable[[str], str]
    ) -> None:
        self._source, self._translation, self._escape = source, translation, escape
        words = WordUnits(source, translation)
        self._n_spaces = len(source.text) - len(source.text.lstrip())
        self._prices = words.prices
        self._verbatim, self._source_words, self._units = words.verbatim, words.source_words, words.units
        #: The source words of each unit.
        self._links = words.links(alignment)
        self._cuts = Cuts(self._links, len(self._source_words))

    def write(self) -> str:
        """Return the translation with its marks."""
        roots = mark_tree(self._source.marks)
        self._place(roots, 0, len(self._units))
        return "".join([*self._written(roots, 0, len(self._translation))])

    def _place(self, nodes: Sequence[Node], first: int, last: int) -> None:
        """Give each node its units between two of them; nodes share no units."""
        wrapping = [node for node in nodes if not node.mark.is_point]
        owner = self._owners(wrapping, first, last)
        free_units = [unit for unit, node in enumerate(owner, first) if node is None and self._has_words(unit)]
        own_units: dict[int, list[int]] = {}
        for unit, node in enumerate(owner, first):
            own_units.setdefault(id(node), []).append(unit)
        for node in wrapping:
            node.start, node.end = self._range(node, own_units.get(id(node), []), free_units, (first, last))
        wrapping.sort(key=lambda node: (node.start, node.end, node.order))
        free = first
        for number, node in enumerate(wrapping):
            node.start = max(node.start, free)
            node.end = max(node.end, node.start)
            if number + 1 < len(wrapping) and node.start < wrapping[number + 1].start < node.end:
                node.end = wrapping[number + 1].start
            free = node.end
            self._place(node.children, node.start, node.end)
        for node in nodes:
            if node.mark.is_point:
                cut = self._cut(node.mark, first, last)
                before = bisect_left(wrapping, cut, key=lambda other: other.start) - 1
                around = wrapping[before] if before >= 0 and cut < wrapping[before].end else None
                if around is not None:
                    cut = around.start if node.order < around.order else around.end
                node.start = node.end = cut

    def _owners(self, nodes: Sequence[Node], first: int, last: int) -> list[Node | None]:
        """Return the node that each unit belongs to: that of most of its source words, else that of both neighbours."""
        own = [node for node in nodes if node.mark.start < node.mark.end]
        node_of = {word: node for node in own for word in touching(self._source_words, node.mark[:2])}
        owners: list[Node | None] = []
        for unit in range(first, last):
            inside = [node_of[word] for word in sorted(self._links[unit]) if word in node_of]
            counts = Counter(map(id, inside))
            node = max(inside, key=lambda one: counts[id(one)], default=None)
            is_own = 2 * counts[id(node)] >= len(self._links[unit])
            owners.append(node if is_own and (self._has_words(unit) or not self._has_text(node)) else None)
        for number in range(1, len(owners) - 1):
            is_open = not self._links[first + number] or not self._has_words(first + number)
            if is_open and owners[number] is None and owners[number - 1] is owners[number + 1]:
                owners[number] = owners[number - 1]
        return owners

    def _has_words(self, unit: int) -> bool:
        return has_words(self._translation[slice(*self._units[unit])])

    def _has_text(self, node: Node | None) -> bool:
        return node is not None and has_words(self._source.text[node.mark.start : node.mark.end])

    def _range(self, node: Node, own: Sequence[int], free: Sequence[int], within: Stretch) -> Stretch:
        """Return the units that a mark wraps: all its own if they are close, else the longest run of them.

        Args:
            free: units of no mark, for one that has none.
            within: the first and the last of all units.
        """
        if self._is_whole(node.mark):
            return within
        if not own:
            cut = self._cut(node.mark, *within)
            if not free or not self._has_text(node):
                return cut, cut
            at = bisect_left(free, cut)
            start = min(free[max(0, at - 1) : at + 1], key=lambda unit: abs(unit + 0.5 - cut))
            end = start + 1
            while start > within[0] and self._is_one_word(start):
                start -= 1
            while end < within[1] and self._is_one_word(end):
                end += 1
            return start, end
        if len(own) >= _DENSE * (own[-1] + 1 - own[0]):
            return own[0], own[-1] + 1
        runs = [[own[0]]]
        for unit in own[1:]:
            if unit - runs[-1][-1] <= 1:
                runs[-1].append(unit)
            else:
                runs.append([unit])
        longest = max(runs, key=len)
        return longest[0], longest[-1] + 1

    def _is_one_word(self, unit: int) -> bool:
        """Return True if a unit goes on with the word of the unit before it, as characters of a piece do in Chinese."""
        is_joined = self._units[unit - 1][1] == self._units[unit][0] and self._has_words(unit - 1)
        return is_joined and self._has_words(unit) and self._links[unit - 1] == self._links[unit]

    def _is_whole(self, mark: Mark) -> bool:
        """Return True if a mark wraps the whole text."""
        text = self._source.text
        return not mark.is_point and text.strip() != "" and text[mark.start : mark.end].strip() == text.strip()

    def _cut(self, mark: Mark, first: int, last: int) -> int:
        """Return the place between units that fits the start of a mark."""
        is_empty = mark.is_point or mark.start == mark.end
        side = 0 if is_empty else 1  # a point inside a word, such as "cat[^1].", follows it
        n_before = bisect_right(self._source_words, mark.start - is_empty, key=lambda word: word[side])
        cut = self._cuts.best(n_before, first, last)
        if self._before(mark.start) in _CLOSING:  # as in "Nom :", where the mark follows a colon
            while 0 < cut < last and self._translation[slice(*self._units[cut])].strip(_CLOSING) == "":
                cut += 1
        return cut

    def _before(self, place: int) -> str:
        """Return the last character of a word before a place; nothing if there is none."""
        while place > 0 and self._source.text[place - 1].isspace():
            place -= 1
        return self._source.text[max(0, place - 1) : place]

    def _written(self, nodes: Sequence[Node], start: int, end: int) -> Iterable[str]:
        """Yield the translation between two characters, with the marks of the nodes."""
        at = start
        for node in sorted(nodes, key=lambda node: (node.start, node.end, node.order)):
            first, last = self._characters(node)
            first = min(max(first, at), end)
            last = min(max(last, first), end)
            yield self._text(at, first)
            is_apart = first == last and start < end and not self._has_text(node)
            left, right = self._spaces_around(node.mark, first) if is_apart else ("", "")
            yield left + node.mark.opening
            if not node.mark.is_point:
                yield from self._written(node.children, first, last)
            yield node.mark.closing + right
            at = last
        yield self._text(at, end)

    def _spaces_around(self, mark: Mark, place: int) -> tuple[str, str]:
        """Return the spaces that a mark without text needs to stand apart from its neighbours as in the source."""
        text, translation = self._source.text, self._translation
        before, after = text[max(0, mark.start - 1) : mark.start], text[mark.end : mark.end + 1]
        left, right = translation[max(0, place - 1) : place], translation[place : place + 1]
        is_apart = before.isspace() and left and not left.isspace()
        is_glued = after and not _is_word(after) and right and not right.isspace() and right not in _CLOSING
        return " " if is_apart else "", " " if is_glued else ""

    def _characters(self, node: Node) -> Stretch:
        """Return the place of a node in characters."""
        units, mark, text = self._units, node.mark, self._source.text
        if self._is_whole(mark):
            return len(self._translation) - len(self._translation.lstrip()), len(self._translation.rstrip())
        if node.start >= node.end:
            start = end = units[node.start - 1][1] if node.start else 0
            is_first = mark.start <= self._n_spaces
            if not is_first and node.start < len(units) and text[mark.start - 1 : mark.start].isspace():
                start = end = units[node.start][0]  # it stands before the next word
            if mark.is_point and mark.start < mark.end:  # it stands for the space
                end = units[node.start][0] if node.start < len(units) else len(self._translation)
                start = min(start, end)
                end = end if self._translation[start:end].isspace() else start
            elif mark.start == mark.end and node.start and text[mark.end : mark.end + 1] in tuple(_CLOSING):
                start = end = self._before_closing(units[node.start - 1][0], start)
            return start, end
        start, end = units[node.start][0], units[node.end - 1][1]
        wrapped = text[mark.start : mark.end].strip()
        inner = _between(self._verbatim, start, end)
        whole = [*inner, *_between(self._prices, start, end)]
        if wrapped and _is_word(wrapped[-1]):
            end = self._stripped(start, end, max((stop for _, stop in whole), default=start), -1)
        elif wrapped:
            end = self._with_closing(end, len(wrapped) - len(wrapped.rstrip(_CLOSING)))
        if wrapped and _is_word(wrapped[0]):
            start = self._stripped(start, end, min((first for first, _ in whole), default=end), 1)
        is_ordinal = mark.script and text[max(0, mark.start - 1) : mark.start].isdigit()
        return after_digits(self._translation, start, end) if is_ordinal and not inner else (start, end)

    def _before_closing(self, first: int, end: int) -> int:
        """Return the place before the marks of a sentence that end a stretch, but in nothing verbatim."""
        if end <= first:
            return end
        place = first + len(self._translation[first:end].rstrip(_CLOSING))
        return max([place, *(stop for _, stop in _between(self._verbatim, first, end))])

    def _with_closing(self, end: int, most: int) -> int:
        """Return an end after the closing marks there, which are units of their own in scripts without spaces."""
        if self._translation[end - 1] in _CLOSING:
            return end
        after = self._verbatim[bisect_left(self._verbatim, (end, end)) :][:1]
        closing = self._translation[end : min(end + most, *(start for start, _ in after), len(self._translation))]
        return end + len(closing) - len(closing.lstrip(_CLOSING))

    def _stripped(self, start: int, end: int, limit: int, step: int) -> int:
        """Return an edge of a stretch without the marks of the sentence there, at most up to a limit."""
        edge = end if step < 0 else start
        while (edge > limit if step < 0 else edge < limit) and not _is_word(
            self._translation[edge - 1 if step < 0 else edge]
        ):
            edge += step
        return edge if start < edge < end or edge == (end if step < 0 else start) else (end if step < 0 else start)

    def _text(self, start: int, end: int) -> str:
        """Return escaped text, with its verbatim stretches as they are."""
        parts, at = [], start
        for first, last in _between(self._verbatim, start, end):
            parts += [self._escape(self._translation[at:first]), self._translation[first:last]]
            at = last
        return "".join([*parts, self._escape(self._translation[at:end])])


def _between(places: Sequence[Stretch], start: int, end: int) -> Sequence[Stretch]:
    """Return the places between two characters."""
    first = bisect_left(places, start, key=lambda place: place[0])
    return places[first : bisect_right(places, end, key=lambda place: place[1])]


def _is_word(character: str) -> bool:
    return bool(character) and character.isalnum()
