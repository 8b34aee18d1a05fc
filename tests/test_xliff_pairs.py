"""XLIFF as parallel text: the pairs of finished units, without inline code."""

from pathlib import Path

import pytest

from dragoman.data.corpus import languages, read_pairs
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import ConfigError, DataError
from dragoman.settings.data_config import DataConfig

FIRST = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en-US" target-language="de" original="a" datatype="plaintext"><body>
<trans-unit id="1"><source>Two <g id="1">dogs</g>.</source><target>Zwei <g id="1">Hunde</g>.</target></trans-unit>
<trans-unit id="2"><source>Go<x id="2" ctype="lb"/>on<ph id="3">%s</ph></source>
  <seg-source><mrk mtype="seg" mid="1">no</mrk></seg-source>
  <target state="translated"><mrk mtype="seg" mid="1">Los &amp; weiter</mrk></target>
  <alt-trans><source>other</source><target>anders</target></alt-trans></trans-unit>
<trans-unit id="3"><source>Open</source></trans-unit>
<trans-unit id="4"><source>Empty</source><target/></trans-unit>
<trans-unit id="5"><source>New</source><target state="new">New</target></trans-unit>
<trans-unit id="6"><source>Doubt</source><target state="needs-review-translation">Zweifel</target></trans-unit>
<group translate="no"><trans-unit id="7"><source>Acme</source><target>Acme</target></trans-unit></group>
</body></file></xliff>
"""
SECOND = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="fr">
<file id="f"><unit id="u"><originalData><data id="d">x</data></originalData>
<segment><source>A <pc id="1">dog</pc><ph id="2"/>.</source><target>Un <pc id="1">chien</pc>.</target></segment>
<ignorable><source>x</source><target>y</target></ignorable>
<segment state="initial"><source>A cat</source><target>Un chat</target></segment>
<segment state="final"><source>A <mrk id="m" translate="no">cow</mrk></source><target>Une vache</target></segment>
</unit></file></xliff>
"""
PAIRS = [("Two dogs.", "Zwei Hunde."), ("Go on", "Los & weiter")]


def text_of(path: Path, content: str, **settings: object) -> ParallelText:
    path.write_bytes(content.encode("utf-16" if 'encoding="utf-16"' in content else "utf-8"))
    return read_pairs(DataConfig.model_validate({"pairs": str(path), **settings}), "train")


def test_finished_units_are_pairs_without_inline_code(tmp_path: Path) -> None:
    path = tmp_path / "a.xlf"
    text = text_of(path, FIRST)
    assert list(text) == list(text) == PAIRS
    assert text.count() == 2
    assert [line for line, _, _ in text.numbered()] == [4, 5]
    assert languages(DataConfig(pairs=str(path))) == ("en-US", "de")
    codes = "inline codes (bpt, bx, cp, ec, ept, ex, g, it, pc, ph, sc, x) left out of the text of"
    assert text.notes == (
        f"{path}: read as XLIFF, 2 units (left out: 2 without a target, 2 unfinished, 1 not to translate); "
        "source: source, target: target",
        f"{path}: {codes} 2 units",
    )
    second = text_of(tmp_path / "pairs", SECOND)
    assert list(second) == [("A dog.", "Un chien."), ("A cow", "Une vache")]
    assert second.notes[1:] == (f"{tmp_path / 'pairs'}: {codes} 1 unit",)
    old = FIRST.replace("<xliff", '<!DOCTYPE xliff SYSTEM "xliff.dtd">\n<xliff', 1)
    assert list(text_of(tmp_path / "old", old)) == PAIRS
    wide = FIRST.replace('"1.0"?', '"1.0" encoding="utf-16"?')
    assert list(text_of(tmp_path / "b.xliff", wide)) == PAIRS


def test_the_direction_follows_the_languages_that_are_asked_for(tmp_path: Path) -> None:
    swapped = text_of(tmp_path / "a.xlf", FIRST, source_lang="de", target_lang="en")
    assert list(swapped) == [(target, source) for source, target in PAIRS]
    with pytest.raises(ConfigError, match="the file is from en-US to de, and en to fr is asked for"):
        text_of(tmp_path / "a.xlf", FIRST, source_lang="en", target_lang="fr")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</body>", "", r"not well-formed XML: mismatched tag: .*:14:\d+; export"),
        ("<xliff ", "<tmx ", "not well-formed XML"),
        ('"?>', '"?><!DOCTYPE xliff [<!ENTITY a "b">]>', "the entity 'a', and entities are not read"),
        ("</file>", '</file><file source-language="fr"/>', r"more than one source language \(en-US, fr\)"),
        ("Los &amp; weiter", "", None),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    content = FIRST.replace(old, new, 1)
    if message is None:
        assert list(text_of(tmp_path / "a.xlf", content)) == PAIRS[:1]
        return
    with pytest.raises(DataError, match=message):
        list(text_of(tmp_path / "a.xlf", content))


def test_a_file_without_pairs_says_why(tmp_path: Path) -> None:
    content = FIRST.replace("<target>Zwei", '<target state="new">Zwei').replace("translated", "new")
    with pytest.raises(DataError, match=r"no unit has a translation: .*; give one with translations \(left out: 4 unf"):
        text_of(tmp_path / "a.xlf", content)
    with pytest.raises(DataError, match=r"this is XML \(html\), not XLIFF"):
        text_of(tmp_path / "a.xlf", "<html/>")
    with pytest.raises(ConfigError, match="XLIFF has no columns"):
        text_of(tmp_path / "a.xlf", FIRST, columns="1,2")
