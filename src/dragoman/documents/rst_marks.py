"""The marks of a line of a message: reStructuredText as in documentation, and tags of HTML as in programs."""

from __future__ import annotations

import re

from dragoman.documents.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.protection import Stretch, merged, protection

#: `%%` is the percent sign of a format; "100% de" would be another placeholder.
_RULES = ("printf,urls,code,rst", "%%")
#: A tag with its attributes, which may have placeholders. "<file>" looks the same; it has no closing tag.
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w-]{0,30})(?:\s[^<>]{0,500})?/?>")
_POINTS = frozenset(("br", "hr", "img", "input", "wbr"))
#: Strong text and emphasis; roles and links with a text of their own.
_WRAPPING = re.compile(
    r"""(?<![\w*])(?P<strong>\*\*)(?=[^*\s])(?P<strong_text>[^*]{1,300})(?<!\s)\*\*(?![\w*])
    | (?<![\w*])(?P<emphasis>\*)(?=[^*\s])(?P<emphasis_text>[^*]{1,300})(?<!\s)\*(?![\w*])
    | (?P<role>:[A-Za-z][\w.+:-]{0,80}:`)(?P<role_text>[^`<]{0,200}[^`<\s])\s*<[^`<>]{1,300}>`
    | (?<![:`\w])(?P<link>`)(?P<link_text>[^`<]{0,200}[^`<\s])\s*<[^`<>]{1,300}>`__?""",
    re.VERBOSE,
)


def marked_rst(text: str) -> MarkedText:
    """Return a line as marked text: what wraps words as marks; literals, lone roles and lone tags as they are."""
    builder = MarkedTextBuilder()
    _add(builder, text, has_marks=True)
    return builder.build()


def _add(builder: MarkedTextBuilder, text: str, *, has_marks: bool) -> None:
    at = 0
    tags, lone = _tags(text)
    stretches = merged([*protection(_RULES).stretches(text), *lone])
    wrapping = sorted([*(_WRAPPING.finditer(text) if has_marks else ()), *tags], key=re.Match.start)
    while at < len(text):
        stretch = next((one for one in stretches if one[0] >= at), None)
        match = next((one for one in wrapping if one.start() >= at), None)
        if match is not None and (stretch is None or match.start() <= stretch[0]):
            builder.add_text(text[at : match.start()])
            _add_mark(builder, match)
            at = match.end()
        elif stretch is not None:
            builder.add_text(text[at : stretch[0]])
            builder.add_verbatim(text[slice(*stretch)])
            at = stretch[1]
        else:
            break
    builder.add_text(text[at:])


def _add_mark(builder: MarkedTextBuilder, match: re.Match[str]) -> None:
    """Add one tag, or a stretch that reStructuredText wraps, with its text."""
    if match.re is _TAG:
        tag = match["name"].lower()
        if tag in _POINTS:
            builder.add_point(match[0], is_space=tag == "br")
        elif match["closing"]:
            builder.close(f"<{tag}>", match[0])
        else:
            builder.open(f"<{tag}>", match[0])
        return
    name = match.lastgroup or ""
    start, end = match.span(name)
    builder.open(name, match.string[match.start() : start])
    _add(builder, match.string[start:end], has_marks=False)
    builder.close(name, match.string[end : match.end()])


def _tags(text: str) -> tuple[list[re.Match[str]], list[Stretch]]:
    """Return the tags that are points or have their partner, and the places of the others, such as "<file>"."""
    found = [*_TAG.finditer(text)]
    marks = [tag for tag in found if tag["name"].lower() in _POINTS]
    opened: list[re.Match[str]] = []
    for tag in found:
        if not tag["closing"]:
            opened.append(tag)
            continue
        partner = next((one for one in reversed(opened) if one["name"].lower() == tag["name"].lower()), None)
        if partner is not None:
            del opened[opened.index(partner) :]
            marks += [partner, tag]
    return marks, [tag.span() for tag in found if tag not in marks]
