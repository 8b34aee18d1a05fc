"""Descriptions of office formats: which parts of a package have text, and what their elements mean.

Each format is paragraphs of runs: stretches of characters with one formatting, between tabs, line breaks and objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape

from dragoman.documents.office_looks import in_direction, in_language, with_direction, with_language
from dragoman.documents.xml_tokens import Element


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
        raised: properties of a run with a subscript, and of one with a superscript.
        edges: elements that begin and end a stretch such as a bookmark.
        edge_keys: attributes of which the first that is there says which stretch it is.
        localized: returns properties of a run for words in a language, given both and the prefix of elements.
        directed: returns properties of a paragraph for a language, given the same.
        has_root_prefix: only paragraphs with the prefix of the first element are text.
        paragraphs: names of them.
        left_out: elements whose paragraphs stay.
        code_styles: names of the styles for code.
    """

    name: str
    suffix: str
    main: tuple[str, ...]
    parts: tuple[str, ...]
    roles: Mapping[str, str]
    text: str
    space: str
    unseen: re.Pattern[str]
    raised: tuple[re.Pattern[str], re.Pattern[str]]
    edges: re.Pattern[str]
    localized: Callable[[str, str, str], str]
    directed: Callable[[str, str, str], str]
    edge_keys: tuple[str, ...] = ("id",)
    has_root_prefix: bool = False
    paragraphs: frozenset[str] = frozenset(("p",))
    left_out: frozenset[str] = frozenset()
    #: Styles of Word, LibreOffice and pandoc.
    code_styles: frozenset[str] = frozenset(
        ("HTMLCode", "SourceText", "VerbatimChar", "SourceCode", "HTMLPreformatted", "PreformattedText")
    )

    def characters(self, text: str, prefix: str) -> str:
        """Return text as the content of a run."""
        raw = escape(text, quote=False)
        return f"<{prefix}{self.text}{self.space}>{raw}</{prefix}{self.text}>" if self.text else raw

    def run(self, look: str, content: str, prefix: str) -> str:
        """Return a run with properties, which are start tags where characters are in no element."""
        if self.text:
            return f"<{prefix}r>{look}{content}</{prefix}r>"
        return look + content + "".join(f"</{name}>" for name in reversed(re.findall(r"<([^\s>]+)", look)))

    def script(self, look: str) -> str:
        """Return sub or sup for the properties of a raised run."""
        return next((name for name, own in zip(("sub", "sup"), self.raised, strict=True) if own.search(look)), "")


def _roles(**elements: str) -> dict[str, str]:
    return {element: role for role, names in elements.items() for element in names.split()}


_NONE = re.compile("(?!)")
_WORD_MAIN = (
    "wordprocessingml.document.main+xml",
    "wordprocessingml.template.main+xml",
    "ms-word.document.macroEnabled.main+xml",
)
#: WordprocessingML (ISO/IEC 29500-1). Tracked changes are read as accepted. What was deleted, and places of errors and
#: of hyphens in the old words, are left out.
WORD = OfficeFormat(
    name="document of Word",
    suffix=".docx",
    main=_WORD_MAIN,
    parts=(*_WORD_MAIN, "header+xml", "footer+xml", "footnotes+xml", "endnotes+xml"),
    roles=_roles(
        run="r",
        text="t",
        hyphen="noBreakHyphen",
        cut="tab ptab",
        line="br cr",
        inside="ins moveTo ruby rubyBase",
        wrap="hyperlink smartTag customXml dir bdo",
        field="fldSimple",
        control="sdt",
        shown="oMath",
        dropped="del moveFrom proofErr lastRenderedPageBreak softHyphen delText rt",
    ),
    text="t",
    space=' xml:space="preserve"',
    unseen=re.compile(
        r"""<(\w+:)?(lang|noProof|webHidden|rtl)\b[^>]*?(/>|>\s*</[^>]*>)|\s\w+:(rsid\w*|hint)=("[^"]*"|'[^']*')"""
    ),
    raised=(
        re.compile(r"""<(?:\w+:)?vertAlign\b[^>]*=\s*["']subscript["']"""),
        re.compile(r"""<(?:\w+:)?vertAlign\b[^>]*=\s*["']superscript["']"""),
    ),
    edges=re.compile(r"(?P<kind>bookmark|\w*Range)(?P<edge>Start|End)"),
    localized=in_language,
    directed=in_direction,
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
    parts=("presentationml.slide+xml", "presentationml.notesSlide+xml"),
    roles=_roles(run="r", text="t", line="br", shown="fld", object="endParaRPr"),
    text="t",
    space="",
    unseen=re.compile(r"""\s(lang|altLang|dirty|err|noProof|smtClean|smtId)=("[^"]*"|'[^']*')"""),
    raised=(
        re.compile(r"""^<[^<>]*\sbaseline=["']-[1-9]"""),
        re.compile(r"""^<[^<>]*\sbaseline=["'][1-9]"""),
    ),
    edges=_NONE,
    localized=with_language,
    directed=with_direction,
)

_TEXT = ("vnd.oasis.opendocument.text", "vnd.oasis.opendocument.text-template")
#: Text of OpenDocument (ISO/IEC 26300-1). Formatting is a span that names a style. Deleted text and comments stay.
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
        inside="ruby ruby-base",
        wrap="a meta meta-field",
        dropped="soft-page-break ruby-text",
    ),
    text="",
    space="",
    unseen=_NONE,
    raised=(_NONE, _NONE),
    edges=re.compile(r"(?P<kind>[\w-]+)-(?P<edge>start|end)"),
    localized=lambda look, _, __: look,
    directed=lambda properties, _, __: properties,
    edge_keys=("name", "id", "change-id"),
    paragraphs=frozenset(("p", "h")),
    left_out=frozenset(("tracked-changes", "annotation")),
    code_styles=frozenset(("Source_20_Text", "Source_Text", "Preformatted_20_Text")),
)
_POSITION = re.compile(r"(?P<sub>sub|-[1-9])|(?P<sup>super|[1-9])")


def with_styles(format: OfficeFormat, root: Element) -> OfficeFormat:
    """Return a format of OpenDocument with the styles that a part has for code, and for what is raised."""
    code, raised = {*format.code_styles}, dict[str, list[str]](sub=[], sup=[])
    for style in (element for element in root.all() if element.name == "style"):
        if style.get("parent-style-name") in code:
            code.add(style.get("name"))
        properties = style.child("text-properties")
        if properties is not None and (match := _POSITION.match(properties.get("text-position"))):
            raised[match.lastgroup or ""].append(re.escape(style.get("name")))
    sub, sup = (re.compile(rf"""style-name=["']({"|".join(names) or "(?!)"})["']""") for names in raised.values())
    return replace(format, code_styles=frozenset(code), raised=(sub, sup))
