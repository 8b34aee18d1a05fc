"""Small presentations, texts of OpenDocument and workbooks, made from parts so that each file is another one."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape

from document_samples import SENTENCES

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
_TYPE = "application/vnd.openxmlformats-officedocument.presentationml"
PICTURE = {"media/image1.png": bytes(range(256))}


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A package."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            target.writestr(name, content, kind)
    return written.getvalue()


def pptx(slide: str, notes: str = "", layout: str = "") -> bytes:
    """A presentation with the paragraphs of a slide, of its notes, and of its layout."""
    parts = {"presentation.main": "presentation", "slide": "slide", "notesSlide": "notes", "slideLayout": "layout"}
    types = "".join(f'<Override PartName="/{name}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
                    for kind, name in parts.items())  # fmt: skip
    names = f'xmlns:a="{_DRAWING}" xmlns:p="{_PRESENTATION}" xmlns:r="relations"'
    files = {
        name: f"<p:x {names}><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:x>"
        for name, paragraphs in (
            ("presentation", ""),
            ("slide", slide),
            ("notes", notes),
            ("layout", f"<p:sp><p:nvSpPr><p:ph/></p:nvSpPr><a:p>{r('Click here')}</a:p></p:sp>{layout}"),
        )
    }
    start: dict[str, str | bytes] = {"[Content_Types].xml": f"{_HEAD}<Types>{types}</Types>", **PICTURE}
    return zipped(start | {f"{name}.xml": _HEAD + content for name, content in files.items()})


def r(text: str, properties: str = "") -> str:
    """A run of DrawingML."""
    return f"<a:r>{properties}<a:t>{escape(text)}</a:t></a:r>"


def _slide(draw: random.Random) -> str:
    def inline() -> str:
        text = draw.choice(SENTENCES)
        look = draw.choice(["", '<a:rPr b="1"/>', '<a:rPr lang="en-US" err="1"><a:latin typeface="a>b"/></a:rPr>'])
        return draw.choice([
            r(text + " ", look),
            r(text[:3]) + r(text[3:], '<a:rPr dirty="0" lang="en-GB"/>'),
            r("H", look) + r("2", '<a:rPr baseline="-25000"/>') + r("O is wet. "),
            r(text, '<a:rPr><a:hlinkClick r:id="r1"/></a:rPr>'),
            f"{r(text)}<a:br>{look}</a:br>",
            r(f"{text}\tand {text}", look),
            '<a:fld id="{0}" type="slidenum"><a:rPr/><a:pPr/><a:t>7</a:t></a:fld>',
        ])  # fmt: skip

    end = draw.choice(["", '<a:endParaRPr lang="en-US"/>'])
    return f"<a:p>{draw.choice(['', '<a:pPr/>'])}{''.join(inline() for _ in range(draw.randint(0, 4)))}{end}</a:p>"


def presentation(draw: random.Random) -> bytes:
    """A presentation."""
    return pptx("".join(_slide(draw) for _ in range(draw.randint(1, 6))), _slide(draw))


_NAMES = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
                  for name in ("office", "style", "text", "draw"))  # fmt: skip
STYLES = "".join(
    f'<style:style style:name="{name}" style:parent-style-name="{parent}" style:family="text">'
    f"<style:text-properties{properties}/></style:style>"
    for name, parent, properties in (
        ("T1", "", ' fo:font-weight="bold"'),
        ("T2", "", ' style:text-position="sub 58%"'),
        ("T3", "Source_20_Text", ""),
    )
)


def odt(body: str, header: str = "", mimetype: str = "application/vnd.oasis.opendocument.text") -> bytes:
    """A text of OpenDocument."""
    names = f'{_NAMES} xmlns:fo="fo"'
    styles = f"<office:automatic-styles>{STYLES}</office:automatic-styles>"
    content = f"{styles}<office:body><office:text>{body}</office:text></office:body>"
    page = f"<style:master-page><style:header>{header}</style:header></style:master-page>"
    return zipped({
        "mimetype": mimetype,
        "content.xml": f"{_HEAD}<office:document-content {names}>{content}</office:document-content>",
        "styles.xml": f"{_HEAD}<office:document-styles {names}>{page}</office:document-styles>",
        "META-INF/manifest.xml": "<manifest/>",
        **PICTURE,
    })  # fmt: skip


def span(text: str, style: str = "T1") -> str:
    """A span of OpenDocument."""
    return f'<text:span text:style-name="{style}">{escape(text)}</text:span>'


def _paragraph(draw: random.Random, depth: int = 0) -> str:
    def inline() -> str:
        text = escape(draw.choice(SENTENCES))
        inner = _paragraph(draw, 1) if not depth else ""
        return draw.choice([
            f"{text}\n  ",
            span(draw.choice(SENTENCES)),
            f'<text:span text:style-name="T1">{text} <text:span text:style-name="T4">deep</text:span></text:span> ',
            "H" + span("2", "T2") + "O is wet. ",
            f"Type {span('ls -l', 'T3')} now. ",
            f"{text}<text:s text:c='3'/>{text}<text:tab/>{text}<text:line-break/>{text}",
            f'<text:a xlink:href="a>b" xmlns:xlink="x">{text}</text:a> ',
            f'<text:bookmark-start text:name="a"/>{text}<text:bookmark-end text:name="a"/> ',
            "Page <text:page-number>7</text:page-number>. <text:soft-page-break/><!-- a > b --> ",
            f"<draw:frame><draw:text-box>{inner}</draw:text-box></draw:frame> ",
            f"<text:note><text:note-citation>1</text:note-citation><text:note-body>{inner}</text:note-body></text:note>",
            "<office:annotation><text:p>A comment.</text:p></office:annotation>",
        ])  # fmt: skip

    name = draw.choice(["text:p", "text:h"])
    return f"<{name}>{''.join(inline() for _ in range(draw.randint(0, 4)))}</{name}>"


def open_document(draw: random.Random) -> bytes:
    """A text of OpenDocument."""
    return odt("".join(_paragraph(draw) for _ in range(draw.randint(1, 6))), _paragraph(draw))


_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_KINDS = {
    "workbook": "spreadsheetml.sheet.main",
    "strings": "spreadsheetml.sharedStrings",
    "sheet": "spreadsheetml.worksheet",
    "notes": "spreadsheetml.comments",
    "threads": "ms-excel.threadedcomments",
    "drawing": "openxmlformats-officedocument.drawing",
    "table": "spreadsheetml.table",
}


def xlsx(strings: str = "", inline: str = "", **others: str) -> bytes:
    """A workbook with shared strings (`<si>`), rows of cells, and the contents of other parts by their names."""
    cells = "".join(f'<c t="s"><v>{number}</v></c>' for number in range(strings.count("<si>")))
    view = '<sheetViews><sheetView tabSelected="1" workbookViewId="0"/></sheetViews>'
    contents = {
        "workbook": '<workbook NAMES><calcPr calcId="1"/></workbook>',
        "strings": f"<sst NAMES>{strings}</sst>",
        "sheet": f'<worksheet NAMES>{view}<sheetData><row r="1">{cells}{inline}</row></sheetData>'
        f"{others.pop('sheet', '')}</worksheet>",
        "notes": "<comments NAMES><authors/><commentList>" + others.pop("notes", "") + "</commentList></comments>",
        "threads": "<ThreadedComments>" + others.pop("threads", "") + "</ThreadedComments>",
        "drawing": f'<xdr:wsDr xmlns:a="{_DRAWING}" xmlns:xdr="x" xmlns:r="y">'
        + others.pop("drawing", "")
        + "</xdr:wsDr>",
        "table": "<table NAMES><tableColumns>" + others.pop("table", "") + "</tableColumns></table>",
    }
    types = "".join(f'<Override PartName="/{name}.xml" ContentType="application/vnd.{kind}+xml"/>'
                    for name, kind in _KINDS.items())  # fmt: skip
    start: dict[str, str | bytes] = {"[Content_Types].xml": f"{_HEAD}<Types>{types}</Types>", **PICTURE}
    names = f'xmlns="{_SHEETS}"'
    return zipped(start | {f"{name}.xml": _HEAD + text.replace("NAMES", names) for name, text in contents.items()})


def string(text: str) -> str:
    """A shared string without runs."""
    return f"<si><t>{escape(text)}</t></si>"


def rich(text: str, properties: str = "") -> str:
    """A run of SpreadsheetML."""
    return f'<r>{properties}<t xml:space="preserve">{escape(text)}</t></r>'


def _string(draw: random.Random) -> str:
    text, other = draw.choice(SENTENCES), draw.choice(SENTENCES)
    return draw.choice([
        f"<t>{escape(text)}</t>",
        f"<t>{escape(text)}_x000D_\n- {escape(other)}</t><rPh sb='0' eb='1'><t>yomi</t></rPh><phoneticPr fontId='1'/>",
        rich(f"{text} ") + rich(other, '<rPr><b/><sz val="11"/><rFont val="a>b"/></rPr>'),
        rich("H") + rich("2", '<rPr><vertAlign val="subscript"/></rPr>') + rich(f"O is wet. _x000D_\n{text}"),
        f"<t><![CDATA[{text}]]></t>",
        f"<t>&lt;p&gt;{escape(escape(text))}&lt;/p&gt;</t>",
        "<t>A-100</t>",
        "<t/>",
    ])  # fmt: skip


def workbook(draw: random.Random) -> bytes:
    """A workbook."""
    several = range(draw.randint(1, 6))
    return xlsx(
        "".join(f"<si>{_string(draw)}</si>" for _ in several),
        "".join(
            f'<c t="inlineStr"><is>{_string(draw)}</is></c><c t="str"><f>A1&amp;"x"</f><v>ax</v></c>' for _ in several
        ),
        notes="".join(f'<comment ref="A1"><text>{_string(draw)}</text></comment>' for _ in several),
        threads=f"<threadedComment><text>{escape(draw.choice(SENTENCES))}</text></threadedComment>",
        drawing=_slide(draw),
    )


#: Makers of random files by their suffixes, with the parts that have text, and tags that no translation may lose.
SAMPLES = {
    "pptx": (presentation, ("slide.xml", "notes.xml"), "a:br|a:fld|a:endParaRPr|p:txBody|a:p"),
    "odt": (
        open_document,
        ("content.xml", "styles.xml"),
        "text:(?:p|h|a|tab|line-break|bookmark-start|bookmark-end|page-number|note|note-body)|draw:frame|office:annotation",
    ),
    "xlsx": (
        workbook,
        ("strings.xml", "sheet.xml", "notes.xml", "threads.xml", "drawing.xml", "workbook.xml"),
        "si|is|text|c|f|v|a:br|a:fld|a:p",
    ),
}
