"""Documents, whose translations are files of the same form.

    document = open_document(Path("page.html"))
    translations = list(translate_document(document, translator, target_lang="de"))
    content = document.rebuild(translations, "de")

To add a format, write a module with its parser, and add a line to `_PARSERS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name

from dragoman.data.text_files.whole_files import MAX_BYTES, check_size
from dragoman.documents.document import Document, Tabular
from dragoman.documents.translating import SegmentText, translate_document
from dragoman.errors import ConfigError, DataError, reading_problem
from dragoman.text.marked_text import MarkedText

__all__ = [
    "FORMATS",
    "TABLES",
    "Document",
    "MarkedText",
    "SegmentText",
    "open_document",
    "parse_document",
    "read_document",
    "translate_document",
]


Parser = Callable[[bytes, Path], Document]

#: The names of the parsers, with the suffixes of their files: each is imported when it is needed. Markdown and PO need
#: the packages of the extra `documents`; office documents need none.
_PARSERS = {
    "plain_text:parse_text": (".txt",),
    "html_page:WebPage": (".html", ".htm", ".xhtml"),
    "markdown_file:parse_markdown": (".md", ".markdown"),
    "po_file:PoFile": (".po", ".pot"),
    "subtitles:parse_subtitles": (".srt", ".vtt"),
    "xliff_file:XliffFile": (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"),
    "tmx_file:TmxFile": (".tmx",),
    "office_file:parse_docx": (".docx",),
    "office_file:parse_pptx": (".pptx",),
    "office_file:parse_odt": (".odt",),
    "excel_file:ExcelFile": (".xlsx",),
    "epub_file:EpubFile": (".epub",),
    "app_xml_file:parse_android": (".xml",),
    "app_xml_file:parse_resx": (".resx",),
    "key_value_file:parse_properties": (".properties",),
    "key_value_file:parse_strings": (".strings",),
    "qt_file:QtFile": (".ts",),
    "fluent_file:parse_fluent": (".ftl",),
    "string_catalog:StringCatalog": (".xcstrings",),
    "json_file:parse_arb": (".arb",),
    "json_file:parse_i18next": (".json",),
    "table_file:parse_csv": (".csv",),
    "table_file:parse_tsv": (".tsv",),
}
#: Parsers of the content of a file, or their names, by its suffix; they raise DataError for a content that they cannot
#: read.
FORMATS: dict[str, Parser | str] = {
    suffix: f"{__name__}.{parser}" for parser, suffixes in _PARSERS.items() for suffix in suffixes
}
#: Packages, which no text is.
PACKAGES = frozenset((".docx", ".pptx", ".odt", ".xlsx", ".epub"))
#: Other formats of documents, and the one to save them as.
OTHERS = {
    f".{other}": suffix
    for suffix, others in {
        ".docx": "doc docm dot dotm dotx rtf",
        ".pptx": "ppt pptm pps ppsm ppsx pot potm potx odp",
        ".odt": "fodt ott sxw",
        ".xlsx": "xls xlsb xlsm xltm xltx ods",
    }.items()
    for other in others.split()
}
#: Formats that need the names of the columns to translate.
TABLES = frozenset((".csv", ".tsv"))
#: Suffixes that programs use for other things, too: among the files of a folder, they say nothing.
AMBIGUOUS = frozenset((".xml", ".json", ".ts"))


def open_document(path: Path, format: str | None = None, columns: str | None = None) -> Document:
    """Read a document.

    Args:
        format: a suffix of `FORMATS` without its dot; None is that of the file.
        columns: those of a table (CSV, TSV) to translate: names of its first row, which stays, or numbers from 1, with
            commas between them. `name=name_de` fills the empty cells of another column, or a new one.

    Raises:
        ConfigError: the format is none of these.
        DataError: it is too large, or cannot be read.
    """
    if path.is_dir():
        raise DataError("this is a folder, not a file", path, advice="give a file")
    suffix = path.suffix.lower()
    if format is None and suffix not in (*FORMATS, *OTHERS):
        raise ConfigError(f"unknown kind of document {path.suffix!r}", path, advice=f"{_formats()}; --format names one")
    return parse_document(read_document(path), format or suffix.removeprefix("."), path, columns)


def read_document(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        DataError: it cannot be read, or is too large.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DataError(reading_problem(error), path, advice="check the path") from None
    check_size(content, path)
    return content


def parse_document(
    content: bytes, format: str, name: str | Path = "the document", columns: str | None = None
) -> Document:
    """Read a document from memory; see `open_document`.

    Args:
        name: of the document, for messages.

    Raises:
        ConfigError: the format is unknown.
        DataError: the content is too large, or cannot be read.
    """
    if other := OTHERS.get(f".{format}"):
        raise ConfigError(f".{format} is not read", name, advice=f"save it as {other}, for example in LibreOffice")
    if (parse := FORMATS.get(f".{format}")) is None:
        raise ConfigError(f"unknown format {format!r}", name, advice=_formats())
    check_size(content, name)
    parser: Parser = resolve_name(parse) if isinstance(parse, str) else parse
    document = parser(content, Path(name))
    if isinstance(document, Tabular):
        document.choose_columns(columns)
    return document


def _formats() -> str:
    return f"the formats are {', '.join(suffix.removeprefix('.') for suffix in FORMATS)}"
