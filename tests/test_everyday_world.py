"""The text of everyday's third part: what is kept of a source, and that no measuring set is in it."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from extras import import_extra

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import everyday_compare
import everyday_text
import everyday_world as world
from everyday_made_up import read_table

from dragoman.translator import Translation

RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "everyday-world.yaml"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder with a source of talk and its measuring set."""
    folder = tmp_path / "world" / "en-de"
    folder.mkdir(parents=True)
    for split, rows in {
        "train": ["Where is my order?\tWo ist meine Bestellung?", "WHERE is it\tWo ist es?", "Hello.\tGuten Tag."],
        "val": ["Where is it?\tWo bleibt es?", "Good day!\tGuten Tag!"],
    }.items():
        (folder / f"bcontrast.{split}.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode() + b"\n"))
    monkeypatch.setenv("DRAGOMAN_DATA", str(tmp_path))
    world.measured.cache_clear()
    yield tmp_path
    world.measured.cache_clear()


def test_a_pair_with_a_measured_side_is_left_out_whatever_its_case_and_marks(data: Path) -> None:
    pairs = list(world.read_source("bcontrast", "de"))
    assert len(pairs) == 3
    assert world.without_measured(pairs) == pairs[:1]


def write_post_edited(data: Path, direction: str, part: str, pair: tuple[str, str]) -> None:
    """Write an archive of one line, as MLQE-PE has it: that of a part for tests has another name inside."""
    inside = {"test": "test20"}.get(part, part)
    folder = data / "mlqe-pe" / "data" / "post-editing" / part
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / f"{direction}-{part}.tar.gz", "w:gz") as archive:
        for side, line in zip(("src", "pe"), pair, strict=True):
            content = f"{line}\n".encode()
            member = tarfile.TarInfo(f"{direction}-{inside}/{inside}.{side}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_post_edited_sentences_are_joined_as_people_write(data: Path) -> None:
    """The archives of MLQE-PE hold tokens; of its parts, the one for tests only measures."""
    lines = {
        "de": ('It costs " five " here .', 'Hier kostet es " 5.000 " .'),
        "zh": ("He left in 1905 .", "他 在   1905   年 离开 了 New   York 。"),
    }
    for language, pair in lines.items():
        for part in ("train", "dev", "test"):
            write_post_edited(data, f"en-{language}", part, pair)
    assert list(world.read_source("mlqe-pe", "de")) == [('It costs "five" here.', 'Hier kostet es "5.000".')] * 2
    assert list(world.read_source("mlqe-pe", "zh")) == [("He left in 1905.", "他在1905年离开了New York。")] * 2
    assert list(world.read_source("mlqe-pe", "fr")) == list(world.read_source("mlqe-pe", "de", "val")) == []


def test_a_sentence_of_the_part_for_tests_is_left_out_in_both_languages(data: Path) -> None:
    import_extra("opencc", "bench")
    write_post_edited(data, "en-zh", "test", ("He left .", "他 离开 了 。"))
    pairs = [("He left.", "Er ging."), ("She stayed.", "她留下了。"), ("Gone!", "他离开了！")]
    assert world.without_measured(pairs) == pairs[1:2]


def test_sentences_of_treebanks_are_paired_by_their_numbers(data: Path) -> None:
    texts = {
        "English": "# newdoc id = n1\n# sent_id = n1\n# text = He left.\n1\tHe\n\n# sent_id = w2\n# text = Yes.\n",
        "French": "# sent_id = w2\n# text = Oui.\n# text_en = Yes.\n1\tOui\n\n# sent_id = w3\n# text = Non.\n",
    }
    for language, text in texts.items():
        (folder := data / "pud" / f"UD_{language}-PUD").mkdir(parents=True)
        (folder / f"{language[:2].lower()}_pud-ud-test.conllu").write_text(text)
    assert list(world.read_source("pud", "fr")) == [("Yes.", "Oui.")]


def test_paragraphs_of_questions_are_paired_by_sentences_where_these_are_as_many(data: Path) -> None:
    articles = {
        "en": [("He left. Why? At 3.5 p.m.", "Who left?"), ("One. Two.", "How many?")],
        "zh": [("他离开了。为什么？在下午3.5点。", "谁离开了？"), ("一和二。", "多少？")],
    }
    (data / "xquad").mkdir()
    for language, own in articles.items():
        paragraphs = [{"context": context, "qas": [{"question": question}]} for context, question in own]
        (data / "xquad" / f"xquad.{language}.json").write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))
    assert list(world.read_source("xquad", "zh")) == [
        ("Who left?", "谁离开了？"),
        ("He left.", "他离开了。"),
        ("Why?", "为什么？"),
        ("At 3.5 p.m.", "在下午3.5点。"),
        ("How many?", "多少？"),
    ]
    assert list(world.read_source("xquad", "fr")) == []


def test_similar_sentences_are_paired_by_the_numbers_of_their_rows(data: Path) -> None:
    tables = {
        "en": ["7\tHe is `` the king '' .\tThe king is he .\t1", "9\tShe left .\tShe went .\t0"],
        "fr": ["9\tElle partit.\tNS\t0", "7\tIl est « le roi ».\tLe roi, c'est lui.\t1", "8\tNon.\tOui.\t0"],
    }
    for language, rows in tables.items():
        (folder := data / "paws-x" / language).mkdir(parents=True)
        (folder / "dev_2k.tsv").write_text("\n".join(["id\tsentence1\tsentence2\tlabel", *rows, ""]))
    assert list(world.read_source("paws-x", "fr")) == [
        ('He is "the king".', "Il est « le roi »."),
        ("The king is he.", "Le roi, c'est lui."),
        ("She left.", "Elle partit."),
    ]
    assert list(world.read_source("paws-x", "de")) == []


def test_written_sentences_have_all_languages_and_none_is_held_out_and_learned() -> None:
    for language in ("de", "fr", "zh"):
        learned, held_out = list(world.written(language)), list(world.written(language, held_out=True))
        assert len(learned) > 20 * len(held_out) > 0
        assert not set(learned) & set(held_out)
        for english, translation in learned + held_out:
            assert english.strip()
            assert translation.strip()
            assert not world._HAN.search(english)
            assert bool(world._HAN.search(translation)) == (language == "zh")


def test_two_translations_of_an_english_sentence_are_a_pair() -> None:
    french = [("Yes.", "Oui."), ("No.", "Non."), ("Yes.", "Si.")]
    german = [("Yes.", "Ja."), ("Maybe.", "Vielleicht.")]
    assert everyday_text.through_english(french, german) == [("Oui.", "Ja."), ("Si.", "Ja.")]


@pytest.mark.parametrize(
    "pair",
    [
        ("Press %s to go on.", "Drücken Sie %s, um fortzufahren."),
        ("Set max_size to ten.", "Setzen Sie max_size auf zehn."),
        ("See the file notes.txt now.", "Siehe jetzt die Datei notes.txt."),
        ("&Open the file", "Datei &öffnen"),
        ("12 14 15 a", "12 14 15 a"),
        ("Yes.", "Das ist eine ganz und gar andere Zeile, die nicht dazu passt."),
        ("The second option is active only if it was chosen.", "The second option is active only if it was selected."),
        ("Word", "Word " * 100),
    ],
)
def test_codes_other_languages_and_sides_that_do_not_fit_are_left_out(pair: tuple[str, str]) -> None:
    assert world.kept([pair], ("en", "de")) == []


@pytest.mark.parametrize(
    "pair",
    [
        ("It costs $5.99, or 20% less today.", "Es kostet heute 5,99 $ oder 20 % weniger."),
        ("LibreOffice opens the file.", "LibreOffice öffnet die Datei."),
        ("Yes", "Ja"),
    ],
)
def test_prices_names_and_single_words_stay_each_pair_once(pair: tuple[str, str]) -> None:
    assert world.kept([pair, pair], ("en", "de")) == [pair]


def test_chinese_is_written_in_simplified_characters_and_must_have_some() -> None:
    import_extra("opencc", "bench")
    pairs = [("He speaks Chinese.", "他說漢語。"), ("He speaks Chinese.", "He speaks.")]
    assert world.kept(pairs, ("en", "zh")) == [("He speaks Chinese.", "他说汉语。")]


def test_each_source_has_terms_and_the_default_has_none_of_share_alike_programs_or_research() -> None:
    rows = read_table("sources.tsv")
    assert all(len(row) == 4 and row[3] in ("yes", "no") for row in rows)
    free = {terms for _, _, terms, is_free in rows if is_free == "yes"}
    allowed = ("MPL-2.0", "CC BY 4.0", "CC BY-SA 3.0", "CC BY-SA 4.0", "CC0", "MIT", "any purpose")
    assert all(terms.startswith(allowed) for terms in free)
    kinds, more = world.sources(everything=False), world.sources(everything=True)
    assert {name for own in more.values() for name in own} == {row[0] for row in rows}
    assert all(set(own) <= set(more[kind]) for kind, own in kinds.items())


def test_the_recipe_names_the_kinds_of_the_default_text() -> None:
    corpora = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["data"]["corpora"]
    named = {each["name"].split("-", 2)[2] for each in corpora if each["name"].startswith("en-")}
    assert named == {*world.sources(everything=False), "everyday", "python"}
    assert named == {*world.sources(everything=True), "everyday", "python"}


class Knowing:
    """A translator that knows some pairs of each direction, and says which options it was given."""

    def __init__(self, pairs: dict[tuple[str, str], list[tuple[str, str]]]) -> None:
        self.pairs, self.options = pairs, set[tuple[int, float]]()

    def translate(
        self, sources: list[str], *, source_lang: str, target_lang: str, beam_size: int, length_penalty: float
    ) -> list[Translation]:
        """Return the translation of each source that it knows, and the source itself of others."""
        self.options.add((beam_size, length_penalty))
        known = dict(self.pairs.get((source_lang, target_lang), ()))
        return [Translation(known.get(source, source), 0.0, ()) for source in sources]


def test_models_are_compared_in_both_directions_of_each_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that knows one direction of one set has 100 there, and nothing in any other."""
    size = everyday_text.VALIDATION_SIZE
    english, german = ([f"{word} {n} {word} {n + 1} {word}" for n in range(size)] for word in ("cat", "Hund"))
    pairs = list(zip(english, german, strict=True))
    everyday_text.write(tmp_path, "en-de-world-validation", ("en", "de"), pairs)
    everyday_text.write(tmp_path, "fr-de-world-validation", ("fr", "de"), pairs)
    everyday_text.write(tmp_path, "en-de-held-out", ("en", "de"), pairs[:10])
    sets = {name: dict(everyday_compare.directed(tmp_path, name)) for name in everyday_compare.SETS}
    assert [*sets["tatoeba"]] == [("en", "de"), ("de", "en"), ("fr", "de"), ("de", "fr")]
    assert sets["other"] == {
        ("en", "de"): pairs[150:],
        ("de", "en"): [(target, source) for source, target in pairs[150:]],
    }
    assert sets["wikipedia"] == {}
    assert sets["written"]["en", "de"] == pairs[:10:2]
    knowing = Knowing({("en", "de"): pairs[150:]})
    monkeypatch.setattr(everyday_compare.Translator, "load", lambda model, precision: knowing)
    found = everyday_compare.compare("model", tmp_path, 1.5)
    assert found["other"][0] == pytest.approx(100)
    assert max(*found["tatoeba"], found["other"][1], *found["written"]) < 30
    assert knowing.options == {(5, 1.5)}


def test_no_measuring_set_is_in_the_gathered_text() -> None:
    """The text that was written, where EVERYDAY_TEXT names its folder."""
    if not (folder := os.environ.get("EVERYDAY_TEXT")):
        pytest.skip("EVERYDAY_TEXT names no folder of benchmarks/everyday_text.py")
    corpora = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["data"]["corpora"]
    names = {Path(each[side]).name for each in corpora for side in ("source", "target")}
    assert {file.name for file in Path(folder).glob("*world*.gz") if "-validation" not in file.name} == names
    for name in sorted(names):
        with gzip.open(Path(folder) / name, "rt", encoding="utf-8", newline="\n") as lines:
            assert not [line for line in lines if world.letters(line) in world.measured()], name
