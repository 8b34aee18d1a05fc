"""Lines of Markdown for rules of blocks: their text, what ends a block, and indented or enclosed contents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.rules_block import StateBlock, paragraph
from markdown_it.token import Token

#: The columns by which the contents of a note or an admonition are indented.
INDENT = 4
#: For the title of a block: it stands between quotation marks.
QUOTED = "is_quoted"
_ENDLESS_KEY, _LEFT_KEY = "endless_blocks", "left_lines"


def line_text(state: StateBlock, number: int) -> str:
    """Return a line without its indentation; an empty one for a line of indented code."""
    if state.is_code_block(number):
        return ""
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def find_end(state: StateBlock, start: int, end: int, closing: re.Pattern[str]) -> int:
    """Return the first line from one on that begins with a pattern; -1 if there is none before the end.

    Searches in vain are remembered, because each line may begin such a block.
    """
    endless = state.env.setdefault(_ENDLESS_KEY, {})
    first, stop = endless.get(closing.pattern, (0, 0))
    if first <= start and end <= stop:
        return -1
    for at in range(start, end):
        if closing.match(line_text(state, at)):
            return at
    endless[closing.pattern] = start, end
    return -1


def leave(state: StateBlock, start: int, end: int) -> None:
    """Leave lines as they are, and note it."""
    state.env.setdefault(_LEFT_KEY, []).append((start, line_text(state, start).strip()))
    state.line = end


def left_lines(references: dict[str, object]) -> Sequence[tuple[int, str]]:
    """Return the lines that were left, by their numbers from 0, given the `env` of a document."""
    found = references.get(_LEFT_KEY, [])
    return found if isinstance(found, list) else []


def add_text(state: StateBlock, number: int, text: str, *, is_quoted: bool = False) -> None:
    """Add a text of one line, such as the title of a block."""
    if text.strip():
        inline = Token("inline", "", 0, content=text.strip(), map=[number, number + 1], children=[])
        inline.meta[QUOTED] = is_quoted
        state.tokens.append(inline)


def add_paragraph(state: StateBlock, start: int, end: int, n_before: int) -> None:
    """Add a paragraph without the characters before it in its first line; a single line may have nothing else."""
    if not line_text(state, start)[n_before:].strip():
        state.line = start + 1
        return
    first = len(state.tokens)
    paragraph(state, start, end, False)
    inline = state.tokens[first + 1]
    inline.content = inline.content[n_before:]


def add_indented(state: StateBlock, start: int, end: int) -> None:
    """Read the lines that are indented, and empty ones between them, as blocks."""
    at = last = start
    while at < end and (state.isEmpty(at) or state.sCount[at] >= state.blkIndent + INDENT):
        last = last if state.isEmpty(at) else at + 1
        at += 1
    if last > start:
        state.blkIndent += INDENT
        add_blocks(state, start, last)
        state.blkIndent -= INDENT
    state.line = last


def add_blocks(state: StateBlock, start: int, end: int) -> None:
    """Read lines as blocks inside the one that is read."""
    line_max, parent = state.lineMax, state.parentType
    state.lineMax, state.parentType = end, "root"
    state.level += 1
    state.md.block.tokenize(state, start, end)
    state.level -= 1
    state.lineMax, state.parentType = line_max, parent
    state.line = end
