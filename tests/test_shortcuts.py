"""Shortcuts of programs: a model reads the text without the mark, and the translation has it once, before a letter."""

import re
from html import escape, unescape
from pathlib import Path

import pytest
from document_samples import require_documents
from extras import import_extra
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.documents import parse_document
from dragoman.documents.shortcuts import Shortcut, put_shortcut, take_shortcut
from dragoman.translator import Translation

require_documents()
polib = import_extra("polib", "documents")

marks = st.sampled_from("&_")
letters = st.sampled_from("aOxé")


@pytest.mark.parametrize(
    ("text", "read", "letter"),
    [
        ("&Open", "Open", "O"),
        ("Save _As...", "Save As...", "A"),
        ("E&xit", "Exit", "x"),
        ("E_xit", "Exit", "x"),
        ("&Öffnen", "Öffnen", "Ö"),
        ("打开(&O)...", "打开...", "O"),
        ("打开 (&O)", "打开", "O"),
        ("ファイル（_F）", "ファイル", "F"),
    ],
)
def test_the_mark_of_a_shortcut_is_not_read(text: str, read: str, letter: str) -> None:
    rest, shortcut = take_shortcut(text)
    assert rest == read
    assert shortcut is not None
    assert shortcut.letter == letter


@pytest.mark.parametrize(
    "text",
    [
        *("R&D", "AT&T", "Salt & pepper", "a && b", "&amp;", "file_name", "__init__", "&1st", "x_y", "&A &B", "_", ""),
        "A long sentence in which a mark &is unlikely to be a shortcut at all.",
    ],
)
def test_other_signs_are_text(text: str) -> None:
    assert take_shortcut(text) == (text, None)


@given(st.text(st.sampled_from("aOx é文%s{}<>.:"), max_size=12), marks, letters)
def test_a_translation_has_the_mark_once_before_a_letter_and_is_unchanged_otherwise(
    text: str, mark: str, letter: str
) -> None:
    written = put_shortcut(text, Shortcut(mark, letter))
    assert written.count(mark) == (written != text)
    if "文" in text and letter.isascii():
        assert written.replace(f"({mark}{letter.upper()})", "") == text
    else:
        assert written.replace(mark, "") == text
        assert mark not in written or written[written.index(mark) + 1].isalpha()


@pytest.mark.parametrize(
    ("translation", "expected"),
    [
        ("Fermer", "F&ermer"),
        ("Ja", "&Ja"),
        ("Tout enregistrer", "Tout &enregistrer"),
        ("%e datei", "%e dat&ei"),
        ("{a}", "{a}"),
        ("全部…", "全部(&E)…"),
    ],
)
def test_the_same_letter_is_preferred_and_placeholders_stay(translation: str, expected: str) -> None:
    assert put_shortcut(translation, Shortcut("&", "e")) == expected


def test_messages_keep_their_shortcuts_and_all_are_fuzzy_if_asked_for() -> None:
    content = b'msgid "&Open %s"\nmsgstr ""\n\nmsgid "Done"\nmsgstr "Fertig"\n'
    for is_fuzzy in (False, True):
        document = parse_document(content, "po")
        document.is_fuzzy = is_fuzzy  # type: ignore[attr-defined]
        assert [segment.text for segment in document.segments()] == ["Open %s"]
        new, kept = polib.pofile(document.rebuild([Translation("%s öffnen", 0.0, ())], "de").decode())
        assert (new.msgstr, new.fuzzy) == ("%s &öffnen", is_fuzzy)
        assert (kept.msgstr, kept.fuzzy) == ("Fertig", False)


STRINGS = {
    "po": 'msgid "{}"\nmsgstr ""\n',
    "json": '{{"a": "{}"}}',
    "strings": '"a" = "{}";\n',
    "ftl": "a = {}\n",
    "properties": "a = {}\n",
    "xml": '<resources><string name="a">{}</string></resources>',
    "resx": '<root><data name="a"><value>{}</value></data></root>',
    "ts": "<TS><context><message><source>{}</source><translation/></message></context></TS>",
    "xlf": '<xliff version="1.2"><file><body><trans-unit><source>{}</source></trans-unit></body></file></xliff>',
}


def translated(format: str, raw: str, words: dict[str, str]) -> str:
    """Return the file with a string, translated, as text; characters of Java's escapes are read."""
    document = parse_document(STRINGS[format].format(raw).encode(), format)
    given = [Translation(words[segment.text], 0.0, ()) for segment in document.segments()]
    written = unescape(document.rebuild(given, "de").decode())
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), written)


@pytest.mark.parametrize("text", ["&Open {0}", "Open %s (&O)", "<b>&Open</b> %s", "&Open"])
@pytest.mark.parametrize("format", STRINGS)
def test_every_format_of_strings_keeps_the_mark_beside_placeholders(format: str, text: str) -> None:
    """The model reads none, and the translation has it once, before its letter, however the format writes it."""
    raw = escape(text) if STRINGS[format].startswith("<") else text
    (segment,) = parse_document(STRINGS[format].format(raw).encode(), format).segments()
    assert not {"&", "("} & set(segment.text)
    for word, expected in (("Öffne ok", "Öffne &ok"), ("打开", "打开(&O)")):
        written = translated(format, raw, {segment.text: segment.text.replace("Open", word)})
        assert written.replace(text, "").count("&") == 1
        assert (expected if word != "打开" else "(&O)") in written


@pytest.mark.parametrize("format", STRINGS)
def test_the_key_of_a_menu_entry_stays_behind_its_tab_and_columns_keep_theirs(format: str) -> None:
    tab = "\t" if format in ("ftl", "resx", "ts", "xlf") else "\\t"
    words = {"Open": "Öffnen", "Close the window": "关闭窗口", "Name": "名字", "Size": "大小", "Delete": "删除"}
    for text, expected in {
        "&Open|Ctrl+Page Up": "&Öffnen|Ctrl+Page Up",
        "&Delete|Del": "删除(&D)|Del",
        "Close the window|Alt+F4": "关闭窗口|Alt+F4",
        "Name|Size|Name": "名字|大小|名字",
    }.items():
        raw = escape(text) if STRINGS[format].startswith("<") else text
        assert expected.replace("|", tab) in translated(format, raw.replace("|", tab), words)


def test_a_backslash_of_its_own_begins_no_tab_or_line_break() -> None:
    raw = r"either\\or, neither\\nor, now\\then"
    (segment,) = parse_document(STRINGS["json"].format(raw).encode(), "json").segments()
    assert f'"{raw}!"' in translated("json", raw, {segment.text: f"{segment.text}!"})


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ('Close the <g id="1">&window</g>.', "关闭窗口。", '关闭<g id="1">窗口(&W)</g>。'),
        ('<g id="1">Close the &window?</g>', "关闭窗口？", '<g id="1">关闭窗口(&W)？</g>'),
        ('<g id="1">&Close</g> the window', "关闭窗口……", '<g id="1">关闭</g>窗口(&C)……'),
    ],
)
def test_no_tag_cuts_the_letter_in_brackets(source: str, translation: str, expected: str) -> None:
    raw = source.replace("&", "&amp;")
    (segment,) = parse_document(STRINGS["xlf"].format(raw).encode(), "xlf").segments()
    assert f">{expected}</target>" in translated("xlf", raw, {segment.text: translation})


@pytest.mark.captions
def test_the_command_marks_messages_of_po_files_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.po").write_text('msgid "A man."\nmsgstr ""\n', encoding="utf-8")
    (tmp_path / "a.html").write_text("<p>A man.", encoding="utf-8")
    command = ["translate", "-m", "multi30k-en-de", "--beam-size", "1", "--fuzzy"]
    assert run([*command, "--input", str(tmp_path / "app.po")]) == 0
    assert "#, fuzzy" in capfd.readouterr().out
    assert run([*command, "--input", str(tmp_path / "a.html")]) == 2
    assert "--fuzzy is for PO, XLIFF and Qt files" in capfd.readouterr().err
