"""Real-looking files of Word, made from small parts so that each file is another one."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from xml.sax.saxutils import escape

from document_samples import SENTENCES

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NAMES = (
    f'xmlns:w="{W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
PARTS = {"header1": "hdr", "footer1": "ftr", "footnotes": "footnotes", "endnotes": "endnotes"}
LOOKS = [
    "", "", "<w:rPr><w:b/></w:rPr>", '<w:rPr><w:i/><w:lang w:val="en-GB"/></w:rPr>',
    '<w:rPr><w:rStyle w:val="Strong"/><w:color w:val="FF0000"/></w:rPr>',
    '<w:rPr><w:rFonts w:ascii="Arial" w:hint="default"/><w:sz w:val="28"/></w:rPr>',
]  # fmt: skip


def run(text: str, look: str = "") -> str:
    """A run; its text keeps its spaces."""
    return f'<w:r w:rsidR="00A1">{look}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def field(instruction: str, result: str, look: str = "") -> str:
    """A field in the long form."""
    marks = {kind: f'<w:r>{look}<w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")}
    code = f'<w:r>{look}<w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
    return f"{marks['begin']}{code}{marks['separate']}{run(result, look)}{marks['end']}"


def package(body: str, **others: str) -> bytes:
    """A file with a body, and other parts with text by their names (`PARTS`)."""
    types = [f'<Override PartName="/word/document.xml" ContentType="{_WORD}.document.main+xml"/>']
    types += [
        f'<Override PartName="/word/{name}.xml" ContentType="{_WORD}.{name.rstrip("1")}+xml"/>' for name in others
    ]
    links = [
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{name.rstrip("1")}" Target="{name}.xml"/>'
        for number, name in enumerate([*others, "styles"])
    ]
    links.append(f'<Relationship Id="r9" Type="{_OFFICE}/hyperlink" Target="http://a.org/" TargetMode="External"/>')
    page = "".join(
        f'<w:{name.rstrip("1")}Reference w:type="default" r:id="r{number}"/>'
        for number, name in enumerate(others)
        if name in ("header1", "footer1")
    )
    defaults = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    defaults += (
        '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
    )
    types.append(f'<Override PartName="/word/styles.xml" ContentType="{_WORD}.styles+xml"/>')
    relations = f'xmlns="{_PACKAGE}/relationships"'
    main = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{"".join(types)}</Types>',
        "_rels/.rels": f"<Relationships {relations}>{main}</Relationships>",
        "word/document.xml": f"<w:document {_NAMES}><w:body>{body}<w:sectPr>{page}</w:sectPr></w:body></w:document>",
        "word/_rels/document.xml.rels": f"<Relationships {relations}>{''.join(links)}</Relationships>",
        "word/styles.xml": f"<w:styles {_NAMES}/>",
    }
    for name, content in others.items():
        files[f"word/{name}.xml"] = f"<w:{PARTS[name]} {_NAMES}>{content}</w:{PARTS[name]}>"
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, _HEAD + content)
        target.writestr(zipfile.ZipInfo("word/media/image1.png"), bytes(range(256)))
    return written.getvalue()


def _inline(draw: random.Random, depth: int = 0) -> str:
    text, look = draw.choice(SENTENCES), draw.choice(LOOKS)
    inner = f"<w:p>{run(text)}</w:p>" if depth else f"<w:p>{_inline(draw, 1)}</w:p>"
    box = f"<wps:txbx><w:txbxContent>{inner}</w:txbxContent></wps:txbx>"
    choices: list[Callable[[], str]] = [
        lambda: run(text + " ", look),
        lambda: run(text[:3], look) + '<w:proofErr w:type="spellStart"/>' + run(text[3:] + " ", look),
        lambda: f"<w:r>{look}<w:t>{escape(text)}</w:t><w:tab/><w:t>x</w:t><w:br/></w:r>",
        lambda: f'<w:hyperlink r:id="r9" w:history="1">{run(text, look)}{run(" and more")}</w:hyperlink>',
        lambda: f'<w:fldSimple w:instr=" PAGE ">{run("7")}</w:fldSimple>',
        lambda: run("Page ") + field("PAGE", "3") + run(" of ") + field("NUMPAGES", "12", look),
        lambda: field('HYPERLINK "http://a.org/?a=1&amp;b"', text, look),
        lambda: f'<w:r>{look}<w:footnoteReference w:id="2"/></w:r>',
        lambda: f'<w:bookmarkStart w:id="0" w:name="a"/>{run(text)}<w:bookmarkEnd w:id="0"/>',
        lambda: f'<w:commentRangeStart w:id="1"/>{run(text)}<w:commentRangeEnd w:id="1"/>'
        '<w:r><w:commentReference w:id="1"/></w:r>',
        lambda: f'<w:ins w:id="4" w:author="A">{run(text, look)}</w:ins>',
        lambda: f'<w:del w:id="5" w:author="A"><w:r><w:delText>gone {escape(text)}</w:delText></w:r></w:del>',
        lambda: f"<w:sdt><w:sdtPr><w:alias w:val='a'/></w:sdtPr><w:sdtContent>{run(text)}</w:sdtContent></w:sdt>",
        lambda: "<m:oMath><m:r><m:t>a+b</m:t></m:r></m:oMath>" + run(" is " + text),
        lambda: f"<w:r>{look}<mc:AlternateContent><mc:Choice Requires='wps'>{box}</mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r>",
        lambda: "<!-- a > b --><w:r><w:t><![CDATA[a < b]]> &#252;</w:t><w:noBreakHyphen/><w:softHyphen/></w:r>",
        lambda: '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' + run(text),
        lambda: f'<w:smartTag w:element="x"><w:smartTagPr/>{run(text)}</w:smartTag>',
    ]  # fmt: skip
    return draw.choice(choices)()


def paragraph(draw: random.Random) -> str:
    """A paragraph of some things."""
    style = draw.choice(["", '<w:pPr><w:pStyle w:val="Heading1"/><w:jc w:val="center"/></w:pPr>'])
    return f"<w:p>{style}{''.join(_inline(draw) for _ in range(draw.randint(0, 4)))}</w:p>"


def _table(draw: random.Random, depth: int = 0) -> str:
    cells = ""
    for _ in range(draw.randint(1, 3)):
        nested = _table(draw, depth + 1) if depth < 2 and draw.random() < 0.3 else ""
        cells += f'<w:tc><w:tcPr><w:tcW w:w="0" w:type="auto"/></w:tcPr>{nested}{paragraph(draw)}</w:tc>'
    return f"<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{cells}</w:tr></w:tbl>"


def word_file(draw: random.Random) -> bytes:
    """A file with tables, a header, a footer and notes, or some of them."""
    body = "".join(draw.choice([paragraph, paragraph, _table])(draw) for _ in range(draw.randint(1, 7)))
    others = {}
    for name in PARTS:
        note = name.removesuffix("s")
        inner = paragraph(draw)
        if draw.random() < 0.6:
            others[name] = f'<w:{note} w:id="2">{inner}</w:{note}>' if name.endswith("notes") else inner
    return package(body + paragraph(draw), **others)
