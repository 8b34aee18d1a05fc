"""Attributes of tags that are text, and the language of a page."""

from __future__ import annotations

import html

from dragoman.documents.html_elements import ATTRIBUTES, DESCRIPTIONS
from dragoman.documents.html_tokens import HtmlToken
from dragoman.documents.markup_texts import MarkupText
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


def with_language(tag: str, language: str) -> str:
    """Return a tag with another language; `<html>` has one afterwards even if it had none."""
    token = HtmlToken("start", tag)
    places = [one for one in token.attributes() if one.name in LANGUAGES]
    if not places:
        return f'{tag[:5]} lang="{html.escape(language)}"{tag[5:]}'
    for one in reversed(places):
        quote = "'" if tag[one.start] == "'" else '"'
        tag = f"{tag[: one.start]}{quote}{html.escape(language)}{quote}{tag[one.end :]}"
    return tag


def _quoted(translation: Translation) -> str:
    return f'"{html.escape(translation.text)}"'
