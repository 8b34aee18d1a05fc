"""Drawings: SVG files of docs/book/drawings, with the words of a language.

A drawing is one file for both languages, and for light and dark, which are the style sheet's affair. Its words stand
in words.toml: `{memory}` in a text of the file is that word. Links name a page of the book. What belongs to a chapter
carries `data-part`, so that it can be lit. Texts of the class `shape` are left out unless asked for.
"""

import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DRAWINGS = Path(__file__).resolve().parent.parent / "drawings"
SVG = "http://www.w3.org/2000/svg"
LANGUAGES = ("en", "zh")
#: What a text may be without being a word of a language: a name of the code, a shape, a formula, a chapter's number, or
#: a word of a sentence that is translated.
WORDLESS = {"name", "shape", "math", "chapter", "sample"}
_WORD = re.compile(r"\{([\w-]+)\}")
_REFERENCE = re.compile(r"url\(#([\w-]+)\)")

Words = dict[str, str]


class DrawingError(ValueError):
    """A drawing, or its table of words, is not as it must be."""


@dataclass(frozen=True)
class Place:
    """Where a drawing stands: the page's language, the address and title of its neighbours, and an id of its own."""

    language: str
    address: Callable[[str], str]
    title: Callable[[str], str]
    id: str


def names() -> list[str]:
    """Return the names of all drawings."""
    return sorted(path.stem for path in DRAWINGS.glob("*.svg"))


def words(name: str, language: str) -> Words:
    """Return the words of a drawing in a language.

    Raises:
        DrawingError: a word lacks one of the languages.
    """
    table = tomllib.loads((DRAWINGS / "words.toml").read_text(encoding="utf-8"))
    found = table.get(name, {})
    for word, translations in found.items():
        if sorted(translations) != sorted(LANGUAGES):
            raise DrawingError(f"words.toml: {name}.{word} is in {sorted(translations)}, needed is {list(LANGUAGES)}")
    return {word: translations[language] for word, translations in found.items()}


def draw(name: str, place: Place, here: str | None = None, *, shapes: bool = False) -> str:
    """Return the SVG of a drawing for a page.

    Raises:
        DrawingError: no such drawing or part, a word that the table lacks or that the drawing does not use, or a text
            that is no word of the table.
    """
    if name not in names():
        raise DrawingError(f"no drawing {name!r}; there are: {', '.join(names())}")
    svg = ET.parse(DRAWINGS / f"{name}.svg").getroot()
    _translate(svg, name, words(name, place.language))
    _rename_ids(svg, place.id)
    for link in svg.iter(f"{{{SVG}}}a"):
        page = link.attrib["href"]
        link.set("href", place.address(page))
        ET.SubElement(link, f"{{{SVG}}}title").text = place.title(page)
    if not shapes:
        _remove(svg, "shape")
    if here:
        _light(svg, name, here)
    svg.set("role", "group" if svg.find(f".//{{{SVG}}}a") is not None else "img")
    svg.set("aria-labelledby", f"{place.id}-title")
    svg.set("aria-describedby", f"{place.id}-description")
    svg.set("style", f"max-width: {float(svg.attrib['viewBox'].split()[2]) / 16 * 1.15:g}rem")
    ET.register_namespace("", SVG)
    return ET.tostring(svg, encoding="unicode")


def _translate(svg: ET.Element, name: str, table: Words) -> None:
    """Put words for their names in all texts, the title and the description."""
    used = set()
    for element in svg.iter():
        text = element.text or ""
        if element.tag in {f"{{{SVG}}}{tag}" for tag in ("text", "tspan", "title", "desc")} and text.strip():
            asked = set(_WORD.findall(text))
            if missing := asked - table.keys():
                raise DrawingError(f"{name}.svg: words.toml has no word {name}.{min(missing)}")
            if not asked and not WORDLESS & set(element.get("class", "").split()):
                raise DrawingError(f"{name}.svg: {text!r} is in one language only; words stand in words.toml")
            used |= asked
            element.text = _WORD.sub(lambda found: table[found[1]], text)
    if unused := table.keys() - used:
        raise DrawingError(f"words.toml: {name}.svg does not use {name}.{min(unused)}")


def _rename_ids(svg: ET.Element, prefix: str) -> None:
    """Make the ids of a drawing, and what refers to them, its own on the page."""
    for tag, id in (("title", "title"), ("desc", "description")):
        element = svg.find(f"{{{SVG}}}{tag}")
        if element is None:
            raise DrawingError(f"a drawing needs a <{tag}>, for those who do not see it")
        element.set("id", id)
    for element in svg.iter():
        if "id" in element.attrib:
            element.set("id", f"{prefix}-{element.attrib['id']}")
        for key, value in element.attrib.items():
            element.set(key, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))


def _remove(svg: ET.Element, kind: str) -> None:
    for parent in list(svg.iter()):
        for child in [each for each in parent if kind in each.get("class", "").split()]:
            parent.remove(child)


def _light(svg: ET.Element, name: str, here: str) -> None:
    """Mark one part of a drawing as the one that the page is about; `whole` is all of them."""
    parts = [each for each in svg.iter() if "data-part" in each.attrib]
    lit = [each for each in parts if here in ("whole", each.attrib["data-part"])]
    if not lit:
        known = sorted({each.attrib["data-part"] for each in parts})
        raise DrawingError(f"{name}.svg has no part {here!r}; there are: {', '.join(known)}, whole")
    svg.set("class", "lit-one" if here != "whole" else "lit-whole")
    for each in lit:
        each.set("class", f"{each.get('class', '')} lit".strip())
