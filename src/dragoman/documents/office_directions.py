"""The heads of paragraphs: their start tags and properties, in the direction of a translation, whatever styles say.

A paragraph of Word says its own direction, and its sides follow. One of PowerPoint also gets the other side than it
had, which a layout, a master or the presentation may say. One of OpenDocument gets a style of its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape

from dragoman.documents.office_looks import Languages, with_slide_direction, with_word_direction
from dragoman.documents.xml_tokens import Element, opening, with_attribute

#: Writes the head of a paragraph.
Head = Callable[[Element], str]


@dataclass(frozen=True)
class WrittenPart:
    """A part of a package that is written in other languages.

    Args:
        name: of the part.
        root: of the part.
        tree: returns the root of another part; of one that is not there, an element without children.
        styles: new automatic ones of OpenDocument by their names, which `text_heads` adds.
    """

    name: str
    root: Element
    languages: Languages
    tree: Callable[[str], Element]
    styles: dict[str, str] = field(default_factory=dict)


def properties_of(paragraph: Element) -> str:
    """Return the properties of a paragraph as they are."""
    properties = paragraph.child("pPr")
    return properties.raw() if properties else ""


def word_heads(part: WrittenPart) -> Head:
    """Return what writes the heads of paragraphs of Word."""

    def head(paragraph: Element) -> str:
        own = properties_of(paragraph)
        return paragraph.start + with_word_direction(own, part.languages, paragraph.prefix)

    return head


def slide_heads(part: WrittenPart) -> Head:
    """Return what writes the heads of paragraphs of PowerPoint."""
    sides = _Sides(part).by_paragraph() if part.languages.is_rtl != part.languages.was_rtl else {}

    def head(paragraph: Element) -> str:
        own, side = properties_of(paragraph), sides.get(id(paragraph), "")
        return paragraph.start + with_slide_direction(own, part.languages, paragraph.prefix, side)

    return head


#: Those of paragraphs of PowerPoint.
_LEVELS = frozenset("012345678")


class _Sides:
    """The sides that paragraphs of a slide, or of its notes, have from elsewhere."""

    def __init__(self, part: WrittenPart) -> None:
        self._part = part
        layout = self._related(part.name, "slideLayout")
        master = part.tree(self._related(layout or part.name, "slideMaster" if layout else "notesMaster"))
        self._layout = _lists(part.tree(layout), lambda place: place.get("idx") or _kind(place))
        self._master = _lists(master, _kind)
        #: Styles of a master, and the usual one of the presentation, by their names.
        self._named = {one.name: one for one in master.all() if one.name.endswith("Style")}
        presentation = part.tree(self._related("", "officeDocument"))
        for top in presentation.elements:
            self._named |= {one.name: one for one in top.elements if one.name == "defaultTextStyle"}

    def by_paragraph(self) -> dict[int, str]:
        """Return the sides by the ids of the paragraphs."""
        found = {}
        for shape in self._part.root.all():
            if shape.name not in ("sp", "graphicFrame"):
                continue
            styles = [style for style in self._styles(shape) if style]
            for paragraph in (one for one in shape.all() if one.name == "p"):
                properties = paragraph.child("pPr")
                level = properties.get("lvl") if properties else ""
                name = f"lvl{int(level) + 1 if level in _LEVELS else 1}pPr"
                lines = (style.child(name) for style in styles)
                found[id(paragraph)] = next(filter(None, (one.get("algn") for one in lines if one)), "l")
        return found

    def _styles(self, shape: Element) -> Iterator[Element | None]:
        """Yield the styles of the lines of a shape, the strongest first."""
        yield _list(shape)
        place = placeholder(shape)
        if place is None:
            yield self._named.get("defaultTextStyle")
            return
        kind = _kind(place)
        yield self._layout.get(place.get("idx") or kind)
        yield self._master.get(kind)
        names = {"title": "titleStyle", "dt": "otherStyle", "ftr": "otherStyle", "sldNum": "otherStyle"}
        yield self._named.get(names.get(kind, "bodyStyle"), self._named.get("notesStyle"))

    def _related(self, part: str, kind: str) -> str:
        """Return the part that another one, or the package, is related to; nothing if there is none."""
        folder, name = posixpath.split(part)
        for one in self._part.tree(posixpath.join(folder, "_rels", f"{name}.rels")).all():
            if one.name == "Relationship" and one.get("Type").endswith(f"/{kind}"):
                return posixpath.normpath(posixpath.join("/", folder, one.get("Target")))[1:]
        return ""


def _list(shape: Element) -> Element | None:
    """Return the style of the lines of a shape, if it has one of its own."""
    body = shape.child("txBody")
    return body.child("lstStyle") if body else None


def _lists(root: Element, key: Callable[[Element], str]) -> dict[str, Element | None]:
    """Return the style of the first placeholder of each kind in a layout or a master."""
    found = dict[str, Element | None]()
    for shape in root.all():
        if shape.name == "sp" and (place := placeholder(shape)) is not None:
            found.setdefault(key(place), _list(shape))
    return found


def placeholder(shape: Element) -> Element | None:
    """Return what says that a shape of PowerPoint is a placeholder, if it is one."""
    about = next((one for one in shape.elements if one.name.startswith("nv")), Element("", ""))
    return next((one for one in about.all() if one.name == "ph"), None)


def _kind(place: Element) -> str:
    """Return the kind of a placeholder as a master names it."""
    kind = place.get("type")
    return {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}.get(kind, kind)


def styles_in(root: Element, kind: str) -> Iterator[Element]:
    """Yield the styles in an element of a part of OpenDocument, such as `automatic-styles`; a default has no name."""
    found = (element.child(kind) for element in root.elements)
    return (style for one in found if one for style in one.elements if style.name in ("style", "default-style"))


def text_heads(part: WrittenPart) -> Head:
    """Return what writes the heads of paragraphs of OpenDocument; a style that must turn becomes a new one."""
    top = next(part.root.elements, Element("", ""))
    automatic = _of_paragraphs(part.root, "automatic-styles")
    known = _of_paragraphs(part.tree("styles.xml"), "styles") | automatic

    @cache
    def turned(name: str) -> str:
        own, is_rtl = [*_inherited(name, known)], part.languages.is_rtl
        mode = _first(own, "writing-mode")[:2]
        was_rtl = mode == "rl" if mode in ("rl", "lr") else part.languages.was_rtl
        if was_rtl == is_rtl:
            return name
        new = f"{name}_{'rl' if is_rtl else 'lr'}"
        while new in known or new in part.styles:
            new += "_"
        part.styles[new] = _turned(automatic.get(name), name, new, _first(own, "text-align"), is_rtl=is_rtl)
        return new

    def head(paragraph: Element) -> str:
        old = paragraph.get("style-name") or _heading_style(paragraph)
        return (
            paragraph.start if (new := turned(old)) == old else with_attribute(paragraph.start, "text:style-name", new)
        )

    can_turn = top.child("automatic-styles") and all(f"xmlns:{name}=" in top.start for name in ("style", "fo", "text"))
    return head if can_turn else lambda paragraph: paragraph.start


def _heading_style(paragraph: Element) -> str:
    """Return the style that a paragraph without one has: that of its level, if it is a heading."""
    return f"Heading_20_{paragraph.get('outline-level') or 1}" if paragraph.name == "h" else ""


#: Parents of a style; documents have about five.
_MOST_PARENTS = 50


def _of_paragraphs(root: Element, kind: str) -> dict[str, Element]:
    return {one.get("name"): one for one in styles_in(root, kind) if one.get("family") == "paragraph"}


def _inherited(name: str, known: Mapping[str, Element]) -> Iterator[Element]:
    """Yield a style, its parent, and so on, to the default."""
    names = set[str]()
    while name and name in known and name not in names and len(names) < _MOST_PARENTS:
        names.add(name)
        yield known[name]
        name = known[name].get("parent-style-name")
    if "" in known:
        yield known[""]


def _first(styles: Iterable[Element], attribute: str) -> str:
    """Return the first value that styles give a property of paragraphs."""
    own = (style.child("paragraph-properties") for style in styles)
    return next(filter(None, (one.get(attribute) for one in own if one)), "")


def _turned(old: Element | None, name: str, new: str, align: str, *, is_rtl: bool) -> str:
    """Return an automatic style in another direction: a copy of one, or a child of a named one.

    Its side is `left` or `right`, because programs differ in their reading of `start` and `end`.
    """
    if old is None:
        parent = f' style:parent-style-name="{escape(name)}"' if name else ""
        old = Element("style", f'<style:style style:family="paragraph"{parent}/>')
    properties = old.child("paragraph-properties") or Element("", "<style:paragraph-properties/>")
    tag = with_attribute(properties.start, "style:writing-mode", "rl-tb" if is_rtl else "lr-tb")
    if align not in ("center", "justify"):
        was_left = align in ("", "start", "left") if is_rtl else align == "left"
        tag = with_attribute(tag, "fo:text-align", "right" if was_left else "left")
    others = [one if isinstance(one, str) else one.raw() for one in old.children if one is not properties]
    start = with_attribute(opening(old.start), "style:name", new)
    return "".join([start, replace(properties, start=tag).raw(), *others, "</style:style>"])
