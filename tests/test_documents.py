"""Documents: only the text is translated, and everything around it stays."""

import codecs
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import documents
from dragoman.cli.program import run
from dragoman.documents import MarkedText, SegmentText, open_document, translate_document
from dragoman.documents.document import TextFile
from dragoman.documents.plain_text import parse_text
from dragoman.documents.translating import put_ellipses, take_ellipses
from dragoman.errors import ConfigError, DataError
from dragoman.translator import Alternative, Request, Translation

#: Everything that a text file may have, and much of what looks like structure.
lines = st.text(st.sampled_from("ab. \t\u00a0\u3000-*1)中é\ufeff\x0c\x85\u2028"), max_size=12) | st.text(max_size=8)
ends = st.sampled_from(["\n", "\r\n", "\r", "\n\n", ""])
long_lines = st.lists(
    st.sampled_from(["word", "a", "somewhat-longer", "end.", "- item", "12) item", "", "  ", "\t-x"]), max_size=20
).map(" ".join)
files = st.lists(st.tuples(lines | long_lines, ends), max_size=12).map(lambda parts: "".join(a + b for a, b in parts))
EXAMPLE = """\
  A heading

    Two dogs are running across the wide green meadow behind the
    house, and a child watches them from the window. It is
    raining.
- one thing
- another thing

The end
"""


def texts_of(document: TextFile) -> list[str]:
    return [segment.text for segment in document.segments()]


def filled(document: TextFile, texts: Sequence[str]) -> bytes:
    return document.rebuild([Translation(text, 0.0, ()) for text in texts])


def parse(text: str) -> TextFile:
    return parse_text(text.encode(), Path("a.txt"))


@given(text=files, mark=st.sampled_from([b"", codecs.BOM_UTF8]))
def test_a_document_of_its_own_segments_is_the_file(text: str, mark: bytes) -> None:
    content = mark + text.encode(errors="ignore")
    try:
        document = parse_text(content, Path("a.txt"))
    except DataError:  # it looks like a file of another kind
        return
    assert filled(document, texts_of(document)) == content
    for segment in texts_of(document):
        assert segment == segment.strip() != ""
        assert not {"\r", "\n"} & set(segment)


@given(text=files)
def test_only_the_text_changes(text: str) -> None:
    try:
        document = parse(text)
    except (DataError, UnicodeEncodeError):
        return
    changed = filled(document, ["X"] * len(document.segments())).decode().removeprefix("\ufeff")
    cells = (cell.strip() for cell in re.split(r"\t|  +|\n|\r", changed.replace("X", "")))
    assert not any(map(str.isalpha, "".join(cell for cell in cells if not re.match("--?[A-Za-z0-9?]", cell))))
    assert changed.count("X") == len(document.segments())


def test_layout_stays() -> None:
    document = parse(EXAMPLE)
    assert texts_of(document) == [
        "A heading",
        "Two dogs are running across the wide green meadow behind the "
        "house, and a child watches them from the window. It is raining.",
        "one thing",
        "another thing",
        "The end",
    ]
    changed = filled(document, [segment.upper() for segment in texts_of(document)])
    assert changed.decode() == EXAMPLE.upper()
    longer = filled(document, ["Ein " + segment for segment in texts_of(document)]).decode()
    assert longer.startswith("  Ein A heading\n\n    Ein Two dogs")
    assert all(len(line) <= max(map(len, EXAMPLE.splitlines())) for line in longer.splitlines())
    without_marks = longer.replace("\n- ", "\n")
    assert without_marks.split() == " ".join("Ein " + segment for segment in texts_of(document)).split()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_wrapped_by_a_program_is_joined(end: str) -> None:
    text = "a long story about nothing in particular that goes on and on without any full stop " * 5
    wrapped = textwrap.wrap(text, 60, initial_indent="  ")
    document = parse(end.join(["Title", "", *wrapped, ""]))
    assert texts_of(document) == ["Title", " ".join(text.split())]
    assert filled(document, ["Titel", text.replace("a long", "eine lange")]).decode().count(end) >= len(wrapped) + 2


@pytest.mark.parametrize(
    "text",
    [
        "One sentence.\nAnother sentence that is quite a bit longer than the first.\n",
        "Two roads diverged\nAnd sorry I could not\n",
        "first item of a list that is long enough to be wrapped\n- second item of a list\n",
        "这是一个没有标点符号的很长很长的句子这是一个没有标点符号的很长很长的句子这是一个句子\n这是另一个句子\n",
    ],
)
def test_lines_that_were_not_wrapped_are_segments(text: str) -> None:
    assert texts_of(parse(text)) == [line.removeprefix("- ") for line in text.splitlines()]


def test_what_cannot_be_read_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nbad \xff\n")
    with pytest.raises(DataError, match=r"invalid UTF-8: .*a\.txt:2:5"):
        open_document(tmp_path / "a.txt")
    with pytest.raises(DataError, match="file not found"):
        open_document(tmp_path / "missing.txt")
    with pytest.raises(DataError, match="this is a folder, not a file"):
        open_document(tmp_path)
    with pytest.raises(ConfigError, match=r"unknown kind of document '\.xyz': .*the formats are txt, html"):
        open_document(tmp_path / "a.xyz")
    (tmp_path / "b.txt").write_bytes(b"<!DOCTYPE html>\n<html>")
    with pytest.raises(DataError, match="this is an HTML page"):
        open_document(tmp_path / "b.txt")


class Entries:
    """A second format: lines of `key = text`, of which only the text is translated."""

    def __init__(self, content: bytes, name: Path) -> None:
        self.rows = [line.partition(" = ") for line in content.decode().splitlines()]

    def segments(self) -> Sequence[MarkedText]:
        return [MarkedText(text) for _, _, text in self.rows]

    def rebuild(self, translations: Sequence[Translation], target_lang: str | None = None) -> bytes:
        pairs = zip(self.rows, translations, strict=True)
        return "".join(f"{key}{sign}{translation.text}\n" for (key, sign, _), translation in pairs).encode()


@pytest.mark.captions
def test_the_command_translates_documents_of_every_format(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(documents.FORMATS, ".entries", Entries)
    sentences = ["A man is riding a horse.", "Two dogs are running."]
    (tmp_path / "lines.en").write_text("".join(f"{sentence}\n" for sentence in sentences))
    assert run(["translate", "-m", "multi30k-en-de", "--input", str(tmp_path / "lines.en")]) == 0
    man, dogs = capfd.readouterr().out.splitlines()
    contents = {
        "notes.txt": ("\ufeff  {}\r\n\r\n\t{}", ".txt"),
        "app.entries": ("first = {}\nsecond = {}\n", ".entries"),
    }
    for name, (form, suffix) in contents.items():
        (tmp_path / name).write_bytes(form.format(*sentences).encode())
        output = tmp_path / f"translated{suffix}"
        command = ["translate", "-m", "multi30k-en-de", "--input", str(tmp_path / name)]
        command += ["--format", "txt"] if suffix == ".txt" else []
        assert run([*command, "--output", str(output)]) == 0
        assert output.read_bytes() == form.format(man, dogs).encode()
        assert run([*command, "--output", str(tmp_path / name), "--overwrite"]) != 0
        assert run([*command, "--json"]) == 2


@pytest.mark.captions
def test_the_command_translates_by_suffix_and_by_format(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = b"<html lang=en><p>A <b>man</b> is riding a horse.<code>x</code></p>"
    (tmp_path / "page.html").write_bytes(page)
    (tmp_path / "page").write_bytes(page)
    command = ["translate", "-m", "multi30k-en-de", "--beam-size", "1"]
    assert run([*command, "--input", str(tmp_path / "page.html"), "--output", str(tmp_path / "seite.html")]) == 0
    written = (tmp_path / "seite.html").read_text()
    assert written.startswith('<html lang="de"><p>Ein <b>Mann</b> ')
    assert written.count("<code>x</code>") == 1
    assert run([*command, "--input", str(tmp_path / "page"), "--format", "html"]) == 0
    assert capfd.readouterr().out == written
    assert run([*command, "--input", str(tmp_path / "page"), "--format", "xyz"]) == 2
    assert "the formats are txt, html" in capfd.readouterr().err
    assert run([*command, "--input", str(tmp_path / "page.html"), "--align"]) == 2


def test_a_heading_keeps_its_capital_and_a_copied_word_its_small_letter() -> None:
    class Small:
        """A translator that writes small letters."""

        def answering(self, **_: object) -> Any:
            return self.translate

        def translate(self, requests: Sequence[Request], *_: object, **__: object) -> list[Translation]:
            return [Translation(written[request.text], 0.0, ()) for request in requests]

    written = {"Help": "hilfe", "help": "hilfe", "Run pip now": "pip starten", "ß": "ß", "Sss": "ßa", "A": ""}
    document = documents.parse_document("\n\n".join(written).encode(), "txt")
    found = translate_document(document, Small())  # type: ignore[arg-type]
    assert [translation.text for translation in found] == ["Hilfe", "hilfe", "pip starten", "ß", "ßa", ""]


@pytest.mark.parametrize(
    ("text", "read", "translation", "written"),
    [
        ("Search…", "Search", "Suche", "Suche…"),
        ("Open...", "Open", "Öffne!", "Öffne..."),
        (
            "I told you that nobody listened...",
            "I told you that nobody listened.",
            "Niemand hörte zu.",
            "Niemand hörte zu...",
        ),
        ("…and then", "and then", "und dann", "…und dann"),
        ("...or not...", "or not", "oder nicht", "...oder nicht..."),
        ("Wait ... here", "Wait ... here", "Warte ... hier", "Warte ... hier"),
        ("...", "...", "...", "..."),
    ],
)
def test_ellipses_stay_at_the_ends(text: str, read: str, translation: str, written: str) -> None:
    core, _, ellipses = take_ellipses(text, ())
    assert (core, put_ellipses(translation, ellipses, "de")) == (read, written)


def test_alternatives_get_the_ellipses_and_the_capital_too() -> None:
    segment = SegmentText.of(documents.parse_document(b"Help me...", "txt").segments()[0])
    texts = "hilf mir.", "hilf mir!", "hilfe"
    best = Translation(texts[0], 0.0, (), tuple(Alternative(text, 0.0, 0.0, ()) for text in texts))
    finished = segment.finish(best, "de")
    assert [each.text for each in finished.alternatives] == ["Hilf mir...", "Hilf mir...", "Hilfe..."]
    assert finished.text == finished.alternatives[0].text


def test_ellipses_and_verbatim_stretches() -> None:
    core, verbatim, _ = take_ellipses("…see `a`…", ((5, 8),))
    assert (core, verbatim) == ("see `a`…", ((4, 7),))
    assert take_ellipses("a...", ((0, 4),))[0] == "a..."
    assert put_ellipses("打开。", take_ellipses("Open…", ())[2], "zh-Hans") == "打开……"


def test_the_columns_of_a_line_stay_in_their_places() -> None:
    text = textwrap.dedent(
        """\
        Usage: tool [options]

          -o, --output FILE    write the result to a file that
                               does not exist so far, or to it
          -h, --help           show this help

        Name   Age  City
        Anna   12   The old town
        Tab\there\tand there

        An end.  A start of  another sentence
        """
    )
    document = parse(text)
    assert texts_of(document) == [
        "Usage: tool [options]",
        "write the result to a file that does not exist so far, or to it",
        "show this help",
        *("Name", "Age", "City", "Anna", "The old town", "Tab", "here", "and there"),
        "An end.  A start of  another sentence",
    ]
    translations = [
        "Gebrauch",
        "das Ergebnis in eine Datei schreiben, die es nicht gibt",
        *("Hilfe", "名字", "Alter", "Stadt", "Annaliese", "Die Altstadt", "T", "hier", "dort", "Ende."),
    ]
    assert filled(document, translations).decode() == textwrap.dedent(
        """\
        Gebrauch

          -o, --output FILE    das Ergebnis in eine Datei
                               schreiben, die es nicht gibt
          -h, --help           Hilfe

        名字   Alter  Stadt
        Annaliese  12   Die Altstadt
        T\thier\tdort

        Ende.
        """
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "This is   an old   letter that was   typed by hand.",
            ["This is   an old   letter that was   typed by hand."],
        ),
        ("  This is   an old\n  letter   typed by hand.", ["This is   an old", "letter   typed by hand."]),
        ("Name:     Anna\nAddress:  The old town", ["Name:", "Anna", "Address:", "The old town"]),
        ("Name      a long text that\n          goes on", ["Name", "a long text that", "goes on"]),
        ("Total     12.50\nThe tax    2.50", ["Total", "12.50", "The tax", "2.50"]),
        ("-o   write it", ["write it"]),
        ("Tab\there", ["Tab", "here"]),
    ],
)
def test_spaces_inside_a_sentence_are_no_columns(text: str, expected: list[str]) -> None:
    assert texts_of(parse(text)) == expected


def test_the_columns_of_a_message_stay_in_their_places() -> None:
    message = '"  -v   say more\\n"\n"  -h   show this help\\n"\n"Name   Age\\n"'
    document = documents.parse_document(f'msgid ""\n{message}\nmsgstr ""\n'.encode(), "po")
    assert [segment.text for segment in document.segments()] == ["say more", "show this help", "Name", "Age"]
    written = document.rebuild([Translation(text, 0.0, ()) for text in ("mehr", "Hilfe", "N", "Alter")]).decode()
    assert '"  -v   mehr\\n"\n"  -h   Hilfe\\n"\n"N      Alter\\n"' in written
