"""Translation memories: the pairs of two languages, as they were written, whatever else the file holds."""

import gzip
import json
import lzma
import tracemalloc
from collections import deque
from collections.abc import Callable
from itertools import product
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.program import run
from dragoman.data.corpus import languages, read_pairs
from dragoman.data.parallel_text import ParallelText
from dragoman.data.prepare import prepare
from dragoman.data.text_files.lines import Unreadable
from dragoman.data.text_files.raw_lines import MAX_LINE_BYTES
from dragoman.errors import ConfigError, DataError
from dragoman.settings.data_config import DataConfig
from dragoman.settings.parsing import parse_config

#: Texts of a unit, each with its language.
Unit = list[tuple[str, str]]
UNITS: list[Unit] = [
    [("en-US", "Two dogs run."), ("de-DE", "Zwei Hunde rennen.")],
    [("de-DE", "Ein Mann & eine Frau"), ("en-US", "A man & a woman")],
    [("en-US", "It is < 3."), ("fr", "C'est < 3.")],
    [("en-GB", "grey"), ("de-AT", "grau"), ("fr", "gris")],
]
PAIRS = [("Two dogs run.", "Zwei Hunde rennen."), ("A man & a woman", "Ein Mann & eine Frau"), ("grey", "grau")]
texts = st.text(st.sampled_from("abc äß中😀<>&\"' \u2028"), min_size=1, max_size=8).map(str.strip).filter(bool)
HEADER = '<header segtype="sentence" o-tmf="x" adminlang="en" datatype="plaintext" srclang="en-US"/>'


def tmx(units: list[Unit], *, head: str = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n') -> str:
    """A memory with a unit on each line, beginning in line 5 with the usual head."""
    bodies = (
        "".join(f'<tuv xml:lang="{language}"><seg>{escape(text)}</seg></tuv>' for language, text in unit)
        for unit in units
    )
    lines = "".join(f"<tu>{body}</tu>\n" for body in bodies)
    return f'{head}<tmx version="1.4">{HEADER}\n<body>\n{lines}</body></tmx>\n'


def write(path: Path, content: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(content.encode(encoding))
    return path


def text_of(path: Path, **settings: object) -> ParallelText:
    return read_pairs(DataConfig.model_validate({"pairs": str(path), **settings}), "train")


def pairs_of(path: Path, **settings: object) -> list[tuple[str, str]]:
    text = text_of(path, **settings)
    pairs = list(text)
    assert list(text) == pairs
    assert text.count() == len(list(text.numbered()))
    return pairs


def segment(path: Path, content: str) -> str:
    """The text of a segment with this content."""
    other = '<tuv xml:lang="de"><seg>x</seg></tuv>'
    unit = f'<tu><tuv xml:lang="en"><seg>{content}</seg></tuv>{other}</tu>'
    ((source, _),) = pairs_of(write(path, f"<tmx><header/><body>{unit}</body></tmx>"), source_lang="en")
    return source


@given(
    pairs=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=6), order=st.permutations(["en", "de", "fr"])
)
def test_pairs_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str, str]], order: list[str]
) -> None:
    by_language = [dict(zip(("en", "de", "fr"), triple, strict=True)) for triple in pairs]
    units = [[(language, unit[language]) for language in order] for unit in by_language]
    path = write(tmp_path_factory.getbasetemp() / "m.tmx", tmx(units))
    for source, target in product(("en", "de", "fr"), repeat=2):
        if source != target:
            expected = [(unit[source], unit[target]) for unit in by_language]
            on_one_line = [(" ".join(a.split("\u2028")), " ".join(b.split("\u2028"))) for a, b in expected]
            found = pairs_of(path, source_lang=source, target_lang=target)
            assert [tuple(" ".join(side.split()) for side in pair) for pair in found] == [
                tuple(" ".join(side.split()) for side in pair) for pair in on_one_line
            ]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("en", "de", PAIRS),
        ("de", "en", [(german, english) for english, german in PAIRS]),
        ("en-US", "de_DE", PAIRS),  # the very code first, else the same language elsewhere
        ("eng", "fr", [("It is < 3.", "C'est < 3."), ("grey", "gris")]),
        (None, "fr", "more than two"),
        (None, None, "more than two"),
        ("en", "it", "the units are in en-US, de-DE, fr, en-GB, de-AT, and en to it is asked for"),
        ("en-US", "en-GB", "no unit has both"),
    ],
)
def test_languages_choose_the_sides(tmp_path: Path, source: str | None, target: str | None, expected: object) -> None:
    path = write(tmp_path / "m.tmx", tmx(UNITS))
    asked = {key: code for key, code in (("source_lang", source), ("target_lang", target)) if code}
    if isinstance(expected, list):
        assert pairs_of(path, **asked) == expected
        return
    with pytest.raises((ConfigError, DataError), match=str(expected)):
        pairs_of(path, **asked)


def test_two_languages_need_not_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tmx", tmx([[("DE-DE", "Hund"), ("EN", "dog")]]))
    text = text_of(path)
    assert list(text) == [("dog", "Hund")]  # the header's language comes first
    assert text.notes == (f'{path}: read as a translation memory (TMX); source: "en", target: "de-DE"',)
    assert languages(DataConfig(pairs=str(path))) == ("en", "de-DE")
    assert pairs_of(path, source_lang="de") == [("Hund", "dog")]
    assert pairs_of(write(tmp_path / "m.de-en.tmx", path.read_text())) == [("Hund", "dog")]


def test_regions_of_one_language_are_one_side(tmp_path: Path) -> None:
    units: list[Unit] = [
        [("en-US", "color"), ("de", "Farbe"), ("en-GB", "colour")],
        [("en-GB", "grey"), ("de", "grau")],
    ]
    assert pairs_of(write(tmp_path / "m.tmx", tmx(units))) == [("color", "Farbe"), ("grey", "grau")]
    british = tmx(units).replace('srclang="en-US"', 'srclang="en-GB"')
    assert pairs_of(write(tmp_path / "m.tmx", british)) == [("colour", "Farbe"), ("grey", "grau")]
    unknown = tmx(units).replace('srclang="en-US"', 'srclang="*all*"')
    assert pairs_of(write(tmp_path / "m.tmx", unknown)) == [("color", "Farbe"), ("grey", "grau")]


def test_a_unit_with_several_translations_gives_several_pairs(tmp_path: Path) -> None:
    unit = [("en", "dog"), ("de", "Hund"), ("de", "Rüde"), ("de-AT", "Hunderl")]
    path = write(tmp_path / "m.tmx", tmx([unit]))
    assert pairs_of(path, target_lang="de") == [("dog", "Hund"), ("dog", "Rüde")]
    assert pairs_of(path, target_lang="de-AT") == [("dog", "Hunderl")]
    english = write(tmp_path / "e.tmx", tmx([[("en-US", "gray"), ("en-GB", "grey")], [("en-US", "no other")]]))
    assert pairs_of(english, source_lang="en-US", target_lang="en-GB") == [("gray", "grey")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("The <bpt i='1'>&lt;b></bpt>big<ept i='1'>&lt;/b></ept> dog.", "The big dog."),
        ("Go <ph x='1'>{0}</ph>on<it pos='end'>&lt;/i></it>.", "Go on."),
        ("Press <hi type='b'>the <hi>red</hi> button</hi>!", "Press the red button!"),
        ("See<ph>&lt;img alt='<sub>a picture of <ph>x</ph></sub>'></ph> it.", "See it."),
        ("one<ph type='lb'/>two", "one two"),
        ("<![CDATA[1 < 2]]> &amp; &#228;<ut>code</ut><!-- a remark -->", "1 < 2 & ä"),
        ("\n   A line\n   and another.\n", "A line and another."),
        ("", ""),
    ],
)
def test_native_code_is_left_out_and_highlighted_text_kept(tmp_path: Path, content: str, text: str) -> None:
    assert segment(tmp_path / "m.tmx", content) == text


def test_what_is_no_segment_is_no_text(tmp_path: Path) -> None:
    notes = "<note>a note</note><prop type='x'>a property</prop>"
    variants = (f'<tuv xml:lang="{code}">{notes}<seg>{text}</seg></tuv>' for code, text in (("en", "a"), ("de", "b")))
    content = f"<tmx><header>{notes}</header><body><tu>{notes}{''.join(variants)}</tu></body></tmx>"
    assert pairs_of(write(tmp_path / "m.tmx", content), source_lang="en") == [("a", "b")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_encodings_and_compression(tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    named = encoding.removesuffix("-sig")
    content = tmx([[("en", "a child"), ("de", "für ein Kind")]], head=f'<?xml version="1.0" encoding="{named}"?>\n')
    for name in ("m.tmx", "memory.xml", "pairs"):
        if name != "m.tmx" or pack is bytes:
            (tmp_path / name).write_bytes(pack(content.encode(encoding)))
            assert pairs_of(tmp_path / name) == [("a child", "für ein Kind")]


def test_each_pair_has_the_line_of_its_unit(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tmx", tmx(UNITS))
    text = text_of(path, source_lang="en", target_lang="de")
    assert [line for line, _, _ in text.numbered()] == [5, 6, 8]
    assert [text.line_of(index) for index in range(3)] == [5, 6, 8]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("</tuv></tu>\n<tu>", "</tu>\n<tu>", r"not well-formed XML: mismatched tag: .*:5:\d+; export"),
        ("A man", "A \x01 man", r"not well-formed XML: not well-formed \(invalid token\): .*:6:\d+"),
        ("A man", "&nbsp;A man", "the entity 'nbsp', and entities are not read: .*:6; "),
        ("</body></tmx>", "", r"not well-formed XML: no element found: .*:10:1; export"),
        ('"tmx14.dtd"', '"t" [<!ENTITY a "x">]', "the entity 'a', and entities are not read: .*:2; "),
        ('"tmx14.dtd"', '"t" [<!ENTITY a SYSTEM "/etc/passwd">]', "the entity 'a', and entities are not read"),
        ('"1.0"?', '"1.0" encoding="klingon"?', "unknown encoding|not well-formed XML: unknown encoding"),
        (' xml:lang="fr"', "", "a <tuv> without xml:lang: .*:7; "),
        ("tmx version", "xliff version", r"this is XML \(xliff\), not a translation memory"),
    ],
)
def test_a_bad_file_is_one_line_with_its_place(tmp_path: Path, old: str, new: str, what: str) -> None:
    path = write(tmp_path / "m.tmx", tmx(UNITS).replace(old, new, 1))
    with pytest.raises(DataError, match=what):
        list(text_of(path, source_lang="en", target_lang="it" if "xml:lang" in old else "de"))


def test_a_memory_without_pairs_says_what_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tmx", tmx([]))
    with pytest.raises(DataError, match=r"no unit has a text: .*m.tmx; export the memory again"):
        text_of(path, source_lang="en", target_lang="de")
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"the file is empty: .*m.tmx; export it again"):
        text_of(path, source_lang="en", target_lang="de")
    path = write(tmp_path / "m.tmx", tmx([[("en-US", "a"), ("en-US", "b")]]))
    with pytest.raises(ConfigError, match=r"and en to de is asked for: .*; give a memory with translations"):
        text_of(path, source_lang="en", target_lang="de")


def test_entities_that_multiply_are_refused_before_they_do(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    content = tmx(UNITS, head=f'<!DOCTYPE tmx [<!ENTITY l0 "ha">{laughs}]>').replace("A man", "&l11;")
    with pytest.raises(DataError, match="entities are not read"):
        text_of(write(tmp_path / "m.tmx", content))


@pytest.mark.thorough
def test_memory_stays_flat_and_long_segments_are_not_read(tmp_path: Path) -> None:
    small, large = (
        write(tmp_path / f"{size}.tmx", tmx([*UNITS[:2]] * size + [[("en", "a" * 2_000_000), ("de", "b")]]))
        for size in (500, 20_000)
    )
    peaks = []
    for path in (small, large):
        tracemalloc.start()
        (last,) = deque(text_of(path, source_lang="en", target_lang="de").numbered(), maxlen=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert last[1:] == (Unreadable.TOO_LONG, "b")
    assert peaks[1] < 1.2 * peaks[0] + MAX_LINE_BYTES
    write(small, tmx([[("en", "a"), ("de", "b")]]).replace("<body>", f"<body><!--{' ' * (40 << 20)}-->"))
    with pytest.raises(DataError, match="a tag of more than 16,777,216 bytes"):
        text_of(small)


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tmx", tmx(UNITS))
    text = text_of(path, source_lang="en", target_lang="de")
    write(path, tmx(UNITS[:1]))
    with pytest.raises(DataError, match="the file changed"):
        list(text)


def test_a_memory_has_no_columns_and_is_no_plain_text(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tmx", tmx(UNITS))
    with pytest.raises(ConfigError, match="a translation memory has no columns"):
        text_of(path, columns="1,2")
    with pytest.raises(DataError, match=r"this is a translation memory \(TMX\), not plain text.*--pairs"):
        read_pairs(DataConfig(source=str(path), target=str(path)), "train")


@pytest.mark.parametrize(
    "head", ["", "\ufeff", '<?xml version="1.0"?>\n<?xml-stylesheet href="a.xsl"?>\n', "<!-- a -->\n<!-- > b -->"]
)
def test_a_memory_of_another_name_is_recognised(tmp_path: Path, head: str) -> None:
    assert pairs_of(write(tmp_path / "m.xml", tmx(UNITS[:2], head=head))) == PAIRS[:2]


def test_many_comments_are_judged_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "m.tsv", "<!-- a -->" * 40 + "<b>\tx\n")
    table = write(tmp_path / "m.txt", path.read_text())
    assert pairs_of(path) == pairs_of(table)


def test_prepare_gives_the_same_for_a_memory_and_a_table(tmp_path: Path) -> None:
    pairs = [(f"a man {n}", f"ein Mann {n}") for n in range(60)]
    memory = write(tmp_path / "m.tmx", tmx([[("en", en), ("de", de)] for en, de in pairs]))
    table = write(tmp_path / "m.tsv", "".join(f"{en}\t{de}\n" for en, de in pairs))
    stores = []
    for path in (memory, table):
        settings = {
            "data": {"pairs": str(path), "source_lang": "en", "target_lang": "de"},
            "tokenizer": {"kind": "words"},
        }
        prepare(parse_config(settings), tmp_path / path.suffix)
        files = sorted((tmp_path / path.suffix / "data").rglob("*.bin"))
        stores.append([file.read_bytes() for file in files])
    assert stores[0] == stores[1]


@pytest.mark.captions
def test_commands_take_a_memory(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    units: list[Unit] = [[("en", f"a man {n}"), ("de", f"ein Mann {n}")] for n in range(30)]
    path = write(tmp_path / "m.tmx", tmx(units))
    split = ["data", "split", "--pairs", str(path), "--validation", "2", "--test", "2", "-o", str(tmp_path / "parts")]
    assert run(split) == 0
    parts = [tmp_path / "parts" / f"{name}.en-de.tsv" for name in ("train", "validation", "test")]
    found = [line for part in parts for line in part.read_text().splitlines()]
    assert sorted(found) == sorted(f"a man {n}\tein Mann {n}" for n in range(30))
    model = ["--model", "multi30k-en-de", "--pairs", str(path)]
    capfd.readouterr()
    assert run(["score", *model]) == 0
    by_memory = capfd.readouterr().out
    sides = [
        write(tmp_path / f"a.{code}", "".join(f"{unit[side][1]}\n" for unit in units))
        for side, code in ((0, "en"), (1, "de"))
    ]
    assert run(["score", "-m", "multi30k-en-de", "--source", str(sides[0]), "--target", str(sides[1])]) == 0
    assert capfd.readouterr().out == by_memory
    assert len(by_memory.splitlines()) == 30
    assert run(["evaluate", *model, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["n_sentences"] == 30
