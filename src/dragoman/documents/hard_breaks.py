"""Hard line breaks inside a paragraph, such as `<br>`: each ends a segment, unless a sentence goes on after it.

Lines of a poem, an address or a timetable are no sentence: a model that reads them as one leaves words out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dragoman.text.protection import Stretch

#: Stands for code and the like in the text of a line.
OBJECT = "\ufffc"
_UNFINISHED = re.compile(rf"[^\W\d_][)\]\"'”’»]*\Z|[,{OBJECT}]\Z")
_FINISHED = re.compile(r"[.!?…][)\]\"'”’»]*\Z")


def cut_at(breaks: Sequence[Stretch], paragraph: Stretch, shown: Callable[[int, int], str]) -> Iterator[Stretch]:
    """Yield the start and the end of each segment of a paragraph.

    Args:
        breaks: start and end of each line break, in order.
        paragraph: its start and end, in the units of the breaks: characters, tokens or events.
        shown: returns the text that a reader sees between two places.
    """
    starts, ends = [paragraph[0], *(end for _, end in breaks)], [*(start for start, _ in breaks), paragraph[1]]
    for first, last in sentence_lines([*map(shown, starts, ends)] if breaks else [""]):
        yield starts[first], ends[last - 1]


def sentence_lines(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each segment, and the line after its last one.

    Lines are one segment if each except the last looks unfinished, each except the first begins with a small letter,
    the first does not, and the last ends as a sentence does.

    >>> list(sentence_lines(["Roses are red", "Violets are blue"]))
    [(0, 1), (1, 2)]
    >>> list(sentence_lines(["A title", "This is a long", "sentence that goes on."]))
    [(0, 1), (1, 3)]
    """
    lines = [line.strip() for line in lines]
    first = 0
    while first < len(lines):
        end = first + 1
        if not lines[first][:1].islower():
            while end < len(lines) and lines[end][:1].islower() and _UNFINISHED.search(lines[end - 1]):
                end += 1
        if end > first + 1 and not _FINISHED.search(lines[end - 1]):
            yield from ((line, line + 1) for line in range(first, end))
        else:
            yield first, end
        first = end
