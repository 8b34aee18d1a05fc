"""The marks of a line of reStructuredText, as messages of documentation have them."""

from __future__ import annotations

import re
from collections import deque

from dragoman.documents.marked_text import MarkedText, MarkedTextBuilder
from dragoman.text.protection import protection

_RULES = ("printf,urls,code,rst",)
#: Strong text and emphasis; roles and links with a text of their own.
_WRAPPING = re.compile(
    r"""(?<![\w*])(?P<strong>\*\*)(?=[^*\s])(?P<strong_text>[^*]{1,300})(?<!\s)\*\*(?![\w*])
    | (?<![\w*])(?P<emphasis>\*)(?=[^*\s])(?P<emphasis_text>[^*]{1,300})(?<!\s)\*(?![\w*])
    | (?P<role>:[A-Za-z][\w.+:-]{0,80}:`)(?P<role_text>[^`<]{0,200}[^`<\s])\s*<[^`<>]{1,300}>`
    | (?<![:`\w])(?P<link>`)(?P<link_text>[^`<]{0,200}[^`<\s])\s*<[^`<>]{1,300}>`__?""",
    re.VERBOSE,
)


def marked_rst(text: str) -> MarkedText:
    """Return a line as marked text: what wraps words as marks, roles without a text and literals as they are."""
    builder = MarkedTextBuilder()
    _add(builder, text, has_marks=True)
    return builder.build()


def _add(builder: MarkedTextBuilder, text: str, *, has_marks: bool) -> None:
    at = 0
    stretches = deque(protection(_RULES).stretches(text))
    wrapping = deque(_WRAPPING.finditer(text) if has_marks else ())
    while at < len(text):
        while stretches and stretches[0][0] < at:
            stretches.popleft()
        while wrapping and wrapping[0].start() < at:
            wrapping.popleft()
        stretch, match = stretches[0] if stretches else None, wrapping[0] if wrapping else None
        if match is not None and (stretch is None or match.start() <= stretch[0]):
            name = match.lastgroup or ""
            start, end = match.span(name)
            builder.add_text(text[at : match.start()])
            builder.open(name, text[match.start() : start])
            _add(builder, text[start:end], has_marks=False)
            builder.close(name, text[end : match.end()])
            at = match.end()
        elif stretch is not None:
            builder.add_text(text[at : stretch[0]])
            builder.add_verbatim(text[slice(*stretch)])
            at = stretch[1]
        else:
            break
    builder.add_text(text[at:])
