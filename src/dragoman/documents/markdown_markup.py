"""The markup of a paragraph of Markdown, found by the inline rules of markdown-it and those of dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from dragoman.documents.html_tokens import CODE, READINGS
from dragoman.text.marked_text import POINTS

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
    Pair("==", 2, re.compile(r"(?<![\dA-Za-z_=])==(?=[^\s=])[^=\n]{1,500}(?<=[^\s=])==(?!=)")),
    Pair("++", 2, re.compile(r"(?<![\dA-Za-z_+])\+\+(?=[^\s+])[^+\n]{1,500}(?<=[^\s+])\+\+(?!\+)")),
)
#: Subscripts and superscripts.
SCRIPTS = (
    Pair("<sub>", 1, re.compile(r"(?<!~)~(?![~\s])[^~\s^]{1,30}~(?!~)")),
    Pair("<sup>", 1, re.compile(r"(?<=[^\s^])\^(?!\[)[^\^\s~]{1,30}\^(?!\^)")),
)


_Kind = Literal["escape", "verbatim", "point", "break", "open", "close", "attributes"]
_Rule = Callable[[StateInline, bool], bool]
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w-]*)")


class Found(NamedTuple):
    """A piece of markup, and its place in the source of a paragraph."""

    start: int
    end: int
    kind: _Kind
    #: Of a mark that wraps: its kind.
    name: str = ""
    #: Of an image: the end of its label in the source.
    label_end: int = 0
    #: What is written in its place, if it is not the markup itself.
    markup: str = ""

    @property
    def is_break(self) -> bool:
        """True for a hard line break."""
        return self.kind == "break" or (self.kind == "point" and self.name == "br")


class MarkupFinder:
    """The inline parser of CommonMark with strikethrough and dialects, which records the places of markup."""

    def __init__(self) -> None:
        self._parser = MarkdownIt("commonmark").enable("strikethrough")
        self._found: list[Found] = []
        self._delimiters: list[tuple[Token, int]] = []
        #: Places where something was closed already.
        self._closed: set[int] = set()
        ruler = self._parser.inline.ruler
        names = self._parser.get_active_rules()["inline"]
        for name, rule in zip(names, ruler.getRules(""), strict=True):
            ruler.at(name, self._recorded(name, rule))
        for kept in KEPT:
            ruler.before("escape", kept.name, self._kept(kept))
        ruler.before("strikethrough", "pairs", self._pair)
        ruler.before("pairs", "scripts", self._script)
        ruler.before("link", "bracketed", self._bracketed)
        ruler.before("bracketed", "wiki", self._wikilink)
        ruler.before("escape", "note", self._note)
        ruler.before("escape", "attributes", self._attributes)

    def find(self, source: str, references: MutableMapping[str, Any]) -> list[Found]:
        """Return the markup of a paragraph in its order.

        Args:
            references: the `env` of the document.
        """
        self._found, self._delimiters, self._closed = [], [], set()
        self._parser.inline.parse(source, self._parser, references, [])
        for token, start in self._delimiters:
            self._add_delimiter(token, start)
        found = _with_attributes(sorted(one for one in self._found if one.start < one.end), source)
        return _with_elements(found)

    def _recorded(self, name: str, rule: _Rule) -> _Rule:
        """Return a rule that records what it finds."""

        def recorded(state: StateInline, silent: bool) -> bool:
            start, n_tokens, n_found, n_delimiters = (
                state.pos,
                len(state.tokens),
                len(self._found),
                len(self._delimiters),
            )
            is_link = name == "link" and not silent and state.src[start] == "["
            is_image = name == "image" and not silent and state.src.startswith("![", start)
            if not rule(state, silent):
                return False
            if silent:
                return True
            has_label = is_link or is_image
            label_end = state.md.helpers.parseLinkLabel(state, start + is_image, is_link) if has_label else -1
            if is_image:  # its label was parsed as a text of its own
                del self._found[n_found:], self._delimiters[n_delimiters:]
                self._found.append(Found(start, state.pos, "point", label_end=label_end))
            elif name in ("emphasis", "strikethrough"):
                at = start
                for token in state.tokens[n_tokens:]:
                    if token.content and token.content[0] == state.src[start]:
                        self._delimiters.append((token, at))
                        at += len(token.content)
            elif is_link:
                is_id = state.src[label_end : state.pos] in ("]", "][]")  # its text is the id of a reference
                markup = f"][{state.src[start + 1 : label_end]}]" if is_id else ""
                self._found += [
                    Found(start, start + 1, "open", "link"),
                    Found(label_end, state.pos, "close", "link", markup=markup),
                ]
            else:
                self._record(name, state, start, n_tokens)
            return True

        return recorded

    def _record(self, name: str, state: StateInline, start: int, n_tokens: int) -> None:
        """Record a piece of markup that has no other inside."""
        is_break = any(token.type == "hardbreak" for token in state.tokens[n_tokens:])
        is_code = any(token.type == "code_inline" for token in state.tokens[n_tokens:])
        if is_break:
            self._found.append(Found(start, state.pos, "break"))
        elif name == "html_inline":
            tag = _TAG.match(state.src, start, state.pos)
            is_point = tag is None or state.src[start : state.pos].endswith("/>") or tag["name"].lower() in POINTS
            kind: _Kind = "point" if is_point or tag is None else "close" if tag["closing"] else "open"
            self._found.append(Found(start, state.pos, kind, tag["name"].lower() if tag else ""))
        elif name == "autolink" or (name == "backticks" and is_code):
            self._found.append(Found(start, state.pos, "verbatim"))
        elif name in ("escape", "entity"):
            self._found.append(Found(start, state.pos, "escape"))

    def _add_delimiter(self, token: Token, start: int) -> None:
        """Record a delimiter of emphasis that has its partner."""
        kind, _, side = token.type.partition("_")
        if side not in ("open", "close"):
            return
        length = len(token.markup)
        first = start - 1 if kind == "strong" and side == "open" else start
        self._found.append(Found(first, first + length, "open" if side == "open" else "close", kind))

    def _kept(self, kept: Kept) -> _Rule:
        """Return the rule for what stays as it is."""

        def rule(state: StateInline, silent: bool) -> bool:
            match = kept.pattern.match(state.src, state.pos)
            if match is None or (kept.inside and not kept.inside.search(match[0][2:-2])):
                return False
            return self._take(state, silent, match.end(), Found(*match.span(), kept.kind))

        return rule

    def _note(self, state: StateInline, silent: bool) -> bool:
        match = NOTE.match(state.src, state.pos)
        return match is not None and self._take(state, silent, match.end(), Found(*match.span(), "point", "^["))

    def _attributes(self, state: StateInline, silent: bool) -> bool:
        match = ATTRIBUTE_LIST.match(state.src, state.pos)
        return match is not None and self._take(state, silent, match.end(), Found(*match.span(), "attributes"))

    def _script(self, state: StateInline, silent: bool) -> bool:
        for name, _, pattern in SCRIPTS:
            if (match := pattern.match(state.src, state.pos)) is not None:
                start, end = match.span()
                both = Found(start, start + 1, "open", name), Found(end - 1, end, "close", name)
                return self._take(state, silent, end, *both)
        return False

    def _pair(self, state: StateInline, silent: bool) -> bool:
        if state.pos in self._closed:
            return False
        for name, size, pattern in PAIRS:
            if (match := pattern.match(state.src, state.pos)) is not None:
                start, end = match.span()
                both = Found(start, start + size, "open", name), Found(end - size, end, "close", name)
                return self._take(state, silent, start + size, *both)
        return False

    def _bracketed(self, state: StateInline, silent: bool) -> bool:
        match = BRACKETED.match(state.src, state.pos)
        if match is None or normalizeReference(match["text"]) in state.env.get("references", {}):
            return False
        start, end = match.span()
        closing = Found(match.end("text"), end, "close", "[]")
        return self._take(state, silent, start + 1, Found(start, start + 1, "open", "[]"), closing)

    def _wikilink(self, state: StateInline, silent: bool) -> bool:
        match = WIKILINK.match(state.src, state.pos)
        if match is None:
            return False
        end = state.src.index("]]", match.end())
        both = Found(*match.span(), "open", "[["), Found(end, end + 2, "close", "[[")
        return self._take(state, silent, match.end(), *both)

    def _take(self, state: StateInline, silent: bool, end: int, *found: Found) -> bool:
        """Record pieces of markup, and go on at a place."""
        if not silent:
            state.append_pending(state.src[state.pos : end])
            self._found += found
            self._closed |= {one.start for one in found if one.kind == "close"}
        state.pos = end
        return True


def _with_attributes(found: Sequence[Found], source: str) -> list[Found]:
    """Return pieces of markup; a list of attributes belongs to the piece right before it, or is a point."""
    pieces: list[Found] = []
    for piece in found:
        last = pieces[-1] if pieces else None
        if piece.kind != "attributes":
            pieces.append(piece)
        elif last is not None and last.end == piece.start and last.kind in ("close", "verbatim", "point"):
            markup = last.markup + source[piece.start : piece.end] if last.markup else ""
            pieces[-1] = last._replace(end=piece.end, markup=markup)
        else:
            pieces.append(piece._replace(kind="point"))
    return pieces


def _with_elements(found: Sequence[Found]) -> list[Found]:
    """Return pieces of markup, with one piece for each element of code (`<kbd>Ctrl</kbd>`) and for each reading."""
    pieces: list[Found] = []
    #: By name, the end of the next closing tag.
    ends: dict[str, int] = {}
    for piece in reversed(found):
        if piece.kind == "close":
            ends[piece.name] = piece.end
        kind: _Kind = "verbatim" if piece.name in CODE else "point"
        is_whole = piece.kind == "open" and piece.name in ends and piece.name in CODE | READINGS
        pieces.append(Found(piece.start, ends[piece.name], kind) if is_whole else piece)
    return pieces[::-1]
