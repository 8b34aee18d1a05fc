"""Blocks that dialects add to CommonMark: alerts, directives, formulas, footnotes, lists of definitions and others.

The parser would read them as parts of paragraphs, and their signs would be translated. The dialects are those of
MkDocs, Pandoc, MyST, kramdown, GitLab, Hugo, Jekyll, Docusaurus and Obsidian. Tables that CommonMark does not have, raw
TeX, and lines that begin with signs that no rule knows are left alone, and noted.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from dragoman.documents.markdown_lines import (
    add_blocks,
    add_indented,
    add_paragraph,
    add_text,
    find_end,
    leave,
    line_text,
)
from dragoman.documents.markdown_markup import ATTRIBUTES, TEMPLATE
from dragoman.text.sentences import has_words

#: Admonitions and tabs of MkDocs, whose texts are indented: `!!! note "Title"`, `??? tip`, `=== "Linux"`.
_ADMONITION = re.compile(
    r'(?:(?:!!!|\?\?\?\+?)[ \t]+[A-Za-z][\w -]{0,100}?|===[!+]?)(?:[ \t]+"(?P<title>[^"]*)")?[ \t]*\Z'
)
#: Kinds of directives whose texts and titles are shown.
_KINDS = (
    "abstract|admonition|attention|card|caution|danger|details|dropdown|epigraph|error|example|exercise|hint|important"
    "|info|margin|note|question|seealso|secondary|sidebar|solution|spoiler|success|tab-item|tip|topic|warning"
)
#: Those whose first line has no text, but the name of a file or a version.
_UNTITLED = "deprecated|figure|glossary|grid|tab-set|table|versionadded|versionchanged"
#: The first line of such a directive, with colons or as a fence (MyST).
_TITLED = re.compile(
    rf"(?:`{{3,}}|~{{3,}}|:{{3,}})[ \t]*(?:\{{(?P<braced>{_KINDS})\}}|(?P<bare>{_KINDS})\b)(?:\[(?P<label>[^\]]*)\])?"
    r"(?P<title>[^{}]*)(?:\{[^{}]*\})?[ \t]*\Z"
)
_FENCE = re.compile(rf"(?P<fence>`{{3,}}|~{{3,}})\{{(?:{_KINDS}|{_UNTITLED})\}}")
#: An option of a directive.
_OPTION = re.compile(r":[\w-]{1,40}:(?:\s|\Z)")
#: Whole lines for programs: tables of contents, labels, comments, included files, attributes, imports of MDX.
_FOR_PROGRAMS = re.compile(
    r"\[(?:TOCM?|toc)\]\s*\Z|\{:toc[^}]*\}|\([\w:./-]{1,80}\)=\s*\Z|%\s|-{1,4}8<-{1,4}|\\newpage\b|\\pagebreak\b"
    rf"|(?>(?:{ATTRIBUTES}|{TEMPLATE})\s*)+\Z"
    r"""|(?:import\s+[\w{*][^'"]{0,200}\sfrom\s+|import\s+|export\s+\*\s+from\s+)['"][^'"]{1,200}['"];?\s*\Z"""
)
#: What begins a block that is left alone as a whole, and what begins its last line.
_ENCLOSED = (
    (re.compile(r"\\begin\{(?P<name>[\w*]{1,40})\}"), r"(?:.*)\\end\{%s\}"),
    (re.compile(r"\{\{[<%]\s*(?P<name>highlight|mermaid|math|katex|code)\b(?!.*/[>%]\}\})"), r".*\{\{[<%%]\s*/\s*%s\b"),
    (re.compile(r"\{%-?\s*(?P<name>highlight|raw|comment|mermaid|math)\b"), r".*\{%%-?\s*end%s\b"),
    (re.compile(r"\{::(?P<name>comment|nomarkdown)\}"), r".*\{:/(?:%s)?\}"),
)
#: Tables with `+---+` around cells, and with a line of dashes for each column.
_GRID, _RULED = re.compile(r"\+[-=:+]{2,}\+\s*\Z"), re.compile(r"-{2,}(?:[ \t]+-{2,})+[ \t]*\Z")
#: What a line begins with that has a text of its own: an abbreviation, a line of verse (Pandoc), a numbered example, an
#: alert with a title.
_SIGNED = re.compile(r"\*\[[^\]]{1,100}\]:[ \t]+|\|[ \t]+(?=[^|]*\Z)|\[![\w-]{1,30}\][+-]?[ \t]+(?=\S)")
_UNKNOWN = re.compile(r"([!?&/+=^|;,@%])\1{2,}|@@|!!(?!\[)|%%(?!.*%%)")


def admonition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take the first line of an admonition or a tab, and the indented texts below it."""
    match = _ADMONITION.match(line_text(state, start))
    if match is None or (match[0].startswith("===") and match["title"] is None):
        return False
    if not silent:
        add_text(state, start, match["title"] or "", is_quoted=True)
        add_indented(state, start + 1, end)
    return True


def directive_title(state: StateBlock, start: int) -> None:
    """Add the title of a directive, if it has one."""
    if (match := _TITLED.match(line_text(state, start))) is not None:
        add_text(state, start, match["label"] or match["title"])


def fenced_directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a directive of MyST that is written as a fence around text."""
    match = _FENCE.match(line_text(state, start))
    if match is None:
        return False
    fence = match["fence"]
    last = find_end(state, start + 1, end, re.compile(rf"{fence}{fence[0]}*\s*\Z"))
    if last < 0:
        return False
    if not silent:
        directive_title(state, start)
        first = start + 1
        while first < last and _OPTION.match(line_text(state, first)):
            first += 1
        add_blocks(state, first, last)
        state.line = last + 1
    return True


def for_programs(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Take a line that no reader sees."""
    is_such = _FOR_PROGRAMS.match(line_text(state, start)) is not None
    if is_such and not silent:
        state.line = start + 1
    return is_such


def enclosed(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Leave raw TeX and code of a template alone."""
    line = line_text(state, start)
    if not line.startswith(("\\", "{")):
        return False
    for opening, closing in _ENCLOSED:
        if (match := opening.match(line)) is not None:
            last = find_end(state, start, end, re.compile(closing % re.escape(match["name"])))
            if last >= 0 and not silent:
                state.line = last + 1
                if line.startswith("\\"):
                    leave(state, start, last + 1)
            return last >= 0
    return False


def strange_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Leave a table of Pandoc alone, up to the next empty line, or to its last line of dashes."""
    is_ruled = _RULED.match(line_text(state, start)) is not None
    has_head = start + 1 < end and _RULED.match(line_text(state, start + 1)) is not None
    if not (_GRID.match(line_text(state, start)) or is_ruled or has_head):
        return False
    if not silent:
        at = start
        while at < end and not state.isEmpty(at):
            at += 1
        leave(state, start, at)
    return True


def signed_line(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Take a line whose text follows a sign."""
    line = line_text(state, start)
    match = _SIGNED.match(line)
    if match is None or (match[0].startswith("[!") and state.parentType != "blockquote"):
        return False
    if not silent:
        add_text(state, start, line[match.end() :])
        state.line = start + 1
    return True


def unknown(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """Leave a line that begins with signs that no rule knows."""
    line = line_text(state, start)
    is_unknown = _UNKNOWN.match(line) is not None and (has_words(line) or line[0] != "=")
    if is_unknown and not silent:
        if has_words(line):
            leave(state, start, start + 1)
        state.line = start + 1
    return is_unknown


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
    ruler.before("table", "admonition", admonition, {"alt": around})
    ruler.before("table", "enclosed", enclosed, {"alt": around})
    ruler.before("table", "for_programs", for_programs, {"alt": around})
    ruler.before("table", "fenced_directive", fenced_directive, {"alt": around})
    ruler.before("table", "strange_table", strange_table)
    ruler.before("code", "unknown", unknown, {"alt": around})
    ruler.before("reference", "signed_line", signed_line, {"alt": ["paragraph"]})
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
        directive_title(state, start)
        while at < end and _OPTION.match(line_text(state, at)):
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
