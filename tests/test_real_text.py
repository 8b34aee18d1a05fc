"""The yardstick of benchmarks/real_text.py: its samples, its readers of stored text, and the faults that it counts."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import many_tokenizers, tiny_bundle

from dragoman.bundle.bundle import write_bundle
from dragoman.errors import DataError, DragomanError
from dragoman.evaluation.metrics import paired_test

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import real_text
import real_text_faults as faults
import real_text_scores as scores
import real_text_sets as sets
import real_text_systems as systems
import real_text_tables as tables
import real_text_words as words

LINES = {
    "en": [f"Line {n} has number {n}." for n in range(30)],
    "de": [f"Zeile {n} hat Nummer {n}." for n in range(30)],
}


@pytest.fixture(autouse=True)
def _no_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hunspell may be absent, and takes a while."""
    monkeypatch.setattr(faults, "dictionary", lambda language: None)


def write_archive(path: Path, files: dict[str, list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, lines in files.items():
            content = ("\n".join(lines) + "\n").encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a few lines of two kinds, and one stored system."""
    files = {f"flores-dev/{language}.txt": lines for language, lines in LINES.items()}
    stored = [line.replace("Zeile", "&quot;Zeile&quot;") for line in LINES["de"]]
    files |= {"flores-dev/systems/en-de.other.txt": stored, "flores-dev/systems/en-de.other.bleu": ["99.9"]}
    write_archive(tmp_path / "real-text" / "flores-dev.tar.xz", files)
    folder = tmp_path / "world" / "en-de"
    folder.mkdir(parents=True)
    rows = ["Save the file\tDatei speichern", "Save the file\tSpeichern Sie die Datei", "No\tNein"]
    (folder / "bcontrast.val.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode() + b"\n"))
    monkeypatch.setenv("DRAGOMAN_DATA", str(tmp_path))
    return tmp_path


@given(texts=st.lists(st.text(max_size=5), max_size=30, unique=True), size=st.integers(0, 40), seed=st.integers(0, 9))
def test_a_sample_follows_from_the_texts_alone_and_keeps_their_order(texts: list[str], size: int, seed: int) -> None:
    lines = sets.chosen(texts, size)
    assert lines == sorted(set(lines))
    assert len(lines) == min(size, len(texts))
    shuffled = random.Random(seed).sample(texts, len(texts))
    assert {shuffled[line] for line in sets.chosen(shuffled, size)} == {texts[line] for line in lines}
    assert set(lines) <= set(sets.chosen(texts, size + 1))


def test_lines_of_several_languages_stand_beside_their_stored_translations(data: Path) -> None:
    found = sets.read_set("encyclopedic", ("en", "de"))
    assert found is not None
    assert list(found.stored) == ["other"]
    assert found.stored["other"][0] == LINES["de"][0].replace("Zeile", '"Zeile"')
    sample = found.sample(7)
    assert (len(sample.sources), sample.of) == (7, 30)
    for source, (reference,), stored in zip(sample.sources, sample.references, sample.stored["other"], strict=True):
        line = LINES["en"].index(source)
        assert (reference, stored) == (found.references[line][0], found.stored["other"][line])
    backwards = sets.read_set("encyclopedic", ("de", "en"))
    assert backwards is not None
    assert (backwards.sources, backwards.stored) == (LINES["de"], {})
    assert sets.read_set("encyclopedic", ("en", "fr")) is None
    assert sets.read_set("news", ("en", "de")) is None


def test_stored_text_that_does_not_fit_or_cannot_be_read_is_an_error_of_one_line(data: Path) -> None:
    path = data / "real-text" / "news-2013.tar.xz"
    write_archive(path, {"news/2013.en": LINES["en"], "news/2013.de": LINES["de"][:-1]})
    with pytest.raises(DataError, match="30 sources, but the references has 29 lines"):
        sets.read_set("news", ("en", "de"))
    sets._archive.cache_clear()
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="text of kind news cannot be read"):
        sets.read_set("news", ("en", "de"))
    (data / "world" / "en-de" / "wesnoth.val.tsv.gz").write_bytes(gzip.compress(b"one side only\n"))
    with pytest.raises(DataError, match="1 columns, not two"):
        sets.read_set("dialogue", ("en", "de"))


def test_equal_sources_share_their_references_in_both_directions(data: Path) -> None:
    chat = sets.read_set("chat", ("en", "de"))
    assert chat is not None
    assert chat.sources == ["Save the file", "No"]
    assert chat.references == [["Datei speichern", "Speichern Sie die Datei"], ["Nein"]]
    back = sets.read_set("chat", ("de", "en"))
    assert back is not None
    assert back.references == [["Save the file"], ["Save the file"], ["No"]]
    assert sets.read_set("chat", ("de", "fr")) is None


def test_words_have_apostrophes_and_no_digits() -> None:
    assert words.words("He doesn’t see the 19th of 中国人.") == ["He", "doesn't", "see", "the", "of", "中国人"]


@dataclass
class FakeDictionary:
    """Knows the words of a text; small letters are the general form."""

    text: str

    def unknown(self, candidates: Iterable[str]) -> set[str]:
        return {word for word in candidates if word not in self.text.split()}

    def known(self, candidates: Iterable[str]) -> set[str]:
        return {word for word in candidates if word.lower() in self.text.split()}


@pytest.fixture
def dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"en": FakeDictionary("the house is big and green"), "de": FakeDictionary("das Haus ist groß und")}
    monkeypatch.setattr(faults, "dictionary", own.get)


@pytest.mark.parametrize(
    ("source", "output", "direction", "unknown", "left"),
    [
        ("the house is big", "das Haus ist groß", "en-de", 0, 0),
        ("the house is big", "das Haus ist gröslich", "en-de", 1, 0),
        ("the house is big", "das house ist groß", "en-de", 0, 1),
        ("the house of Hamlin is big", "das Haus Hamlin ist groß", "en-de", 0, 0),
        ("das Haus ist groß", "the 房 is big", "de-en", 1, 0),
        ("房子 big", "the 房子 is big", "zh-en", 0, 1),
        ("the house is big", "房子 house 很大 blorg", "en-zh", 1, 1),
        ("the house of Hamlin", "Hamlin的房子", "en-zh", 0, 0),
        ("the 2nd house", "das 2nd Haus", "en-de", 0, 0),
    ],
)
@pytest.mark.usefixtures("dictionaries")
def test_unknown_words_and_words_left_in_the_source_language(
    source: str, output: str, direction: str, unknown: int, left: int
) -> None:
    one, other = direction.split("-")
    found = faults.wrong_words([(source, output)], (one, other))
    assert (found["unknown"][0], found["left"][0]) == (unknown, left)
    assert found["unknown"][1] == words.n_words(output, other)


@pytest.mark.usefixtures("dictionaries")
def test_without_a_dictionary_nothing_is_counted() -> None:
    assert faults.wrong_words([("the house", "qwx house")], ("en", "tr")) == {"unknown": (0, 0), "left": (0, 0)}
    assert faults.wrong_words([("qwx", "das qwx")], ("tr", "de"))["left"] == (0, 0)
    assert words.dictionary("tr") is None


@pytest.mark.skipif(words.dictionary("de") is None, reason="Hunspell or its German dictionary is not installed")
def test_hunspell_knows_compounds_and_capitals() -> None:
    german = words.dictionary("de")
    assert german is not None
    given = {"Apfelkuchen", "Haus", "Grillantsucht", "grillants", "Wohnungstür"}
    assert german.unknown(given) == {"Grillantsucht", "grillants"}
    assert german.known({"Haus", "grillants"}) == {"Haus"}


@pytest.mark.parametrize(
    ("source", "output", "lost"),
    [
        ("It costs 1,234.50 in 2010.", "Es kostet 2010 1.234,50.", (0, 2)),
        ("It costs 1,234.50 in 2010.", "Es kostet 1234,50.", (1, 2)),
        ("at 7:30", "um 7 h 30", (0, 1)),
        ("at 7:30", "um 8 h 30", (1, 1)),
        ("10 000 people", "10.000 Menschen", (0, 1)),
        ("in 2010 100 people", "100 Menschen im Jahr 2010", (0, 1)),
        ("٣٤ people", "34 Menschen", (0, 1)),
        ("３４人", "34 Menschen", (0, 1)),
        ("five people", "5 Menschen", (0, 0)),
    ],
)
def test_numbers_are_lost_when_their_digits_are(source: str, output: str, lost: tuple[int, int]) -> None:
    assert faults.lost_numbers(source, output) == lost


@given(st.lists(st.integers(0, 10**7), max_size=5))
def test_a_copy_loses_no_number(numbers: list[int]) -> None:
    text = " and ".join(f"{each:,}" for each in numbers)
    assert faults.lost_numbers(text, text) == (0, len(numbers))
    assert faults.lost_numbers(text, "") == (len(numbers), len(numbers))


@pytest.mark.parametrize(
    ("source", "output", "direction", "count"),
    [
        ("She isn't here.", "Sie ist nicht hier.", "en-de", (0, 1)),
        ("She isn't here.", "Sie ist hier.", "en-de", (1, 1)),
        ("Sie hat keinen Hund.", "She has no dog.", "de-en", (0, 1)),
        ("Elle n’est pas là.", "She is here.", "fr-en", (1, 1)),
        ("Ils n'ont qu'un chien.", "They have only one dog.", "fr-en", (0, 0)),
        ("他没有狗。", "He has a dog.", "zh-en", (1, 1)),
        ("我们不同。", "We differ.", "zh-en", (0, 0)),
        ("I never said so.", "我从来没这么说。", "en-zh", (0, 1)),
        ("It is different.", "它不同。", "en-zh", (0, 0)),
        ("I never said so.", "我特别这么说。", "en-zh", (1, 1)),
        ("Never.", "Asla.", "en-tr", (0, 0)),
    ],
)
def test_negations_are_lost_when_no_word_of_the_table_is_left(
    source: str, output: str, direction: str, count: tuple[int, int]
) -> None:
    one, other = direction.split("-")
    assert faults.faults([source], [output], (one, other))["negations"] == count


@pytest.mark.parametrize(
    ("text", "language", "is_repeated"),
    [
        ("very very good", "en", False),
        ("weiter weiter weiter", "de", True),
        ("a coup of a coup of wood", "en", True),
        ("He had had enough of it", "en", False),
        ("哈哈哈", "zh", False),
        ("磊和磊磊和磊的奶油", "zh", True),
        ("1.2 1.2", "en", True),
        ("", "en", False),
    ],
)
def test_repetition(text: str, language: str, is_repeated: bool) -> None:
    assert faults.repeats(text, language) is is_repeated


def test_empty_and_repeated_lines_are_bad_unless_the_source_repeats() -> None:
    sources = ["a dog", "a dog", "a dog a dog", "a dog"]
    outputs = ["ein Hund", " ", "ein Hund ein Hund", "ein Hund ein Hund"]
    assert faults.faults(sources, outputs, ("en", "de"))["bad"] == (2, 4)


def test_counts_of_sets_are_added() -> None:
    one, other = (faults.faults([text], [text], ("en", "de")) for text in ("It is 3.", "Not 4 or 5."))
    both = faults.faults(["It is 3.", "Not 4 or 5."], ["It is 3.", "Not 4 or 5."], ("en", "de"))
    assert faults.added([one, other]) == both
    assert both["numbers"] == (0, 3)


def test_significance_is_that_of_the_toolkit_and_equal_outputs_do_not_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "N_SAMPLES", 100)
    draw = random.Random(1)
    references = [" ".join(draw.choices("abcdefgh", k=9)) for _ in range(60)]
    worse = [" ".join(word if draw.random() > 0.2 else "x" for word in line.split()) for line in references]
    found = scores.compared({"a": references, "b": worse, "c": references}, [[each] for each in references], "en")
    expected = {each.name: each for each in paired_test(references, worse, references, "en", n_samples=100)}
    for metric in ("BLEU", "chrF2"):
        assert found["b"][metric] == pytest.approx(expected[metric].system)
        assert found["b"][f"p {metric}"] == pytest.approx(expected[metric].p_value)
        assert found["c"][f"p {metric}"] == 1.0
        assert f"p {metric}" not in found["a"]


def test_all_references_count_and_the_signature_says_so() -> None:
    references = [["a b c d e", "f g h i j"], ["k l m n o"]]
    assert scores.scores(["f g h i j", "k l m n o"], references, "en")["BLEU"] == pytest.approx(100)
    assert "nrefs:var" in scores.signatures(references, "en")["BLEU"]
    assert "tok:zh" in scores.signatures([["中国人"]], "zh")["BLEU"]


def test_each_source_has_one_class_of_length() -> None:
    texts = [" ".join(["word"] * n) for n in range(1, 50)]
    classes = scores.by_length(texts, "en")
    assert sorted(line for lines in classes.values() for line in lines) == list(range(49))
    assert [len(lines) for lines in classes.values()] == [10, 10, 10, 19]
    assert words.length("一" * 16, "zh") == pytest.approx(10)


def test_a_folder_of_ctranslate2_names_its_pieces_and_tags(tmp_path: Path) -> None:
    with pytest.raises(DragomanError, match="no SentencePiece model"):
        systems.pieces_file(tmp_path, "source")
    (tmp_path / "sentencepiece.model").touch()
    assert systems.pieces_file(tmp_path, "target").name == "sentencepiece.model"
    (tmp_path / "target.spm").touch()
    assert systems.pieces_file(tmp_path, "target").name == "target.spm"
    with pytest.raises(DragomanError, match=r"2 SentencePiece models.*name them"):
        systems.pieces_file(tmp_path, "source")
    assert systems.tags(tmp_path) == []
    (tmp_path / "shared_vocabulary.json").write_text(json.dumps(["<s>", ">>de<<", ">>fr<<", "a"]))
    assert systems.tags(tmp_path) == [">>de<<", ">>fr<<"]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "model", tiny_bundle(many_tokenizers()))
    return tmp_path / "model"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    monkeypatch.setattr(sys, "argv", ["real_text.py", *map(str, arguments)])
    monkeypatch.setattr(scores, "N_SAMPLES", 20)
    monkeypatch.setattr(real_text, "dictionary", faults.dictionary)
    sets._archive.cache_clear()
    real_text.main()


def test_a_run_prints_80_columns_and_writes_figures_tables_and_a_file_to_read(
    data: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, figures = data / "out", data / "figures.json"
    run(monkeypatch, model, "--sample", 12, "--directions", "en-de", "--precision", "float32", "--out", out,
        "--json", figures)  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line == "encyclopedic, 12 of 30; 24 numbers, 0 negated"]
    report = json.loads(figures.read_text())
    encyclopedic, chat = report["results"][0]["sets"]
    assert list(encyclopedic["systems"]) == ["model", "model, plain", "other", "people"]
    assert list(chat["systems"]) == ["model", "model, plain", "people"]
    assert encyclopedic["systems"]["people"]["faults"]["numbers"] == [0, 24]
    assert sum(each["lines"] for each in report["results"][0]["lengths"]["model"].values()) == 14
    page = (out / "tables.md").read_text()
    assert page.count("all systems on the same lines") == page.count("encyclopedic, all systems on the same lines") == 1
    assert "| en-de |" in page
    read = (out / "read.en-de.txt").read_text()
    assert read.count("people: ") == 14
    assert read.count("    other: ") == 12


def test_sixty_sentences_are_read_of_all_kinds_and_always_the_same() -> None:
    own = [sets.TextSet(kind, ("en", "de"), [f"{kind} {n}" for n in range(50)], [["x"]] * 50) for kind in "abcdefg"]
    outputs = [{"model": ["y"] * 50} for _ in own]
    lines = [line for line in tables.to_be_read(own, outputs) if line[:1] in "abcdefg" and line]
    assert len(lines) == tables.N_READ
    assert {sum(line.startswith(kind) for line in lines) for kind in "abcdefg"} == {8, 9}
    assert lines == [line for line in tables.to_be_read(own, outputs) if line[:1] in "abcdefg" and line]


def test_a_difference_beyond_chance_has_a_star() -> None:
    def system(p: float) -> dict[str, object]:
        return {"BLEU": 20.0, "chrF2": 40.0, "p chrF2": p, "faults": dict.fromkeys(faults.FAULTS, (1, 4))}

    names = ["a", "b", "c", tables.PEOPLE]
    measured = dict(zip(names, map(system, (1.0, 0.01, 0.2, 1.0)), strict=True))
    result = {"direction": "en-de", "sets": [{"kind": "news", "systems": measured}], "lengths": {}}
    page = "\n".join(tables.markdown({"systems": names[:3], "results": [result]}))
    assert [line.count("*") for line in page.splitlines() if line.startswith("| news")] == [0, 1, 0]
    assert "| en-de | people | 25.0 | 25.0 | 25.0 | 25.0 | 25.0 |" in page


def test_bad_inputs_are_one_line_before_anything_is_translated(
    data: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases: list[tuple[tuple[object, ...], str]] = [
        ((data / "nothing",), "error: no such model"),
        ((data,), "error: no bundle in this folder"),
        ((model, "--directions", "en-fr"), "does not translate en-fr"),
        ((model, "--directions", "german"), "error: no direction: 'german'"),
        ((model, "--kinds", "poems"), "error: no kind of text: 'poems'"),
        ((model, "--kinds", "mail", "--directions", "en-de"), "error: no text of kind mail for en-de"),
        ((model, model), "error: two models with the name 'model'"),
        ((model, "--sample", "0"), "error: --sample"),
    ]
    for arguments, message in cases:
        with pytest.raises(SystemExit, match=message) as found:
            run(monkeypatch, *arguments, "--precision", "float32")
        assert "\n" not in str(found.value)
    for value, message in (("", "DRAGOMAN_DATA is not set"), (str(data / "none"), "DRAGOMAN_DATA names no folder")):
        monkeypatch.setenv("DRAGOMAN_DATA", value)
        with pytest.raises(SystemExit, match=message):
            run(monkeypatch, model)
