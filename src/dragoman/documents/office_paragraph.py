"""A paragraph as segments, and with their translations in place of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from dragoman.alignment.links import Link
from dragoman.alignment.word_spans import touching, words_in_place
from dragoman.documents.mark_projection import project
from dragoman.documents.office_events import Event, Piece, paragraph_events
from dragoman.documents.office_flows import Flow, paragraph_parts
from dragoman.documents.office_formats import OfficeFormat
from dragoman.documents.office_looks import Languages
from dragoman.documents.xml_tokens import ILLEGAL, Element
from dragoman.text.protection import Stretch, occurrences
from dragoman.translator import Translation

#: A mark in a text: a number between characters that XML does not have.
_MARK = re.compile("\0([0-9]+)\0")
#: Parts on each side of a mark where a copy of its text is looked for.
_NEAR = 200


class OfficeParagraph:
    """A paragraph.

    Args:
        elements: the whole of it; several if the ends of those before the last one were deleted.
    """

    def __init__(self, elements: Sequence[Element], format: OfficeFormat) -> None:
        *self.before, self.element = elements
        self._format = format
        self._parts = [*paragraph_parts(paragraph_events(elements, format))]

    @property
    def flows(self) -> list[Flow]:
        """Its parts with text to translate."""
        return [part for part in self._parts if isinstance(part, Flow)]

    def write(
        self, translations: Sequence[Translation], languages: Languages | None, raw: Callable[[Element], str]
    ) -> str:
        """Return what is in the paragraph after its properties, with translations of its flows.

        Args:
            languages: of the translations.
            raw: writes an element that stays, and paragraphs inside it.
        """
        given = iter(translations)
        parts = list[str]()
        for part in self._parts:
            writer = _Writer(self._format, self.element.prefix, languages, raw)
            if isinstance(part, Event):
                writer.add(part.pieces)
            elif (translation := next(given)).text == part.source.text:
                for event in part.events:
                    writer.add(event.pieces)
            else:
                writer.fill(part, translation)
            parts += writer.written
        return "".join([*parts, self.element.end])


class _Writer:
    """Writes runs."""

    def __init__(
        self, format: OfficeFormat, prefix: str, languages: Languages | None, raw: Callable[[Element], str]
    ) -> None:
        self.written: list[str] = []
        self._format, self._prefix, self._languages, self._raw = format, prefix, languages, raw
        #: Beginnings of bookmarks and the like that are still to come, and ends that wait for theirs.
        self._to_come: set[tuple[str, str]] = set()
        self._late: dict[tuple[str, str], Piece] = {}

    def add(self, pieces: Sequence[Piece]) -> None:
        """Write what stays. No end of a bookmark, a comment or the like comes before its beginning."""
        for piece in pieces:
            edge, key = self._edge(piece)
            if edge == "End" and key in self._to_come:
                self._late[key] = piece
                continue
            raw = piece.content if isinstance(piece.content, str) else self._raw(piece.content)
            self.written.append(raw if piece.look is None else self._format.run(piece.look, raw, self._prefix))
            self._to_come.discard(key)
            if edge == "Start" and key in self._late:
                self.add([self._late.pop(key)])

    def fill(self, flow: Flow, translation: Translation) -> None:
        """Write a flow with a translation."""
        pieces = [piece for event in flow.events for piece in event.pieces]
        self._to_come = {key for edge, key in map(self._edge, pieces) if edge == "Start"}
        looks = [flow.look]
        self._text(flow.before, flow.look)
        for number, part in enumerate(_projected(flow, translation)):
            if number % 2 == 0:
                self._text(part, looks[-1])
                continue
            step = flow.step(part)
            if step.event is not None:
                self.add(step.event.pieces)
            if step.look is not None or (step.event is not None and step.event.text):
                looks.append(looks[-1] if step.look is None else step.look)
            elif step.event is None or step.event.kind == "close":
                looks = looks[:-1] or looks
        self._text(flow.after, flow.look)

    def _text(self, text: str, look: str) -> None:
        if text:
            look = self._format.localized(look, self._languages, self._prefix) if self._languages else look
            self.written.append(self._format.run(look, self._format.characters(text, self._prefix), self._prefix))

    def _edge(self, piece: Piece) -> tuple[str, tuple[str, str]]:
        """Return Start or End for the edge of a bookmark, a comment or the like, and which it is; else nothing."""
        content = piece.content
        match = None if isinstance(content, str) else self._format.edges.fullmatch(content.name)
        if isinstance(content, str) or match is None:
            return "", ("", "")
        key = next(filter(None, map(content.get, self._format.edge_keys)), "")
        return match["edge"].capitalize(), (match["kind"], key)


def _projected(flow: Flow, translation: Translation) -> list[str]:
    """Return a translation in parts, each second one a mark; the text of an object is in its mark only."""
    source, text = flow.source, translation.text
    links: Iterable[Link] | None = translation.alignment
    if objects := flow.objects():
        links = with_objects(source.text, text, links, objects)
    parts = _MARK.split(project(source, text, links, lambda text: ILLEGAL.sub("", text)))
    for at in range(1, len(parts), 2):
        event = flow.step(parts[at]).event
        if event is None or not event.text:
            continue
        if event.text in parts[at + 1]:
            before, _, parts[at + 1] = parts[at + 1].partition(event.text)
            parts[at - 1] += before
        elif text.count(event.text) >= source.text.count(event.text):  # a copy is there, but the mark went elsewhere
            near = (place for step in range(1, _NEAR, 2) for place in (at - step, at + step) if 0 <= place < len(parts))
            place = next((place for place in near if event.text in parts[place]), at + 1)
            parts[place] = parts[place].replace(event.text, "", 1)
    return parts


#: More are left to the alignment: each takes a pass over both texts.
_MOST = 200


def with_objects(
    source: str, translation: str, alignment: Iterable[Link] | None, objects: Sequence[Stretch]
) -> list[Link]:
    """Return an alignment of words, or one by proportion, with links for objects.

    The n-th copy of a text belongs to the n-th one of the source, if both have as many, else to the next object.

    Args:
        objects: their places in the source.
    """
    before, after = words_in_place(source), words_in_place(translation)
    links = [(number * len(before) // len(after), number) for number in range(len(after))] if before else []
    links = links if alignment is None else [*alignment]
    own: dict[int, set[int]] = {}
    taken: set[Stretch] = set()
    for start, end in objects[:_MOST]:
        copies, places = occurrences(source, source[start:end]), occurrences(translation, source[start:end])
        free = [place for place in places if place not in taken]
        if not free:
            continue
        is_same = len(copies) == len(places) and (start, end) in copies
        place = places[[*copies].index((start, end))] if is_same else free[0]
        taken.add(place)
        words = set(touching(before, (start, end)))
        for word in touching(after, place):
            own[word] = own.get(word, set()) | words
    theirs = {word for words in own.values() for word in words}
    kept = [link for link in links if link[0] not in theirs and link[1] not in own]
    return kept + [(word, target) for target, words in own.items() for word in sorted(words)]
