"""The marks of a paragraph of Markdown, found by the inline rules of markdown-it, with their places in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping, Sequence
from html import unescape
from typing import Any, Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from dragoman.documents.html_attributes import attribute_texts
from dragoman.documents.html_elements import CODE
from dragoman.documents.html_tokens import HtmlToken
from dragoman.documents.markdown_blocks import add_dialects
from dragoman.documents.markdown_texts import image_texts, title_texts
from dragoman.documents.markup_texts import MarkupText
from dragoman.text.marked_text import POINTS, MarkedText, MarkedTextBuilder

_Kind = Literal["text", "escape", "verbatim", "point", "break", "open", "close"]
#: A reference to a footnote.
_FOOTNOTE = re.compile(r"(\[\^[^\]\s]+\])")
_TASK = re.compile(r"\[[ xX]\]\s+(?=\S)")
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w-]*)")
#: A formula: "$a^2$", not "$5 or 10$".
_FORMULA = re.compile(
    r"\$\$[^$\n]{1,500}\$\$|\$`[^`\n]{1,500}`\$|\$(?!\s)(?=[^$\n]*[\\^_{}=<>+]|\w{1,2}\$)[^$\n]{1,500}(?<!\s)\$(?!\w)"
)
#: A backslash that is no text.
_ESCAPED = re.compile(r"\\[!-/:-@\[-`{-~]")
#: A space that stays where it is when lines are wrapped.
FIXED_SPACE = "\ue000"


class _Found(NamedTuple):
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


class MarkdownParser:
    """The parser of CommonMark with tables and strikethrough, which records the places of inline markup."""

    def __init__(self) -> None:
        self.blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        self.blocks.core.ruler.enableOnly(["normalize", "block"])
        add_dialects(self.blocks)
        self._inline = MarkdownIt("commonmark").enable("strikethrough")
        self._inline.inline.ruler.before("escape", "formula", _formula)
        self._found: list[_Found] = []
        self._delimiters: list[tuple[Token, int]] = []
        #: Texts inside the inline markup so far.
        self.texts: dict[str, list[MarkupText]] = {}
        ruler = self._inline.inline.ruler
        names = self._inline.get_active_rules()["inline"]
        for name, rule in zip(names, ruler.getRules(""), strict=True):
            ruler.at(name, self._recorded(name, rule))

    def marked(self, source: str, references: MutableMapping[str, Any]) -> MarkedText:
        """Return a paragraph as marked text.

        Args:
            references: the `env` of the document.
        """
        self._found, self._delimiters = [], []
        task = _TASK.match(source)
        begin = task.end() if task else 0
        self._inline.inline.parse(source[begin:], self._inline, references, [])
        for token, start in self._delimiters:
            self._add_delimiter(token, start)
        builder, at = MarkedTextBuilder(), 0
        text = source[begin:]
        with_texts: list[tuple[_Found, str]] = []
        for found in _with_code(sorted(self._found)):
            if found.start >= at:
                _add_text(builder, text[at : found.start])
                markup = _add_markup(builder, found, text)
                with_texts += [(found, markup)] if markup not in self.texts else []
                at = found.end
        _add_text(builder, text[at:])
        for found, markup in with_texts:
            if texts := self._texts(found, markup, references):
                self.texts[markup] = texts
        return builder.build()

    def _texts(self, found: _Found, markup: str, references: MutableMapping[str, Any]) -> list[MarkupText]:
        """Return the texts inside a piece of markup."""
        if found.label_end:
            return image_texts(markup, found.label_end - found.start, lambda label: self.marked(label, references))
        if found.name == "link" and markup.startswith("]("):
            return title_texts(markup, 2)
        if found.kind in ("open", "point") and markup.startswith("<"):
            return attribute_texts(HtmlToken("start", markup, found.name))
        return []

    def _recorded(self, name: str, rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
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
            has_label = is_link or is_image
            label_end = state.md.helpers.parseLinkLabel(state, start + is_image, is_link) if has_label else -1
            if not rule(state, silent):
                return False
            if silent:
                return True
            if is_image:  # its label was parsed as a text of its own
                del self._found[n_found:], self._delimiters[n_delimiters:]
                self._found.append(_Found(start, state.pos, "point", label_end=label_end))
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
                    _Found(start, start + 1, "open", "link"),
                    _Found(label_end, state.pos, "close", "link", markup=markup),
                ]
            else:
                self._record(name, state, start, n_tokens)
            return True

        return recorded

    def _record(self, name: str, state: StateInline, start: int, n_tokens: int) -> None:
        """Record a piece of markup that has no other inside."""
        is_break = any(token.type == "hardbreak" for token in state.tokens[n_tokens:])
        is_code = any(token.type == "code_inline" for token in state.tokens[n_tokens:])
        kinds: dict[str, _Kind] = {"escape": "escape", "entity": "escape"}
        kinds |= {"autolink": "verbatim", "formula": "verbatim"}
        if is_break:
            self._found.append(_Found(start, state.pos, "break"))
        elif name == "html_inline":
            tag = _TAG.match(state.src, start, state.pos)
            is_point = tag is None or state.src[start : state.pos].endswith("/>") or tag["name"].lower() in POINTS
            kind: _Kind = "point" if is_point or tag is None else "close" if tag["closing"] else "open"
            self._found.append(_Found(start, state.pos, kind, tag["name"].lower() if tag else ""))
        elif name == "backticks" and is_code:
            self._found.append(_Found(start, state.pos, "verbatim"))
        elif name in kinds:
            self._found.append(_Found(start, state.pos, kinds[name]))

    def _add_delimiter(self, token: Token, start: int) -> None:
        """Record a delimiter of emphasis that has its partner."""
        kind, _, side = token.type.partition("_")
        if side not in ("open", "close"):
            return
        length = len(token.markup)
        first = start - 1 if kind == "strong" and side == "open" else start
        self._found.append(_Found(first, first + length, "open" if side == "open" else "close", kind))


def _formula(state: StateInline, silent: bool) -> bool:
    match = _FORMULA.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True


def _with_code(found: Sequence[_Found]) -> list[_Found]:
    """Return pieces of markup, with one verbatim piece for each element of code (`<kbd>Ctrl</kbd>`)."""
    pieces: list[_Found] = []
    #: By name, the end of the next closing tag.
    ends: dict[str, int] = {}
    for piece in reversed(found):
        if piece.kind == "close":
            ends[piece.name] = piece.end
        is_code = piece.kind == "open" and piece.name in CODE and piece.name in ends
        pieces.append(_Found(piece.start, ends[piece.name], "verbatim") if is_code else piece)
    return pieces[::-1]


def _add_text(builder: MarkedTextBuilder, text: str) -> None:
    for number, part in enumerate(_FOOTNOTE.split(text)):
        if number % 2:
            builder.add_point(part)
        elif part:
            builder.add_text(part)


def _add_markup(builder: MarkedTextBuilder, found: _Found, source: str) -> str:
    """Add a piece of markup, and return it as one line."""
    raw = found.markup or source[found.start : found.end]
    line = " ".join(raw.split("\n"))
    if found.kind == "escape":
        # The parser reports a backslash before a letter too; it is text, as in C:\Users.
        builder.add_text(raw[1:] if _ESCAPED.match(raw) else unescape(raw))
    elif found.kind == "verbatim":
        builder.add_verbatim(line)
    elif found.kind == "break":
        builder.add_point("\\\n" if raw.startswith("\\") else f"{FIXED_SPACE * 2}\n", is_space=True)
    elif found.kind == "open":
        builder.open(found.name, line)
    elif found.kind == "close":
        builder.close(found.name, line)
    else:
        builder.add_point(line, is_space=found.name == "br")
    return line
