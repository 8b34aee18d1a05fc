"""XLIFF and TMX as documents: texts without a translation get one, and nothing else changes."""

from __future__ import annotations

import codecs
import random
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from document_samples import BILINGUAL
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.documents import Document, parse_document
from dragoman.documents.document import Bilingual, Reviewed
from dragoman.errors import DataError
from dragoman.memories import MemoryMatch
from dragoman.text.marked_text import MarkedText
from dragoman.translator import Translation

N_FILES = 40
HEAD = '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
END = "</body></file></xliff>"


def opened(content: bytes, format: str, target: str = "de") -> Document:
    document = parse_document(content, format)
    assert isinstance(document, Bilingual)
    document.set_languages("en", target)
    return document


def copied(document: Document) -> list[Translation]:
    return [Translation(segment.text, -1.0, ()) for segment in document.segments()]


def elements_of(content: str) -> list[tuple[str, list[tuple[str, str]]]]:
    return sorted((one.tag, sorted(one.attrib.items())) for one in ET.fromstring(f"<x>{content}</x>").iter())


def hostile_text(source: MarkedText, draw: random.Random) -> tuple[str, list[tuple[int, int]]]:
    """A translation that shuffles the verbatim stretches among other words, and an alignment that means nothing."""
    words = [source.text[start:end] for start, end in source.verbatim]
    words += [draw.choice(["der", "a & b", "<x>", "Hund.", "]]>", "\x01"]) for _ in range(draw.randint(0, 9))]
    draw.shuffle(words)
    return " ".join(words), [(draw.randrange(12), draw.randrange(12)) for _ in range(8)]


def check_message(error: DataError) -> None:
    assert "\n" not in error.message
    assert "; " in error.message


def changed(segment: MarkedText) -> Translation:
    return Translation(f"{segment.text} Zusatz", 0.0, ())


def written(unit: str, **values: object) -> str:
    """The file with one unit and its translation."""
    document = opened(f"{HEAD}{unit}{END}".encode(), "xlf")
    translations = [replace(one, **values) for one in copied(document)]
    return document.rebuild(translations, "de").decode().removeprefix(HEAD).removesuffix(END)


def canonical(element: ET.Element) -> str:
    """The content of an element without its tag."""
    bare = ET.Element("x")
    bare.text, bare[:] = element.text, list(element)
    return ET.canonicalize(ET.tostring(bare))


def units_of(content: bytes) -> list[ET.Element]:
    return [one for one in ET.fromstring(content).iter() if one.tag.rpartition("}")[2] in ("trans-unit", "segment")]


def child(unit: ET.Element, name: str) -> ET.Element | None:
    return next((one for one in unit if one.tag.rpartition("}")[2] == name), None)


@pytest.mark.parametrize("kind", ["xliff 1.2", "xliff 2"])
@pytest.mark.parametrize("number", range(N_FILES))
def test_a_copied_unit_has_its_source_as_target(kind: str, number: int) -> None:
    format, make = BILINGUAL[kind]
    content = make(random.Random(number)).encode()
    document = opened(content, format)
    result = document.rebuild(copied(document), "de")
    before, after = units_of(content), units_of(result)
    assert len(before) == len(after)
    is_inherited = b'<group id="g" translate="no">' in content
    for old, new in zip(before, after, strict=True):
        source, target, had = child(new, "source"), child(new, "target"), child(old, "target")
        assert source is not None
        if old.get("translate") == "no" or is_inherited:
            assert ET.tostring(new) == ET.tostring(old)
        elif had is not None and (had.text or had.get("state") == "final") and had.get("state") != "needs-translation":
            assert target is not None
            assert ET.tostring(target) == ET.tostring(had)
        elif had is not None and had.get("state") == "needs-translation" and old.get("approved") == "yes":
            assert ET.tostring(new) == ET.tostring(old)
        else:
            assert target is not None
            segmented = child(new, "seg-source")
            original = source if segmented is None else segmented
            expected, found = canonical(original), canonical(target)
            assert re.sub(r"\s+", " ", found) == re.sub(r"\s+", " ", expected)
            state = target.get("state") if kind == "xliff 1.2" else new.get("state")
            assert state == "translated"
    assert not opened(result, format).segments()
    assert opened(result, format).rebuild([], "de") == result


@pytest.mark.parametrize("kind", BILINGUAL)
@pytest.mark.parametrize("number", range(N_FILES))
def test_what_is_no_target_stays_byte_for_byte(kind: str, number: int) -> None:
    format, make = BILINGUAL[kind]
    text = make(random.Random(number))
    content = (codecs.BOM_UTF8 if number % 3 == 0 else b"") + text.replace("\n", ("\n", "\r\n")[number % 2]).encode()
    document = opened(content, format)
    result = document.rebuild([changed(segment) for segment in document.segments()], "de")
    added = rb"\s*<(target|tuv xml:lang=.de)\b[^\0]*?(</target>|</tuv>|(?<=<target)/>)"
    attributes = rb"""\s+(state|subState|target-language|trgLang)=("[^"]*"|'[^']*')"""

    def bare(data: bytes) -> bytes:
        return re.sub(added, b"", re.sub(attributes, b"", data))

    assert bare(result) == bare(content)
    assert result.count(b"Zusatz") == len(document.segments())
    ET.fromstring(result)
    assert not opened(result, format).segments()
    if not document.segments() and format == "tmx":
        assert result == content


@pytest.mark.parametrize("kind", BILINGUAL)
@pytest.mark.parametrize("number", range(N_FILES))
def test_each_inline_element_is_there_once(kind: str, number: int) -> None:
    format, make = BILINGUAL[kind]
    document, draw = opened(make(random.Random(number)).encode(), format), random.Random(number)
    for flow in (part for job in document._jobs for part in job.parts if not isinstance(part, str)):  # type: ignore[attr-defined]
        for text, alignment in ((f"{flow.source.text} Zusatz", None), hostile_text(flow.source, draw)):
            filled = flow.fill(Translation(text, 0.0, (), alignment=alignment))
            assert elements_of(filled) == elements_of(flow.raw)


@given(st.sampled_from(list(BILINGUAL)), st.integers(0, 30), st.data())
def test_broken_files_give_a_result_or_one_line(kind: str, seed: int, data: st.DataObject) -> None:
    format, make = BILINGUAL[kind]
    content = bytearray(make(random.Random(seed)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content)))
        patch = data.draw(
            st.sampled_from([b"", b"<", b">", b"/>", b"\x00", b"\xff", b'"', b"<source>", b"<target>", b"&#", b"]]>"])
        )
        content[place : place + data.draw(st.integers(0, 9))] = patch
    try:
        document = opened(bytes(content), format)
        result = document.rebuild([changed(source) for source in document.segments()], "de")
    except DataError as error:
        check_message(error)
        return
    ET.fromstring(result)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<xliff>", r"not well-formed XML: no element found: a\.xlf:1:8; export"),
        ("<xliff>\n<a></b></xliff>", r"not well-formed XML: mismatched tag: a\.xlf:2:6"),
        ("", "the file is empty: a.xlf; "),
        ("<tmx/>", r"this is XML \(tmx\), not XLIFF: a\.xlf:1; "),
        ('<!DOCTYPE xliff SYSTEM "/etc/passwd"><xliff/>', r"a document type \(DTD\).*: a\.xlf:1; remove"),
        ('<!DOCTYPE xliff [<!ENTITY a "b">]><xliff/>', r"a document type \(DTD\)"),
        ("<xliff>&nbsp;</xliff>", "not well-formed XML: undefined entity"),
        ('<?xml version="1.0" encoding="klingon"?><xliff/>', "unknown encoding 'klingon'"),
        ('<?xml version="1.0" encoding="punycode"?><xliff/>', "unknown encoding 'punycode'"),
        ("<xliff>" + "<g>" * 2_000 + "</g>" * 2_000 + "</xliff>", "more than 100 elements inside each other"),
    ],
)
def test_bad_files_are_refused_in_one_line(content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_document(content.encode(), "xlf", "a.xlf")


def test_a_memory_may_name_its_document_type_but_declare_nothing() -> None:
    tmx = '<!DOCTYPE tmx SYSTEM "tmx14.dtd"{}><tmx><header srclang="en"/><body><tu/></body></tmx>'
    assert opened(tmx.format("").encode(), "tmx").rebuild([], "de") == tmx.format("").encode()
    for declared in (' [<!ENTITY a "b">]', ' [<!ENTITY a SYSTEM "/etc/passwd">]', " [<!ELEMENT a ANY>]"):
        with pytest.raises(DataError, match="a document type"):
            parse_document(tmx.format(declared).encode(), "tmx")
    with pytest.raises(DataError, match="entit"):
        parse_document(tmx.format("").replace("<tu/>", "<tu>&a;</tu>").encode(), "tmx")


def test_states_say_what_is_translated_and_what_to_check() -> None:
    unit = "<trans-unit><source>A dog</source>{}</trans-unit>"
    new = '<target state="translated" state-qualifier="leveraged-mt">A dog</target>'
    assert written(unit.format("")) == unit.format(new)
    assert written(unit.format('<target state="needs-translation" id="x">Alt</target>')) == unit.format(
        new.replace("target ", 'target id="x" ', 1)
    )
    for kept in (
        "<target>Alt</target>",
        '<target state="needs-review-translation">Alt</target>',
        '<target state="final"/>',
    ):
        assert written(unit.format(kept)) == unit.format(kept)
    assert written(unit.format(""), flags=("unknown-words",)) == unit.format(
        new.replace('"translated"', '"needs-review-translation"')
    )
    for score, origin in ((1.0, "exact-match"), (0.9, "leveraged-mt")):
        remembered = written(unit.format(""), memory=(MemoryMatch(score, "A dog", "A dog"),))
        assert remembered == unit.format(new.replace("leveraged-mt", origin))
    copy = '<target state="needs-review-translation">A dog</target>'
    assert written(unit.format(""), score=0.0, flags=("copied",)) == unit.format(copy)
    kept = '<target state="translated">A dog</target>'  # a term that is not translated
    assert written(unit.format(""), score=0.0) == unit.format(kept)
    assert written("<trans-unit><source>%s</source></trans-unit>") == (
        '<trans-unit><source>%s</source><target state="translated">%s</target></trans-unit>'
    )
    document = opened(f"{HEAD}{unit.format('')}{END}".encode(), "xlf")
    assert isinstance(document, Reviewed)
    document.is_fuzzy = True
    assert b'state="needs-review-translation"' in document.rebuild(copied(document), "de")


def test_doubtful_segments_of_xliff_2_stay_initial() -> None:
    head = '<xliff version="2.1" srcLang="en" trgLang="de"><file><unit>'
    content = f'{head}<segment state="reviewed" subState="a:b"><source>A</source></segment></unit></file></xliff>'
    document = opened(content.encode(), "xlf")
    (translation,) = copied(document)
    doubtful = document.rebuild([replace(translation, flags=("unknown-words",))], "de").decode()
    head = '<segment subState="dragoman:leveraged-mt" state="initial">'
    assert f"{head}<source>A</source><target>A</target></segment>" in doubtful


def test_languages_are_set_or_respected() -> None:
    content = f"{HEAD}<trans-unit><source>A</source></trans-unit>{END}".replace(' target-language="de"', "")
    document = opened(content.encode(), "xlf", "fr")
    assert b'<file source-language="en" target-language="fr">' in document.rebuild(copied(document), "fr")
    regional = opened(f"{HEAD}{END}".replace('"de"', '"de-AT"').encode(), "xlf")
    assert b'target-language="de-AT"' in regional.rebuild([], "de")
    with pytest.raises(DataError, match=r"target-language 'de', and fr is asked for: the document:1; change --target"):
        opened(f"{HEAD}{END}".encode(), "xlf", "fr")
    with pytest.raises(DataError, match="the units are in fr, and en is asked for"):
        opened(b'<tmx><tu><tuv xml:lang="fr"><seg>A</seg></tuv></tu></tmx>', "tmx")
    with pytest.raises(DataError, match=r"the language is unknown: .*; give --source-lang"):
        parse_document(b"<tmx/>", "tmx").set_languages(None, "de")  # type: ignore[attr-defined]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_are_kept(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>\n{HEAD}'
    content = f"{head}<trans-unit><source>Für Ann</source></trans-unit>{END}".encode(encoding)
    document = opened(content, "xlf")
    assert [segment.text for segment in document.segments()] == ["Für Ann"]
    result = document.rebuild([Translation("Für 中", 0.0, ())], "de")
    assert result.startswith(content[:40])
    assert [one.text for one in ET.fromstring(result).iter("target")] == ["Für 中"]


def test_lines_of_preserved_text_are_segments() -> None:
    source = 'First line\n\n  Second <g id="1">line\nof</g> it'
    unit = f'<trans-unit xml:space="preserve"><source>{source}</source></trans-unit>'
    document = opened(f"{HEAD}{unit}{END}".encode(), "xlf")
    assert [segment.text for segment in document.segments()] == ["First line", "Second line of it"]
    translations = [Translation(text, 0.0, ()) for text in ("Erste Zeile", "Zweite Zeile von ihr")]
    result = document.rebuild(translations, "de").decode()
    assert '>Erste Zeile\n\n  Zweite <g id="1">Zeile\nvon</g> ihr<' in result
    assert result.count("\n") == 2 * unit.count("\n")


@pytest.mark.captions
def test_the_command_fills_the_targets(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.xlf"
    source.write_text(f"{HEAD}<trans-unit><source>A man is <g id='1'>riding</g> a horse.</source></trans-unit>{END}")
    command = ["translate", "-m", "multi30k-en-de", "--input", str(source), "--output", str(tmp_path / "b.xlf")]
    assert run(command) == 0
    result = (tmp_path / "b.xlf").read_text()
    assert re.search(r"<target state=[^>]*>Ein Mann .*<g id='1'>[\w ]+</g>.*</target>", result)
    source.write_text(source.read_text().replace('"de"', '"fr"'))
    assert run([*command, "--overwrite"]) != 0
    assert "target-language 'fr', and de is asked for" in capfd.readouterr().err
    assert (tmp_path / "b.xlf").read_text() == result
    memory = tmp_path / "m.tmx"
    memory.write_text('<tmx><header srclang="en"/><tu><tuv xml:lang="en"><seg>A dog.</seg></tuv></tu></tmx>')
    assert run([*command[:4], str(memory), "--output", str(tmp_path / "n.tmx")]) == 0
    origin = '<prop type="state-qualifier">leveraged-mt</prop>'
    assert f'<tuv xml:lang="de">{origin}<seg>Ein Hund.</seg></tuv></tu>' in (tmp_path / "n.tmx").read_text()
    memory.write_text(memory.read_text().replace("</tu>", '<tuv xml:lang="de"><seg></seg></tuv></tu>'))
    assert run([*command[:4], str(memory), "--output", str(tmp_path / "o.tmx")]) == 0
    assert f'<tuv xml:lang="de">{origin}<seg>Ein Hund.</seg></tuv></tu>' in (tmp_path / "o.tmx").read_text()
