"""PowerPoint, OpenDocument and Excel: the file of its own segments is the file, objects stay, bad files are refused."""

from __future__ import annotations

import io
import random
import re
import zipfile
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from office_samples import SAMPLES, odt, pptx, r, rich, span, string, xlsx, zipped
from word_samples import package, run

from dragoman.data.text_files.file_signatures import refuse_other_formats
from dragoman.documents import Document, parse_document
from dragoman.documents.document import Noted
from dragoman.errors import DataError
from dragoman.translator import Translation


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist()}


def translated(text: str, *links: tuple[int, int]) -> Translation:
    return replace(Translation(text, 0.0, ()), alignment=links or None)


def changed(document: Document) -> list[Translation]:
    return [translated(f"{segment.text} Zusatz") for segment in document.segments()]


def check_message(error: DataError) -> None:
    assert "\n" not in error.message
    assert "; " in error.message


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("seed", range(30))
def test_only_texts_change_and_nothing_is_lost(format: str, seed: int) -> None:
    make, with_text, names = SAMPLES[format]
    content = make(random.Random(seed))
    document = parse_document(content, format)
    assert document.rebuild([translated(one.text) for one in document.segments()], "ar") == content
    translations = changed(document)
    written = document.rebuild(translations, ("de", "zh", "ar", None)[seed % 4])
    before, after = parts(content), parts(written)
    assert list(before) == list(after)
    assert [before[name] == after[name] for name in before if name not in with_text].count(False) == 0
    for name in with_text:
        ElementTree.fromstring(after[name])
        tags = [sorted(re.findall(rf"</?(?:{names})\b", one[name].decode())) for one in (before, after)]
        assert tags[0] == tags[1]
    again = parse_document(written, format).segments()
    texts = [sorted("".join("".join(one.text for one in each).split())) for each in (again, translations)]
    assert texts[0] == texts[1]


@given(st.sampled_from([*SAMPLES]), st.integers(0, 30), st.data())
def test_broken_files_give_a_result_or_one_line(format: str, seed: int, data: st.DataObject) -> None:
    make, (name, *_), _ = SAMPLES[format]
    content = make(random.Random(seed))
    if data.draw(st.booleans()):
        files = parts(content)
        broken = bytearray(files[name])
        place = data.draw(st.integers(0, len(broken)))
        patch = data.draw(st.sampled_from([b"", b"<", b"<a:p>", b"</text:span>", b"\0", b"\xff", b"<a:r/>", b"&x;"]))
        broken[place : place + data.draw(st.integers(0, 9))] = patch
        content = zipped(
            {one: part.decode("latin-1") for one, part in files.items()} | {name: broken.decode("latin-1")}
        )
    else:
        content = content[: data.draw(st.integers(0, len(content)))]
    try:
        document = parse_document(content, format)
        written = document.rebuild(changed(document), "ar")
    except DataError as error:
        check_message(error)
        return
    try:
        ElementTree.fromstring(parts(content)[name])
    except ElementTree.ParseError:  # a prefix that nothing declares
        return
    ElementTree.fromstring(parts(written)[name])


@pytest.mark.parametrize(
    ("format", "files", "message"),
    [
        ("pptx", {"a": ""}, r"no presentation of PowerPoint: .*; open it in .* save it as \.pptx"),
        ("docx", parts(pptx("")), r"no document of Word: .*; it is a \.pptx: rename it"),
        ("odt", {"a": ""}, r"no text of OpenDocument: .*; open it in .* save it as \.odt"),
        ("odt", parts(odt("", mimetype="application/vnd.oasis.opendocument.spreadsheet")), "no text of OpenDocument"),
        ("odt", {name: part for name, part in parts(odt("")).items() if name != "content.xml"}, "no text of OpenDoc"),
        ("odt", parts(odt("")) | {"META-INF/manifest.xml": "<a:encryption-data/>"}, "it has a password"),
        ("odt", parts(odt("")) | {"content.xml": bytes(9 * 2**20)}, "content.xml unpacks to far too much"),
        ("xlsx", {"a": ""}, r"no workbook of Excel: .*; open it in .* save it as \.xlsx"),
        ("xlsx", parts(pptx("")), r"no workbook of Excel: .*; it is a \.pptx: rename it"),
        ("docx", parts(xlsx()), r"it is a \.xlsx: rename it"),
        ("xlsx", parts(xlsx()) | {"table.xml": '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'}, r"document type \(DTD\)"),
        ("pptx", {"slide.xml": '<!DOCTYPE a [<!ENTITY x "&y;&y;">]><a>&x;</a>'}, r"document type \(DTD\)"),
        ("pptx", {"slide.xml": "<a><b></a>"}, "not well-formed"),
    ],
    ids=range(13),
)
def test_files_without_their_parts_or_with_entities_are_refused(
    format: str, files: dict[str, bytes | str], message: str
) -> None:
    if "slide.xml" in files and format == "pptx":
        files = parts(pptx("")) | files
    with pytest.raises(DataError, match=message):
        parse_document(zipped(files), format)


@pytest.mark.parametrize("format", ["docx", "pptx", "xlsx", "odt", "epub", "json"])
def test_a_file_of_0_bytes_is_called_empty(format: str) -> None:
    with pytest.raises(DataError, match=r"^the file is empty"):
        parse_document(b"", format)


def test_an_office_file_under_another_name_is_translated_by_its_format() -> None:
    with pytest.raises(
        DataError, match=r"office document .*: a\.txt; to translate it: dragoman translate --format docx"
    ):
        refuse_other_formats(zipped(parts(pptx(""))), "a.txt")


def test_a_slide_has_formatting_links_direction_and_tabs() -> None:
    link = '<a:rPr lang="en-US" i="1" err="1"><a:hlinkClick r:id="r1"/></a:rPr>'
    end = '<a:endParaRPr lang="en-US"/>'
    inner = '<a:pPr lvl="1" algn="l"/>' + r("The ") + r("old mill", link) + r(" is open.\tToday") + end
    document = parse_document(pptx(f"<a:p>{inner}</a:p>"), "pptx")
    assert [one.text for one in document.segments()] == ["The old mill is open.", "Today"]
    written = document.rebuild(
        [translated("الطاحونة القديمة مفتوحة.", (2, 0), (1, 1), (4, 2)), translated("اليوم")], "ar"
    )
    slide = parts(written)["slide.xml"].decode()
    assert '<a:p><a:pPr lvl="1" algn="r" rtl="1"/>' in slide
    assert (
        '<a:r><a:rPr i="1" lang="ar-SA"><a:hlinkClick r:id="r1"/></a:rPr><a:t>الطاحونة القديمة</a:t></a:r>'
        '<a:r><a:rPr lang="ar-SA"/><a:t> مفتوحة.</a:t></a:r><a:r><a:t>\t</a:t></a:r>'
        f'<a:r><a:rPr lang="ar-SA"/><a:t>اليوم</a:t></a:r>{end}</a:p>' in slide
    )
    back = parse_document(written, "pptx").rebuild([translated("Die Mühle"), translated("Heute")], "de")
    assert '<a:pPr lvl="1" algn="l" rtl="0"/>' in parts(back)["slide.xml"].decode()


def test_a_text_has_its_spans_code_formulas_links_and_bookmarks() -> None:
    inner = (
        f'There the <text:a href="b">{span("old  mill")}</text:a> has H{span("2", "T2")}O.<text:tab/>'
        f"Type {span('ls', 'T3')} "
        '<text:bookmark-start text:name="n" xml:id="x"/>now<text:bookmark-end text:name="n"/> on page '
        "<text:page-number>3</text:page-number>."
    )
    kept = "<text:p><office:annotation><text:p>A note.</text:p></office:annotation></text:p>"
    document = parse_document(odt(f"<text:p>{inner}</text:p>{kept}"), "odt")
    first, second = document.segments()
    assert (first.text, second.text) == ("There the old mill has H2O.", "Type ls now on page 3.")
    assert [one.text[slice(*place)] for one in (first, second) for place in one.verbatim] == ["H2O", "ls", "3"]
    links = ((0, 4), (1, 0), (2, 1), (3, 2), (4, 3), (5, 5))
    written = document.rebuild([translated("Die alte Mühle hat dort H2O.", *links), translated("Auf S. 3 ls")], "de")
    content = parts(written)["content.xml"].decode()
    assert f'Die <text:a href="b">{span("alte Mühle")}</text:a> hat dort H{span("2", "T2")}O.<text:tab/>' in content
    assert content.index("bookmark-start") < content.index("bookmark-end")
    assert span("ls", "T3") in content
    assert kept in content
    with zipfile.ZipFile(io.BytesIO(written)) as file:
        assert file.infolist()[0].compress_type == zipfile.ZIP_STORED


def test_a_link_of_several_runs_is_one_and_its_stop_stands_outside() -> None:
    first, second = (f'<a:rPr{look}><a:hlinkClick r:id="r1"/></a:rPr>' for look in ("", ' b="1"'))
    other = first.replace("r1", "r2")
    inner = r("Read ") + r("the ", first) + r("guide", second) + r(" and ") + r("that", other) + r(".")
    (links,) = (((0, 0), (0, 1), (0, 2), (2, 3), (2, 4), (3, 5), (4, 6), (4, 7), (4, 8)),)
    document = parse_document(pptx(f"<a:p>{inner}</a:p>"), "pptx")
    written = parts(document.rebuild([translated("请阅读指南和那个。", *links)], "zh"))["slide.xml"].decode()
    runs = re.findall(r"<a:r>(.*?)<a:t>(.*?)</a:t></a:r>", written)
    shown = ["".join(text for look, text in runs if target in look) for target in ('"r1"', '"r2"')]
    assert shown == ["指南", "那个"]
    assert runs[-1] == ('<a:rPr lang="zh-CN"/>', "。")


def test_code_of_an_open_document_may_have_links_spaces_and_a_named_style() -> None:
    code = 'ls<text:s/>-l  <text:a href="b">a b</text:a> '
    text = f'<text:p>Type <text:span text:style-name="Code">{code}</text:span>now.</text:p>'
    styles = (
        '<office:styles><style:style style:name="Code" style:parent-style-name="Base" style:family="text"/>'
        '<style:style style:name="Base" style:parent-style-name="Source_20_Text" style:family="text"/></office:styles>'
    )
    files = parts(odt(text))
    head, end, rest = files["styles.xml"].decode().partition("<style:master-page>")
    document = parse_document(zipped(files | {"styles.xml": f"{head}{styles}{end}{rest}"}), "odt")
    (segment,) = document.segments()
    assert segment.text == "Type ls -l a b now."
    assert [segment.text[slice(*place)] for place in segment.verbatim] == ["ls -l", "a b"]


def test_the_number_of_a_heading_is_no_part_of_its_words() -> None:
    content = odt("<text:h><text:number>1.</text:number>The mill</text:h>")
    assert [segment.text for segment in parse_document(content, "odt").segments()] == ["The mill"]


def test_styles_of_one_part_raise_nothing_in_another() -> None:
    raised = f"<text:p>The house{span('3', 'T9')} is old.</text:p>"
    styles = (
        '<style:style style:name="T9" style:parent-style-name="Note"/>'
        '<style:style style:name="Note"><style:text-properties style:text-position="super"/></style:style>'
    )
    files = parts(odt(raised, raised))
    content = files["content.xml"].decode().replace("<office:automatic-styles>", f"<office:automatic-styles>{styles}")
    document = parse_document(zipped(files | {"content.xml": content}), "odt")
    assert [segment.text for segment in document.segments()] == ["The house is old.", "The house3 is old."]


def test_paragraphs_of_an_open_document_are_turned_by_styles_of_their_own() -> None:
    named = (
        '<office:styles><style:default-style style:family="paragraph">'
        '<style:paragraph-properties style:writing-mode="lr-tb"/></style:default-style>'
        '<style:style style:name="Title" style:family="paragraph" style:parent-style-name="Base"/>'
        '<style:style style:name="Base" style:family="paragraph"><style:paragraph-properties fo:text-align="center"/>'
        "</style:style></office:styles><office:automatic-styles/>"
    )
    own = '<style:style style:name="P1" style:family="paragraph"><style:text-properties fo:color="red"/></style:style>'
    text = "".join(f'<text:p text:style-name="{name}">A door.</text:p>' for name in ("Title", "P1", "P1"))
    files = {name: part.decode("latin-1") for name, part in parts(odt(text, "<text:p>A mill.</text:p>")).items()}
    files["styles.xml"] = files["styles.xml"].replace("<style:master-page>", f"{named}<style:master-page>")
    files["content.xml"] = files["content.xml"].replace(
        "</office:automatic-styles>", f"{own}</office:automatic-styles>"
    )
    content = zipped(files)
    for source, target, mode, side in (("en", "ar", "rl-tb", "right"), ("ar", "de", "lr-tb", "left")):
        document: Any = parse_document(content, "odt")
        document.set_languages(source, target)
        content = document.rebuild(changed(document), target)
        body, page = (parts(content)[name].decode() for name in ("content.xml", "styles.xml"))
        names = [re.findall(r'<text:p(?: text:style-name="(\w+)")?>', one) for one in (body, page)]
        assert names[0][1] == names[0][2]
        for name, expected, one in (
            (names[0][0], {"writing-mode": mode}, body),
            (names[0][1], {"writing-mode": mode, "text-align": side}, body),
            (names[1][0], {"writing-mode": mode, "text-align": side}, page),
        ):
            found = [
                {key.rpartition("}")[2]: value for key, value in style[0].attrib.items()}
                for style in ElementTree.fromstring(one).iter()
                if style.tag.endswith("style") and name in style.attrib.values()
            ]
            assert found == [expected]
        assert 'fo:color="red"' in body.split(f'style:name="{names[0][1]}"')[1].split("</style:style>")[0]


def test_paragraphs_that_stay_turn_with_the_others() -> None:
    """Empty ones, numbers, and text that is its own translation; code stays as it is."""
    texts = ("A door.", "Anna", "12")
    cases = (
        ("docx", package, "document.xml", r"<w:bidi/>", "<w:p/><w:p><w:pPr><w:keepNext/></w:pPr></w:p>"
         + "".join(f"<w:p>{run(text)}</w:p>" for text in texts)
         + f'<w:p><w:pPr><w:pStyle w:val="SourceCode"/></w:pPr>{run("x = 1")}</w:p>'),
        ("pptx", pptx, "slide.xml", r'rtl="1"', '<a:p/><a:p><a:endParaRPr lang="en-US"/></a:p>'
         + "".join(f"<a:p>{r(text)}</a:p>" for text in texts)),
        ("odt", odt, "content.xml", r'<text:p text:style-name="\w*_rl"', "<text:p/>"
         + '<text:p text:style-name="P1"></text:p>' + "".join(f"<text:p>{text}</text:p>" for text in texts)
         + '<text:p text:style-name="Preformatted_20_Text">x = 1</text:p>'),
    )  # fmt: skip
    for format, make, part, sign, body in cases:
        document: Any = parse_document(make(body), format)
        document.set_languages("en", "ar")
        given = [one.text for one in document.segments()]
        written = document.rebuild([translated("باب." if text == "A door." else text) for text in given], "ar")
        content = next(content for name, content in parts(written).items() if name.endswith(part)).decode()
        ElementTree.fromstring(content)
        assert len(re.findall(sign, content)) == 5


def test_a_turned_heading_without_a_style_stays_a_heading() -> None:
    document: Any = parse_document(odt('<text:h text:outline-level="2">A door</text:h><text:h>A mill</text:h>'), "odt")
    document.set_languages("en", "ar")
    body = parts(document.rebuild(changed(document), "ar"))["content.xml"].decode()
    for level in "21":
        assert f'style:parent-style-name="Heading_20_{level}"' in body
        assert f'text:style-name="Heading_20_{level}_rl"' in body


def test_what_slides_show_from_elsewhere_is_translated() -> None:
    """Text of layouts that are no placeholders, SmartArt, and titles of charts, in Word, too."""
    layout = f"<p:sp><p:nvSpPr/><a:p>{r('Draft')}</a:p></p:sp>"
    kinds = ("openxmlformats-officedocument.drawingml.diagramData", "openxmlformats-officedocument.drawingml.chart",
             "ms-office.drawingml.diagramDrawing")  # fmt: skip
    for format, content, first in (
        ("pptx", pptx(f"<a:p>{r('A slide')}</a:p>", "", layout), ["A slide", "Draft"]),
        ("docx", package(f"<w:p>{run('A page')}</w:p>"), ["A page"]),
    ):
        files = {name: part.decode("latin-1") for name, part in parts(content).items()}
        for number, kind in enumerate(kinds):
            part = f'<Override PartName="/{number}.xml" ContentType="application/vnd.{kind}+xml"/></Types>'
            files["[Content_Types].xml"] = files["[Content_Types].xml"].replace("</Types>", part)
            files[f"{number}.xml"] = f'<d:x xmlns:d="d" xmlns:a="a"><a:p>{r(f"Box {kind[:2]}")}</a:p></d:x>'
        document = parse_document(zipped(files), format)
        texts = [one.text for one in document.segments()]
        assert (texts[: len(first)], sorted(texts[len(first) :])) == (first, ["Box ms", "Box op", "Box op"])
        written = parts(document.rebuild(changed(document), "ar"))
        assert (
            '<a:p><a:pPr rtl="1"/><a:r><a:rPr lang="ar-SA"/><a:t>Box op Zusatz</a:t></a:r></a:p>'
            in written["0.xml"].decode()
        )


def test_types_of_parts_may_be_told_by_their_suffix() -> None:
    files = {name: part.decode("latin-1") for name, part in parts(package(f"<w:p>{run('A page')}</w:p>")).items()}
    types = files["[Content_Types].xml"]
    kind = re.search(r'<Override PartName="/word/document.xml" ContentType="([^"]*)"/>', types)
    assert kind is not None
    files["[Content_Types].xml"] = types.replace(kind[0], "").replace('"application/xml"', f'"{kind[1]}"')
    assert [one.text for one in parse_document(zipped(files), "docx").segments()] == ["A page"]


def test_a_text_that_the_workbook_names_elsewhere_stays() -> None:
    texts = 'Product|wood & oil|Total|Ready|done|late|SAID "SO"|Fruit|A horse.|A-100|3 of 4|a_b|=A1+2|Line one\nand two'
    named = (
        '<f>IF(A1=&quot;ready&quot;,1,A2)</f><formula1>"Done, late"</formula1><filter val=\'said "so"\'/>'
        "<definedNames><definedName name='Fruit'>A1:A3</definedName></definedNames>"
    )
    columns = '<tableColumn name="Product" totalsRowLabel="Total"/><tableColumn name="Wood &amp; oil"/>'
    columns += '<tableColumn name="Line one_x000a_and two"/>'
    content = xlsx("".join(map(string, texts.split("|"))), f"<c>{named}</c>", table=columns)
    document = parse_document(content, "xlsx")
    assert [one.text for one in document.segments()] == ["A horse.", "3 of 4"]
    assert isinstance(document, Noted)
    assert document.notes() == [
        "9 texts of cells left alone, such as 'Product': a table, a formula or a filter names them"
    ]


def test_strings_of_a_workbook_keep_their_runs_codes_and_lines() -> None:
    blue = '<rPr><b/><color rgb="FF0000FF"/></rPr>'
    strings = (
        "<si><t>Water_x000D_\nA blue door_x005F_x0041_</t><rPh sb='0' eb='1'><t>mizu</t></rPh></si>",
        f"<si>{rich('The ')}{rich('old mill', blue)}{rich(' is open._x000D_' + chr(10) + 'Go!')}</si>",
        string("A bell_x0007_ rings"),
        string("A <b>blue</b> door & I"),
        f"<si>{rich('A bell_x0009_ ')}{rich('rings', blue)}</si>",
    )
    comments = "<comment ref='A1'><text><t>A note</t></text></comment>"
    threads = "<threadedComment><text>A thread</text></threadedComment>"
    threads += "<threadedComment><text>@Ann Go!</text><mentions><mention startIndex='0'/></mentions></threadedComment>"
    document = parse_document(xlsx("".join(strings), notes=comments, threads=threads), "xlsx")
    texts = ["Water", "A blue door_x0041_", "The old mill is open.", "Go!", "A blue door & I", "A note", "A thread"]
    assert [one.text for one in document.segments()] == texts
    given = ["Wasser", "Eine blaue Tür_x0041_", "Offen ist die alte Mühle.", "Los!", "Eine blaue Tür"]
    given += ["Eine Notiz <1>", "Ein & Faden"]
    links = {4: ((0, 0), (1, 1), (2, 2)), 2: ((0, 2), (1, 3), (2, 4), (3, 1), (4, 0))}
    written = parts(document.rebuild([translated(text, *links.get(at, ())) for at, text in enumerate(given)], "de"))
    content = written["strings.xml"].decode()
    space = ' xml:space="preserve"'
    assert f"<si><t{space}>Wasser_x000D_\nEine blaue Tür_x005F_x0041_</t></si>" in content
    assert f"<si>{rich('Offen ist die ')}{rich('alte Mühle', blue)}{rich('.')}{rich('_x000D_' + chr(10))}" in content
    assert f"{rich('Los!')}</si>{strings[2]}<si><t{space}>Eine &lt;b&gt;blaue&lt;/b&gt; Tür</t></si>" in content
    assert content.endswith(f"{strings[4]}</sst>")
    assert f"<text><t{space}>Eine Notiz &lt;1&gt;</t></text>" in written["notes.xml"].decode()
    assert "<text>Ein &amp; Faden</text>" in written["threads.xml"].decode()
    assert "<text>@Ann Go!</text>" in written["threads.xml"].decode()


def test_a_sheet_has_the_direction_of_the_language_and_formulas_are_computed_anew() -> None:
    content = xlsx(string("A horse."))
    document = parse_document(content, "xlsx")
    views = (
        '<sheetView tabSelected="1" workbookViewId="0"/>',
        '<sheetView tabSelected="1" workbookViewId="0" rightToLeft="1"/>',
    )
    for view, language, text in ((views[1], "he", "סוס."), (views[1], None, "סוס!"), (views[0], "de", "Ein Pferd.")):
        written = document.rebuild([translated(text)], language)
        assert view in parts(written)["sheet.xml"].decode()
        assert '<calcPr calcId="1" fullCalcOnLoad="1"/>' in parts(written)["workbook.xml"].decode()
        document = parse_document(written, "xlsx")
    long = document.rebuild([translated("x" * 32_768)], "de")
    assert parts(long)["strings.xml"] == parts(written)["strings.xml"]
    assert isinstance(document, Noted)
    assert len(document.notes()) == 1
    assert "'Ein Pferd.'" in document.notes()[0]
    assert "more than 32,767 characters" in document.notes()[0]
    lines = parse_document(xlsx(string("A horse." + "\n" * 32_000)), "xlsx")
    assert b"A horse." in parts(lines.rebuild([translated("x" * 1_000)], "de"))["strings.xml"]


def test_a_workbook_with_too_many_strings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.documents.office_file._MOST_TAGS", 99)
    parse_document(xlsx(string("A horse.") * 20, "<c><v>1</v></c>" * 99), "xlsx")
    for content in (xlsx(string("A horse.") * 30), xlsx("", f"<is>{'<t/>' * 99}</is>"), xlsx(drawing="<a:p/>" * 100)):
        with pytest.raises(DataError, match="at most 99 are read"):
            parse_document(content, "xlsx")
