"""Texts with tags of XML, as pages that the reader of HTML knows: its own elements take the places of theirs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from dragoman.documents.xml_tokens import XmlToken, parse_xml

#: The tags in a translated page.
_TAG = re.compile(r'<(?:div|span|img) data-n="(\d+)"[^<>]*>|</(?:div|span)>')
_DECLARATION = re.compile(r"\s*<\?xml[^<>]*\?>")


class TagKinds(NamedTuple):
    """The names of elements that have a meaning: between sentences, inside sentences, and kept with their content."""

    splitting: Collection[str] = ()
    inside: Collection[str] = ()
    ignored: Collection[str] = ()


class XmlText(NamedTuple):
    """A text as a page, and by their numbers the tags that the page has others for, with the tags that end them.

    The first of them stands before the page.
    """

    page: str
    tags: Sequence[tuple[str, str]]

    def restored(self, translation: str) -> str:
        """Return a translation of the page with the tags of the text."""
        ends: list[str] = []

        def tag(match: re.Match[str]) -> str:
            if match[1] is None:
                return ends.pop() if ends else ""
            start, end = self.tags[int(match[1])]
            if not match[0].startswith("<img"):
                ends.append(end)
            return start

        return self.tags[0][0] + _TAG.sub(tag, translation)


def xml_pages(_: None, texts: Sequence[str], kinds: TagKinds) -> list[XmlText]:
    """Return texts as pages, for a helper process.

    Raises:
        DataError: one is not well-formed.
    """
    return [_page(text, kinds) for text in texts]


def _page(text: str, kinds: TagKinds) -> XmlText:
    declaration = _DECLARATION.match(text)
    head = declaration[0] if declaration else ""
    xml = parse_xml(f"<text>{text[len(head) :]}</text>".encode(errors="replace"), Path("text"))
    page, tags, is_open = list[str](), [(head, "")], [xml.root]
    mixed = _mixed(xml.tokens)
    for at, token in list(enumerate(xml.tokens))[1:-1]:
        if token.kind == "text":
            page.append(escape(token.text, quote=False))
            continue
        start = is_open.pop() if token.kind == "end" else at
        is_inside = token.name in kinds.inside or (token.name not in kinds.splitting and is_open[-1] in mixed)
        is_point = is_inside and (token.kind == "other" or not xml.tokens[xml.ends[start]].raw)
        name = "img" if is_point else "span" if is_inside else "div"
        if token.kind != "end":
            keeps = ' translate="no"' if token.name in kinds.ignored else ""
            page.append(f'<{name} data-n="{len(tags)}"{keeps}>')
            tags.append((token.raw, xml.tokens[xml.ends[at]].raw if token.kind == "start" else ""))
            is_open += [at] if token.kind == "start" else []
        if token.kind != "start" and not is_point:
            page.append(f"</{name}>")
    return XmlText("".join(page), tags)


def _mixed(tokens: Sequence[XmlToken]) -> set[int]:
    """Return the starts of the elements that have text beside their elements."""
    mixed, is_open = set[int](), list[int]()
    for at, token in enumerate(tokens):
        if token.kind == "start":
            is_open.append(at)
        elif token.kind == "end":
            is_open.pop()
        elif token.kind == "text" and token.raw.strip():
            mixed.add(is_open[-1])
    return mixed
