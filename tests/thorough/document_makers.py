"""Documents of any size that consist of one mark, again and again: in one part, and in very many."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from xml.sax.saxutils import escape

Make = Callable[[str, int], bytes]

_PO = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
_XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file original="a" source-language="en" target-language="de" datatype="x"><body>{}</body></file></xliff>'
)
_TMX = (
    '<tmx version="1.4"><header srclang="en" adminlang="en" creationtool="a" creationtoolversion="1" '
    'segtype="sentence" o-tmf="a" datatype="x"/><body>{}</body></tmx>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def _times(unit: str, size: int) -> str:
    return unit * (size // len(unit) + 1)


def plain(mark: str, size: int) -> bytes:
    """Return the mark again and again."""
    return _times(mark, size).encode()


def in_a_paragraph(mark: str, size: int) -> bytes:
    return f"<p>{_times(mark, size)}</p>".encode()


def in_paragraphs(mark: str, size: int) -> bytes:
    return _times(f"<p>{mark}</p>", size).encode()


def in_items(mark: str, size: int) -> bytes:
    return _times(f"- {mark}\n", size).encode()


def in_cells(mark: str, size: int) -> bytes:
    return _times(f"{mark.strip() or 'a'}\n", size).encode()


def in_a_cell(mark: str, size: int) -> bytes:
    text = _times(mark, size).replace('"', '""')
    return f'"{text}"\n'.encode()


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def in_a_message(mark: str, size: int) -> bytes:
    return f'{_PO}msgid "{_quoted(_times(mark, size))}"\nmsgstr ""\n'.encode()


def in_messages(mark: str, size: int) -> bytes:
    return (_PO + "".join(f'msgid "{n} {_quoted(mark)}"\nmsgstr ""\n\n' for n in range(size // 30))).encode()


def in_a_cue(mark: str, size: int) -> bytes:
    return f"1\n00:00:01,000 --> 00:00:02,000\n{_times(mark, size).strip()}\n".encode()


def in_cues(mark: str, size: int) -> bytes:
    return _times(f"1\n00:00:01,000 --> 00:00:02,000\n{mark.strip()}\n\n", size).encode()


def in_a_unit(mark: str, size: int) -> bytes:
    text = escape(_times(mark, size))
    return _XLIFF.format(f'<trans-unit id="1"><source>{text}</source></trans-unit>').encode()


def in_units(mark: str, size: int) -> bytes:
    units = "".join(f'<trans-unit id="{n}"><source>{escape(mark)}</source></trans-unit>' for n in range(size // 50))
    return _XLIFF.format(units).encode()


def in_a_memory(mark: str, size: int) -> bytes:
    return _TMX.format(f'<tu><tuv xml:lang="en"><seg>{escape(_times(mark, size))}</seg></tuv></tu>').encode()


def in_a_run(mark: str, size: int) -> bytes:
    return _docx(f"<w:p><w:r><w:t>{escape(_times(mark, size))}</w:t></w:r></w:p>")


def in_runs(mark: str, size: int) -> bytes:
    run = f'<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{escape(mark)}</w:t></w:r>'
    return _docx(f"<w:p>{_times(f'{run}<w:r><w:t>b</w:t></w:r>', size)}</w:p>")


def _docx(body: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        document = f'<?xml version="1.0"?><w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
        archive.writestr("word/document.xml", document)
    return file.getvalue()


#: By the suffix of each format: one large part, and many small ones.
MAKERS: dict[str, tuple[Make, ...]] = {
    "txt": (plain,),
    "html": (plain, in_a_paragraph, in_paragraphs),
    "md": (plain, in_items),
    "po": (in_a_message, in_messages),
    "srt": (in_a_cue, in_cues),
    "csv": (in_cells, in_a_cell),
    "tsv": (in_cells,),
    "xlf": (in_a_unit, in_units),
    "tmx": (in_a_memory,),
    "docx": (in_a_run, in_runs),
}
