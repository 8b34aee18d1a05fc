"""Term bases (TBX): the terms of both versions, their states, and files that are refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dragoman.cli.program import run
from dragoman.data.term_files import read_terms
from dragoman.errors import ConfigError, DataError

HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'
VERSION_2 = (
    HEADER
    + """<!DOCTYPE martif SYSTEM "TBXBasiccoreStructV02.dtd">
<martif type="TBX-Basic" xml:lang="en"><martifHeader><fileDesc><sourceDesc><p>x</p></sourceDesc></fileDesc>
</martifHeader><text><body>
<termEntry id="c1"><descrip type="subjectField">medicine</descrip>
 <langSet xml:lang="fr-FR">
  <tig><term>vaccin</term><termNote type="administrativeStatus">admittedTerm-admn-sts</termNote></tig>
  <ntig><termGrp><term>sérum  <hi>vaccinal</hi></term>
   <termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></termGrp></ntig>
  <tig><term>vieux</term><termNote type="partOfSpeech">noun</termNote>
   <termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
 <langSet xml:lang="en"><tig><term>vaccine</term></tig><tig><term>shot</term></tig></langSet>
</termEntry>
<termEntry id="c2"><langSet xml:lang="en"><tig><term>lonely</term></tig></langSet></termEntry>
</body></text></martif>
"""
)
VERSION_3 = (
    HEADER
    + """<tbx type="TBX-Basic" style="dct" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2"
 xmlns:min="http://www.tbxinfo.net/ns/min"><tbxHeader/><text><body>
<conceptEntry id="c1">
 <langSec xml:lang="en"><termSec><term>vaccine</term></termSec><termSec><term>shot</term></termSec></langSec>
 <langSec xml:lang="fr"><termSec><term>vaccin</term>
 <min:administrativeStatus>admittedTerm-admn-sts</min:administrativeStatus>
 </termSec><termSec><term>sérum vaccinal</term>
 <min:administrativeStatus>preferredTerm-admn-sts</min:administrativeStatus></termSec>
 <termSec><term>vieux</term><min:administrativeStatus>supersededTerm-admn-sts</min:administrativeStatus></termSec></langSec>
</conceptEntry></body></text></tbx>
"""
)
TERMS = [("vaccine", ("sérum vaccinal", "vaccin")), ("shot", ("sérum vaccinal", "vaccin"))]


@pytest.mark.parametrize("content", [VERSION_2, VERSION_3], ids=["version-2", "version-3"])
@pytest.mark.parametrize("languages", [(None, None), ("en", "fr"), (None, "fr"), ("en-GB", None)])
def test_both_versions_are_read(tmp_path: Path, content: str, languages: tuple[str | None, str | None]) -> None:
    (tmp_path / "a.tbx").write_text(content, encoding="utf-8")
    (tmp_path / "a.tbx.gz").write_bytes(gzip.compress(content.encode()))
    for name in ("a.tbx", "a.tbx.gz"):
        found = read_terms(tmp_path / name, languages)
        assert [(term.source, term.targets, term.is_kept) for term in found] == [(*term, False) for term in TERMS]


def test_a_deprecated_term_is_translated_and_is_no_translation(tmp_path: Path) -> None:
    (tmp_path / "a.tbx").write_text(VERSION_2, encoding="utf-8")
    found = {term.source: term.targets for term in read_terms(tmp_path / "a.tbx", ("fr", "en"))}
    assert found == dict.fromkeys(("vaccin", "sérum vaccinal", "vieux"), ("vaccine", "shot"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<term>shot</term>", "<term>&nbsp;shot</term>", "the entity 'nbsp', and entities are not read: .*:12; "),
        (
            'V02.dtd">',
            'V02.dtd" [<!ENTITY a SYSTEM "/x">]>',
            "the entity 'a', and entities are not read: .*:2",
        ),
        ("</martif>", "", "not well-formed XML: no element found"),
        ("<term>vaccine</term>", "<term> </term>", None),
        ("<term>vaccine</term>", "<term>*</term>", None),
        ('xml:lang="fr-FR"', 'xml:lang="en-US"', "the terms are in en-US, en, not in two languages"),
        ("<term>", "<name>", "not well-formed XML: mismatched tag"),
    ],
)
def test_one_line_says_what_is_wrong(tmp_path: Path, old: str, new: str, message: str | None) -> None:
    (tmp_path / "a.tbx").write_text(VERSION_2.replace(old, new), encoding="utf-8")
    if message is None:
        assert "shot" in {term.source for term in read_terms(tmp_path / "a.tbx")}
        return
    with pytest.raises((DataError, ConfigError), match=message):
        read_terms(tmp_path / "a.tbx")


def test_languages_are_asked_for_and_have_terms(tmp_path: Path) -> None:
    path = tmp_path / "a.tbx"
    path.write_text(VERSION_2, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"the terms are in fr-FR, en, and de is asked for: .*; give --source-lang"):
        read_terms(path, ("en", "de"))
    path.write_text(VERSION_2.replace('<langSet xml:lang="en">', '<langSet xml:lang="de">', 1), encoding="utf-8")
    with pytest.raises(ConfigError, match="the terms are in fr-FR, de, en, not in two languages"):
        read_terms(path)
    with pytest.raises(DataError, match=r"no concept has terms in en and in fr: .*; check --source-lang"):
        read_terms(path, ("en", "fr"))
    path.write_text(VERSION_3[: VERSION_3.index("<conceptEntry")] + "</body></text></tbx>")
    with pytest.raises(DataError, match="the term base has no terms"):
        read_terms(path)


@pytest.mark.torch
def test_a_file_named_as_a_term_base_is_told_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.tbx").write_text("no xml", encoding="utf-8")
    with pytest.raises(DataError, match="not well-formed XML"):
        read_terms(tmp_path / "a.tbx")


def test_the_command_line_reads_a_term_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terms, source = tmp_path / "terms.tbx", tmp_path / "in.txt"
    terms.write_text(VERSION_3.replace("vaccine", "horse").replace("sérum vaccinal", "canasson"), encoding="utf-8")
    source.write_text("The horse sleeps.\n", encoding="utf-8")
    options = ["--source-lang", "en", "--target-lang", "fr", "--terms", str(terms), "--workers", "1"]
    assert run(["translate", "--model", "everyday", "--input", str(source), *options]) == 0
    written = capsys.readouterr().out
    assert "canasson" in written or "vaccin" in written  # the admitted term is obeyed, too
