"""Marks inside a paragraph that programs add to CommonMark, as patterns."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

#: A list of attributes: `{#id .class key="value"}` (Pandoc), `{: .class}` (kramdown), `{=html}`; no placeholder.
ATTRIBUTES = (
    r"""\{(?:[:/]{1,2}[^{}\n]{0,200}|-|=[\w-]{1,30}|[ \t]*[.#][\w:.-]{1,80}(?:\s[^{}\n]{0,300})?"""
    r"""|[ \t]*[\w:-]{1,60}=(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|[^\s{}"']{1,200})(?:\s[^{}\n]{0,300})?)\}"""
)
#: Code of templates: Hugo, Jekyll, Liquid, Jinja, Vue.
TEMPLATE = r"\{\{(?:[^}\n]|\}(?!\})){1,500}\}\}|\{%(?:[^%\n]|%(?!\})){1,500}%\}"
ATTRIBUTE_LIST = re.compile(ATTRIBUTES)
#: Text in brackets with attributes: `[small]{.smallcaps}`.
BRACKETED = re.compile(
    rf"\[(?P<text>(?:[^\[\]\\\n]|\\.|\[[^\[\]\n]{{0,200}}\]){{1,300}})\](?P<attributes>{ATTRIBUTES})"
)
#: A note inside a paragraph: `^[note]`.
NOTE = re.compile(r"\^\[(?:[^\[\]\\]|\\.|\[[^\[\]]{0,300}\]){1,1000}\]")
#: A link to a page by its name, with another text: `[[page|text]]`.
WIKILINK = re.compile(r"\[\[[^\[\]|\n]{1,200}\|(?=[^\[\]|\n]{1,200}\]\])")


class Kept(NamedTuple):
    """A pattern of what stays as it is: a word to the model, or a point, which it does not see."""

    name: str
    kind: Literal["verbatim", "point"]
    pattern: re.Pattern[str]
    #: Found inside the match, without its first and last two characters.
    inside: re.Pattern[str] | None = None


#: A formula: "$a^2$" and "$231$", not "$5 or 10$".
_FORMULA = (
    r"\$\$[^$\n]{1,500}\$\$|\$`[^`\n]{1,500}`\$|\$(?!\s)(?=[^$\n]*[\\^_{}=<>+]|\w{1,2}\$)[^$\n]{1,500}(?<!\s)\$(?!\w)"
    r"|(?<![\w$])\$[^\s$]{1,100}\$(?!\w)"
)
_BRACKETS = r"\\\((?:[^\\\n]|\\[^)\n]){1,500}\\\)|\\\[(?:[^\\\n]|\\[^\]\n]){1,500}\\\]"
_EMOJI = r"(?<![\w:/]):(?:[a-z][\w+-]{0,60}|[+-]1|100):(?![\w/])|(?<=[a-z\d]:):[a-z][\w+-]{0,60}:"
#: A command of TeX, but not a part of the path of a file.
_TEX = (
    r"\\[A-Za-z]{2,40}\*?(?:\[[^\[\]\n]{0,100}\])?(?:\{[^{}\n]{0,200}\}){1,3}"
    r"|(?<![\w:\\])\\[A-Za-z]{2,40}\*?(?:\[[^\[\]\n]{0,100}\])?"
)
KEPT = (
    Kept("formula", "verbatim", re.compile(_FORMULA)),
    Kept("brackets", "verbatim", re.compile(_BRACKETS), re.compile(r"\\[A-Za-z]|[\^_{}=<>+]")),
    Kept("template", "verbatim", re.compile(TEMPLATE)),
    Kept("role", "verbatim", re.compile(r"\{[\w:+.-]{1,60}\}(`{1,2})(?!`)[^`\n]{1,300}\1")),
    Kept("tex", "verbatim", re.compile(_TEX)),
    Kept("emoji", "verbatim", re.compile(_EMOJI)),
    Kept("citation", "verbatim", re.compile(r"\[-?@[^\[\]\n]{1,200}\](?![(\[])")),
    Kept("wikilink", "verbatim", re.compile(r"!\[\[[^\[\]\n]{1,200}\]\]|\[\[[^\[\]|\n]{1,200}\]\]")),
    Kept("hashtag", "verbatim", re.compile(r"(?<![\w&/#\[(])#[A-Za-z][\w/-]{1,60}(?![\w#])")),
    Kept("comment", "point", re.compile(r"%%[^%\n]{1,500}%%|\{>>[^{}\n]{1,500}<<\}")),
    Kept("label", "point", re.compile(r"(?<=\s)\^[\w-]{1,40}\Z")),
)  # fmt: skip


class Pair(NamedTuple):
    """A pattern of words between two signs of equal length, the signs included."""

    #: No name of an element of HTML, which may stand beside it.
    name: str
    size: int
    pattern: re.Pattern[str]


#: Words between signs, which may have other marks in them.
PAIRS = (
    Pair("{++", 3, re.compile(r"\{(\+\+|--|==)(?=\S)[^{}\n]{1,500}?(?<=\S)\1\}")),
    Pair("==", 2, re.compile(r"==(?=[^\s=])[^=\n]{1,500}(?<=[^\s=])==(?!=)")),
    Pair("++", 2, re.compile(r"\+\+(?=[^\s+])[^+\n]{1,500}(?<=[^\s+])\+\+(?!\+)")),
)
#: Subscripts and superscripts.
SCRIPTS = (
    Pair("<sub>", 1, re.compile(r"(?<!~)~(?![~\s])[^~\s^]{1,30}~(?!~)")),
    Pair("<sup>", 1, re.compile(r"(?<=[^\s^])\^(?!\[)[^\^\s~]{1,30}\^(?!\^)")),
)
