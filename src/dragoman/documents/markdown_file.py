"""Markdown files: blocks, code, tags and targets of links stay as they are; their text is translated.

A segment is a paragraph, a heading, or a cell of a table. Its emphasis and links are marks, its code is verbatim.
Titles of links, alternative texts of images and attributes of tags are segments, too. Blocks of HTML are read as web
pages. Blocks of code and front matter are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it.token import Token

from dragoman.data.text_files.whole_files import decode
from dragoman.documents.html_attributes import direction_of, stated_direction, tag_in_language
from dragoman.documents.html_flows import HtmlFlow
from dragoman.documents.html_page import html_parts
from dragoman.documents.html_tokens import HtmlToken
from dragoman.documents.markdown_lines import left_lines
from dragoman.documents.markdown_marks import MarkdownParser
from dragoman.documents.markdown_paragraph import Lines, Paragraph
from dragoman.documents.markdown_texts import definition_texts
from dragoman.documents.markup_texts import MarkupTexts, filled, sources
from dragoman.errors import DataError, counted
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

#: In YAML, in TOML or in JSON.
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)"
    r"|\+\+\+[ \t]*\r?\n(?:[^\n]*\n)*?\+\+\+[ \t]*(?:\r?\n|\Z)|\{[ \t]*\r?\n(?:[^\n]*\n)*?\}[ \t]*(?:\r?\n|\Z)"
)
#: The most characters of a paragraph; to find the emphasis in it takes up to a time of their square.
_LONGEST = 100_000
#: The target of a link to a heading: the path of another page, if it is one, and the name of the heading.
_TO_HEADING = re.compile(r"\]\(<?((?:[^\s()<>:#?]{1,200}\.(?:md|markdown))?)#([^\s()<>]{1,200})")
#: The name of a target: an attribute of Markdown or of HTML.
_NAME = re.compile(r"""(?:[{\s]#|\b(?:id|name)=["']?)([^\s"'{}<>]{1,200})""")
#: A tag with a direction.
_DIRECTED = re.compile(r"<[a-z][^<>]*\sdir\s*=[^<>]*>", re.IGNORECASE)
_Part = str | Paragraph | HtmlFlow
#: Start and end in the file, and what is there.
_Block = tuple[int, int, Sequence[_Part]]


@dataclass
class MarkdownFile:
    """A Markdown file: segments, and what is between them."""

    mark: bytes
    parts: Sequence[_Part]
    texts: MarkupTexts
    left: Sequence[str] = ()
    source_lang: str | None = None

    def set_languages(self, source: str | None, target: str | None) -> None:
        """Take the languages of a translation: tags with the direction of the source get that of the target."""
        self.source_lang = source

    def segments(self) -> list[MarkedText]:
        """Return the texts to translate: paragraphs, then titles and alternative texts."""
        return [part.source for part in self.parts if not isinstance(part, str)] + sources(self.texts)

    def notes(self) -> list[str]:
        """Return lines on what stays although it may be text, and on links to headings, whose anchors may change."""
        paragraphs = [part for part in self.parts if isinstance(part, Paragraph)]
        marks = [mark for paragraph in paragraphs for mark in paragraph.source.marks]
        links = [match.groups() for mark in marks if (match := _TO_HEADING.match(mark.closing))]
        named = {name for mark in marks for name in _NAME.findall(mark.opening)}
        named |= {name for part in self.parts if isinstance(part, str) for name in _NAME.findall(part)}
        to_headings = [f"{page}#{link}" for page, link in links if page or link not in named]
        notes = []
        if self.left:
            notes.append(f"{counted(len(self.left), 'block')} with marks that are not known left alone: {self.left[0]}")
        if to_headings:
            problem = f"{counted(len(to_headings), 'link')} to headings, such as {to_headings[0]}: check the targets, "
            notes.append(f"{problem}because programs name them after the words of the headings")
        return notes

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        """Return the file with a translation in place of each segment."""
        n_flows = sum(not isinstance(part, str) for part in self.parts)
        flows = iter(translations[:n_flows])
        changed = filled(self.texts, iter(translations[n_flows:]))
        if self.source_lang and target_lang:
            changed |= {
                tag: tag_in_language(changed.get(tag, tag), target_lang) for tag in self._directed(self.source_lang)
            }
        written = (
            changed.get(part, part) if isinstance(part, str) else part.fill(next(flows), changed) for part in self.parts
        )
        return self.mark + "".join(written).encode()

    def _directed(self, language: str) -> set[str]:
        """Return the tags of HTML with the direction of a language."""
        marks = (mark.opening for part in self.parts if not isinstance(part, str) for mark in part.source.marks)
        tags = {tag for tag in (*self.parts, *marks) if isinstance(tag, str) and _DIRECTED.fullmatch(tag)}
        return {tag for tag in tags if stated_direction(HtmlToken("start", tag)) == direction_of(language)}


def parse_markdown(content: bytes, name: Path) -> MarkdownFile:
    """Find the segments of a Markdown file.

    Raises:
        DataError: it is not UTF-8, its blocks are nested too deeply, or a paragraph is too long.
    """
    mark, text = decode(content, name)
    try:
        return _Parser(text, name).file(mark)
    except RecursionError:
        raise DataError("markup nested too deeply", name, advice="simplify it") from None


class _Parser:
    """The parts of a file.

    Args:
        text: of the file.
        name: of the file, for messages.
    """

    def __init__(self, text: str, name: Path) -> None:
        front = _FRONT_MATTER.match(text)
        self._front, self._name = text[: front.end()] if front else "", name
        self._lines = Lines(text[len(self._front) :])
        self._inline = MarkdownParser()
        self._references: dict[str, Any] = {}

    def file(self, mark: bytes) -> MarkdownFile:
        """Return the file.

        Args:
            mark: its byte order mark, or nothing.
        """
        tokens = self._inline.blocks.parse(self._lines.joined, self._references)
        blocks = sorted([*self._blocks(tokens), *self._definitions()], key=lambda block: block[:2])
        parts: list[_Part] = [self._front]
        at = 0
        for start, end, inside in blocks:
            if start >= at:
                parts += [self._lines.text[at:start], *inside]
                at = end
        n_before = self._front.count("\n") + 1
        left = [f"{self._name}:{line + n_before}: {text[:60]}" for line, text in left_lines(self._references)]
        return MarkdownFile(mark, [*parts, self._lines.text[at:]], self._inline.texts, left)

    def _blocks(self, tokens: Sequence[Token]) -> Iterator[_Block]:
        """Yield paragraphs, cells, and blocks of HTML."""
        at = 0
        for before, token in pairwise([Token("", "", 0), *tokens]):
            if token.type == "html_block":
                start, end = self._lines.block(token)
                text = self._lines.text[start:end]
                if start >= at and _is_whole(token, text):
                    yield start, end, self._html(text)
                    at = end
            elif token.type == "inline":
                is_cell = before.type in ("th_open", "td_open")
                places = self._lines.places(token, at, is_cell=is_cell)
                if not places:
                    continue
                self._check_length(token, places[0][0])
                lines = self._inline.lines(token.content, self._references)
                parts = self._lines.paragraphs(token, places, lines, is_cell=is_cell)
                yield places[0][0], places[-1][1], [piece for part in parts for piece in self._pieces(part)]
                at = places[-1][1]

    def _pieces(self, part: str | Paragraph) -> Iterator[_Part]:
        """Yield a paragraph, or what is in the file if it has nothing to translate."""
        if isinstance(part, str) or part.source.has_words:
            yield part
        else:
            yield from part.pieces(self._inline.texts)

    def _definitions(self) -> Iterator[_Block]:
        """Yield the definitions of references with a title."""
        for reference in self._references.get("references", {}).values():
            start, end = self._lines.between(*reference["map"])
            text = self._lines.text[start:end]
            begin = text.find("[")
            if begin >= 0 and (texts := definition_texts(text[begin:])):
                definition = text[begin : begin + texts[-1].end]
                self._inline.texts[definition] = texts
                yield start + begin, start + begin + len(definition), [definition]

    def _html(self, block: str) -> Sequence[_Part]:
        """Return the parts of a block of HTML; all of it as it is if it cannot be read."""
        try:
            parts, texts = html_parts(block, self._name)
        except DataError:
            return [block]
        self._inline.texts |= texts
        return parts

    def _check_length(self, token: Token, start: int) -> None:
        if len(token.content) > _LONGEST:
            line = (self._front + self._lines.text[:start]).count("\n") + 1
            problem = f"a paragraph of more than {_LONGEST:,} characters"
            raise DataError(problem, self._name, line=line, advice="split it")


def _is_whole(token: Token, block: str) -> bool:
    """Return True if a block of HTML has lines of its own, not those of a quote or a list."""
    return "".join(token.content.split()) == "".join(block.split())
