"""A segment of a document: its text, the marks around and between its words, and what must stay as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from dragoman.text.mark import Mark
from dragoman.text.protection import Stretch
from dragoman.text.sentences import has_words
from dragoman.text.sub_superscripts import NAMES, find_sub_superscripts

_SPACE = re.compile(r"\s+")
#: Signs of footers and names of products, which few models know.
_SYMBOL = re.compile("([©®™])")
#: Elements of HTML without content that stand in a line of text.
POINTS = frozenset(("br", "hr", "img", "input", "wbr"))
#: Marks inside each other; deeper ones are points.
_MAX_DEPTH = 100


@dataclass(frozen=True)
class MarkedText:
    """Text to translate, without a line break outside verbatim stretches.

    Its marks are in the order of their openings. One of greater depth is inside the last one before it of less depth.
    """

    text: str
    marks: tuple[Mark, ...] = ()
    #: Stretches of the text that are copied as they are, markup included.
    verbatim: tuple[Stretch, ...] = ()

    @property
    def has_words(self) -> bool:
        """True if there is something to translate, outside verbatim stretches."""
        ends = [0, *(end for _, end in self.verbatim)]
        starts = [*(start for start, _ in self.verbatim), len(self.text)]
        return any(has_words(self.text[end:start]) for end, start in zip(ends, starts, strict=True))


class _Open(NamedTuple):
    """A mark without its end so far."""

    start: int
    opening: str
    name: str
    order: int


class MarkedTextBuilder:
    """Builder of a marked text from the parts of a document, in their order.

    White space is collapsed, and removed at both ends. An opening without a closing, and the reverse, become points.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._open: list[_Open] = []
        #: Each with the number of its opening, and that of its closing.
        self._marks: list[tuple[int, int, Mark]] = []
        self._verbatim: list[Stretch] = []
        self._order = 0
        #: The text ends with a space, or is empty.
        self._after_space = True

    @property
    def depth(self) -> int:
        """The number of marks that are open."""
        return len(self._open)

    def add_text(self, text: str) -> None:
        """Add text that is translated."""
        text = _SPACE.sub(" ", text)
        if self._after_space and text.startswith(" "):
            self._keep_space()
            text = text[1:]
        for number, part in enumerate(_SYMBOL.split(text)):
            if number % 2:
                self.add_verbatim(part)
            elif part:
                self._append(part)

    def add_verbatim(self, text: str) -> None:
        """Add text that stays as it is."""
        self._verbatim.append((self._length, self._length + len(text)))
        self._append(text)

    def open(self, name: str, opening: str) -> None:
        """Begin a mark.

        Args:
            name: of its kind; the next `close` of that name ends it.
        """
        if len(self._open) >= _MAX_DEPTH:
            self.add_point(opening)
        else:
            self._open.append(_Open(self._length, opening, name, self._next()))

    def close(self, name: str, closing: str) -> None:
        """End the last mark of that name. Marks inside it that are still open become points."""
        if all(mark.name != name for mark in self._open):
            self.add_point(closing)
            return
        while (mark := self._open.pop()).name != name:
            self._add(mark.order, mark.order, Mark(mark.start, mark.start, mark.opening, is_point=True))
        script = name.strip("<>")
        closed = Mark(mark.start, self._length, mark.opening, closing, script=script if script in NAMES else "")
        self._add(mark.order, self._next(), closed)

    def add_point(self, markup: str, *, is_space: bool = False) -> None:
        """Add a point mark.

        Args:
            is_space: words before and after it are apart.
        """
        start = self._length
        if is_space and not self._after_space:
            self._append(" ")
        elif is_space and self._parts and self._parts[-1].endswith(" "):
            start -= 1
        order = self._next()
        self._add(order, order, Mark(start, self._length, markup, is_point=True))

    def build(self) -> MarkedText:
        """Return the marked text of all parts."""
        for unclosed in self._open:
            point = Mark(unclosed.start, unclosed.start, unclosed.opening, is_point=True)
            self._add(unclosed.order, unclosed.order, point)
        text = "".join(self._parts)
        end = len(text)
        if text.endswith(" ") and not any(stop == end for _, stop in self._verbatim):
            end = len(text.rstrip(" "))
            end = max([end, *(stop for _, stop in self._verbatim)])
        self._keep_last_space(end)
        marks: list[Mark] = []
        closings: list[int] = []
        for opened, closed, mark in sorted(self._marks):
            closings = [closing for closing in closings if closing > opened]
            marks.append(mark._replace(start=min(mark.start, end), end=min(mark.end, end), depth=len(closings)))
            closings += [] if mark.is_point else [closed]
        return _with_scripts(MarkedText(text[:end], tuple(marks), tuple(self._verbatim)))

    def _keep_space(self) -> None:
        """Put a space that is no part of the text into the point or the mark without text before it: the second one
        around an image."""
        if self._marks:
            opened, closed, mark = self._marks[-1]
            markup = mark.opening if mark.is_point else mark.closing
            if mark.start == mark.end == self._length and markup and not markup[-1].isspace():
                spaced = mark._replace(opening=markup + " ") if mark.is_point else mark._replace(closing=markup + " ")
                self._marks[-1] = opened, closed, spaced

    def _keep_last_space(self, end: int) -> None:
        """Put the space after the end of the text into the first point after it: that before a field of a form."""
        after = [mark for mark in self._marks if mark[2].is_point and mark[2].start > end]
        if after and end > 0:
            opened, closed, mark = min(after)
            self._marks[self._marks.index(min(after))] = opened, closed, mark._replace(opening=" " + mark.opening)

    def _add(self, opened: int, closed: int, mark: Mark) -> None:
        self._marks.append((opened, closed, mark))

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        self._after_space = text.endswith(" ")

    def _next(self) -> int:
        self._order += 1
        return self._order


def without(source: MarkedText, start: int, end: int) -> MarkedText:
    """Return a text without a stretch that is not verbatim, and in which no mark begins or ends."""
    moved = _Moved([(start, end, "")])
    marks = (mark._replace(start=moved.place(mark.start), end=moved.place(mark.end)) for mark in source.marks)
    verbatim = ((moved.place(first), moved.place(last)) for first, last in source.verbatim)
    return MarkedText(moved.text(source.text), tuple(marks), tuple(verbatim))


def _with_scripts(source: MarkedText) -> MarkedText:
    """Return a text whose formulas are verbatim, and whose references to notes are points."""
    found = find_sub_superscripts(source.text, source.marks) if any(mark.script for mark in source.marks) else []
    found = [one for one in found if all(stop <= one.start or start >= one.end for start, stop in source.verbatim)]
    if not found:
        return source
    edits = [(one.start, one.end, "" if one.is_note else one.written(source.text)) for one in found]
    moved = _Moved(edits)
    gone = {id(mark): one for one in found for mark in one.marks}
    marks = []
    for mark in source.marks:
        script = gone.get(id(mark))
        if script is None:
            marks.append(mark._replace(start=moved.place(mark.start), end=moved.place(mark.end)))
        elif script.is_note and mark is script.marks[0]:
            place = moved.place(script.start)
            marks.append(Mark(place, place, script.written(source.text), is_point=True, depth=mark.depth))
    verbatim = [(moved.place(start), moved.place(stop)) for start, stop in source.verbatim]
    verbatim += [(moved.place(start), moved.place(start) + len(text)) for start, _, text in edits if text]
    return MarkedText(moved.text(source.text), tuple(marks), tuple(sorted(verbatim)))


class _Moved:
    """Places in a text after edits: start, end, new text."""

    def __init__(self, edits: list[tuple[int, int, str]]) -> None:
        self._edits = edits

    def place(self, at: int) -> int:
        """Return the new place of an old one, which is in no edit."""
        return at + sum(len(text) - (end - start) for start, end, text in self._edits if end <= at and end > start)

    def text(self, old: str) -> str:
        """Return the text with its edits."""
        parts, at = [], 0
        for start, end, text in self._edits:
            parts += [old[at:start], text]
            at = end
        return "".join([*parts, old[at:]])
