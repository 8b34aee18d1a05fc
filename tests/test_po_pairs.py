"""Catalogues of gettext as parallel text: the translated messages, whatever else the file holds."""

import gzip
from pathlib import Path

import pytest
from document_samples import require_documents
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.data.corpus import languages, read_pairs
from dragoman.errors import ConfigError, DataError, DragomanError
from dragoman.settings.data_config import DataConfig

require_documents()

HEADER = 'msgid ""\nmsgstr ""\n"Language: fr\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
CATALOGUE = (
    HEADER
    + r"""
#: app.c:1
msgid "Open the file"
msgstr "Ouvrir le fichier"

#, fuzzy
msgid "Close"
msgstr "Fermez"

msgid "See :ref:`the **guide** <g>` and **this** file."
msgstr ""
"Voir :ref:`le guide <g>` et "
"ce **fichier**."

msgid "one file"
msgid_plural "%d files"
msgstr[0] "un fichier"
msgstr[1] "%d fichiers"

msgctxt "menu"
msgid "Two\nlines with \"quotes\""
msgstr "Deux\nlignes avec « guillemets »"

msgid "Later"
msgstr ""

#~ msgid "Old"
#~ msgstr "Ancien"
"""
)
PAIRS = [
    ("Open the file", "Ouvrir le fichier"),
    ("See the **guide** and this file.", "Voir le guide et ce fichier."),
    ('Two lines with "quotes"', "Deux lignes avec « guillemets »"),
]
texts = st.text(st.sampled_from('abc é中😀"\\\n\t%{}<'), min_size=1, max_size=8)


def write(folder: Path, content: str, name: str = "app.po") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def data_of(path: Path, **settings: object) -> DataConfig:
    return DataConfig.model_validate({"pairs": str(path), **settings})


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


@pytest.mark.parametrize("head", ["", "\ufeff", "# A comment.\n#, fuzzy\n"])
def test_translated_messages_are_pairs_and_the_others_are_counted(tmp_path: Path, head: str) -> None:
    data = data_of(write(tmp_path, head + CATALOGUE))
    text = read_pairs(data, "train")
    assert list(text) == PAIRS
    assert text.count() == len(PAIRS)
    assert languages(data) == ("en", "fr")
    (note,) = text.notes
    assert "3 messages (left out: 1 fuzzy, 1 with plural forms, 1 untranslated, 1 obsolete)" in note
    lines = (head + CATALOGUE).split("\n")
    assert lines[text.line_of(0) - 1] == "#: app.c:1"  # where the message begins


def test_a_compressed_catalogue_and_one_of_another_name_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "app.po.gz"
    packed.write_bytes(gzip.compress(CATALOGUE.encode()))
    assert list(read_pairs(data_of(packed), "train")) == PAIRS
    assert list(read_pairs(data_of(write(tmp_path, CATALOGUE, "messages.txt")), "train")) == PAIRS


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        ((None, None), ("en", "fr")),
        (("en", None), ("en", "fr")),
        (("en-GB", "fr-CA"), ("en-GB", "fr-CA")),
        (("fr", None), ("fr", "en")),
        (("fr", "en"), ("fr", "en")),
        (("fr", "de"), ("fr", "de")),  # the header does not say the language of the messages
        (("de", "fr"), ("de", "fr")),
        ((None, "en"), ("fr", "en")),
        ((None, "de"), None),
        (("en", "de"), None),
    ],
)
def test_the_direction_follows_the_header_and_the_request(
    tmp_path: Path, requested: tuple[str | None, str | None], expected: tuple[str, str] | None
) -> None:
    data = data_of(write(tmp_path, CATALOGUE), source_lang=requested[0], target_lang=requested[1])
    if expected is None:
        with pytest.raises(ConfigError, match=r"asked for.*--source-lang"):
            read_pairs(data, "train")
        return
    is_reversed = expected[0].startswith("fr")
    assert list(read_pairs(data, "train")) == [pair[::-1] for pair in PAIRS] if is_reversed else PAIRS
    assert languages(data) == expected


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5, unique_by=lambda pair: pair[0]))
def test_any_messages_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    body = "\n".join(f"msgid {quoted(source)}\nmsgstr {quoted(target)}\n" for source, target in pairs)
    path = write(tmp_path_factory.mktemp("po"), f"{HEADER}\n{body}")
    read = [tuple(map(str, pair)) for pair in read_pairs(data_of(path), "train")]
    assert read == [(" ".join(source.split()), " ".join(target.split())) for source, target in pairs]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER, "no message has a translation"),
        (HEADER + '\nmsgid "a"\nmsgstr ""\n', "left out: 1 untranslated"),
        (HEADER + '\nmsgid "a\nmsgstr "b"\n', "a string without its closing quote: {}:6;"),
        (HEADER + '\nmsgid "a"\nnonsense\n', "this is no PO file: {}:7;"),
        (HEADER + '\nmsgid "a"\nmsgstr "\udcff"\n', "invalid UTF-8: {}:7:9;"),
        ("", "no message has a translation"),
    ],
)
def test_a_broken_catalogue_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "app.po"
    path.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(DataError) as caught:
        list(read_pairs(data_of(path), "train"))
    assert message.format(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_and_a_changed_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, CATALOGUE)
    with pytest.raises(ConfigError, match="has no columns"):
        read_pairs(data_of(path, columns="1,2"), "train")
    text = read_pairs(data_of(path), "train")
    path.write_text(CATALOGUE.replace("Ouvrir", "Ouvre"), encoding="utf-8")
    with pytest.raises(DragomanError, match="changed"):
        list(text)


def test_a_split_of_a_catalogue_is_its_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, CATALOGUE)
    options = ["--pairs", str(path), "--output", str(tmp_path / "split"), "--validation", "1", "--test", "1"]
    assert run(["data", "split", *options]) == 0
    assert "catalogue" in capsys.readouterr().err
    written = "".join(part.read_text(encoding="utf-8") for part in (tmp_path / "split").iterdir() if part.is_file())
    assert all(side in written for pair in PAIRS for side in pair)
