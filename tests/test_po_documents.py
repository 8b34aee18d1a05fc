"""Catalogues as documents: only new translations are written, with the language, its plural forms and an encoding."""

import codecs
import shutil
import subprocess
from pathlib import Path

import pytest
from document_samples import require_documents
from extras import import_extra

from dragoman.documents import Document, parse_document
from dragoman.errors import DataError
from dragoman.text.plurals import plural_rule
from dragoman.translator import Translation

require_documents()
polib = import_extra("polib", "documents")

HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
#: Everything that polib alone loses or writes anew.
CATALOGUE = (
    "# Copyright\n"
    + HEADER
    + """"Language: de\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#. A comment that is so long that it would be wrapped if somebody wrote this file again with a width of 78
#: a.c:1 b.c:2
#, no-wrap, c-format
msgctxt "menu"
msgid ""
"One"
" %d"
msgstr ""

msgid "kept"
msgstr   "gehalten, auch wenn die Zeile so lang ist, dass sie ein anderes Programm umbrechen würde"


#, python-format,  fuzzy
#| msgctxt "old"
#| msgid "Before"
msgid "After"
msgstr "Vor"
"her"

#~| msgid "Previous"
#~ msgid "Old"
#~ msgstr "veraltet"

msgid "Last"
msgstr ""
# The end.
"""
)
EXPECTED = (
    CATALOGUE.replace('" %d"\nmsgstr ""', '" %d"\nmsgstr "ONE %d"')
    .replace('#, python-format,  fuzzy\n#| msgctxt "old"\n#| msgid "Before"\n', "#, python-format\n")
    .replace('msgstr "Vor"\n"her"', 'msgstr "AFTER"')
    .replace('msgid "Last"\nmsgstr ""', 'msgid "Last"\nmsgstr "LAST"')
)


def shouted(document: Document) -> list[Translation]:
    texts = (segment.text.upper().replace("%D", "%d") for segment in document.segments())
    return [Translation(text, 0.0, ()) for text in texts]


def opened(content: str | bytes, target: str = "de", source: str = "en") -> Document:
    document = parse_document(content if isinstance(content, bytes) else content.encode(), "po")
    document.set_languages(source, target)
    return document


def written(content: str | bytes, target: str = "de") -> bytes:
    document = opened(content, target)
    return document.rebuild(shouted(document), target)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_everything_but_new_translations_stays_byte_for_byte(line_end: str, mark: bytes) -> None:
    content, expected = (mark + text.replace("\n", line_end).encode() for text in (CATALOGUE, EXPECTED))
    assert written(content) == expected


def test_long_translations_are_wrapped_unless_the_message_is_not() -> None:
    text = "word " * 30
    content = f'{HEADER}\nmsgid "{text}"\nmsgstr ""\n\n#, no-wrap\nmsgid "no {text}"\nmsgstr ""\n'
    result = written(content).decode()
    assert max(map(len, result.split("\n\n")[1].split("msgstr")[1].split("\n"))) < 80
    assert f'msgstr "NO {text.upper()}"' in result
    assert [entry.msgstr for entry in polib.pofile(result)] == [text.upper(), f"NO {text.upper()}"]


@pytest.mark.parametrize(
    ("header", "target", "expected"),
    [
        ("", "de", {"Language": "de", "Plural-Forms": plural_rule("de")}),
        ("Language: \\n", "pl", {"Language": "pl", "Plural-Forms": plural_rule("pl")}),
        ("Language: en\\n", "zh-TW", {"Language": "zh_TW", "Plural-Forms": plural_rule("zh")}),
        ("Language: de_AT\\n", "de", {"Language": "de_AT"}),
        ("Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n", "de", {"Plural-Forms": plural_rule("de")}),
        ("Plural-Forms: nplurals=3; plural=n;\\n", "fr", {"Plural-Forms": plural_rule("fr")}),
        ("Plural-Forms: nplurals=2; plural=n != 1;\\n", "de", {"Plural-Forms": "nplurals=2; plural=n != 1;"}),
        ('Language: de\\n"\n"Plural-Forms: nplurals=3; plural=n;\\n', "de", {"Plural-Forms": "nplurals=3; plural=n;"}),
        ('Language: xh\\n"\n"Plural-Forms: nplurals=4; plural=n;\\n', "xh", {"Plural-Forms": "nplurals=4; plural=n;"}),
    ],
)
def test_a_header_gets_the_language_and_its_plural_forms(header: str, target: str, expected: dict[str, str]) -> None:
    content = HEADER + (f'"{header}"\n' if header else "")
    content += '\nmsgid "One %d"\nmsgid_plural "Some %d"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    catalogue = polib.pofile(written(content, target).decode())
    assert {name: catalogue.metadata[name] for name in expected} == expected
    (entry,) = catalogue
    n_forms = int(catalogue.metadata["Plural-Forms"][len("nplurals=")])
    assert [*entry.msgstr_plural] == [*range(n_forms)]
    assert entry.msgstr_plural[0] == ("ONE %d" if n_forms > 1 else "SOME %d")
    assert entry.fuzzy == (n_forms > 2)


@pytest.mark.parametrize(
    ("header", "forms", "message"),
    [
        ("Language: pl", "", "Language 'pl', and de"),
        (
            "Language-Team: Polish",
            'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "x"\nmsgstr[1] "y"\nmsgstr[2] "z"\n',
            "3 plural",
        ),
    ],
)
def test_a_catalogue_of_another_language_is_refused(header: str, forms: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        opened(f'{HEADER}"{header}\\n"\n\n{forms}')
    assert "; " in caught.value.message


def test_a_catalogue_without_a_header_gets_one() -> None:
    result = written('# Note.\nmsgid "a é"\nmsgstr ""\n').decode()
    catalogue = polib.pofile(result)
    assert (catalogue.metadata["Language"], catalogue.metadata["Content-Type"]) == ("de", "text/plain; charset=UTF-8")
    assert result.endswith('\n\n# Note.\nmsgid "a é"\nmsgstr "A É"\n')


@pytest.mark.parametrize("charset", ["ISO-8859-1", "windows-1252", "KOI8-R", "GB18030", "CHARSET", "ascii"])
def test_an_encoding_is_kept_or_becomes_utf_8(charset: str) -> None:
    letter = {"KOI8-R": "ж", "GB18030": "中", "ascii": "a"}.get(charset, "é")
    header = HEADER.replace("UTF-8", charset) + f'"Language: de\\n"\n"Plural-Forms: {plural_rule("de")}\\n"\n'
    text = f'{header}\nmsgid "{letter}"\nmsgstr ""\n\nmsgid "b"\nmsgstr ""\n'
    content = text.encode("utf-8" if charset == "CHARSET" else charset)
    document = opened(content)
    kept, other = ([Translation(each, 0.0, ()) for each in texts] for texts in ((letter, "B"), (letter, "Я中")))
    expected = text.replace(f'msgid "{letter}"\nmsgstr ""', f'msgid "{letter}"\nmsgstr "{letter}"')
    expected = expected.replace("charset=CHARSET", "charset=UTF-8").replace("charset=ascii", "charset=UTF-8")
    own = "utf-8" if charset == "CHARSET" else charset
    assert document.rebuild(kept, "de") == expected.replace('msgid "b"\nmsgstr ""', 'msgid "b"\nmsgstr "B"').encode(own)
    result = opened(content).rebuild(other, "de")
    assert "Я中" in result.decode("utf-8" if b"UTF-8" in result else charset)


def test_the_encoding_may_stand_in_the_first_line_of_the_header() -> None:
    content = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n\nmsgid "é"\nmsgstr ""\n'
    assert [segment.text for segment in opened(content.encode("latin-1")).segments()] == ["é"]


@pytest.mark.parametrize(
    ("charset", "message"), [("no-such", "unknown encoding"), ("rot13", "unknown"), ("big5", "not the")]
)
def test_a_wrong_encoding_is_one_line(charset: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        opened(HEADER.replace("UTF-8", charset).encode() + b'\nmsgid "\xff\xe9"\nmsgstr ""\n')
    assert "; " in caught.value.message


@pytest.mark.parametrize(("text", "is_fuzzy"), [("Zwei %s", False), ("Zwei", True), ("%s %s", True), ("Zwei %d", True)])
def test_a_translation_with_other_placeholders_is_fuzzy(text: str, is_fuzzy: bool) -> None:
    document = opened(f'{HEADER}\nmsgid "Two %s"\nmsgstr ""\n')
    (entry,) = polib.pofile(document.rebuild([Translation(text, 0.0, ())], "de").decode())
    assert (entry.msgstr, entry.fuzzy) == (text, is_fuzzy)


@pytest.mark.parametrize("sign", "\u2028\u2029\x85\x0b\x0c\x1c")
def test_only_line_breaks_end_a_line(sign: str) -> None:
    """Python's lines also end at these signs."""
    content = f'{HEADER}\n# a{sign}b\nmsgid "Two{sign}dogs"\nmsgstr ""\n\nmsgid "kept"\nmsgstr "{sign}a{sign}"\n'
    document = opened(content)
    assert [segment.text for segment in document.segments()] == ["Two dogs"]
    expected = content.replace('msgstr ""\n\nmsgid', 'msgstr "Zwei Hunde"\n\nmsgid')
    assert document.rebuild([Translation("Zwei Hunde", 0.0, ())]).decode() == expected


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
@pytest.mark.parametrize("language", ["ar", "cs", "de", "fr", "ga", "lt", "lv", "pl", "ro", "ru", "sl", "zh"])
def test_gettext_accepts_the_plural_forms(language: str, tmp_path: Path) -> None:
    content = '\nmsgid "One %d"\nmsgid_plural "Some %d"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    result = opened(HEADER + content, language).rebuild([Translation("É %d", 0.0, ())] * 2, language)
    (tmp_path / "a.po").write_bytes(result)
    command = ["msgfmt", "--check-format", "--use-fuzzy", "-o", str(tmp_path / "a.mo"), str(tmp_path / "a.po")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
