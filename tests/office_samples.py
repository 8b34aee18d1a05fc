"""Small presentations and texts of OpenDocument, made from parts so that each file is another one."""

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


def pptx(slide: str, notes: str = "") -> bytes:
    """A presentation with the paragraphs of a slide and of its notes."""
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
            ("layout", f"<a:p>{r('Click here')}</a:p>"),
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


#: Makers of random files by their suffixes, with the parts that have text, and tags that no translation may lose.
SAMPLES = {"pptx": (presentation, ("slide.xml", "notes.xml"), "a:br|a:fld|a:endParaRPr|p:txBody|a:p")}
