"""Segments of XLIFF 1.2: those that a target lacks are filled, also inside other elements and with braces as tags."""

from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.data.text_files.file_signatures import refuse_documents
from dragoman.documents import open_document, parse_document
from dragoman.errors import DataError
from dragoman.translator import Translation

HEAD = '<xliff version="1.2"><file source-language="en" target-language="de" original="a" datatype="html"><body>\n'
END = "</body></file></xliff>\n"


def written(unit: str, **values: object) -> str:
    """The unit of a file, with each segment as its translation."""
    document = parse_document(f"{HEAD}{unit}{END}".encode(), "xlf")
    translations = [replace(Translation(each.text, 0.0, ()), **values) for each in document.segments()]
    return document.rebuild(translations, "de").decode().removeprefix(HEAD).removesuffix(END)


def segment(number: int, text: str) -> str:
    return f'<mrk mtype="seg" mid="{number}">{text}</mrk>'


ONE, TWO, THREE = segment(0, "One."), segment(1, 'Two <x id="1"/>.'), segment(2, "Three.")
SOURCE = f"<g id='9'>{ONE} {TWO}</g> {THREE}"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            f"<g id='9'>{segment(0, '')}\t{segment(1, 'Zwei.')}</g>{segment(2, 'Drei.')}",
            f"<g id='9'>{ONE}\t{segment(1, 'Zwei.')}</g>{segment(2, 'Drei.')}",
        ),
        (
            f'{segment(0, "Eins.")}\n<mrk mid="1" mtype="seg" /> {segment(2, " ")}',
            f'{segment(0, "Eins.")}\n<mrk mid="1" mtype="seg">Two <x id="1"/>.</mrk> {THREE}',
        ),
        (segment(1, "Zwei."), f"{ONE} {segment(1, 'Zwei.')} {THREE}"),
        (segment(0, "Eins."), f"{segment(0, 'Eins.')} {TWO} {THREE}"),
    ],
)
@pytest.mark.parametrize("state", ["", ' state="translated" state-qualifier="x-own"'])
def test_segments_without_a_translation_get_one_and_others_stay(target: str, expected: str, state: str) -> None:
    unit = f"<trans-unit><source>-</source><seg-source>{SOURCE}</seg-source><target{state}>{{}}</target></trans-unit>"
    assert written(unit.replace("{}", target)) == unit.replace("{}", expected)
    doubtful = written(unit.replace("{}", target), flags=("span",))
    assert doubtful.replace(' state="needs-review-translation"', "") == unit.replace("{}", expected).replace(
        ' state="translated"', ""
    )
    assert 'state="needs-review-translation"' in doubtful


@pytest.mark.parametrize(
    "target",
    [
        "<target>Eins, zwei, drei.</target>",
        f"<target>{segment(0, 'Eins.')} {segment(1, 'Zwei.')} {segment(2, 'Drei.')}</target>",
        f'<target state="final">{segment(0, "")} {segment(1, "Zwei.")}</target>',
    ],
)
def test_whole_and_finished_targets_stay(target: str) -> None:
    unit = f"<trans-unit><source>-</source><seg-source>{SOURCE}</seg-source>{target}</trans-unit>"
    assert written(unit) == unit
    approved = unit.replace("<trans-unit>", '<trans-unit approved="yes">').replace("Zwei.", "")
    assert written(approved) == approved


def test_segments_inside_another_element_are_translated_by_themselves() -> None:
    content = f"{HEAD}<trans-unit><source>-</source><seg-source>{SOURCE}</seg-source></trans-unit>{END}"
    document = parse_document(content.encode(), "xlf")
    assert [one.text for one in document.segments()] == ["One.", 'Two <x id="1"/>.', "Three."]
    texts = ("Eins.", 'Zwei <x id="1"/>.', "Drei.")
    result = document.rebuild([Translation(text, 0.0, ()) for text in texts], "de").decode()
    expected = SOURCE.replace("One", "Eins").replace("Two", "Zwei").replace("Three", "Drei")
    assert f">{expected}</target>" in result


def test_tags_of_phrase_go_with_their_words() -> None:
    content = f"{HEAD}<trans-unit><source>An {{b&gt;old&lt;b}} {{1}} house, x {{y&gt;0}}</source></trans-unit>{END}"
    document = parse_document(content.encode(), "mxliff")
    (segment,) = document.segments()
    assert segment.text == "An old {1} house, x {y>0}"
    links = tuple((number, number) for number in range(6))
    result = document.rebuild([Translation("Ein altes {1} Haus, x {y>0}", 0.0, (), alignment=links)], "de").decode()
    assert ">Ein {b&gt;altes&lt;b} {1} Haus, x {y&gt;0}</target>" in result


def test_the_mark_of_a_shortcut_stays_before_its_letter() -> None:
    unit = "<trans-unit><source>&amp;Open the file</source>{}</trans-unit>"
    document = parse_document(f"{HEAD}{unit.format('')}{END}".encode(), "xlf")
    (segment,) = document.segments()
    assert segment.text == "Open the file"
    for text, expected in {
        "Datei öffnen": "&amp;Datei öffnen",
        "Ouvrir": "&amp;Ouvrir",
        "打开": "打开(&amp;O)",
    }.items():
        result = document.rebuild([Translation(text, 0.0, ())], "de").decode()
        assert f">{expected}</target>" in result
    assert written(unit.format("")).count("&amp;Open the file") == 2


@pytest.mark.parametrize("suffix", ["sdlxliff", "mqxliff", "mxliff"])
def test_files_of_translation_programs_are_xliff(suffix: str, tmp_path: Path) -> None:
    own = '<p:defs xmlns:p="urn:p"><p:seg id="0" conf="Draft"/></p:defs>'
    unit = f'<trans-unit id="1" xmlns:p="urn:p" p:s="0"><source>A dog.</source>{own}</trans-unit>'
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEAD}{unit}{END}".replace("\n", "\r\n").encode())
    document = open_document(path)
    result = document.rebuild([Translation("Ein Hund.", 0.0, ())], "de")
    target = b'<target state="translated" state-qualifier="leveraged-mt">Ein Hund.</target>'
    assert result.replace(target, b"") == path.read_bytes()


@pytest.mark.parametrize("name", ["a.ass", "a.sbv", "a.ttml"])
def test_other_subtitles_are_refused_with_a_way_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="convert it to SRT"):
        refuse_documents(tmp_path / name)
