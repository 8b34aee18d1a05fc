"""XML as a tree of its own markup: what is not changed is written again byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dragoman.documents.xml_tokens import XmlToken, attributes, text_of


@dataclass(slots=True)
class Element:
    """An element with its tags as they are in the file; an empty one may have no tag at its end."""

    #: Its name without a prefix.
    name: str
    start: str
    children: list[Element | str] = field(default_factory=list)
    end: str = ""

    def get(self, name: str) -> str:
        """Return the value of an attribute, by its name without a prefix, or nothing."""
        return next((value for own, value in attributes(self.start) if own.rpartition(":")[2] == name), "")

    @property
    def prefix(self) -> str:
        """The prefix of its name, with the colon."""
        return re.split(r"[\s/>]", self.start[1:], maxsplit=1)[0][: -len(self.name)]

    @property
    def elements(self) -> Iterator[Element]:
        """Its child elements."""
        return (child for child in self.children if isinstance(child, Element))

    def child(self, name: str) -> Element | None:
        """Return the first child of a name."""
        return next((child for child in self.elements if child.name == name), None)

    def all(self) -> Iterator[Element]:
        """Yield itself and every element inside it, in the order of their start tags."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed([*element.elements])

    def raw(self) -> str:
        """Return it as it is in the file."""
        parts: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                parts.append(one)
            else:
                parts.append(one.start)
                waiting += [one.end, *reversed(one.children)]
        return "".join(parts)

    def text(self) -> str:
        """Return its own text, with characters in place of entities."""
        return "".join(text_of(child) for child in self.children if isinstance(child, str))


def xml_tree(tokens: Iterable[XmlToken]) -> Element:
    """Return the tree of a file; its root has no name, and the elements of the file in it."""
    root = Element("", "")
    path = [root]
    for token in tokens:
        if token.kind == "start":
            element = Element(token.name.rpartition(":")[2], token.raw)
            path[-1].children.append(element)
            path.append(element)
        elif token.kind == "end":
            path.pop().end = token.raw
        else:
            path[-1].children.append(token.raw)
    return root
