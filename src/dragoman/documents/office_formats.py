"""Descriptions of office formats: which parts of a package have text, and what their elements mean.

Each format is paragraphs of runs: stretches of characters with one formatting, between tabs, line breaks and objects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from dragoman.documents.office_directions import Head, WrittenPart, slide_heads, text_heads, word_heads
from dragoman.documents.office_looks import Languages, with_slide_language, with_word_language
from dragoman.documents.xml_tokens import Element

_NONE = re.compile("(?!)")


@dataclass(frozen=True)
class OfficeFormat:
    """A format. Names of elements are without their prefix.

    Args:
        name: of its files, for messages.
        suffix: of its files.
        main: ends of the types of the part that a file of this format has.
        parts: ends of the types of the parts with text, in the order of their segments.
        roles: of elements in a paragraph, by their names. An element of no role is an object; one whose name ends with
            `Pr` has properties.
        text: the element around characters; nothing if they are in a paragraph themselves, where white space is one
            space.
        space: the attribute of that element that keeps spaces at its ends, if there is one.
        unseen: properties of a run that make no difference that a reader sees.
        script: returns sub or sup for the properties of a raised run, else nothing.
        edges: elements that begin and end a stretch such as a bookmark.
        edge_keys: attributes of which the first that is there says which stretch it is.
        localized: returns properties of a run for words in a language, given the languages and the prefix of elements.
        heads: returns what writes the heads of the paragraphs of a part in the direction of a language.
        link: the properties of a run that say which link it is in, if links are no elements.
        has_root_prefix: only paragraphs with the prefix of the first element are text.
        paragraphs: names of them.
        left_out: elements whose paragraphs stay.
        code_styles: names of the styles for code.
        has_lines: characters may have line breaks among them.
    """

    name: str
    suffix: str
    main: tuple[str, ...]
    parts: tuple[str, ...]
    roles: Mapping[str, str]
    text: str
    space: str
    unseen: re.Pattern[str]
    script: Callable[[str], str]
    edges: re.Pattern[str]
    localized: Callable[[str, Languages, str], str]
    heads: Callable[[WrittenPart], Head]
    edge_keys: tuple[str, ...] = ("id",)
    link: re.Pattern[str] = _NONE
    has_root_prefix: bool = False
    paragraphs: frozenset[str] = frozenset(("p",))
    left_out: frozenset[str] = frozenset()
    #: Styles of Word, LibreOffice and pandoc.
    code_styles: frozenset[str] = frozenset(
        ("HTMLCode", "SourceText", "VerbatimChar", "SourceCode", "HTMLPreformatted", "PreformattedText")
    )
    has_lines: bool = False

    def characters(self, text: str, prefix: str) -> str:
        """Return text as the content of a run."""
        raw = escape(text, quote=False)
        return f"<{prefix}{self.text}{self.space}>{raw}</{prefix}{self.text}>" if self.text else raw

    def run(self, look: str, content: str, prefix: str) -> str:
        """Return a run with properties, which are start tags where characters are in no element."""
        if self.text:
            return f"<{prefix}r>{look}{content}</{prefix}r>"
        return look + content + "".join(f"</{name}>" for name in reversed(re.findall(r"<([^\s>]+)", look)))


def _roles(**elements: str) -> dict[str, str]:
    return {element: role for role, names in elements.items() for element in names.split()}


#: SmartArt with the drawing that shows it, and titles of charts: parts with text like that of PowerPoint.
DRAWINGS = ("drawingml.diagramData+xml", "drawingml.diagramDrawing+xml", "drawingml.chart+xml")

#: Parts of a presentation whose placeholders show nothing.
PATTERNS = ("slideLayout+xml", "slideMaster+xml")


def _raised(pattern: str) -> Callable[[str], str]:
    """Return what finds a subscript (a group `sub`) or a superscript in the properties of a run."""
    compiled = re.compile(pattern)
    return lambda look: match.lastgroup or "" if (match := compiled.search(look)) else ""


_WORD_MAIN = (
    "wordprocessingml.document.main+xml",
    "wordprocessingml.template.main+xml",
    "ms-word.document.macroEnabled.main+xml",
)
#: WordprocessingML (ISO/IEC 29500-1). Tracked changes are read as accepted. What was deleted, places of errors and of
#: hyphens in the old words, and directions within a paragraph (`bdo` would mirror new words) are left out.
WORD = OfficeFormat(
    name="document of Word",
    suffix=".docx",
    main=_WORD_MAIN,
    parts=(*_WORD_MAIN, "header+xml", "footer+xml", "footnotes+xml", "endnotes+xml", *DRAWINGS),
    roles=_roles(
        run="r",
        text="t",
        hyphen="noBreakHyphen",
        cut="tab ptab",
        line="br cr",
        inside="ins moveTo dir bdo",
        wrap="hyperlink smartTag customXml",
        field="fldSimple",
        control="sdt ruby",
        shown="oMath",
        dropped="del moveFrom proofErr lastRenderedPageBreak softHyphen delText",
    ),
    text="t",
    space=' xml:space="preserve"',
    unseen=re.compile(
        r"""<(\w+:)?(lang|noProof|webHidden|rtl)\b[^>]*?(/>|>\s*</[^>]*>)|\s\w+:(rsid\w*|hint)=("[^"]*"|'[^']*')"""
    ),
    script=_raised(r"""<(?:\w+:)?vertAlign\b[^>]*=\s*["'](?:(?P<sub>sub)|(?P<sup>super))script["']"""),
    edges=re.compile(r"(?P<kind>bookmark|perm|\w*Range)(?P<edge>Start|End)"),
    localized=with_word_language,
    heads=word_heads,
    has_root_prefix=True,
)

#: PresentationML with the text of DrawingML (ISO/IEC 29500-1). A link is a property of its words. A tab is a character.
POWERPOINT = OfficeFormat(
    name="presentation of PowerPoint",
    suffix=".pptx",
    main=(
        "presentationml.presentation.main+xml",
        "presentationml.slideshow.main+xml",
        "presentationml.template.main+xml",
        "ms-powerpoint.presentation.macroEnabled.main+xml",
    ),
    parts=("presentationml.slide+xml", "presentationml.notesSlide+xml", *PATTERNS, *DRAWINGS),
    roles=_roles(run="r", text="t", line="br", shown="fld", object="endParaRPr"),
    text="t",
    space="",
    unseen=re.compile(r"""\s(lang|altLang|dirty|err|noProof|smtClean|smtId)=("[^"]*"|'[^']*')"""),
    script=_raised(r"""^<[^<>]*\sbaseline=["'](?:(?P<sub>-[1-9])|(?P<sup>[1-9]))"""),
    edges=_NONE,
    link=re.compile(r"<(?:\w+:)?hlinkClick\b([^>]*?)\s*/?>"),
    localized=with_slide_language,
    heads=slide_heads,
)

#: Text boxes and charts of a workbook (`documents/excel_file.py` reads the rest).
EXCEL = replace(
    POWERPOINT,
    name="workbook of Excel",
    suffix=".xlsx",
    main=(
        "spreadsheetml.sheet.main+xml",
        "spreadsheetml.template.main+xml",
        "ms-excel.sheet.macroEnabled.main+xml",
    ),
    parts=("officedocument.drawing+xml", *DRAWINGS),
)
#: Strings of SpreadsheetML (ISO/IEC 29500-1): a `t`, or runs. How the old words are spoken (`rPh`) is left out.
EXCEL_STRINGS = replace(
    WORD,
    main=EXCEL.main,
    parts=("sharedStrings+xml", "spreadsheetml.worksheet+xml", "comments+xml"),
    roles=_roles(run="r", text="t", dropped="rPh"),
    unseen=re.compile(r"<(\w+:)?(charset|family|scheme)\b[^>]*?/>"),
    edges=_NONE,
    localized=lambda look, _, __: look,
    heads=lambda _: lambda paragraph: paragraph.start,
    has_root_prefix=False,
    paragraphs=frozenset(("si", "is", "text")),
    has_lines=True,
)

_TEXT = ("vnd.oasis.opendocument.text", "vnd.oasis.opendocument.text-template")
#: Text of OpenDocument (ISO/IEC 26300-1). Formatting is a span that names a style. Deleted text and comments stay.
#: The number of a heading is left out: programs count anew.
OPEN_DOCUMENT = OfficeFormat(
    name="text of OpenDocument",
    suffix=".odt",
    main=_TEXT,
    parts=(*_TEXT, "styles.xml"),
    roles=_roles(
        span="span",
        space="s",
        cut="tab",
        line="line-break",
        wrap="a meta meta-field",
        control="ruby",
        dropped="soft-page-break number",
    ),
    text="",
    space="",
    unseen=_NONE,
    script=lambda _: "",
    edges=re.compile(r"(?P<kind>[\w-]+)-(?P<edge>start|end)"),
    localized=lambda look, _, __: look,
    heads=text_heads,
    edge_keys=("name", "id", "change-id"),
    paragraphs=frozenset(("p", "h")),
    left_out=frozenset(("tracked-changes", "annotation")),
    code_styles=frozenset(("Source_20_Text", "Source_Text", "Preformatted_20_Text")),
)
_POSITION = re.compile(r"(?P<sub>sub|-[1-9])|(?P<sup>super|[1-9])")


def with_styles(format: OfficeFormat, styles: Iterable[Element]) -> OfficeFormat:
    """Return a format of OpenDocument with its styles for code, and for what is raised, and those that inherit it."""
    children, scripts = defaultdict[str, list[str]](list), dict[str, str]()
    for style in styles:
        children[style.get("parent-style-name")].append(style.get("name"))
        properties = style.child("text-properties")
        if properties is not None and (position := properties.get("text-position")):
            match = _POSITION.match(position)
            scripts[style.get("name")] = match.lastgroup or "" if match else ""
    _inherit(scripts, children)
    _inherit(code := dict.fromkeys(format.code_styles, ""), children)
    names = re.compile(r"""style-name=["']([^"']*)["']""")

    def script(look: str) -> str:
        return next(filter(None, (scripts.get(name) for name in names.findall(look))), "")

    return replace(format, code_styles=frozenset(code), script=script)


def _inherit(values: dict[str, str], children: Mapping[str, Sequence[str]]) -> None:
    """Give styles without a value that of their parent."""
    waiting = [*values]
    for name in waiting:
        new = [child for child in children.get(name, ()) if child not in values]
        values.update(dict.fromkeys(new, values[name]))
        waiting += new
