"""Web pages: other languages, empty anchors, prices, formulas, fields and drawings."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable

import pytest

from dragoman.documents import Document, parse_document
from dragoman.documents.document import Bilingual, Noted
from dragoman.documents.mark_projection import project
from dragoman.errors import DataError
from dragoman.translator import Translation

#: Of processor time; each case takes a fraction of it, and some took twice as long with a slow search for each mark.
MOST_SECONDS = 1.5
N_CHARACTERS = 20_000


def texts_of(document: Document) -> list[str]:
    return [segment.text for segment in document.segments()]


def filled(document: Document, *texts: str) -> str:
    links = tuple((number, number) for number in range(20))
    return document.rebuild([Translation(text, 0.0, (), alignment=links) for text in texts]).decode()


def copied(document: Document) -> str:
    return filled(document, *texts_of(document))


PAGE = (
    '<html lang="en-GB"><body lang="en"><p lang="fr">Bonjour <b>tout</b> le monde</p><div lang="en">Hello</div>'
    '<p>It is <i xml:lang="fr-CA">la vie</i>, or <a hreflang="fr" lang="">life</a>.</p></body>'
)


@pytest.mark.parametrize("source", ["en", "en-US", None])
def test_parts_in_another_language_stay(source: str | None) -> None:
    document = parse_document(PAGE.encode(), "html")
    assert isinstance(document, Bilingual)
    document.set_languages(source, "de")
    assert texts_of(document) == ["Hello", 'It is <i xml:lang="fr-CA">la vie</i>, or life.']
    assert copied(document) == PAGE


def test_the_source_language_decides_what_stays() -> None:
    document = parse_document(PAGE.encode(), "html")
    document.set_languages("fr", "de")
    assert texts_of(document)[:1] == ["Bonjour tout le monde"]
    assert "Hello" not in texts_of(document)
    for page in (
        b"<p lang=fr>Bonjour</p>",
        b'<html lang="fr"><p>Hello</p>',
    ):  # of a language that is not known, or lies
        document = parse_document(page, "html")
        assert len(texts_of(document)) == 1
        document.set_languages("en", "de")
        assert len(texts_of(document)) == (0 if b"Bonjour" in page else 1)


NAMED = (
    "<html lang='en' class=x><body lang=en-US><p lang=\"en\">Hello <span lang='en-GB' class=a>you</span></p>\n"
    '<p lang="fr">Bonjour <i lang="en">you</i></p><P  LANG="EN" xml:lang="en">We <a hreflang="en">talk</a></P>'
    '<div lang="">x</div><p lang="en" translate="no">Hello</p><pre lang="en">Hello</pre><code lang="en">Hello</code>'
    '<img lang="en" alt="A cat"><textarea lang="en">Hello</textarea><br lang="de">Lang="en"</body></html>'
)


@pytest.mark.parametrize("source", ["en", "en-US", None])
def test_translated_elements_get_the_language_of_the_translation(source: str | None) -> None:
    document = parse_document(NAMED.encode(), "html")
    assert isinstance(document, Bilingual)
    document.set_languages(source, "zh")
    texts = [Translation(text, 0.0, ()) for text in texts_of(document)]
    expected = NAMED
    for old, new in (
        ("<html lang='en'", "<html lang='zh'"),
        ("<body lang=en-US", '<body lang="zh"'),
        ('<p lang="en">Hello <', '<p lang="zh">Hello <'),
        ("<span lang='en-GB'", "<span lang='zh'"),
        ('<P  LANG="EN" xml:lang="en">', '<P  LANG="zh" xml:lang="zh">'),
        ('<img lang="en"', '<img lang="zh"'),
        ('<textarea lang="en"', '<textarea lang="zh"'),
    ):
        assert old in expected
        expected = expected.replace(old, new)
    assert document.rebuild(texts, "zh").decode() == expected
    changed = [Translation(text.upper(), 0.0, (), alignment=((0, 0), (1, 1))) for text in texts_of(document)]
    assert "<span lang='zh' class=a>YOU</span>" in document.rebuild(changed, "zh").decode()


def test_a_page_gets_a_language_even_if_it_has_none() -> None:
    for page, expected in (
        ("<html><p>Hi</p>", '<html lang="de"><p>Hi</p>'),
        ('<html lang=""><p lang=fr>Hi</p>', '<html lang="de"><p lang=fr>Hi</p>'),
        ('<html lang="fr"><body lang="fr">Hi', '<html lang="de"><body lang="de">Hi'),
    ):
        document = parse_document(page.encode(), "html")
        assert isinstance(document, Bilingual)
        document.set_languages("en", "de")
        assert document.rebuild([Translation(text, 0.0, ()) for text in texts_of(document)], "de").decode() == expected


@pytest.mark.parametrize(
    ("page", "target", "expected"),
    [
        ('<html lang="en"><p>Hi', "ar", '<html dir="rtl" lang="ar"><p>Hi'),
        ("<HTML DIR=ltr lang=en><p>Hi", "uz-Arab", '<HTML DIR="rtl" lang="uz-Arab"><p>Hi'),
        ('<html lang="en" dir="auto"><body dir="ltr"><p dir="ltr">Hi', "fa",
         '<html lang="fa" dir="auto"><body dir="rtl"><p dir="rtl">Hi'),
        ("<pre>a</pre><p>Hi", "ar", "<pre>a</pre><p>Hi"),
        ("<html lang='he' dir='rtl'><body dir='rtl'><p lang=he dir=RTL>Hi", "en",
         "<html lang='en' dir='ltr'><body dir='ltr'><p lang=\"en\" dir=\"ltr\">Hi"),
        ("<html lang=he dir=rtl><p>Hi", "ar", '<html lang="ar" dir=rtl><p>Hi'),
        ("<html lang=en dir=ltr><p>Hi", "de", '<html lang="de" dir=ltr><p>Hi'),
        ('<html xmlns="x"><p>Hi</p>', "he", '<html lang="he" xml:lang="he" dir="rtl" xmlns="x"><p>Hi</p>'),
        ("<p>Hi</p>", "ar", "<p>Hi</p>"),
    ],
)  # fmt: skip
def test_a_page_gets_the_direction_of_its_language(page: str, target: str, expected: str) -> None:
    document = parse_document(page.encode(), "html")
    texts = [Translation(text, 0.0, ()) for text in texts_of(document)]
    assert document.rebuild(texts, target).decode() == expected


@pytest.mark.parametrize(
    ("source", "target", "changed", "same"),
    [
        ("en", "ar", "<p dir=ltr>Hi</p>|<input dir=LTR title=Hi>|<textarea dir=ltr>Hi</textarea>|<p dir=ltr>Hi",
         "<p dir=rtl>Hi</p>|<p dir=auto>Hi</p>|<td dir=ltr>+1 555</td>|<i dir=ltr><code>a</code></i>|"
         "<input dir=ltr type=tel>|<p dir=ltr lang=fr>a</p>|<P DIR=ltr translate=no>a</P>"),
        ("ar", "en", "<p dir=rtl>Hi <q dir=ltr>you</q></p>|<div dir=RTL><p>Hi</p></div>", "<p dir=ltr>Hi</p>"),
        ("ar", "he", "", "<p dir=rtl>Hi</p>|<p dir=ltr>Hi</p>"),
    ],
)  # fmt: skip
def test_a_direction_changes_with_the_text(source: str, target: str, changed: str, same: str) -> None:
    new = {"ltr": "rtl", "rtl": "ltr"}
    for page in f"{changed}|{same}".split("|"):
        document = parse_document(page.encode(), "html")
        assert isinstance(document, Bilingual)
        document.set_languages(source, target)
        texts = [Translation(text, 0.0, ()) for text in texts_of(document)]
        turned = re.sub("(?i)(?<=dir=)(ltr|rtl)", lambda match: f'"{new[match[0].lower()]}"', page, count=1)
        expected = turned if page in changed.split("|") else page
        assert document.rebuild(texts, target).decode() == expected


def test_what_stays_keeps_its_direction_in_a_page_of_the_other_one() -> None:
    page = (
        "<html lang=en><pre>a</pre><pre dir=rtl>b</pre><p lang=fr>c</p><p lang=he>d</p><div translate=no>e</div>"
        "<textarea></textarea><iframe></iframe>"
    )
    document = parse_document(page.encode(), "html")
    expected = page.replace("<html lang=en", '<html dir="rtl" lang="ar"').replace("<pre>", '<pre dir="ltr">')
    expected = expected.replace("<p lang=fr", '<p dir="ltr" lang=fr').replace("<div", '<div dir="ltr"')
    assert document.rebuild([], "ar").decode() == expected


@pytest.mark.parametrize(
    ("stated", "source", "is_noted"),
    [
        ("en", "fr", True),
        ("en-GB", "en", False),
        ("eng", "en", False),
        ("en", None, False),
        ("", "fr", False),
        ("{{ page.lang }}", "fr", False),
    ],
)
def test_a_page_in_another_language_is_noted(stated: str, source: str | None, is_noted: bool) -> None:
    document = parse_document(f'<html lang="{stated}"><p>Hello</p>'.encode(), "html")
    assert isinstance(document, Bilingual)
    assert isinstance(document, Noted)
    document.set_languages(source, "de")
    notes = document.notes()
    assert [f"in {stated}, but is translated from {source}" in note for note in notes] == [True] * is_noted


@pytest.mark.parametrize(
    ("named", "content", "is_read_as"),
    [
        ("iso-8859-1", "Café".encode("cp1252"), "cp1252"),
        ("iso-8859-1", b"Caf&eacute;", "cp1252"),
        ("latin1", "Café “a”".encode("cp1252"), "cp1252"),
        ("gb2312", "今天 镕".encode("gbk"), "gb18030"),
        ("windows-1251", "Café".encode(), "utf-8"),  # it is not what it says
        ("{{ charset }}", b"Hello", "utf-8"),
        ("cp99999", b"Hello", "utf-8"),
    ],
)
def test_a_page_is_written_in_the_encoding_that_it_is_read_in(named: str, content: bytes, is_read_as: str) -> None:
    page = f'<html><meta http-equiv=Content-Type content="text/html; charset={named}"><p>'.encode() + content
    document = parse_document(page, "html")
    (text,) = texts_of(document)
    assert document.rebuild([Translation(text, 0.0, ())]) == page
    written = document.rebuild([Translation(f"«{text}» я", 0.0, ())]).decode(is_read_as)
    assert html.unescape(written.partition("<p>")[2]) == f"«{text}» я"
    assert text == html.unescape(content.decode(is_read_as))


def test_a_page_in_no_encoding_that_it_names_is_refused() -> None:
    japanese = b"<meta charset=iso-2022-jp><p>" + "日本語".encode("iso2022_jp")
    for page in (b"<p>Caf\xe9", b"<meta charset=windows-1252><p>\x81\xe9", b"<meta charset=utf-8>\xe9", japanese):
        with pytest.raises(DataError, match="convert it to UTF-8"):
            parse_document(page, "html")


@pytest.mark.parametrize("format", ["html", "md"])
def test_an_empty_anchor_wraps_no_word(format: str) -> None:
    document = parse_document(b'My friend<a href="#x"></a>. <a name="y"></a>The end.', format)
    written = filled(document, "Mein Freund. Das Ende.")
    assert written == 'Mein Freund<a href="#x"></a>. <a name="y"></a>Das Ende.'


@pytest.mark.parametrize("prices", [("20 $", "15 $"), ("$20", "$15"), ("20 €", "15 €")])
def test_prices_stay_whole_in_their_tags(prices: tuple[str, str]) -> None:
    document = parse_document(b"Price: <del>$20</del> <ins>$15</ins>", "html")
    first, second = prices
    assert filled(document, f"Preis: {first} {second}") == f"Preis: <del>{first}</del> <ins>{second}</ins>"
    assert filled(document, f"Statt {first} nur {second}.") == f"Statt <del>{first}</del> nur <ins>{second}</ins>."


@pytest.mark.parametrize("unit", ["1", "1,"])
def test_prices_of_long_numbers_take_linear_time(unit: str) -> None:
    """With quadratic time, these texts would take minutes."""
    numbers = unit * 50_000
    document = parse_document(f"<p><b>a</b> {numbers}</p>".encode(), "html")
    assert filled(document, f"b {numbers}").startswith("<p><b>b</b>")


@pytest.mark.parametrize(
    ("text", "is_formula"),
    [
        ("E = mc<sup>2</sup> is old.", True),
        ("The energy is mc<sup>2</sup>.", True),
        ("So ab<sup>2</sup> + 5 is odd.", True),
        ("We like it<sup>2</sup> a lot.", False),
        ("The cat<sup>2</sup> sleeps.", False),
    ],
)
def test_a_short_word_with_a_power_is_a_formula(text: str, is_formula: bool) -> None:
    (segment,) = parse_document(text.encode(), "html").segments()
    kept = [segment.text[slice(*place)] for place in segment.verbatim]
    assert [one.endswith("<sup>2</sup>") for one in kept] == [True] * is_formula
    assert [mark.is_point for mark in segment.marks] == [True] * (not is_formula)


def test_fields_frames_and_drawings_show_texts() -> None:
    page = (
        '<iframe src="x" title="A map"></iframe><textarea placeholder="Your text">'
        "\n The &lt;dog&gt;\n\n42\nsleeps</textarea>"
        '<p>A <svg aria-label="A bird"><style>text {x: y}</style><title>The "bird"</title><text>Big '
        "<tspan>cat</tspan></text><g>no</g></svg> here.</p>"
        '<select><optgroup label="Cars"></select><svg translate="no"><text>Logo</text></svg>'
        "<script title='a b'>c d</script><pre title=\"An example\">x y</pre>"
    )
    document = parse_document(page.encode(), "html")
    texts = texts_of(document)
    assert sorted(texts) == sorted(
        [
            "A here.",
            "The <dog>",
            "42",
            "sleeps",
            "A bird",
            'The "bird"',
            "Big",
            "cat",
            "A map",
            "Your text",
            "Cars",
            "An example",
        ]
    )
    assert copied(document) == page
    expected = page
    for text in (">A ", " here", "dog", "sleeps", "A bird", "The ", "bird", "Big", "cat", "A map", "Your text"):
        expected = expected.replace(text, text.upper())
    expected = expected.replace("Cars", "CARS").replace("An example", "AN EXAMPLE")
    assert filled(document, *(text.upper() for text in texts)) == expected.replace("</TITLE", "</title")


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "<b>a " * (n // 5),
        lambda n: "a</b> " * (n // 6),
        lambda n: "A " + "a<br>" * (n // 5) + ".",
        lambda n: "".join(f"<{('b', 'i', 'em', 'a')[number % 4]}>a " for number in range(n // 6)),
        lambda n: "".join(f"<x{number}>a " for number in range(n // 9)),
        lambda n: "<b></b>" * (n // 7) + "a",
        lambda n: "<b>$5</b> and " * (n // 14),
        lambda n: "<code>a " * (n // 8),
        lambda n: "a <img>" * (n // 7),
        lambda n: "&amp; a" * (n // 7),
    ],
)
def test_many_tags_are_read_and_written_in_time(make: Callable[[int], str]) -> None:
    start = time.process_time()
    document = parse_document(make(N_CHARACTERS).encode(), "html")
    written = filled(document, *(f"{text} x" for text in texts_of(document)))
    assert len(written) >= N_CHARACTERS * 0.8
    assert time.process_time() - start < MOST_SECONDS


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です", "漢字です"),
        ("<p><ruby><rb>漢</rb><rp>(</rp><rt>かん</rt><rp>)</rp></ruby>です", "漢です"),
        ("<p><ruby>漢<rp>(<rt>かん<rp>)</ruby>です<p lang=fr>la", "漢です"),
        ("<p><ruby>東<rb>京<rtc><rt>とう<rt>きょう</rtc></ruby>です", "東京です"),
        ('<p>The <span epub:type="pagebreak" title="12">12</span>cat', "The cat"),
        ('<?php if ($a > 1 && "<b>"): ?><p>Hello<?php endif ?>', "Hello"),
        ("<?xml:namespace prefix = o /><p>Hello<?php a() ?>", "Hello"),
        ("<p>One<?a><b> door</b><?b?>", "One door"),
        ("<p>One<?a b='?'> door", "One door"),
        ("<p>One <?a b > c?>door", "One door"),
        ("<p>One door<?php a('x > y');\nb($c->d);", "One door"),
        ("<p>One &# door &#; &#x of <b>ten</b></p><p>x</p>", "One &# door &#; &#x of ten"),
        ("<pre>\n<p>One door", "One door"),
        ("<svg><p>One door", "One door"),
        ("<p>One door<style>p > b {}", "One door"),
        ("<p>Let <m:math><m:mi>x</m:mi></m:math> be", "Let <m:math><m:mi>x</m:mi></m:math> be"),
    ],
)
def test_what_is_no_text_of_the_sentence_is_not_read(page: str, text: str) -> None:
    document = parse_document(page.encode(), "html")
    assert isinstance(document, Bilingual)
    document.set_languages(None, "en")
    assert texts_of(document)[0] == text
    assert copied(document) == page


@pytest.mark.parametrize(
    ("page", "texts", "problem"),
    [
        ("<p>One</p>\n<!-- a <p>Two</p>", ["One"], "a comment without an end at line 2"),
        ("<p>One</p><!--><p>Two</p><!-- b -->\n</><!-- c --!>", ["One", "Two"], ""),
        ("<p>One</p>\n\n<?php a(); <p>Two</p>", ["One"], "an instruction without an end at line 3"),
        ("<p>One</p><?php a('x > y');", ["One"], ""),
        ("<p>One <![CDATA[ two</p><p>Three</p>", ["One", "Three"], "a section without an end at line 1"),
        ("<p>One <![CDATA[ two ]]></p><![if !IE]>", ["One"], ""),
        ("<p>One</p><script>a('</p>')<p>Two", ["One"], "a <script> without an end at line 1"),
        ("<p>One</p><script>a('<p>')</script><!-- b", ["One"], "a comment without an end at line 1"),
    ],
)
def test_what_has_no_end_stays_and_is_noted(page: str, texts: list[str], problem: str) -> None:
    document = parse_document(page.encode(), "html")
    assert isinstance(document, Noted)
    assert texts_of(document) == texts
    assert copied(document) == page
    assert [problem in note for note in document.notes()] == [True] * bool(problem)


def test_directions_in_markdown_change_with_the_text() -> None:
    text = (
        '<div dir="rtl" align="right">\n\n# salam\n\n<p title="salam" DIR=rtl>salam</p>\n\n</div>\n\n'
        'salam <b dir="rtl">salam</b> <bdi dir=ltr>Hi</bdi>\n\n    <div dir="rtl">\n'
    )
    document = parse_document(text.encode(), "md")
    assert isinstance(document, Bilingual)
    document.set_languages("fa", "en")
    texts = [Translation(one, 0.0, ()) for one in texts_of(document)]
    code = text[text.index("    <div") :]
    expected = text.removesuffix(code).replace('"rtl"', '"ltr"').replace("DIR=rtl", 'DIR="ltr"') + code
    assert document.rebuild(texts, "en").decode() == expected
    assert document.rebuild(texts).decode() == text


def test_readings_in_markdown_are_not_read() -> None:
    page = "<ruby>漢<rp>(</rp><rt>*かん*</rt><rp>)</rp></ruby>を**読む**"
    document = parse_document(page.encode(), "md")
    assert texts_of(document) == ["漢を読む"]
    assert filled(document, "Read the kanji").count("<rt>*かん*</rt>") == 1


def test_empty_marks_are_placed_between_words() -> None:
    (segment,) = parse_document(b"The cat <a id=x></a>sleeps.", "html").segments()
    links = [(0, 0), (1, 1), (2, 2)]
    assert project(segment, "Die Katze schläft.", links) == "Die Katze <a id=x></a>schläft."


def test_code_and_words_without_spaces_are_parted_in_time() -> None:
    document = parse_document(b"`x`a" * (N_CHARACTERS // 8), "md")
    start = time.process_time()
    assert copied(document) == "`x`a" * (N_CHARACTERS // 8)
    assert time.process_time() - start < MOST_SECONDS
