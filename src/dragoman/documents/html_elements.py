"""Kinds of elements of web pages, and the attributes that are text."""

from __future__ import annotations

INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "br",
        "cite",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "input",
        "ins",
        "label",
        "mark",
        "nobr",
        "q",
        "rb",
        "rp",
        "rt",
        "rtc",
        "ruby",
        "s",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "wbr",
    ]
)
CODE = frozenset(("code", "kbd", "samp", "var"))
#: Elements whose content is no text; the first ones may stand in a line of text.
OBJECTS = frozenset(["script", "style", "svg", "math", "audio", "video", "canvas", "object", "template"])
SKIPPED = frozenset(("pre", "textarea", "iframe", "noembed", "xmp", "plaintext"))
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
ATTRIBUTES = frozenset(("alt", "title", "placeholder", "aria-label"))
DESCRIPTIONS = frozenset(("description", "og:title", "og:description", "twitter:title", "twitter:description"))
