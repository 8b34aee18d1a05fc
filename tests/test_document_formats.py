"""Every format: a document of its own segments is the file, broken files give a result or one line, and marks stay."""

from __future__ import annotations

import codecs
import random
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from document_samples import COLUMNS, MAKERS, require_documents
from extras import import_extra
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents import Document, open_document, parse_document
from dragoman.errors import ConfigError, DataError
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

require_documents()
polib = import_extra("polib", "documents")

#: Files of each format in the round trips.
N_FILES = 60
CHARACTERS = "ab <>/&;!-[]`*_#|\"'\\\n\r\t:1=~%{}msgid0,é中\x00\u2028"


def translated(text: str, **values: object) -> Translation:
    return replace(Translation(text, 0.0, ()), **values)


def copied(document: Document) -> list[Translation]:
    return [translated(segment.text) for segment in document.segments()]


def check_message(error: DataError) -> None:
    assert "\n" not in error.message
    assert "; " in error.message


def changed(segment: MarkedText) -> Translation:
    """A translation that differs in its text only: a word is added."""
    return translated(f"{segment.text} Zusatz")


@pytest.mark.parametrize("format", MAKERS)
@pytest.mark.parametrize("number", range(N_FILES))
def test_a_document_of_its_own_segments_is_the_file(format: str, number: int) -> None:
    text = MAKERS[format](random.Random(number))
    line_end = ("\n", "\r\n")[number % 2]
    content = (codecs.BOM_UTF8 if number % 3 == 0 else b"") + text.replace("\r\n", "\n").replace(
        "\n", line_end
    ).encode()
    document = parse_document(content, format, columns=COLUMNS)
    for segment in document.segments():
        assert segment.text == segment.text.strip()
        assert segment.text
    written = document.rebuild(copied(document))
    if format == "po":
        expected = polib.pofile(text)
        for entry in expected:
            if not entry.translated() and not entry.obsolete:
                if entry.msgid_plural:
                    entry.msgstr_plural = {0: entry.msgid, 1: entry.msgid_plural}
                else:
                    entry.msgstr = entry.msgid
                entry.flags = [flag for flag in entry.flags if flag != "fuzzy"]
                entry.previous_msgid = None
        assert str(polib.pofile(written.decode())) == str(expected)
    else:
        assert written == content


@pytest.mark.parametrize("format", [format for format in MAKERS if format != "txt"])
@pytest.mark.parametrize("number", range(N_FILES))
def test_a_translated_document_is_read_again_with_the_same_markup(format: str, number: int) -> None:
    document = parse_document(MAKERS[format](random.Random(number)).encode(), format, columns=COLUMNS)
    sources = document.segments()
    written = document.rebuild([changed(source) for source in sources])
    again = parse_document(written, format, columns=COLUMNS)
    if format == "po":
        assert not again.segments()
        return
    texts = [source.text for source in again.segments()]
    assert sum(text.count("Zusatz") for text in texts) == len(sources)
    if format == "srt":
        times = re.compile(rb".*-->.*")
        assert times.findall(written) == times.findall(document.rebuild(copied(document)))
    if format == "html":
        tags = re.compile(rb"<[^<>]*>")
        original = document.rebuild(copied(document))
        without_values = [
            re.sub(rb"(?i)(title|alt|placeholder)=(\"[^\"]*\"|'[^']*')", b"", tag) for tag in tags.findall(written)
        ]
        assert sorted(without_values) == sorted(
            re.sub(rb"(?i)(title|alt|placeholder)=(\"[^\"]*\"|'[^']*')", b"", tag) for tag in tags.findall(original)
        )


@given(st.sampled_from(list(MAKERS)), st.integers(0, 30), st.data())
def test_broken_files_give_a_result_or_one_line(format: str, seed: int, data: st.DataObject) -> None:
    content = bytearray(MAKERS[format](random.Random(seed)).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        patch = data.draw(
            st.sampled_from(
                [b"", b"<", b">", b"`", b"*", b"\x00", b"\xff", b'"', b"\n\n", b"<!", b"]]>", b"[", b"&#", b"-->"]
            )
        )
        content[place : place + data.draw(st.integers(0, 9))] = patch
    try:
        document = parse_document(bytes(content), format, columns=COLUMNS)
        written = document.rebuild([changed(source) for source in document.segments()])
        unchanged = document.rebuild(copied(document))
    except DataError as error:
        check_message(error)
        return
    assert isinstance(written, bytes)
    if format != "po":
        assert unchanged == bytes(content)


@given(
    st.sampled_from(list(MAKERS)),
    st.text(st.sampled_from(CHARACTERS), max_size=60),
)
def test_any_text_gives_a_result_or_one_line(format: str, text: str) -> None:
    try:
        document = parse_document(text.encode(), format, columns="1")
        document.rebuild([changed(source) for source in document.segments()])
    except DataError as error:
        check_message(error)
        return
    if format != "po":
        assert document.rebuild(copied(document)) == text.encode()


def test_a_web_page_keeps_its_tags_and_gets_its_language() -> None:
    page = b"""<!DOCTYPE html><html lang=en><title>A &amp; b</title><body><p class=x>
  See <a href="?a&b" title="My page"><b>this</b></a> &mdash; or <code>a &lt; b</code>.</p>\
<pre>x y</pre><script>"a"</script>"""
    document = parse_document(page, "html")
    assert [segment.text for segment in document.segments()] == [
        "A & b",
        "See this — or <code>a &lt; b</code>.",
        "My page",
    ]
    links = ((0, 0), (1, 2), (2, 3), (4, 4), (5, 5), (6, 6), (3, 1))
    written = document.rebuild(
        [
            translated("A < b"),
            translated("Siehe <> dies oder <code>a &lt; b</code>.", alignment=links),
            translated('"Meine" Seite'),
        ],
        "de",
    )
    assert written.decode() == (
        '<!DOCTYPE html><html lang="de"><title>A &lt; b</title><body><p class=x>\n  Siehe &lt;&gt; '
        '<a href="?a&b" title="&quot;Meine&quot; Seite"><b>dies</b></a> oder <code>a &lt; b</code>.</p>'
        '<pre>x y</pre><script>"a"</script>'
    )


def test_markdown_keeps_its_markup() -> None:
    table = "| a b | c |\n|--|--|\n| d | e |\n"
    text = f"# A *red* cat #\n\n- See [the page](http://a.org 't'), `x | y`\n  and 1. more\n\n{table}"
    document = parse_document(text.encode(), "md")
    assert [segment.text for segment in document.segments()] == [
        "A red cat",
        "See the page, `x | y` and 1. more",
        "a b",
        "c",
        "d",
        "e",
        "t",
    ]
    one_to_one = tuple((number, number) for number in range(9))
    translations = [
        translated("Un chat rouge", alignment=((0, 0), (1, 2), (2, 1))),
        translated("1. Voir la page*, `x | y` [a](b)", alignment=one_to_one),
        *map(translated, ("a|b", "c", "d", "e", "T")),
    ]
    assert document.rebuild(translations).decode() == (
        "# Un chat *rouge* #\n\n- 1\\. [Voir la](http://a.org 'T') page\\*,\n  `x | y` \\[a\\](b)\n\n"
        + table.replace("a b", "a\\|b")
    )


def test_markdown_has_texts_inside_its_markup() -> None:
    text = textwrap.dedent(
        """\
        See ![a *red* house](a.png "The \\"old\\" one"), [door] and ![window][].

        [![The build](b.svg)](http://a.org)

        | a | see ![a \\| b](c.png) more |
        |---|---|

        <p><img src="d.png" alt="A logo"></p>

        [door]: http://d.org (The way)
        [window]: w.png
          'The view'
        """
    )
    document = parse_document(text.encode(), "md")
    segments = document.segments()
    assert [segment.text for segment in segments] == [
        "See , door and .",
        "a",
        "see more",
        *("a red house", 'The "old" one', "window", "The build", "a | b", "A logo", "The way", "The view"),
    ]
    written = document.rebuild([translated(segment.text.swapcase()) for segment in segments]).decode()
    assert written == textwrap.dedent(
        """\
        sEE ![A *RED* HOUSE](a.png "tHE \\"OLD\\" ONE"), [DOOR][door] AND ![WINDOW][window].

        [![tHE BUILD](b.svg)](http://a.org)

        | A | SEE ![A \\| B](c.png) MORE |
        |---|---|

        <p><img src="d.png" alt="a LOGO"></p>

        [door]: http://d.org (tHE WAY)
        [window]: w.png
          'tHE VIEW'
        """
    )
    only_markup = [translated(one.text if number < 3 else one.text.swapcase()) for number, one in enumerate(segments)]
    first = document.rebuild(only_markup).decode().splitlines()[0]
    assert first == 'See ![A *RED* HOUSE](a.png "tHE \\"OLD\\" ONE"), [door] and ![WINDOW][window].'


@pytest.mark.parametrize(
    "page",
    [
        'See [a](b "A title") now.\n',
        "See [a](b (A title)) now.\n",
        "See ![A title](b) now.\n",
        "See ![A title][b] now.\n\n[b]: c\n",
        "See [a] now.\n\n[a]: b 'A title'\n",
        "See [A title](b) now.\n",
        "See [A title][b] now.\n\n[b]: c\n",
    ],
)
@given(text=st.text(st.sampled_from("\\a()[]\"'&;"), max_size=8))
def test_no_text_inside_markup_ends_it(page: str, text: str) -> None:
    text = f"A x{text}"
    document = parse_document(page.encode(), "md")
    segments = [one.text.replace("A title", text) for one in document.segments()]
    written = document.rebuild([translated(one) for one in segments])
    assert [one.text for one in parse_document(written, "md").segments()] == segments


def test_a_backslash_that_escapes_nothing_is_text() -> None:
    document = parse_document(rb"See C:\Users and \*this\*.", "md")
    assert [one.text for one in document.segments()] == [r"See C:\Users and *this*."]
    assert document.rebuild([translated("Hier: C:\\Users\\")]) == rb"Hier: C:\Users\\"


def test_each_link_of_a_row_is_a_segment() -> None:
    page = b'<nav><a href="/">Home</a> <a>Visit us</a> | <span><a>Help</a></span></nav><p><a>One</a> and <a>two</a>'
    document = parse_document(page, "html")
    assert [segment.text for segment in document.segments()] == ["Home", "Visit us", "Help", "One and two"]
    written = document.rebuild([translated(text) for text in ("Start", "Besuch", "Hilfe", "One and two")])
    assert written == page.replace(b"Home", b"Start").replace(b"Visit us", b"Besuch").replace(b"Help", b"Hilfe")


def test_links_between_signs_are_a_row_and_the_text_before_them_is_a_segment() -> None:
    page = b"<footer>The Old Mill. <a href=1>Imprint</a> &middot; <a href=2>Terms</a> | <a href=3>Help</a></footer>"
    document = parse_document(page, "html")
    assert [segment.text for segment in document.segments()] == ["The Old Mill.", "Imprint", "Terms", "Help"]
    written = document.rebuild([translated(text) for text in ("Die Mühle.", "Impressum", "Regeln", "Hilfe")]).decode()
    assert written == (
        "<footer>Die Mühle. <a href=1>Impressum</a> &middot; <a href=2>Regeln</a> | <a href=3>Hilfe</a></footer>"
    )


def test_the_fields_of_a_form_are_translated() -> None:
    page = b'<form>Name: <input placeholder="Your name"> <button>Go</button><select><option>One<option>Two</select>'
    document = parse_document(page, "html")
    texts = [segment.text for segment in document.segments()]
    assert texts == ["Name:", "Go", "One", "Two", "Your name"]
    written = document.rebuild([translated(text.upper()) for text in texts]).decode()
    assert written == (
        '<form>NAME: <input placeholder="YOUR NAME"> <button>GO</button><select><option>ONE<option>TWO</select>'
    )


def test_markdown_leaves_the_blocks_of_dialects_alone() -> None:
    text = textwrap.dedent(
        """\
        > [!NOTE]
        > Read **this** first.

        :::{note} A title
        :class: wide
        Some text.
        :::
        :::{code-block} python
        print("text")
        :::

        $$
        a^2
        $$

        The formula $a^2$ costs $5 or 10$. Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.

        Term
        : Its meaning.

        [^1]: A note.
        [^2]: Another note.
        [page]: http://a.org "Title"

        See [the page][page].

        <details>
        <summary>More <b>text</b></summary>

        Inside.

        </details>
        """
    )
    document = parse_document(text.encode(), "md")
    assert [segment.text for segment in document.segments()] == [
        "Read this first.",
        "A title",
        "Some text.",
        "The formula $a^2$ costs $5 or 10$. Press <kbd>Ctrl</kbd>+<kbd>C</kbd>.",
        "Term",
        "Its meaning.",
        "A note.",
        "Another note.",
        "See the page.",
        "More text",
        "Inside.",
        "Title",
    ]
    formula = document.segments()[3]
    kept = [formula.text[start:end] for start, end in formula.verbatim]
    assert kept == ["$a^2$", "<kbd>Ctrl</kbd>", "<kbd>C</kbd>"]
    written = document.rebuild([translated(segment.text) for segment in document.segments()])
    assert written.decode() == text
    upper = [translated(segment.text.swapcase()) for segment in document.segments()]
    lines = document.rebuild(upper).decode().splitlines()
    assert {"> rEAD **THIS** FIRST.", ": iTS MEANING.", "[^2]: aNOTHER NOTE.", "sEE [THE PAGE][page]."} <= set(lines)
    assert "<summary>mORE <b>TEXT</b></summary>" in lines


def test_a_formula_ends_in_its_own_list_item() -> None:
    text = "- $$\n  a + b\n- One $$ more\n  1. $$\n     x\n  2. c $$\n- $$\n  y\n  $$\n"
    document = parse_document(text.encode(), "md")
    assert [segment.text for segment in document.segments()] == ["$$ a + b", "One $$ more", "$$ x", "c $$"]


@pytest.mark.parametrize("format", ["txt", "md", "html", "po"])
@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_document_has_an_empty_translation(format: str, text: str) -> None:
    document = parse_document(text.encode(), format)
    assert not document.segments()
    assert format == "po" or document.rebuild([]) == text.encode()


def test_a_mark_without_text_keeps_the_space_after_it() -> None:
    text = "[![build](b.svg)](http://a.org) **Fast** and easy.\n"
    document = parse_document(text.encode(), "md")
    one_to_one = ((0, 0), (1, 1), (2, 2))
    written = document.rebuild([translated("Schnell und leicht.", alignment=one_to_one), translated("Bau")]).decode()
    assert written == "[![Bau](b.svg)](http://a.org) **Schnell** und leicht.\n"


def test_messages_get_plurals_flags_and_a_language() -> None:
    text = """msgid ""
msgstr ""
"Language: \\n"

msgid "One %d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid "kept"
msgstr "gehalten"

#, fuzzy
msgid "See :ref:`the docs <x>`."
msgstr "alt"
"""
    document = parse_document(text.encode(), "po")
    assert [segment.text for segment in document.segments()] == ["One %d file", "%d files", "See the docs."]
    flagged = translated("Siehe die Doku.", flags=("span",), alignment=((0, 0), (1, 1), (2, 2)))
    for language, plurals in {"de": {0: "A %d", 1: "B %d"}, "zh": {0: "B %d"}, "fr": {0: "A %d", 1: "B %d"}}.items():
        document = parse_document(text.encode(), "po")
        written = polib.pofile(document.rebuild([translated("A %d"), translated("B %d"), flagged], language).decode())
        assert written.metadata["Language"] == language
        first, kept, fuzzy = written
        assert (first.msgstr_plural, first.fuzzy, kept.msgstr) == (plurals, False, "gehalten")
        assert (fuzzy.msgstr, fuzzy.fuzzy) == ("Siehe :ref:`die Doku <x>`.", True)


@pytest.mark.parametrize(
    ("message", "source", "translation", "alignment", "expected"),
    [
        (
            '<A href=\\"%(url)s\\">Click here</a> to go.',
            "Click here to go.",
            "Klicken Sie hier zum Gehen.",
            ((0, 0), (1, 2), (2, 3), (3, 4)),
            '<A href="%(url)s">Klicken Sie hier</a> zum Gehen.',
        ),
        (
            "**<b>One</b>**<br/>two",
            "One two",
            "Eins zwei",
            ((0, 0), (1, 1)),
            "**<b>Eins</b>**<br/>zwei",
        ),
        ("Open <file> of 100%%.", "Open <file> of 100%%.", "<file> von 100%% auf.", None, "<file> von 100%% auf."),
        ("a </b> b <b>", "a </b> b <b>", "b </b> a <b>", None, "b </b> a <b>"),
    ],
)
def test_tags_in_messages_go_with_their_words_and_lone_ones_stay(
    message: str, source: str, translation: str, alignment: tuple[tuple[int, int], ...] | None, expected: str
) -> None:
    document = parse_document(f'msgid "{message}"\nmsgstr ""\n'.encode(), "po")
    (segment,) = document.segments()
    assert segment.text == source
    kept = {segment.text[slice(*stretch)] for stretch in segment.verbatim}
    assert kept == set(re.findall(r"</?(?:file|b)>|%%", source))
    (entry,) = polib.pofile(document.rebuild([translated(translation, alignment=alignment)]).decode())
    assert entry.msgstr == expected


def test_markup_at_the_edge_of_a_text_keeps_its_space() -> None:
    for format, text in (
        ("md", "![](a.png) The cat.[^1]\n\n[^1]: A note.\n"),
        ("html", "<p><img src=a> The cat.</p>"),
        ("html", "<p><a href=b><img src=a> The cat.</a> <img src=c></p>"),
        ("html", "<p><b>The <img src=a> cat.</b></p>"),
    ):
        document = parse_document(text.encode(), format)
        sources = document.segments()
        assert [source.text for source in sources] == ["The cat.", "A note."][: len(sources)]
        translations = [translated("Die Katze.", alignment=((0, 0), (1, 1))), translated("Notiz.", alignment=((0, 0),))]
        written = document.rebuild(translations[: len(sources)]).decode()
        for source, translation in {"The ": "Die ", "cat.": "Katze.", "A note.": "Notiz."}.items():
            text = text.replace(source, translation)
        assert written == text


@pytest.mark.parametrize(
    ("format", "text"), [("html", "<p>&copy; A\u2122 <b>b</b></p>"), ("md", "\u00a9 A\u2122 *b*\n")]
)
def test_signs_of_footers_are_verbatim(format: str, text: str) -> None:
    (segment,) = parse_document(text.encode(), format).segments()
    assert segment.text == "© A™ b"
    assert segment.verbatim == ((0, 1), (3, 4))


def test_names_of_speakers_stay_and_end_the_sentence_before() -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\nWell,\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\n{\\an8}MAN #2: come here\nat once!\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\nIt is: A cat.\n"
    )
    document = parse_document(text.encode(), "srt")
    assert [segment.text for segment in document.segments()] == ["Well,", "come here at once!", "It is: A cat."]
    written = document.rebuild([translated(each) for each in ("Nun,", "kommt her, sofort!", "Das ist: eine Katze.")])
    assert b"{\\an8}MAN #2: kommt her,\nsofort!\n" in written


def test_songs_and_sounds_in_subtitles_are_apart_and_keep_their_marks() -> None:
    cues = [
        "♪ Happy birthday ♪\n[door closes]",
        "and then\n( laughs )\nwho is\nthere?",
        "<i>♪ my heart\nwill go on ♪</i>",
        "He (Tom) is here [now].",
        "♪ ♪",
    ]
    text = "\n\n".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{cue}" for n, cue in enumerate(cues, 1))
    document = parse_document(text.encode(), "srt")
    assert [segment.text for segment in document.segments()] == [
        "Happy birthday",
        "door closes",
        "and then",
        "laughs",
        "who is there?",
        "my heart will go on",
        "He (Tom) is here [now].",
    ]
    written = document.rebuild([translated(segment.text.upper()) for segment in document.segments()]).decode()
    shouted = [re.sub(r"<(/?)I>", r"<\1i>", cue.upper()) for cue in cues]
    assert [block.split("\n", 2)[2] for block in written.split("\n\n")] == shouted


def test_a_sentence_over_cues_is_one_segment_and_is_broken_again() -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\nI never thought\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\n{\\an8}that we would see\neach other again.\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\n- <i>Hi!</i>\n- No.\n"
    )
    document = parse_document(text.encode(), "srt")
    assert [segment.text for segment in document.segments()] == [
        "I never thought that we would see each other again.",
        "Hi!",
        "No.",
    ]
    written = document.rebuild(
        [translated("Ich dachte nie, dass wir uns einmal wiedersehen würden."), translated("He!"), translated("Nein.")]
    )
    assert written.decode() == (
        "1\n00:00:01,000 --> 00:00:02,000\nIch dachte nie,\n\n"
        "2\n00:00:02,500 --> 00:00:04,000\n{\\an8}dass wir uns einmal\nwiedersehen würden.\n\n"
        "3\n00:00:05,000 --> 00:00:06,000\n- <i>He!</i>\n- Nein.\n"
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.html", b"<p>a\n<b>\xff", r"invalid UTF-8: .*a\.html:2:4; convert it to UTF-8"),
        ("a.po", b'msgid "a"\nmsgtsr "b"\n', r"this is no PO file: .*a\.po:2"),
        ("b.po", b'msgid "a"\nmsgstr "b \\"\n', r"a string without its closing quote: .*b\.po:2; add the quote"),
        ("a.srt", b"Hello\n", "no cue with times"),
        ("empty.srt", b"", "the file is empty"),
        ("empty.vtt", b" \n\n", "the file is empty"),
        ("empty.xlf", b"\n", "the file is empty"),
        ("empty.tmx", b"", "the file is empty"),
        ("empty.docx", b"", "the file is empty"),
        ("b.html", b"<a " * 2_000, "tags without an end"),
    ],
)
def test_malformed_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_document(tmp_path / name)


def test_unknown_formats_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.xyz").write_bytes(b"x")
    with pytest.raises(
        ConfigError, match=r"unknown kind of document '\.xyz': .*the formats are txt, html, .*--format names one"
    ):
        open_document(tmp_path / "a.xyz")
    assert open_document(tmp_path / "a.xyz", "txt").segments() == [MarkedText("x")]
    with pytest.raises(ConfigError, match="unknown format 'xyz'"):
        parse_document(b"x", "xyz")
    monkeypatch.setattr("dragoman.data.text_files.whole_files.MAX_BYTES", 3)
    (tmp_path / "a.md").write_bytes(b"long")
    with pytest.raises(DataError, match=r"more than 3 bytes, the most of a document: .*; split it"):
        open_document(tmp_path / "a.md")
    with pytest.raises(DataError, match=r"more than 3 bytes, the most of a document: .*; split it"):
        parse_document(b"long", "md")


def test_deep_and_many_tags_are_written_again() -> None:
    for page in ("<b>" * 3_000 + "x" + "</b>" * 3_000, "the <b>red</b> <code>x</code> horse " * 1_000):
        document = parse_document(page.encode(), "html")
        written = document.rebuild([changed(segment) for segment in document.segments()]).decode()
        assert [written.count(tag) for tag in ("<b>", "</b>")] == [page.count("<b>")] * 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("H<sub>2</sub>O is wet.", "H<sub>2</sub>O is wet."),
        ("It is 5 m<sup>2</sup>, 10<sup>-3</sup>.", "It is 5 m<sup>2</sup>, 10<sup>-3</sup>."),
        ("C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>"),
        ("SO<sub>4</sub><sup>2-</sup> and Name<sup>TM</sup>", "SO<sub>4</sub><sup>2-</sup> and Name<sup>TM</sup>"),
        ("The <b>CO<sub>2</sub></b> gas", "The <b>CO<sub>2</sub></b> gas"),
        ("<i>x</i><sub>i</sub> is one", "<i>x</i><sub>i</sub> is one"),
        ("The house<sup>3</sup> burns.", "The house burns."),
        ("In Paris.<sup><b>[4]</b></sup> He", "In Paris. He"),
        ("On the 1<sup>st</sup> day", "On the 1st day"),
        ("a <sup>b c</sup> and <sub>small words</sub>", "a b c and small words"),
    ],
)
@pytest.mark.parametrize("format", ["html", "md"])
def test_a_script_is_part_of_a_formula_a_note_or_an_ordinal(format: str, text: str, expected: str) -> None:
    document = parse_document(f"<p>{text}</p>".encode() if format == "html" else text.encode(), format)
    if expected.startswith("C<"):  # no words
        assert not document.segments()
        return
    (source,) = document.segments()
    assert source.text == expected
    kept = {source.text[start:end] for start, end in source.verbatim}
    assert all("<" in one for one in kept)
    assert source.text.count("<") == "".join(kept).count("<")
    one_to_one = tuple((number, number) for number in range(9))
    written = document.rebuild([translated(source.text + " X", alignment=one_to_one)]).decode()
    assert written.replace(" X", "") == document.rebuild(copied(document)).decode()


def test_an_ordinal_number_keeps_its_mark_after_the_digits() -> None:
    document = parse_document(b"The 1<sup>st</sup> day[^1].", "md")
    links = ((0, 0), (1, 1), (2, 2))
    written = [document.rebuild([translated(text, alignment=links)]) for text in ("Le 1er jour.", "Der 1. Tag.")]
    assert written == [b"Le 1<sup>er</sup> jour[^1].", b"Der 1<sup></sup>. Tag[^1]."]
