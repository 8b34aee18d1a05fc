"""Files of Word: a file of its own segments is the file, marks and objects stay, bad files are refused."""

from __future__ import annotations

import io
import random
import re
import time
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_samples import field, package, paragraph, run, word_file

from dragoman.documents import Document, open_document, parse_document
from dragoman.errors import DataError
from dragoman.translator import Translation

BOLD, RED = "<w:rPr><w:b/></w:rPr>", '<w:rPr><w:color w:val="FF0000"/></w:rPr>'
SUBSCRIPT, SUPERSCRIPT = (f'<w:rPr><w:vertAlign w:val="{name}script"/></w:rPr>' for name in ("sub", "super"))
MOST_SECONDS = 5.0


def translated(text: str, **values: object) -> Translation:
    return replace(Translation(text, 0.0, ()), **values)


def letters(text: str) -> list[str]:
    return sorted("".join(text.split()))


def check_message(error: DataError) -> None:
    assert "\n" not in error.message
    assert "; " in error.message


def copied(document: Document) -> list[Translation]:
    return [translated(segment.text) for segment in document.segments()]


def changed(document: Document) -> list[Translation]:
    return [translated(f"{segment.text} Zusatz") for segment in document.segments()]


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def body(content: bytes) -> str:
    text = parts(content)["word/document.xml"].decode()
    return text.split("<w:body>")[1].split("<w:sectPr>")[0]


def of_paragraph(inner: str) -> Any:
    return parse_document(package(f"<w:p>{inner}</w:p>"), "docx")


def one_to_one(n_words: int) -> tuple[tuple[int, int], ...]:
    return tuple((number, number) for number in range(n_words))


def elements(content: bytes) -> Counter[str]:
    """The elements that no translation may lose or repeat."""
    names = (
        "hyperlink|fldChar|fldSimple|footnoteReference|bookmark\\w+|comment\\w+|sdtContent|oMath|tab|txbxContent|br|tc"
    )
    return Counter(re.findall(rf"<\w+:({names})\b", content.decode()))


@pytest.mark.parametrize("number", range(40))
def test_a_file_of_its_own_segments_is_the_file(number: int) -> None:
    content = word_file(random.Random(number))
    document = parse_document(content, "docx")
    assert all(segment.text == segment.text.strip() and segment.text for segment in document.segments())
    assert document.rebuild(copied(document), "de") == content


@pytest.mark.parametrize("number", range(60))
def test_a_translated_file_has_the_same_parts_and_objects(number: int) -> None:
    content = word_file(random.Random(number))
    document = parse_document(content, "docx")
    translations = changed(document)
    written = document.rebuild(translations, ("de", "zh", None)[number % 3])
    before, after = parts(content), parts(written)
    assert list(before) == list(after)
    for name in before:
        if b"w:t" in before[name] and name.startswith("word/") and name.endswith(".xml"):
            ElementTree.fromstring(after[name])
            whole = before[name].replace(b'</w:hyperlink><w:hyperlink r:id="r9" w:history="1">', b"")  # one link
            assert elements(after[name]) == elements(whole)
        else:
            assert after[name] == before[name]
    again = parse_document(written, "docx").segments()
    assert sum(segment.text.count("Zusatz") for segment in again) == len(translations)
    unlike = parse_document(content, "docx")
    half = [one if place % 2 else translated(source.text) for place, (one, source) in
            enumerate(zip(translations, unlike.segments(), strict=True))]  # fmt: skip
    again = parse_document(unlike.rebuild(half), "docx").segments()
    assert [letters(one.text) for one in again] == [letters(one.text) for one in half]


def test_formatting_goes_with_its_words_and_neighbours_of_one_formatting_are_joined() -> None:
    document = of_paragraph(
        run("The ") + run("bl", BOLD) + run("ue ", BOLD) + run("door is open.") + "<w:r><w:tab/></w:r>"
    )
    assert [segment.text for segment in document.segments()] == ["The blue door is open."]
    links = ((0, 0), (2, 1), (1, 2), (3, 3), (4, 4))
    written = document.rebuild([translated("La porte bleue est ouverte.", alignment=links)])
    assert re.sub(' w:rsidR="00A1"| xml:space="preserve"', "", body(written)) == (
        "<w:p><w:r><w:t>La porte </w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bleue</w:t></w:r>"
        "<w:r><w:t> est ouverte.</w:t></w:r><w:r><w:tab/></w:r></w:p>"
    )


def test_plain_words_of_a_paragraph_that_is_mostly_bold_stay_plain() -> None:
    document = of_paragraph(run("The blue door ", BOLD) + run("is open."))
    written = body(document.rebuild([translated("Die blaue Tür ist offen.", alignment=one_to_one(5))]))
    assert re.findall(r"<w:r>(<w:rPr>.*?</w:rPr>)?<w:t[^>]*>([^<]*)", written) == [
        (BOLD, "Die blaue Tür "),
        ("", "ist offen."),
    ]


@pytest.mark.parametrize(
    ("runs", "text", "verbatim"),
    [
        ((("The gas CO", ""), ("2", SUBSCRIPT), (" is warm.", "")), "The gas CO2 is warm.", ["CO2"]),
        ((("H", ""), ("2", SUBSCRIPT), ("SO", BOLD), ("4", SUBSCRIPT), (" burns.", "")), "H2SO4 burns.", ["H2SO4"]),
        ((("It has 5 m", RED), ("2", SUPERSCRIPT), (" of grass.", RED)), "It has 5 m2 of grass.", ["m2"]),
        ((("The house", ""), ("3", SUPERSCRIPT), (" is old.", "")), "The house is old.", []),
    ],
)
def test_subscripts_and_superscripts_stay(runs: tuple[tuple[str, str], ...], text: str, verbatim: list[str]) -> None:
    document = of_paragraph("".join(run(*one) for one in runs))
    (segment,) = document.segments()
    assert segment.text == text
    assert [text[slice(*stretch)] for stretch in segment.verbatim] == verbatim
    written = body(document.rebuild([translated(f"Nun {text}", alignment=None)]))
    raised = [inner for inner, look in runs if look in (SUBSCRIPT, SUPERSCRIPT)]
    assert re.findall(r'<w:vertAlign w:val="su\w+"/></w:rPr><w:t[^>]*>([^<]*)', written) == raised
    assert re.sub("<[^>]*>", "", written) == "Nun " + "".join(inner for inner, _ in runs)


def test_links_keep_their_target_and_objects_stand_by_their_words() -> None:
    link = f'<w:hyperlink r:id="r7">{run("old station", RED)}</w:hyperlink>'
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    document = of_paragraph(run("We saw the ") + link + note + run(" twice."))
    assert [segment.text for segment in document.segments()] == ["We saw the old station twice."]
    links = ((0, 0), (1, 1), (2, 3), (3, 4), (4, 5), (5, 2))
    written = body(document.rebuild([translated("Wir sahen zweimal den alten Bahnhof.", alignment=links)], "de"))
    inside = re.search(r'<w:hyperlink r:id="r7">(.*?)</w:hyperlink>(.*?)</w:p>', written)
    assert inside is not None
    assert re.findall("<w:t[^>]*>([^<]*)", inside[1]) == ["alten Bahnhof"]
    assert inside[1].startswith('<w:r><w:rPr><w:color w:val="FF0000"/><w:lang w:val="de-DE"/></w:rPr>')
    assert note in inside[2]


def test_fields_are_seen_and_stay_and_tabs_part_a_line() -> None:
    page, of = field("PAGE", "1"), field("NUMPAGES", "2")
    document = of_paragraph(run("Draft") + "<w:r><w:tab/></w:r>" + run("Page ") + page + run(" of ") + of)
    assert [segment.text for segment in document.segments()] == ["Draft", "Page 1 of 2"]
    translations = [translated("Entwurf"), translated("Seite 1 von 2", alignment=one_to_one(4))]
    written = body(document.rebuild(translations))
    assert re.findall(">([^<>]+)<", written) == ["Entwurf", "Seite ", " PAGE ", "1", " von ", " NUMPAGES ", "2"]
    assert page.replace(' w:rsidR="00A1"', "") in written
    assert of.replace(' w:rsidR="00A1"', "") in written


def test_tracked_changes_are_read_as_accepted() -> None:
    gone = '<w:del w:id="1" w:author="A"><w:r><w:delText xml:space="preserve">old </w:delText></w:r></w:del>'
    new = f'<w:ins w:id="2" w:author="A">{run("new ")}</w:ins>'
    document = of_paragraph(run("The ") + gone + new + run("door."))
    assert [segment.text for segment in document.segments()] == ["The new door."]
    written = body(document.rebuild([translated("Die neue Tür.")]))
    assert re.sub("<[^>]*>", "", written) == "Die neue Tür."


def test_an_address_of_a_link_may_hold_a_field() -> None:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    def code(text: str) -> str:
        return f"<w:r><w:instrText>{text}</w:instrText></w:r>"

    address = code(' HYPERLINK "http://') + field("REF host", "house.org") + code('" ')
    link = mark("begin") + address + mark("separate") + run("the house") + mark("end")
    document = of_paragraph(run("See ") + link + run("."))
    assert [segment.text for segment in document.segments()] == ["See the house."]
    written = body(document.rebuild([translated("Siehe das Haus.", alignment=one_to_one(3))]))
    assert re.findall("<w:t[ >][^<]*", written.replace(' xml:space="preserve"', "")) == [
        f"<w:t>{text}" for text in ("Siehe ", "house.org", "das Haus", ".")
    ]


def test_a_reading_above_characters_stays_with_them() -> None:
    opening = "<w:ruby><w:rubyPr/><w:rt><w:r><w:t>sora</w:t></w:r></w:rt><w:rubyBase>"
    ruby = f"<w:r>{opening}{run('sky')}</w:rubyBase></w:ruby></w:r>"
    document = of_paragraph(run("The ") + ruby + run(" is blue."))
    assert [segment.text for segment in document.segments()] == ["The sky is blue."]
    written = body(document.rebuild([translated("Blau ist der Himmel.", alignment=((0, 2), (1, 3), (2, 1), (3, 0)))]))
    inside = re.search(rf"<w:r>{re.escape(opening)}(.*?)</w:rubyBase></w:ruby></w:r>", written)
    assert inside is not None
    assert re.sub("<[^>]*>", "", inside[1]) == "Himmel"


def test_paragraphs_are_one_if_the_end_of_the_first_was_deleted() -> None:
    gone = '<w:pPr><w:rPr><w:del w:id="1" w:author="A"/></w:rPr></w:pPr>'
    kept = '<w:pPr><w:jc w:val="center"/></w:pPr>'
    text = f"<w:p>{gone}{run('The old ')}</w:p><w:p>{kept}{run('door is open.')}</w:p><w:p>{run('A mill.')}</w:p>"
    content = package(text)
    document = parse_document(content, "docx")
    assert [segment.text for segment in document.segments()] == ["The old door is open.", "A mill."]
    assert document.rebuild(copied(document)) == content
    written = body(document.rebuild([translated("Die alte Tür ist offen."), translated("A mill.")]))
    first, second = re.findall("<w:p>.*?</w:p>", written)
    assert first.startswith(f"<w:p>{kept}")
    assert re.sub("<[^>]*>", "", first) == "Die alte Tür ist offen."
    assert second == f"<w:p>{run('A mill.')}</w:p>"


def test_a_large_first_letter_belongs_to_its_paragraph() -> None:
    large = '<w:rPr><w:sz w:val="115"/></w:rPr>'
    letter = f'<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr>{run("T", large)}</w:p>'
    document = parse_document(package(letter + f"<w:p>{run('he door', BOLD)}{run(' is open.')}</w:p>"), "docx")
    assert [segment.text for segment in document.segments()] == ["The door is open."]
    written = body(document.rebuild([translated("Die Tür ist offen.", alignment=one_to_one(4))]))
    assert (written.count("<w:p>"), re.sub("<[^>]*>", "", written)) == (1, "Die Tür ist offen.")
    assert re.findall("<w:r>(<w:rPr>.*?</w:rPr>)?<w:t[^>]*>([^<]*)", written) == [
        (BOLD, "Die Tür "),
        ("", "ist offen."),
    ]


def test_a_paragraph_that_ends_a_section_stays_though_its_end_was_deleted() -> None:
    gone = '<w:pPr><w:rPr><w:del w:id="1"/></w:rPr><w:sectPr><w:bidi/></w:sectPr></w:pPr>'
    content = package(f"<w:p>{gone}{run('An old door.')}</w:p><w:p>{run('A mill.')}</w:p>")
    written = parse_document(content, "docx").rebuild([translated("Eine Tür."), translated("Eine Mühle.")])
    assert gone in parts(written)["word/document.xml"].decode()


def test_a_formatting_before_a_tracked_change_is_not_read() -> None:
    old = '<w:rPrChange w:id="1" w:author="A"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:rPrChange>'
    document = of_paragraph(run("The door ") + run("3", f"<w:rPr>{old}</w:rPr>") + run(" is open."))
    (segment,) = document.segments()
    assert (segment.text, segment.marks) == ("The door 3 is open.", ())
    assert "rPrChange" not in body(document.rebuild([translated("Die Tür 3 ist offen.")]))


def test_texts_that_the_program_fills_in_stay() -> None:
    """Word would put the title of the properties back."""
    control = "<w:sdt><w:sdtPr>{}</w:sdtPr><w:sdtContent><w:p>{}</w:p></w:sdtContent></w:sdt>"
    bound, own = control.format("<w:dataBinding/>", run("A title")), control.format("", run("A door."))
    document = parse_document(package(bound + own), "docx")
    assert [segment.text for segment in document.segments()] == ["A door."]


def test_chinese_words_get_fonts_for_them() -> None:
    look = '<w:rPr><w:rFonts w:ascii="Arial"/><w:lang w:val="en-US"/></w:rPr>'
    written = body(of_paragraph(run("A door.", look)).rebuild([translated("一扇“门”。")], "zh"))
    expected = '<w:rPr><w:rFonts w:ascii="Arial" w:hint="eastAsia"/><w:lang w:eastAsia="zh-CN"/></w:rPr>'
    assert expected in written


def test_words_from_right_to_left_have_their_direction_and_others_lose_it() -> None:
    properties = '<w:pPr><w:keepNext/><w:spacing w:after="0"/><w:jc w:val="left"/></w:pPr>'
    look = '<w:rPr><w:b/><w:sz w:val="28"/><w:u w:val="single"/><w:lang w:val="en-US"/></w:rPr>'
    written = of_paragraph(properties + run("A door.", look)).rebuild([translated("باب.")], "ar")
    assert '<w:keepNext/><w:bidi/><w:spacing w:after="0"/><w:jc' in body(written)
    assert (
        '<w:rPr><w:b/><w:bCs/><w:sz w:val="28"/><w:szCs w:val="28"/><w:u w:val="single"/><w:rtl/>'
        '<w:lang w:bidi="ar-SA"/></w:rPr>' in body(written)
    )
    again = body(parse_document(written, "docx").rebuild([translated("Eine Tür.")], "de"))
    assert properties in again
    assert "rtl" not in again


def test_a_direction_of_styles_does_not_count_if_the_languages_differ_in_it() -> None:
    look = '<w:rPr><w:rStyle w:val="Arabic"/><w:bCs/></w:rPr>'
    document = of_paragraph('<w:pPr><w:pStyle w:val="Arabic"/></w:pPr>' + run("باب.", look))
    document.set_languages("ar", "de")
    written = body(document.rebuild([translated("Eine Tür.")], "de"))
    assert '<w:pPr><w:pStyle w:val="Arabic"/><w:bidi w:val="0"/></w:pPr>' in written
    assert '<w:rStyle w:val="Arabic"/><w:b/><w:bCs/><w:rtl w:val="0"/><w:lang w:val="de-DE"/></w:rPr>' in written
    document = of_paragraph(f'<w:bdo w:val="rtl">{run("باب.")}</w:bdo>')
    assert "bdo" not in body(document.rebuild([translated("Eine Tür.")], "de"))
    document = of_paragraph("<w:pPr><w:bidi/></w:pPr>" + run("A door.", "<w:rPr><w:rtl/></w:rPr>"))
    document.set_languages("en", "de")
    written = body(document.rebuild([translated("Eine Tür.")], "de"))
    assert "<w:pPr><w:bidi/></w:pPr>" in written
    assert '<w:rtl/><w:lang w:val="de-DE"/>' in written


def test_a_row_or_a_cell_that_a_tracked_change_deletes_stays() -> None:
    gone, new = '<w:del w:id="1" w:author="A"/>', '<w:ins w:id="2" w:author="A"/>'
    cells = {text: f"<w:tc><w:p>{run(text)}</w:p></w:tc>" for text in ("An old row", "A new row", "A door")}
    cells["An old cell"] = f'<w:tc><w:tcPr><w:cellDel w:id="3"/></w:tcPr><w:p>{run("An old cell")}</w:p></w:tc>'
    rows = f"<w:tr><w:trPr>{gone}</w:trPr>{cells['An old row']}</w:tr><w:tr><w:trPr>{new}</w:trPr>{cells['A new row']}"
    rows += f"</w:tr><w:tr>{cells['An old cell']}{cells['A door']}</w:tr>"
    document: Any = parse_document(package(f"<w:tbl>{rows}</w:tbl>"), "docx")
    assert [segment.text for segment in document.segments()] == ["A new row", "A door"]
    written = body(document.rebuild([translated("صف"), translated("باب")], "ar"))
    assert cells["An old row"] in written
    assert cells["An old cell"] in written


def test_a_section_keeps_its_direction_and_newer_properties_come_last() -> None:
    section = "<w:sectPr><w:bidi/></w:sectPr>"
    glow = '<w14:glow w14:rad="1"><w14:alpha/></w14:glow>'
    content = package(f"<w:p><w:pPr>{section}</w:pPr>{run('A door.', f'<w:rPr><w:b/>{glow}</w:rPr>')}</w:p>")
    written = parts(parse_document(content, "docx").rebuild([translated("باب.")], "ar"))["word/document.xml"].decode()
    assert f"<w:pPr><w:bidi/>{section}</w:pPr>" in written
    assert f'<w:rPr><w:b/><w:bCs/><w:rtl/><w:lang w:bidi="ar-SA"/>{glow}</w:rPr>' in written


def test_code_stays_and_characters_that_xml_lacks_are_left_out() -> None:
    code = '<w:rPr><w:rStyle w:val="VerbatimChar"/></w:rPr>'
    listing = f'<w:p><w:pPr><w:pStyle w:val="SourceCode"/></w:pPr>{run("for each in all")}</w:p>'
    document = parse_document(package(listing + f"<w:p>{run('Type ')}{run('ls -l', code)}{run(' now.')}</w:p>"), "docx")
    (segment,) = document.segments()
    assert segment.text == "Type ls -l now."
    assert [segment.text[slice(*stretch)] for stretch in segment.verbatim] == ["ls -l"]
    written = body(document.rebuild([translated("Tippen \0\x07<b> ls -l ein.", alignment=None)]))
    assert listing in written
    assert run("ls -l", code).replace(' w:rsidR="00A1"', "") in written
    assert "&lt;b&gt;" in written


def test_neighbouring_links_to_one_place_are_one() -> None:
    links = [f'<w:hyperlink r:id="r9">{run(text, look)}</w:hyperlink>' for text, look in (("the ", ""), ("mill", BOLD))]
    document = of_paragraph(run("We saw ") + "".join(links) + run("."))
    written = body(document.rebuild([translated("Wir sahen die Mühle.", alignment=((0, 0), (1, 1), (2, 3), (3, 2)))]))
    (link,) = re.findall(r'<w:hyperlink r:id="r9">(.*?)</w:hyperlink>', written)
    assert re.sub("<[^>]*>", "", link) == "die Mühle"


def test_no_end_of_a_bookmark_comes_before_its_beginning() -> None:
    inner = run("a ") + '<w:bookmarkStart w:id="3"/>' + run("b ") + '<w:bookmarkEnd w:id="3"/>' + run("c d")
    for links in ((0, 3), (1, 2), (2, 1), (3, 0)), ((1, 0), (1, 3), (2, 1)), ():
        written = body(of_paragraph(inner).rebuild([translated("w x y z", alignment=links)]))
        assert 0 < written.index("bookmarkStart") < written.index("bookmarkEnd")


def test_a_look_with_signs_in_quotes_stays_whole() -> None:
    look = """<w:rPr><w:rStyle w:val='a>b'/><w:rFonts w:ascii="A>B" w:hint='default'/><w:lang w:val=">"/></w:rPr>"""
    written = body(of_paragraph(run("A door.", look)).rebuild([translated("门")], "zh"))
    ends = """<w:rFonts w:ascii="A>B" w:hint="eastAsia"/><w:lang w:eastAsia="zh-CN"/></w:rPr>"""
    assert f"<w:rPr><w:rStyle w:val='a>b'/>{ends}" in written


def test_folders_and_notes_of_a_package_stay() -> None:
    files = parts(package(f"<w:p>{run('A door.')}</w:p>"))
    written = parse_document(zipped({"word/": b"", **files}), "docx").rebuild([translated("Eine Tür.")])
    assert list(parts(written)) == ["word/", *files]


def zipped(files: dict[str, bytes], **values: int) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", **values) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return written.getvalue()


def with_body(content: bytes) -> bytes:
    return zipped(parts(package("")) | {"word/document.xml": content})


GOOD = package(paragraph(random.Random(1)))
ENTITY = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:p xmlns:w="w"><w:r><w:t>&x;</w:t></w:r></w:p>'


def test_a_part_in_another_encoding_stays_in_it() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><w:body xmlns:w="w"><w:p><w:r><w:t>Cats</w:t></w:r></w:p></w:body>'
    document = parse_document(with_body(text.encode("utf-16")), "docx")
    written = parts(document.rebuild([translated("Kätzchen") for _ in document.segments()]))["word/document.xml"]
    assert written.decode("utf-16") == text.replace("Cats", "Kätzchen").replace("<w:t>", '<w:t xml:space="preserve">')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"{\\rtf1 hello}", "this is no .docx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999), "an old .doc, .ppt or .xls, or has a password"),
        (GOOD[: len(GOOD) // 2], "its end is missing"),
        (zipped({"mimetype": b"application/vnd.oasis.opendocument.text"}), "no document of Word"),
        (zipped({"word/document.xml": b"<a/>"}), "no document of Word"),
        (with_body(ENTITY), r"a document type \(DTD\).*: .*word/document.xml"),
        (with_body(b"<a><b></a>"), r"not well-formed XML: mismatched tag: .*word/document.xml:1"),
        (with_body(b"<?xml version='1.0' encoding='klingon'?><a/>"), "unknown encoding 'klingon'"),
        (with_body(b"<a>\xff</a>"), "invalid UTF-8"),
        (with_body(b"<a>" * 200 + b"</a>" * 200), "more than 100 elements inside each other"),
        (zipped({"a": bytes(50 * 2**20)}, compression=zipfile.ZIP_DEFLATED), "a unpacks to far too much"),
        (zipped({str(number): b"" for number in range(10_001)}), "more than 10,000 files"),
        (with_body(b"<a>" + b"<b/>" * 1_000_000 + b"</a>"), "1,000,00. tags; at most 1,000,000 are read"),
        (zipped({"a": b"x"}, compression=zipfile.ZIP_BZIP2), "a is compressed in an unusual way"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",  # a zip has the time in it
)
def test_bad_files_are_refused_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        open_document(tmp_path / "a.docx")
    check_message(caught.value)


def test_encrypted_files_and_two_parts_of_a_name_are_refused() -> None:
    directory = GOOD.rindex(b"PK\x01\x02")
    encrypted = bytearray(GOOD)
    encrypted[directory + 8] |= 1
    with pytest.raises(DataError, match="it is encrypted"):
        parse_document(bytes(encrypted), "docx")
    with pytest.raises(DataError, match="two files of one name"):
        parse_document(zipped({"word/a": b"1", "word/b": b"2"}).replace(b"word/b", b"word/a"), "docx")


def test_a_directory_that_lies_about_a_size_is_damage() -> None:
    content = zipped({"a": bytes(2**20 + 9)}, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(DataError, match="damaged"):
        parse_document(content.replace((2**20 + 9).to_bytes(4, "little"), (100).to_bytes(4, "little")), "docx")


@given(st.integers(0, 30), st.data())
def test_broken_packages_and_broken_xml_give_a_result_or_one_line(seed: int, data: st.DataObject) -> None:
    content = bytearray(word_file(random.Random(seed)))
    if data.draw(st.booleans()):
        files = parts(bytes(content))
        broken = bytearray(files["word/document.xml"])
        for _ in range(data.draw(st.integers(1, 3))):
            place = data.draw(st.integers(0, len(broken)))
            patch = data.draw(
                st.sampled_from([b"", b"<", b">", b"<w:p>", b"</w:r>", b"\0", b"\xff", b"<w:r/>", b"&", b"w:"])
            )
            broken[place : place + data.draw(st.integers(0, 9))] = patch
        content = bytearray(zipped(files | {"word/document.xml": bytes(broken)}))
    else:
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        content = content[: data.draw(st.integers(len(content) // 2, len(content)))]
    try:
        document = parse_document(bytes(content), "docx")
        written = document.rebuild(changed(document), "zh")
    except DataError as error:
        check_message(error)
        return
    assert document.rebuild(copied(document)) == bytes(content)
    expat.ParserCreate().Parse(parts(written)["word/document.xml"], True)  # XML 1.0, as files are read


@pytest.mark.parametrize(
    "inner",
    [
        run("a ") + '<w:bookmarkStart w:id="1"/><w:r><w:br/></w:r>' * 20_000 + run("b"),
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>' * 20_000 + run("b"),
        (run("a ") + run("b ", BOLD)) * 3_000,
        '<w:hyperlink r:id="a"></w:hyperlink>' * 20_000 + run("b"),
        "<w:r><w:fldChar w:fldCharType='begin'/><w:instrText>HYPERLINK</w:instrText></w:r>" * 3_000
        + "<w:r><w:fldChar w:fldCharType='end'/></w:r>" * 3_000 + run("b"),
    ],
    ids=range(5),
)  # fmt: skip
def test_a_file_is_read_and_written_in_time(inner: str) -> None:
    start = time.process_time()
    document = of_paragraph(inner)
    written = document.rebuild(changed(document))
    ElementTree.fromstring(parts(written)["word/document.xml"])
    assert time.process_time() - start < MOST_SECONDS


def test_no_break_spaces_at_the_edge_of_a_run_part_words() -> None:
    """They are no white space of XML, which is left out there."""
    runs = "<w:r><w:t>Mr.</w:t></w:r><w:r><w:t>\u00a0</w:t></w:r><w:r><w:t> Smith is here </w:t></w:r>"
    document = parse_document(package(f"<w:p>{runs}</w:p>"), "docx")
    (segment,) = document.segments()
    assert segment.text.split() == ["Mr.", "Smith", "is", "here"]
