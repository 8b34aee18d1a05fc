"""Texts with tags of XML, as pages that the reader of HTML knows: its own elements take the places of theirs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.documents.html_tokens import HtmlToken, html_tokens
from dragoman.errors import DataError

#: The tags in a translated page.
_TAG = re.compile(r'<(?:div|span|img) data-n="(\d+)"[^<>]*>|</(?:div|span)>')


class TagKinds(NamedTuple):
    """The names of elements that have a meaning: between sentences, inside sentences, and kept with their content."""

    splitting: Collection[str] = ()
    inside: Collection[str] = ()
    ignored: Collection[str] = ()


class XmlText(NamedTuple):
    """A text as a page, and by their numbers the tags that the page has others for, with the tags that end them."""

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

        return _TAG.sub(tag, translation)


def xml_pages(_: None, texts: Sequence[str], kinds: TagKinds) -> list[XmlText]:
    """Return texts as pages, for a helper process.

    Raises:
        DataError: the elements of one are not inside each other.
    """
    return [_page(text, kinds) for text in texts]


def _page(text: str, kinds: TagKinds) -> XmlText:
    tokens = html_tokens(text, Path("text"))
    parents, ends = _tree(tokens)
    mixed = {
        parent for token, parent in zip(tokens, parents, strict=True) if token.kind == "text" and token.raw.strip()
    }
    page, tags = list[str](), list[tuple[str, str]]()
    for at, token in enumerate(tokens):
        opened = parents[at] if token.kind == "end" else at
        is_inline = token.name in kinds.inside or (token.name not in kinds.splitting and parents[opened] in mixed)
        name = "span" if is_inline else "div"
        if token.kind == "text":
            page.append(token.raw)
        elif token.kind == "end":
            page.append(f"</{name}>")
        else:
            keeps = ' translate="no"' if token.name in kinds.ignored else ""
            is_point = token.kind != "start" and is_inline
            page.append(f'<{"img" if is_point else name} data-n="{len(tags)}"{keeps}>')
            page += [f"</{name}>"] if token.kind != "start" and not is_point else []
            tags.append((token.raw, tokens[ends[at]].raw if token.kind == "start" else ""))
    return XmlText("".join(page), tags)


def _tree(tokens: Sequence[HtmlToken]) -> tuple[list[int], dict[int, int]]:
    """Return the start of the element around each token, -1 for none, and the end of each element by its start.

    The end of an element has the element itself around it.

    Raises:
        DataError: an element has no end, or an end no element.
    """
    parents, ends, is_open = list[int](), dict[int, int](), list[int]()
    for at, token in enumerate(tokens):
        parents.append(is_open[-1] if is_open else -1)
        if token.kind == "start":
            is_open.append(at)
        elif token.kind == "end":
            if not is_open or tokens[is_open[-1]].name != token.name:
                raise DataError(
                    f"{token.raw[:50]} ends no element of the text", advice="send XML, or tag_handling html"
                )
            ends[is_open.pop()] = at
    if is_open:
        raise DataError(f"{tokens[is_open[-1]].raw[:50]} has no end", advice="send XML, or tag_handling html")
    return parents, ends
