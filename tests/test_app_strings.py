"""Strings of apps: a file of its own texts is the file, syntax stays, and plurals are those of the target language."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest
from app_samples import FILES, app_file
from extras import import_foreign

from dragoman.documents import parse_document
from dragoman.documents.document import Bilingual
from dragoman.errors import DataError, DragomanError
from dragoman.text.plurals import plural_categories
from dragoman.translator import Translation

MONOLINGUAL = [format for format in FILES if format != "ts"]


def texts(content: str, format: str) -> list[str]:
    return [segment.text for segment in parse_document(content.encode(), format).segments()]


def added(content: str, format: str, target: str | None = None, words: str = " Zusatz") -> str:
    """The file with a word behind each text."""
    document = parse_document(content.encode(), format)
    return document.rebuild([Translation(one.text + words, 0.0, ()) for one in document.segments()], target).decode()


@pytest.mark.parametrize("format", MONOLINGUAL)
def test_a_file_of_its_own_texts_is_the_file(format: str) -> None:
    for number in range(30):
        content = app_file(format, number)
        document = parse_document(content, format)
        assert document.segments()
        copies = [Translation(one.text, 0.0, ()) for one in document.segments()]
        assert document.rebuild(copies) == content
        if format != "arb":  # which names its language
            assert document.rebuild(copies, "de") == content


@pytest.mark.parametrize("format", MONOLINGUAL)
def test_translated_texts_are_read_again(format: str) -> None:
    nasty = " \"a\" 'b' \\ {c} <d> & é 你\U0001f600"
    for words in (" Zusatz", nasty):
        before = texts(FILES[format], format)
        after = texts(added(FILES[format], format, words=words), format)
        assert len(after) == len(before)
        assert all("Zusatz" in one or "你" in one for one in after)


@pytest.mark.parametrize("format", FILES)
def test_broken_files_give_a_result_or_an_error(format: str) -> None:
    for number in range(60):
        draw = random.Random(number)
        content = bytearray(app_file(format, number))
        for _ in range(draw.randint(1, 4)):
            place = draw.randint(0, len(content))
            patch = draw.choice(
                [b"", b"<", b"{", b"}", b"\\", b'"', b"\x00", b"\xff", b"\n", b"'", b"]]>", b"\\u", b"#"]
            )
            content[place : place + draw.randint(0, 9)] = patch
        with contextlib.suppress(DragomanError):
            document = parse_document(bytes(content), format)
            document.rebuild([Translation(one.text + "x", 0.0, ()) for one in document.segments()], "ru")


@pytest.mark.parametrize("format", ["xml", "resx", "ts"])
def test_entities_are_refused(format: str) -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><resources><string name="x">&c;</string></resources>'
    with pytest.raises(DataError):
        parse_document(bomb.encode(), format)


@pytest.mark.parametrize(("language", "forms"), [("de", 2), ("ru", 4), ("zh", 1), ("ar", 6), ("tlh", 2)])
def test_plurals_are_those_of_the_target_language(language: str, forms: int) -> None:
    assert added(FILES["xml"], "xml", language).count("<item quantity=") == forms
    assert added(FILES["json"], "json", language).count('"item_') == forms
    message = added('{"a": "{n, plural, one {# cat} other {# cats}}"}', "arb", language)
    for category in plural_categories(language):
        assert f"{category} {{# " in message
    assert message.count("#") == forms


def test_a_message_with_forms_becomes_whole_sentences() -> None:
    message = '{"a": "You have {n, plural, =0 {no cats} other {# cats}} and {sex, select, m {his} other {their}} dog."}'
    assert texts(message, "arb") == [
        "You have no cats and his dog.",
        "You have no cats and their dog.",
        "You have # cats and his dog.",
        "You have # cats and their dog.",
    ]
    nested = '{"a": "{n, plural, other {# of {m, plural, other {# dogs}}}}"}'
    assert texts(nested, "arb") == ["{n} of # dogs"]


def test_forms_of_fluent_are_translated_and_terms_stay() -> None:
    assert texts(FILES["ftl"], "ftl") == [
        "Hello, { $name }!",
        "About { -brand }",
        "and more",
        "The title",
        "You have one mail.",
        'You have { $n } mails { "{" } here.',
        *("Open", "the finder", "the folder", "now", "The end"),
    ]
    written = added(FILES["ftl"], "ftl", "cs")
    assert "        [few] You have { $n } mails" in written
    assert "       *[other] You have { $n } mails" in written
    assert written.count("[few]") == 1


def test_messages_of_qt_are_filled_and_finished_ones_stay() -> None:
    written = added(FILES["ts"], "ts", "de")
    assert '<TS version="2.1" language="de">' in written
    assert "<translation>&amp;Open the door Zusatz</translation>" in written
    assert "<translation>Fertig</translation>" in written
    assert written.count("<numerusform>") == 2
    assert "%n file Zusatz" in written
    assert "%n files Zusatz" in written
    assert 'type="unfinished"' not in written
    assert added(FILES["ts"], "ts", "pl").count('type="unfinished"') == 1
    with pytest.raises(DataError, match="is asked for"):
        added(FILES["ts"].replace('version="2.1"', 'version="2.1" language="fr"'), "ts", "de")


CATALOGUE = """{
  "sourceLanguage" : "en",
  "strings" : {
    "%lld files" : {
      "localizations" : {
        "en" : {
          "variations" : {
            "plural" : {
              "one" : {
                "stringUnit" : {
                  "state" : "translated",
                  "value" : "%lld file"
                }
              },
              "other" : {
                "stringUnit" : {
                  "state" : "translated",
                  "value" : "%lld files"
                }
              }
            }
          }
        }
      }
    },
    "Done" : {
      "localizations" : {
        "de" : {
          "stringUnit" : {
            "state" : "translated",
            "value" : "Fertig"
          }
        }
      }
    },
    "Go home" : {

    },
    "Kept" : {
      "shouldTranslate" : false
    }
  },
  "version" : "1.0"
}
"""


@pytest.mark.parametrize(("language", "forms"), [("de", 2), ("pl", 4), ("ja", 1)])
def test_a_catalogue_gets_a_localization(language: str, forms: int) -> None:
    document = parse_document(CATALOGUE.encode(), "xcstrings")
    assert isinstance(document, Bilingual)
    document.set_languages("en", language)
    written = document.rebuild([Translation(f"Ü {one.text}", 0.0, ()) for one in document.segments()], language)
    before, after = json.loads(CATALOGUE)["strings"], json.loads(written)["strings"]
    assert before.keys() == after.keys()
    assert after["Kept"] == before["Kept"]
    assert after["Go home"]["localizations"] == {
        language: {"stringUnit": {"state": "translated", "value": "Ü Go home"}}
    }
    assert after["%lld files"]["localizations"]["en"] == before["%lld files"]["localizations"]["en"]
    assert len(after["%lld files"]["localizations"][language]["variations"]["plural"]) == forms
    assert after["Done"]["localizations"]["de"]["stringUnit"]["value"] == "Fertig"
    assert set(CATALOGUE.splitlines()) - set(written.decode().splitlines()) <= {"    },", "        }", ""}
    if language != "de":
        return
    again = parse_document(written, "xcstrings")
    assert isinstance(again, Bilingual)
    again.set_languages("en", language)
    assert not again.segments()
    assert again.rebuild([], language) == written


@pytest.mark.parametrize("flagged", ["%lld file", "%lld files"])
def test_only_the_plural_form_with_a_flag_needs_review(flagged: str) -> None:
    document = parse_document(CATALOGUE.encode(), "xcstrings")
    assert isinstance(document, Bilingual)
    document.set_languages("en", "de")
    translations = [
        Translation(f"Ü {one.text}", 0.0, (), flags=("length",) if one.text == flagged else ())
        for one in document.segments()
    ]
    strings = json.loads(document.rebuild(translations, "de"))["strings"]
    forms = strings["%lld files"]["localizations"]["de"]["variations"]["plural"].values()
    states = {form["stringUnit"]["value"]: form["stringUnit"]["state"] for form in forms}
    expected = dict.fromkeys(("Ü %lld file", "Ü %lld files"), "translated")
    assert states == expected | {f"Ü {flagged}": "needs_review"}


def test_escapes_are_those_of_each_format() -> None:
    words = " l'été"
    assert r"Hello there l\'été" in added(FILES["xml"], "xml", words=words)
    assert "<![CDATA[" in added(FILES["xml"], "xml", words=words)
    assert r"today l''\u00e9t\u00e9" in added(FILES["properties"], "properties", words=words)
    assert r"here l'\u00e9t\u00e9" in added(FILES["properties"], "properties", words=words)
    assert added("a = é b\n", "properties", words=words) == "a = é b l'été\n"
    assert parse_document("a = é b\n".encode("iso-8859-1"), "properties").segments()[0].text == "é b"
    assert texts('{"a": "it\'s {name}"}', "arb") == ["it's {name}"]


@pytest.mark.parametrize("sign", ["[", "*", ".", "}", "{", "*[x]"])
def test_what_begins_a_line_of_fluent_is_its_text(sign: str) -> None:
    """Mozilla's parser reads the same entries, and each line begins with the sign."""
    syntax = import_foreign("fluent.syntax", "fluent.syntax")
    content = "a = One\n    two { $n }\n    three\n    .title =\n        four\nb =\n    { $n ->\n       *[other] five\n"
    content += "          six\n    }\nc = seven\n"
    document = parse_document(content.encode(), "ftl")
    translations = [Translation(f"{sign} {one.text}", 0.0, ()) for one in document.segments()]
    written = syntax.parse(document.rebuild(translations).decode())
    assert [type(entry).__name__ for entry in written.body] == ["Message"] * 3
    values = []

    class Texts(syntax.visitor.Visitor):  # type: ignore[misc,name-defined]
        def visit_TextElement(self, node: Any) -> None:  # noqa: N802 - the name is Mozilla's
            values.append(node.value)

        def visit_StringLiteral(self, node: Any) -> None:  # noqa: N802
            values.append(node.value)

    Texts().visit(written)
    lines = "".join(values)
    for word in ("One", "two", "three", "four", "five", "six", "seven"):
        assert f"{sign} {word}" in lines


def test_each_line_of_a_value_of_fluent_is_a_segment() -> None:
    content = "multi =\r\n    Monday: open\r\n\r\n      See { $a ->\n  *[x] one\n       two\n } or {\n  $b } here\n"
    content += "next = Tuesday\n"
    lines = ["Monday: open", "See", "one", "two", "or {\n  $b } here", "Tuesday"]
    assert texts(content, "ftl") == lines
    expected = content
    for line in lines:
        expected = expected.replace(line, f"{line} Zusatz")
    assert added(content, "ftl") == expected
