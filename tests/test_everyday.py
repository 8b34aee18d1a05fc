"""The yardstick of benchmarks/everyday.py: what it counts as right, and its scores, against sacreBLEU."""

from __future__ import annotations

import gzip
import re
import sys
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import many_tokenizers, tiny_bundle

from dragoman.bundle.model_terms import card_head
from dragoman.evaluation.metrics import corpus_bleu, corpus_chrf
from dragoman.translator import Translator

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import everyday
import everyday_card as card
import everyday_made_up as made_up
import everyday_sets as sets
import everyday_tables as tables

DIRECTIONS = list(permutations(sets.LANGUAGES, 2))


@pytest.mark.parametrize("language", sets.LANGUAGES)
def test_each_language_has_its_templates_and_the_same_sentences_for_every_target(language: str) -> None:
    templates = [row for row in made_up.read_table("templates.tsv") if row[0] == language]
    assert len({text for _, _, text in templates}) == len(templates) >= 40
    by_target = [made_up.made_up(language, target) for target in sets.LANGUAGES]
    assert len({tuple(each.text for each in sentences) for sentences in by_target}) == 1
    sentences = by_target[0]
    assert len({each.text for each in sentences}) == len(sentences) == 200
    assert {kind: sum(each.kind == kind for each in sentences) for kind in made_up.KINDS} == dict.fromkeys(
        made_up.KINDS, 25
    )
    assert not [each.text for each in sentences if re.search(r"<\w+>", each.text)]


@pytest.mark.parametrize("language", sets.LANGUAGES)
def test_a_copy_is_right_and_a_lost_or_repeated_value_is_wrong(language: str) -> None:
    for sentence in made_up.made_up(language, language):
        assert sentence.fault(sentence.text) == ""
        for value in sentence.values:
            assert sentence.fault(sentence.text.replace(value.text, "", 1))
            assert sentence.fault(f"{sentence.text} {value.text}")
            if value.forms:
                assert sentence.fault(re.sub(r"\d", "", sentence.text))


def sentence(kind: str, source: str, target: str) -> made_up.MadeUp:
    return next(each for each in made_up.made_up(source, target) if each.kind == kind)


def test_dates_may_change_their_order_and_their_month_a_word() -> None:
    def fault(translation: str, language: str) -> str:
        value = made_up.Value("March 12, 2026", tuple(made_up.date_forms(2026, 3, 12, language)))
        return made_up.MadeUp("date", "", (value,)).fault(translation)

    right = {"de": ("am 12. März 2026", "am 12.03.2026"), "fr": ("le 12 mars 2026", "le 12/3/2026")}
    right |= {"zh": ("2026年3月12日", "２０２６年三月１２日"), "en": ("on 12 Mar 2026", "2026-03-12")}
    for language, translations in right.items():
        assert [fault(each, language) for each in translations] == ["", ""]
    wrong = ("am 12. April 2026", "am 12. 2026", "am 21. März 2026", "am 12. März 2025", "am 12. März")
    assert all(fault(each, "de") for each in wrong)


def test_times_may_be_told_by_the_other_clock() -> None:
    for each in (each for each in made_up.made_up("en", "de") if each.kind == "time"):
        found = re.search(r"(\d+):(\d\d) pm", each.text)
        if found and not any(value.pattern for value in each.values):
            hour, minute = map(int, found.groups())
            assert each.fault(f"um {hour + 12}:{minute:02} Uhr") == ""
            assert each.fault(f"um {hour + 12}.{minute:02} Uhr") == ""
            assert each.fault(f"um {hour + 1}:{minute:02} Uhr")


def test_names_may_be_written_in_the_target_s_script_and_placeholders_must_be_whole() -> None:
    slots = made_up._Slots("en", "zh")
    names = [slots.fill("name", "<name>").values[0] for _ in range(36)]
    tom = made_up.MadeUp("name", "", tuple(each for each in names if each.text == "Tom"))
    assert [tom.fault(each) for each in ("湯姆来了。", "Tom来了。", "Tom's here")] == ["", "", ""]
    assert tom.fault("Tomate")
    placeholders = [slots.fill("placeholder", "<placeholder>") for _ in range(12)]
    name = next(each for each in placeholders if each.text == "{name}")
    assert name.fault("给{name}的信") == ""
    assert all(name.fault(each) for each in ("{{name}}", "${name}", "{Name}", "{ name }", "{name} {name}"))


@given(st.text(st.sampled_from("abcdE é.,'1狗猫"), max_size=30))
def test_a_typo_swaps_two_neighbours(text: str) -> None:
    changed = sets.typo(text)
    assert sets.typo(text) == changed
    places = [i for i, (a, b) in enumerate(zip(text.lower(), changed.lower(), strict=True)) if a != b]
    if places:
        assert places == [places[0], places[0] + 1]
        one, other = (text[i].lower() for i in places)
        assert (other, one) == tuple(changed[i].lower() for i in places)
    else:
        assert not re.search(r"abcd|ab|狗猫", text)


def test_marks_and_capitals_do_not_matter_in_perturbed_sets() -> None:
    same = ["Où es-tu ?", "OÙ ES-TU", "où es-tu !!", "Où es-tu…"]
    assert len({sets.plain(each) for each in same}) == 1
    assert sets.without_final_mark("...") == "..."
    assert sets.without_final_mark("你好！") == "你好"


@pytest.mark.parametrize("language", ["de", "ja", "zh"])
def test_scores_are_sacrebleu_s_and_any_reference_may_be_met(language: str) -> None:
    hypotheses = ["a dog runs in the park", "she is reading a good book now", "他们在公园里"]
    references = ["a dog runs in a park", "she reads a good book", "他们在公园外"]
    single = [[each] for each in references]
    assert sets.bleu(hypotheses, single, language) == corpus_bleu(hypotheses, references, language).score
    assert sets.chrf(hypotheses, single) == corpus_chrf(hypotheses, references).score
    several = [[references[0]], [references[1], hypotheses[1], hypotheses[1]], [hypotheses[2]]]
    assert sets.streams(several) == [[references[0], references[1], hypotheses[2]], [None, hypotheses[1], None]]
    assert sets.bleu(hypotheses[1:], several[1:], language) == pytest.approx(100)


def write(folder: Path, **sides: list[str]) -> None:
    folder.mkdir()
    for language, lines in sides.items():
        (folder / f"val.{language}.gz").write_bytes(gzip.compress("".join(f"{x}\n" for x in lines).encode()))


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "tatoeba-en-de", en=["Go.", "Go.", "Stay."], de=["Geh.", "Los.", "Bleib."])
    write(tmp_path / "tatoeba-en-fr", en=["Go.", "Run.", "Stay."], fr=["Va.", "Cours.", "Reste."])
    monkeypatch.setenv("DRAGOMAN_DATA", str(tmp_path))
    return tmp_path


def test_sources_are_unique_and_two_languages_meet_in_english(corpora: Path) -> None:
    assert sets.validation_set(("en", "de")) == {"Go.": ["Geh.", "Los."], "Stay.": ["Bleib."]}
    assert sets.validation_set(("de", "en")) == {"Geh.": ["Go."], "Los.": ["Go."], "Bleib.": ["Stay."]}
    assert sets.validation_set(("fr", "de")) == {"Va.": ["Geh.", "Los."], "Reste.": ["Bleib."]}
    one = sets.validation_set(("de", "en"), 1)
    assert len(one) == 1
    assert one.items() <= sets.validation_set(("de", "en"), 2).items() <= sets.validation_set(("de", "en")).items()
    with pytest.raises(SystemExit, match="no val text for en-zh"):
        sets.validation_set(("en", "zh"))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_each_phrase_has_answers_and_the_listed_ones_are_right(direction: sets.Direction) -> None:
    phrases = sets.phrases(direction)
    assert len({each.text for each in phrases}) >= 59
    assert {each.kind for each in phrases} == set(everyday.PHRASE_KINDS)
    for each in phrases:
        assert all(map(each.is_right, (*each.answers, each.answers[0].upper())))
        assert not each.is_right("")
        assert not each.is_right(f"{each.answers[0]} 狗 x")
    assert len(sets.unusual(direction)) == 20


def test_an_article_before_a_noun_does_not_matter() -> None:
    dog, eat = (sets.Phrase(kind, "", (text,)) for kind, text in (("noun", "chien"), ("word", "manger")))
    assert all(map(dog.is_right, ("Chien.", "le chien", "Un chien !")))
    assert not dog.is_right("mon chien")
    assert not eat.is_right("un manger")


def test_a_perfect_translator_has_full_marks_and_tables_are_80_wide(corpora: Path) -> None:
    right = {text: own[0] for text, own in sets.validation_set(("en", "de")).items()}
    right |= {each.text: each.answers[0] for each in sets.phrases(("en", "de"))}

    def translate(texts: list[str]) -> list[SimpleNamespace]:
        plain = {sets.plain(source): target for source, target in right.items()}
        return [SimpleNamespace(text=right.get(text) or plain.get(sets.plain(text), text)) for text in texts]

    tokenizers = SimpleNamespace(directions=(("en", "de"),))
    translator = SimpleNamespace(translate=translate, tokenizers=tokenizers, search=SimpleNamespace(beam_size=5))
    assert everyday.directions_of(translator, None, False) == [("en", "de")]
    result = everyday.measure(everyday.Model(translator, ("en", "de"), False), None)
    assert result["chrF2"] == 100
    assert result["perturbed"]["clean"] == result["perturbed"]["CAPS"] == result["perturbed"]["no final mark"]
    assert all(n == of for n, of in result["phrases"].values())
    assert result["made up"]["url"] == 25
    assert len(result["made-up failures"]) == 200 - sum(result["made up"].values())
    lines = [*tables.table(result), *tables.summary([result, result])]
    assert max(map(len, lines)) <= 80
    assert tables.reading(result)
    assert [row.count("|") for row in card.scores([result])] == [11, 11, 11]
    for named, message in (
        ("en-fr", "translates en-de, not en-fr"),
        ("en-xx", "no sentences in 'xx'"),
        ("en", "''"),
    ):
        with pytest.raises(SystemExit, match=message):
            everyday.directions_of(translator, named, False)


def test_each_direction_of_a_model_of_several_is_named() -> None:
    tokenizers = many_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    for source, target in tokenizers.directions:
        texts = ["The dog runs.", "A cat."]
        named = everyday.Model(translator, (source, target), False).translate(texts)
        assert named == {
            text: translator.translate(text, source_lang=source, target_lang=target).text for text in texts
        }
        tagged = everyday.Model(translator, (source, target), True).translate(texts)
        assert tagged == {text: translator.translate(f">>{target}<< {text}").text for text in texts}
    assert everyday.directions_of(translator, None, False) == list(tokenizers.directions)
    assert everyday.directions_of(translator, "fr-de", False) == [("fr", "de")]


def test_the_card_counts_the_marks_and_knows_its_blanks() -> None:
    rows = [["ordinary", "en-de", "Go!", "Geh!", mark] for mark in ("right", "wrong", "right")]
    assert card.counts(rows) == "2 right, 0 partly, 1 wrong"
    with pytest.raises(SystemExit, match="a sentence without a mark"):
        card.counts([*rows, ["ordinary", "en-de", "Stop.", "Halt.", ""]])
    assert all(len(row) == 1 + len(sets.LANGUAGES) for name in card.TABLES for row in made_up.read_table(f"{name}.tsv"))
    text = (made_up.FOLDER / "card.md").read_text(encoding="utf-8")
    filled = {"scores", "sample", "real", "sources", "pairs", *card.TABLES, *(f"{name} counts" for name in card.TABLES)}
    assert set(re.findall("‹([^›]+)›", text)) == filled
    assert card_head(text)["language"] == [*sets.LANGUAGES]
