"""The marks of a line of a message: reStructuredText as in documentation, and tags of HTML as in programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from dragoman.text.marked_text import POINTS, MarkedText, MarkedTextBuilder
from dragoman.text.protection import Stretch, merged, protection

#: `%%` is the percent sign of a format; "100% de" would be another placeholder.
_RULES = ("printf,urls,code,rst", "%%")
#: A tag with its attributes, which may have placeholders. "<file>", a placeholder, has no partner. "<1>" is React's.
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w-]{0,30}|\d{1,3})(?:\s[^<>]{0,500})?/?>")
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


def add_message(
    builder: MarkedTextBuilder, text: str, escape: Callable[[str], str], kept: re.Pattern[str] | None = None
) -> None:
    """Add a part of a message of a program: tags of HTML as marks; placeholders, addresses and lone tags as they are.

    Args:
        escape: writes tags and what stays in the format of the document.
        kept: other placeholders of the format.
    """
    _add(builder, text, has_marks=False, escape=escape, kept=kept)


def _add(
    builder: MarkedTextBuilder,
    text: str,
    *,
    has_marks: bool,
    escape: Callable[[str], str] = str,
    kept: re.Pattern[str] | None = None,
) -> None:
    at = 0
    tags, lone = _tags(text)
    own = [match.span() for match in kept.finditer(text)] if kept else []
    stretches = merged([*own, *protection(_RULES).stretches(text), *lone])
    wrapping = sorted([*(_WRAPPING.finditer(text) if has_marks else ()), *tags], key=re.Match.start)
    stretches.reverse()
    wrapping.reverse()
    while at < len(text):
        while stretches and stretches[-1][0] < at:
            stretches.pop()
        while wrapping and wrapping[-1].start() < at:
            wrapping.pop()
        stretch = stretches[-1] if stretches else None
        match = wrapping[-1] if wrapping else None
        if match is not None and (stretch is None or match.start() <= stretch[0]):
            builder.add_text(text[at : match.start()])
            _add_mark(builder, match, escape)
            at = match.end()
        elif stretch is not None:
            builder.add_text(text[at : stretch[0]])
            builder.add_verbatim(escape(text[slice(*stretch)]))
            at = stretch[1]
        else:
            break
    builder.add_text(text[at:])


def _add_mark(builder: MarkedTextBuilder, match: re.Match[str], escape: Callable[[str], str]) -> None:
    """Add one tag, or a stretch that reStructuredText wraps, with its text."""
    if match.re is _TAG:
        tag = _name(match)
        if tag in POINTS:
            builder.add_point(escape(match[0]), is_space=tag == "br")
        elif match["closing"]:
            builder.close(f"<{tag}>", escape(match[0]))
        else:
            builder.open(f"<{tag}>", escape(match[0]))
        return
    name = match.lastgroup or ""
    start, end = match.span(name)
    builder.open(name, match.string[match.start() : start])
    _add(builder, match.string[start:end], has_marks=False)
    builder.close(name, match.string[end : match.end()])


def _tags(text: str) -> tuple[list[re.Match[str]], list[Stretch]]:
    """Return the tags that are points or have their partner, and the places of the others, such as "<file>"."""
    found = [*_TAG.finditer(text)]
    marks = [tag for tag in found if _name(tag) in POINTS]
    opened: list[re.Match[str]] = []
    n_open: Counter[str] = Counter()
    for tag in found:
        if not tag["closing"]:
            opened.append(tag)
            n_open[_name(tag)] += 1
        elif n_open[_name(tag)]:
            while _name(partner := opened.pop()) != _name(tag):
                n_open[_name(partner)] -= 1
            n_open[_name(tag)] -= 1
            marks += [partner, tag]
    starts = {tag.start() for tag in marks}
    return marks, [tag.span() for tag in found if tag.start() not in starts]


def _name(tag: re.Match[str]) -> str:
    return tag["name"].lower()
