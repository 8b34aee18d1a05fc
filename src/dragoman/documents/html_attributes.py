"""Texts inside tags and inside elements that are kept as a whole: attributes, a field for text, a drawing (SVG)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import groupby

from dragoman.documents.html_tokens import ATTRIBUTES, DESCRIPTIONS, HtmlToken
from dragoman.documents.markup_texts import MarkupText
from dragoman.text.languages import is_right_to_left
from dragoman.text.marked_text import MarkedText
from dragoman.text.sentences import has_words
from dragoman.translator import Translation

#: Attributes that name the language of an element.
LANGUAGES = ("lang", "xml:lang")


def attribute_texts(token: HtmlToken) -> list[MarkupText]:
    """Return the attributes of a tag to translate."""
    attributes = [*token.attributes()]
    named = {attribute.name: attribute.value.lower() for attribute in attributes}
    if has_no_translation(token):
        return []
    is_description = token.name == "meta" and (named.get("name") or named.get("property")) in DESCRIPTIONS
    is_button = token.name == "input" and named.get("type") in ("submit", "button", "reset")
    texts = []
    for name, value, start, end in attributes:
        is_label = name == "label" and token.name in ("option", "optgroup", "track")
        is_value = (name == "content" and is_description) or (name == "value" and is_button)
        is_text = name in ATTRIBUTES or is_label or is_value
        if is_text and has_words(value):
            texts.append(MarkupText(start, end, MarkedText(" ".join(value.split())), _quoted))
    return texts


def has_no_translation(token: HtmlToken) -> bool:
    """Return True for a tag that says that nothing in it is translated."""
    return any(one.name == "translate" and one.value.lower() == "no" for one in token.attributes())


def direction_of(language: str) -> str:
    """Return the direction of the writing of a language, as `dir` names it."""
    return "rtl" if is_right_to_left(language) else "ltr"


def stated_direction(token: HtmlToken) -> str:
    """Return the direction that a tag names, in small letters, or nothing."""
    return next((one.value.lower() for one in token.attributes() if one.name == "dir"), "")


def tag_in_language(tag: str, language: str) -> str:
    """Return a tag with another language, and the direction of its writing in place of the other one (`dir`).

    `<html>` has a language afterwards even if it had none, and a direction if that is from right to left.
    """
    direction = direction_of(language)
    found = [one for one in HtmlToken("start", tag).attributes() if one.name in (*LANGUAGES, "dir")]
    for one in reversed(found):
        if one.name != "dir" or {one.value.lower(), direction} == {"ltr", "rtl"}:
            quote = "'" if tag[one.start] == "'" else '"'
            value = direction if one.name == "dir" else html.escape(language)
            tag = f"{tag[: one.start]}{quote}{value}{quote}{tag[one.end :]}"
    if not is_page(tag):
        return tag
    names = {one.name for one in found}
    tag = with_new(tag, dir="rtl") if direction == "rtl" and "dir" not in names else tag
    new = () if names & {*LANGUAGES} else LANGUAGES if "xmlns" in tag else LANGUAGES[:1]
    return with_new(tag, **dict.fromkeys(new, language))


def is_page(tag: str) -> bool:
    """Return True for the tag of a whole page."""
    return re.match(r"<html\b", tag, re.IGNORECASE) is not None


def with_new(tag: str, **attributes: str) -> str:
    """Return a tag with more attributes, after its name: at the end there may be code of a template."""
    added = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    return re.sub(r"(?<=<)[^\s/>]+", lambda match: match[0] + added, tag, count=1)


def _quoted(translation: Translation) -> str:
    return f'"{html.escape(translation.text)}"'


#: Elements of a drawing whose content is shown.
_SHOWN = frozenset(("title", "desc", "text"))
_LINE = re.compile(r"[^\r\n]+")


def field_texts(tokens: Sequence[HtmlToken]) -> list[MarkupText]:
    """Return the lines of `<textarea>`, given its tokens after the start tag."""
    return [text for start, raw, _ in _stretches(tokens) for text in _lines(start, raw)]


def object_texts(tokens: Sequence[HtmlToken]) -> list[MarkupText]:
    """Return the attributes of an object to translate, and the words of a drawing."""
    first = tokens[0]
    if first.name in ("script", "style", "template") or has_no_translation(first):
        return []
    texts = attribute_texts(first)
    if first.name == "svg":
        for start, raw, is_shown in _stretches(tokens):
            texts += _lines(start, raw) if is_shown else []
    return texts


def _stretches(tokens: Sequence[HtmlToken]) -> Iterator[tuple[int, str, bool]]:
    """Yield the place of each stretch of text between tags, the stretch, and True if a drawing shows it."""
    at = n_open = 0
    for is_text, group in groupby(tokens, lambda token: token.kind == "text"):
        together = [*group]
        raw = "".join(token.raw for token in together)
        if is_text:
            yield at, raw, n_open > 0
        n_open += sum({"start": 1, "end": -1}.get(token.kind, 0) for token in together if token.name in _SHOWN)
        at += len(raw)


def _lines(start: int, raw: str) -> Iterator[MarkupText]:
    for line in _LINE.finditer(raw):
        core = line[0].strip()
        text = unescape(core)
        if has_words(text):
            first = start + line.start() + line[0].index(core)
            yield MarkupText(first, first + len(core), MarkedText(" ".join(text.split())), _written)


def _written(translation: Translation) -> str:
    return html.escape(translation.text, quote=False)
