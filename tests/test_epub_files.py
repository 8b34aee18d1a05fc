"""Books (EPUB): what has no text stays, pages stay XML, languages and directions are written, bad books are refused."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dragoman.documents import open_document, parse_document
from dragoman.documents.document import Bilingual, Document, Noted
from dragoman.errors import DataError
from dragoman.translator import Translation

CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="O/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">urn:x:1</dc:identifier>
<dc:title>Mills &amp; doors</dc:title><dc:title xml:lang="fr">Les moulins</dc:title><dc:language>en-GB</dc:language>
<dc:creator>Ann Mill</dc:creator><dc:description>&lt;p&gt;A &lt;b&gt;blue&lt;/b&gt; door&lt;/p&gt;</dc:description>
</metadata><manifest><item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
<item id="t" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="c" href="text/%E4%B8%80%201.xhtml" media-type="application/xhtml+xml"/>
<item id="s" href="a.css" media-type="text/css"/></manifest><spine toc="n"><itemref idref="c"/></spine></package>"""
CONTENTS = """<?xml version="1.0"?>
<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="en"><head/>
<docTitle><text>Mills</text></docTitle>
<docAuthor><text>Ann Mill</text></docAuthor><navMap><navPoint id="a"><navLabel><text>
  The door </text></navLabel><content src="text/1.xhtml"/></navPoint></navMap>
<pageList><pageTarget><navLabel><text>iv</text></navLabel></pageTarget></pageList></ncx>"""
NAVIGATION = """<?xml version="1.0"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Contents</title></head>
<body><nav epub:type="toc"><ol><li><a href="text/1.xhtml">The door</a></li></ol></nav>
<nav epub:type="page-list"><ol><li><a href="text/1.xhtml#p">iv</a></li></ol></nav></body></html>"""
PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head><title/><meta charset="utf-8"/><script src="a.js"/>
<style><![CDATA[ p > b {} ]]></style></head><body><p>The <b>blue</b> door<a id="p"/> is&#160;old &amp; open.<br/>Go
<br></br>on</p>
<p>See <i xml:lang="fr">la porte</i> &lt; here<img src="a.png" alt="A &quot;mill&quot;"/></p><hr/><p/>
<p><![CDATA[If a < b, then go]]> on</p>
<svg xmlns="http://www.w3.org/2000/svg"><text>A wall<tspan/></text></svg></body></html>"""
FILES = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "O/book.opf": PACKAGE,
    "O/toc.ncx": CONTENTS,
    "O/nav.xhtml": NAVIGATION,
    "O/text/一 1.xhtml": PAGE,
    "O/a.css": "p {}",
}
READ = [
    *("Mills & doors", "A blue door", "Mills", "The door", "Contents", "The door"),
    *("The blue door is old & open.", "Go", "on", 'See <i xml:lang="fr">la porte</i> < here'),
    *("If a < b, then go on", "A wall", 'A "mill"'),
]


def zipped(files: dict[str, str | bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return written.getvalue()


def book(**changed: str | bytes) -> bytes:
    """A book with other contents of some files, by the names without folders and suffixes."""
    return zipped({name: changed.get(Path(name).stem, content) for name, content in FILES.items()})


def parts(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        first = file.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
        return {name: file.read(name).decode() for name in file.namelist()}


def opened(content: bytes, source: str, target: str) -> Document:
    document = parse_document(content, "epub")
    assert isinstance(document, Bilingual)
    document.set_languages(source, target)
    return document


def shouted(document: Document) -> list[Translation]:
    links = tuple((number, number) for number in range(20))
    texts = [segment.text for segment in document.segments()]
    plain = [re.sub(r"(<i .*?</i>)|\w+", lambda match: match[1] or match[0].upper(), text) for text in texts]
    return [replace(Translation(text, 0.0, ()), alignment=links) for text in plain]


def test_a_book_has_its_texts_and_of_itself_is_the_book() -> None:
    content = book()
    document = opened(content, "en", "de")
    assert [segment.text for segment in document.segments()] == READ
    assert document.rebuild([Translation(text, 0.0, ()) for text in READ]) == content


@pytest.mark.parametrize("target", ["de", "ar"])
def test_a_translated_book_changes_only_texts_and_languages(target: str) -> None:
    written = parts(opened(book(), "en", target).rebuild(shouted(opened(book(), "en", target)), target))
    assert list(written) == list(FILES)
    assert {name for name in FILES if written[name] != FILES[name]} == {*list(FILES)[2:6]}
    rtl = ' dir="rtl"' * (target == "ar")
    expected = PACKAGE.replace('xml:lang="en"', f'xml:lang="{target}"').replace(">en-GB<", f">{target}<")
    expected = expected.replace("Mills &amp; doors", "MILLS &amp; DOORS").replace("A &lt;b&gt;blue", "A &lt;b&gt;BLUE")
    expected = expected.replace(" door&lt;", " DOOR&lt;")
    if rtl:
        expected = expected.replace('toc="n">', 'toc="n" page-progression-direction="rtl">')
    assert written["O/book.opf"] == expected
    expected = CONTENTS.replace('xml:lang="en"', f'xml:lang="{target}"').replace(">Mills<", ">MILLS<")
    assert written["O/toc.ncx"] == expected.replace("The door", "THE DOOR")
    expected = NAVIGATION.replace("<html", f'<html lang="{target}" xml:lang="{target}"{rtl}').replace(
        "The door", "THE DOOR"
    )
    assert written["O/nav.xhtml"] == expected.replace("Contents", "CONTENTS")
    page = written["O/text/一 1.xhtml"]
    assert page.startswith(PAGE[: PAGE.index("<html")] + f"<html{rtl} xmlns")
    before, after = (ElementTree.fromstring(one) for one in (PAGE, page))
    assert [element.tag for element in after.iter()] == [element.tag for element in before.iter()]
    with_text = (element for element in after.iter() if element.tag.endswith(("}p", "}text", "}style")))
    texts = ["".join(element.itertext()) for element in with_text]
    assert texts == [
        *(" p > b {} ", "THE BLUE DOOR IS OLD & OPEN.GO\nON", "SEE la porte < HERE", ""),
        *("IF A < B, THEN GO ON", "A WALL"),
    ]


def test_an_arabic_book_becomes_german() -> None:
    page = PAGE.replace('xml:lang="en"', 'xml:lang="ar" dir="rtl"')
    package = (
        PACKAGE.replace('"en"', '"ar" dir="rtl"')
        .replace("en-GB", "ar")
        .replace("<spine", "<spine page-progression-direction='rtl'")
    )
    document = opened(zipped(FILES | {"O/book.opf": package, "O/text/一 1.xhtml": page}), "ar", "de")
    written = parts(document.rebuild(shouted(document), "de"))
    assert 'xml:lang="de" dir="ltr">' in written["O/text/一 1.xhtml"]
    assert '"i" xml:lang="de" dir="ltr">' in written["O/book.opf"]
    assert 'page-progression-direction="ltr"' in written["O/book.opf"]
    assert "rtl" not in "".join(written.values())


def test_a_book_in_another_language_is_noted() -> None:
    document = opened(book(), "fr", "de")
    assert isinstance(document, Noted)
    assert document.notes() == [
        "the book says that it is in en-GB, but is translated from fr: check the language of the source"
    ]
    assert "Les moulins" in [segment.text for segment in document.segments()]
    assert ">de<" in parts(document.rebuild(shouted(document), "de"))["O/book.opf"]


def test_pages_in_another_language_are_noted_once() -> None:
    pages = {
        "O/text/一 1.xhtml": PAGE.replace('"en"', '"fr"'),
        "O/nav.xhtml": NAVIGATION.replace("<html", "<html lang='fr'"),
    }
    document = opened(zipped(FILES | pages), "en", "de")
    assert isinstance(document, Noted)
    assert document.notes() == [
        "2 pages of the book, such as O/nav.xhtml: the page says that it is in fr, but is translated from en: "
        "check the language of the source"
    ]
    assert opened(book(), "en", "de").notes() == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["text/html", "text/x-oeb1-document"])
def test_pages_of_other_kinds_are_translated(kind: str) -> None:
    package = PACKAGE.replace('1.xhtml" media-type="application/xhtml+xml"', f'1.xhtml" media-type="{kind}"')
    document = opened(book(book=package), "en", "de")
    assert [segment.text for segment in document.segments()] == READ
    assert "THE <b>BLUE</b>" in parts(document.rebuild(shouted(document), "de"))["O/text/一 1.xhtml"]


@pytest.mark.parametrize(
    "body",
    [
        "<p>a<?foo a > <b> ?> b</p>",
        "<p><![CDATA[a < b]]> x <![CDATA[c < d & e]]></p>",
        "<style><![CDATA[a > b]]> <![CDATA[c < d]]></style><p>x</p>",
        "<!-- <b> <![CDATA[ --><p>a</p><script src='a'/><p><![CDATA[<i>]]></p>",
        "<script><![CDATA[a < '</p>']]></script><pre><![CDATA[a < b]]></pre><p>x</p>",
    ],
)
def test_sections_and_instructions_stay_well_formed(body: str) -> None:
    page = f'<html xmlns="http://www.w3.org/1999/xhtml" lang="en"><body>{body}</body></html>'
    document = opened(zipped(FILES | {"O/text/一 1.xhtml": page}), "en", "de")
    written = parts(document.rebuild(shouted(document), "de"))["O/text/一 1.xhtml"]
    before, after = ("".join(ElementTree.fromstring(one).itertext()) for one in (page, written))
    assert after.lower() == before.lower()
    assert "X" in after or "A" in after


def test_a_page_in_another_encoding_stays_in_it() -> None:
    page = PAGE.replace("utf-8", "iso-8859-1", 1).replace("blue", "déjà").encode("iso-8859-1")
    document = opened(zipped(FILES | {"O/text/一 1.xhtml": page}), "en", "ru")
    texts = [Translation(segment.text.replace("door", "дверь"), 0.0, ()) for segment in document.segments()]
    with zipfile.ZipFile(io.BytesIO(document.rebuild(texts, "ru"))) as file:
        root = ElementTree.fromstring(file.read("O/text/一 1.xhtml"))
    assert "The déjà дверь is" in "".join(root.itertext())


def test_names_in_utf_8_without_a_flag_are_read() -> None:
    content = book()
    name = "O/text/一 1.xhtml".encode()
    with_flag = [match.start() for match in re.finditer(re.escape(name), content)]
    unflagged = bytearray(content)
    for at, to_flags in zip(with_flag, (30 - 6, 46 - 8), strict=True):
        unflagged[at - to_flags + 1] &= ~0x08
    assert bytes(unflagged) != content
    document = opened(bytes(unflagged), "en", "de")
    assert list(parts(document.rebuild(shouted(document), "de"))) == list(FILES)


def encrypted(part: str) -> bytes:
    listed = f'<encryption><EncryptedData><CipherData><CipherReference URI="{part}"/></CipherData></EncryptedData>'
    return zipped(FILES | {"META-INF/encryption.xml": f"{listed}</encryption>"})


def test_obfuscated_fonts_do_no_harm() -> None:
    assert len(parse_document(encrypted("O/a.otf"), "epub").segments()) == len(READ)


BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (zipped({"mimetype": "application/epub+zip"}), r"this is no book \(no META-INF/container.xml\)"),
        (book(container="<container/>"), "it names no package document"),
        (book(container=BOMB), r"a document type \(DTD\)"),
        (book(book=BOMB), r"a document type \(DTD\)"),
        (book(toc=BOMB), r"a document type \(DTD\)"),
        (zipped(FILES | {"O/text/一 1.xhtml": BOMB}), "declares entities"),
        (book(book="<package>"), "not well-formed XML"),
        (book(container=CONTAINER.replace("O/book", "O/none")), "'O/none.opf', which it lists, is missing"),
        (
            book(container=CONTAINER.replace("O/book.opf", "../../etc/passwd")),
            r"'\.\./\.\./etc/passwd', which it lists",
        ),
        (book(book=PACKAGE.replace("nav.xhtml", "../../../etc/passwd")), r"'\.\./\.\./etc/passwd', which it lists"),
        (book(book=PACKAGE.replace("nav.xhtml", "/etc/passwd")), "'/etc/passwd', which it lists, is missing"),
        (book(book=PACKAGE.replace("nav.xhtml", "http://a.org/a.xhtml")), "which it lists, is missing"),
        (book(nav=b"<html>\xff"), r"invalid UTF-8: .*O/nav\.xhtml:1"),
        (book(nav="<p/>" * 2_000_001), "tags; at most 2,000,000 are read"),
        (book(a=bytes(50 * 2**20)), "unpacks to far too much"),
        (encrypted("O/text/%E4%B8%80%201.xhtml"), r"the book is encrypted \(DRM\)"),
        (encrypted("O/book.opf"), r"the book is encrypted \(DRM\)"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",  # a zip has the time in it
)
def test_bad_books_are_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.epub").write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        open_document(tmp_path / "a.epub").segments()
    assert "\n" not in caught.value.message
    assert "; " in caught.value.message
