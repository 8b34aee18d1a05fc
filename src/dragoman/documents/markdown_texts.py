"""Texts inside the markup of Markdown: titles of links and images, and the alternative texts of images."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it.helpers import parseLinkDestination, parseLinkTitle

from dragoman.documents.mark_projection import project
from dragoman.documents.markup_texts import MarkupText
from dragoman.text.marked_text import MarkedText
from dragoman.text.sentences import has_words
from dragoman.translator import Translation

#: Characters that would begin markup. A backslash at the end would escape what follows.
_MARKUP = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|`|\*(?!\s)|(?<!\s)\*|(?<!\w)_++|(?<!_)_++(?![^\W_])|\[(?=[^\]]{0,500}\](?:[\[(:]|\Z))|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w+;)|~(?=~)"
)
_IN_TITLE = re.compile(r"\\(?=[!-/:-@\[-`{-~]|\Z)|&(?=#?\w+;)")
#: A bracket, or a character that is escaped already.
_BRACKET = re.compile(r"(\\.)|[\[\]]")
_SPACE = re.compile(r"\s*")


def escaped(text: str) -> str:
    """Return a text without characters that would be read as markup."""
    return _MARKUP.sub(lambda match: "".join(f"\\{sign}" for sign in match[0]), text.replace("\n", " "))


def escaped_near_links(text: str) -> str:
    """Return a text without markup, and without brackets that have no partner: in a link they would end it."""
    text = escaped(text)
    brackets = [match.start() for match in _BRACKET.finditer(text) if not match[1]]
    opened: list[int] = []
    alone: set[int] = set()
    for place in brackets:
        if text[place] == "[":
            opened.append(place)
        elif opened:
            opened.pop()
        else:
            alone.add(place)
    alone.update(opened)
    return "".join("\\" + sign if place in alone else sign for place, sign in enumerate(text))


def title_texts(markup: str, start: int) -> list[MarkupText]:
    """Return the title after a target, if it has words: `(url "title")`, or `[id]: url "title"`.

    Args:
        start: of the target in the markup.
    """
    target_start = _after_space(markup, start)
    target = parseLinkDestination(markup, target_start, len(markup))
    title_start = _after_space(markup, target.pos)
    if not target.ok or title_start == target.pos:
        return []
    title = parseLinkTitle(markup, title_start, len(markup))
    if not title.ok or not has_words(title.str):
        return []
    opening, closing = markup[title_start], markup[title.pos - 1]

    def write(translation: Translation) -> str:
        text = _IN_TITLE.sub(lambda match: "\\" + match[0], translation.text)
        for quote in dict.fromkeys((opening, closing)):
            text = text.replace(quote, "\\" + quote)
        return opening + text + closing

    return [MarkupText(title_start, title.pos, MarkedText(" ".join(title.str.split())), write)]


def image_texts(markup: str, label_end: int, parse: Callable[[str], MarkedText]) -> list[MarkupText]:
    """Return the texts of an image: the alternative text, which the id of a reference stays beside, and the title.

    Args:
        label_end: the place of the bracket after the alternative text.
        parse: finds the marks in it.
    """
    label = markup[2:label_end]
    source = parse(label)
    is_reference = markup[label_end:] in ("]", "][]")
    texts = []
    if source.has_words:

        def write(translation: Translation) -> str:
            text = project(source, translation.text, translation.alignment, _in_brackets)
            return f"{text}][{label}]" if is_reference else text

        texts = [MarkupText(2, len(markup) if is_reference else label_end, source, write)]
    return texts + (title_texts(markup, label_end + 2) if markup.startswith("](", label_end) else [])


def note_texts(markup: str, parse: Callable[[str], MarkedText]) -> list[MarkupText]:
    """Return the text of a note inside a paragraph, `^[text]`.

    Args:
        parse: finds the marks in it.
    """
    end = markup.rindex("]")
    source = parse(markup[2:end])

    def write(translation: Translation) -> str:
        return project(source, translation.text, translation.alignment, _in_brackets)

    return [MarkupText(2, end, source, write)] if source.has_words else []


def definition_texts(definition: str) -> list[MarkupText]:
    """Return the title in the definition of a reference."""
    start = definition.find("]:")
    return title_texts(definition, start + 2) if start > 0 else []


def _in_brackets(text: str) -> str:
    return _BRACKET.sub(lambda match: match[0] if match[1] else "\\" + match[0], escaped(text))


def _after_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start
