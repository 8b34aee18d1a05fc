"""Descriptions of office formats: which parts of a package have text, and what their elements mean.

Each format is paragraphs of runs: stretches of characters with one formatting, between tabs, line breaks and objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape

from dragoman.documents.office_looks import in_direction, in_language, with_direction, with_language


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
        text: the element around characters.
        space: the attribute of that element that keeps spaces at its ends, if there is one.
        unseen: properties of a run that make no difference that a reader sees.
        raised: properties of a run with a subscript, and of one with a superscript.
        edges: elements that begin and end a stretch such as a bookmark.
        localized: returns properties of a run for words in a language, given both and the prefix of elements.
        directed: returns properties of a paragraph for a language, given the same.
        has_root_prefix: only paragraphs with the prefix of the first element are text.
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
    has_root_prefix: bool = False
    #: Styles of Word, LibreOffice and pandoc.
    code_styles: frozenset[str] = frozenset(
        ("HTMLCode", "SourceText", "VerbatimChar", "SourceCode", "HTMLPreformatted", "PreformattedText")
    )

    def characters(self, text: str, prefix: str) -> str:
        """Return text as the content of a run."""
        return f"<{prefix}{self.text}{self.space}>{escape(text, quote=False)}</{prefix}{self.text}>"

    def run(self, look: str, content: str, prefix: str) -> str:
        """Return a run with properties."""
        return f"<{prefix}r>{look}{content}</{prefix}r>"

    def script(self, look: str) -> str:
        """Return sub or sup for the properties of a raised run."""
        return next((name for name, own in zip(("sub", "sup"), self.raised, strict=True) if own.search(look)), "")


def _roles(**elements: str) -> dict[str, str]:
    return {element: role for role, names in elements.items() for element in names.split()}


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
    edges=re.compile("(?!)"),
    localized=with_language,
    directed=with_direction,
)
