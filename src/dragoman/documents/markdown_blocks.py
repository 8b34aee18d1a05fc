"""Blocks that dialects add to CommonMark: alerts, directives, formulas, footnotes and lists of definitions.

The parser would read them as parts of paragraphs, and their signs would be translated.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from dragoman.documents import markdown_dialects as dialects
from dragoman.documents.markdown_lines import add_indented, add_paragraph, line_text

#: The first line of an alert (GitHub) or a callout (Obsidian), alone.
_ALERT = re.compile(r"\[![A-Za-z]{1,20}\][+-]?\s*\Z")
#: A line that begins or ends a directive (MyST, Pandoc, Docusaurus).
_COLONS = re.compile(r":{3,}")
#: Directives whose contents are not translated.
_CODE = re.compile(r":{3,}\s*\{(?:code[\w-]*|math|toctree|mermaid|literalinclude|eval-rst|csv-table)\}")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,80}\]:[ \t]*")
_DEFINITION = re.compile(r":[ \t]+(?=\S)")
_LINK = re.compile(r"\[[^\]^][^\]]{0,200}\]:\s*\S")
_ENV_KEY, _UNCLOSED_KEY = "is_in_footnote", "unclosed_formulas"


def add_dialects(parser: MarkdownIt) -> None:
    """Add these blocks to the rules of a parser."""
    ruler = parser.block.ruler
    around = ["paragraph", "reference", "blockquote", "list"]
    ruler.before("table", "directive", _directive, {"alt": around})
    ruler.before("table", "formula", _formula, {"alt": around})
    ruler.before("table", "alert", _alert)
    ruler.before("table", "admonition", dialects.admonition, {"alt": around})
    ruler.before("table", "enclosed", dialects.enclosed, {"alt": around})
    ruler.before("table", "for_programs", dialects.for_programs, {"alt": around})
    ruler.before("table", "fenced_directive", dialects.fenced_directive, {"alt": around})
    ruler.before("table", "strange_table", dialects.strange_table)
    ruler.before("code", "unknown", dialects.unknown, {"alt": around})
    ruler.before("reference", "signed_line", dialects.signed_line, {"alt": ["paragraph"]})
    ruler.before("reference", "footnote", _footnote, {"alt": around})
    ruler.before("reference", "link_after_footnote", _link_after_footnote, {"alt": ["paragraph"]})
    ruler.before("reference", "definition", _definition, {"alt": ["paragraph"]})


def _directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the line that begins or ends a directive, with its options; take all lines of one with code."""
    line = line_text(state, start)
    match = _COLONS.match(line)
    if match is None or silent:
        return match is not None
    at = start + 1
    if _CODE.match(line):
        while at < end and line_text(state, at).rstrip() != match[0]:
            at += 1
        at = min(at + 1, end)
    elif line.rstrip() != match[0]:
        dialects.directive_title(state, start)
        while at < end and dialects.OPTION.match(line_text(state, at)):
            at += 1
    state.line = at
    return True


def _formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the lines of a formula between `$$` and `$$`."""
    line = line_text(state, start).rstrip()
    if not line.startswith("$$"):
        return False
    if len(line) > 4 and "$$" in line[2:]:
        last = start if line.endswith("$$") else -1
    else:
        last = _formula_end(state, start, end)
    if last < 0:
        return False
    if not silent:
        state.line = last + 1
    return True


def _formula_end(state: StateBlock, start: int, end: int) -> int:
    """Return the last line of a formula; -1 if nothing closes it before an empty line or the end of its list item.

    Lines in which no end was found are remembered, because each of them may begin with `$$`.
    """
    unclosed = state.env.setdefault(_UNCLOSED_KEY, {})
    block = state.parentType, state.level, state.blkIndent, end
    first, stop = unclosed.get(block, (0, 0))
    if first <= start < stop:
        return -1
    for at in range(start + 1, end):
        if state.isEmpty(at) or state.sCount[at] < state.blkIndent:
            break
        if line_text(state, at).rstrip().endswith("$$"):
            return at
    else:
        at = end
    unclosed[block] = start, at
    return -1


def _alert(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Take the first line of a quote if it is the kind of an alert, such as `[!NOTE]`."""
    is_alert = state.parentType == "blockquote" and _ALERT.match(line_text(state, start)) is not None
    if is_alert and not silent:
        state.line = start + 1
    return is_alert


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the text of a footnote, and its indented paragraphs; a definition of a link after it is not part of it."""
    match = _FOOTNOTE.match(line_text(state, start))
    if match is None or silent:
        return match is not None
    state.env[_ENV_KEY] = True
    add_paragraph(state, start, end, match.end())
    state.env.pop(_ENV_KEY, None)
    add_indented(state, state.line, end)
    return True


def _link_after_footnote(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    return silent and _ENV_KEY in state.env and _LINK.match(line_text(state, start)) is not None


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a definition, or the title of a table (Pandoc), and its indented paragraphs."""
    match = _DEFINITION.match(line_text(state, start)) if start > 0 else None
    if match is None or silent:
        return match is not None
    add_paragraph(state, start, end, match.end())
    add_indented(state, state.line, end)
    return True
