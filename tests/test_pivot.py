"""Translation through a language in the middle: the same as two translations, one after the other."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import PAIRS, many_tokenizers, tiny_bundle, write_tiny_bundle

from dragoman.bundle.bundle import write_bundle
from dragoman.cli import program
from dragoman.errors import ConfigError
from dragoman.memories import TranslationMemory, Unit
from dragoman.text.terms import Term, TermList
from dragoman.translator import Pivot, Request, Translation, Translator
from dragoman.translator.results import Alternative
from dragoman.translator.two_steps import first_request, joined, second_requests

GERMAN = [target for _, target in PAIRS]
WAY: Any = {"source_lang": "de", "target_lang": "zh"}


@pytest.fixture(scope="module")
def many() -> Translator:
    """English to German and Chinese, and German to English; what it says is nonsense."""
    bundle = tiny_bundle(many_tokenizers(), max_length=40)
    return Translator([bundle], bundle.tokenizers, bundle.search)


@pytest.fixture(scope="module")
def pivot(many: Translator) -> Pivot:
    return Pivot(many, many, "en")


@pytest.fixture(scope="module")
def everyday() -> Translator:
    return Translator.load("everyday", device="cpu")


@settings(max_examples=20)
@given(
    texts=st.lists(st.sampled_from(GERMAN).flatmap(lambda one: st.sampled_from([one, f"{one} {one}", ""])), max_size=4),
    beam_size=st.integers(1, 3),
)
def test_it_is_both_translations_one_after_the_other(texts: list[str], beam_size: int, many: Translator) -> None:
    found = Pivot(many, many, "en").translate(texts, beam_size=beam_size, align=True, **WAY)
    first = many.translate(texts, source_lang="de", target_lang="en", beam_size=beam_size, align=True)
    middle = [one.text for one in first]
    second = many.translate(middle, source_lang="en", target_lang="zh", beam_size=beam_size, align=True)
    assert [one.text for one in found] == [one.text for one in second]
    assert [one.pivot.text for one in found if one.pivot] == middle
    assert [one.score for one in found] == pytest.approx(
        [a.score + b.score for a, b in zip(first, second, strict=True)]
    )
    for one, before, after in zip(found, first, second, strict=True):
        expected = {
            (source, target) for source, x in before.alignment or () for y, target in after.alignment or () if x == y
        }
        assert {*(one.alignment or ())} == expected


def test_a_stream_a_copy_and_two_models_say_the_same(many: Translator, pivot: Pivot, tmp_path: Path) -> None:
    expected = [one.text for one in pivot.translate(GERMAN, **WAY)]
    assert [one.text for one in pivot.translate_stream(iter(GERMAN), **WAY)] == expected
    copied = pickle.loads(pickle.dumps(pivot))
    assert [one.text for one in copied.translate(GERMAN, **WAY)] == expected
    write_bundle(tmp_path / "many", tiny_bundle(many_tokenizers(), max_length=40))
    two = Pivot.load(tmp_path / "many", tmp_path / "many", middle="en", device="cpu")
    assert [one.text for one in two.translate(GERMAN, **WAY)] == expected
    assert two.directions == pivot.directions == (("de", "zh"),)


def test_alternatives_have_both_scores_and_leave_the_best(pivot: Pivot, everyday: Translator) -> None:
    text = "Die Katze schläft auf dem Sofa."
    real = Pivot(everyday, everyday, "en")
    one, several = real.translate(text, **WAY), real.translate(text, n_best=4, beam_size=4, **WAY)
    best, *others = several.alternatives
    assert (several.text, best.text) == (one.text, one.text)
    assert len({each.text for each in several.alternatives}) == len(several.alternatives) == 4
    assert [each.score for each in others] == sorted((each.score for each in others), reverse=True)
    firsts = everyday.translate(text, source_lang="de", target_lang="en", n_best=4, beam_size=4).alternatives
    sums = {}
    for first in firsts:
        found = everyday.translate(first.text, source_lang="en", target_lang="zh", n_best=4, beam_size=4)
        for each in found.alternatives:
            sums[each.text] = max(sums.get(each.text, -1e9), first.score + each.score)
    for each in others:
        assert each.score == pytest.approx(sums[each.text], abs=1e-3)


def test_the_confidence_is_that_of_the_weaker_step(everyday: Translator) -> None:
    texts = ["Die Katze schläft auf dem Sofa.", "Anna wohnt in Berlin.", "Zwei Hunde laufen über die Wiese."]
    found = Pivot(everyday, everyday, "en").translate(texts, doubts=True, **WAY)
    for one in found:
        assert one.pivot is not None
        second = everyday.translate(one.pivot.text, source_lang="en", target_lang="zh", doubts=True)
        assert one.confidence == min(one.pivot.confidence or 1, second.confidence or 1)
        assert {*(second.doubtful or ())} <= {*(one.doubtful or ())}
        assert one.alignment is None
    left = Pivot(everyday, everyday, "en").translate(texts, min_confidence=1.0, **WAY)
    assert [one.text for one in left] == texts
    assert all(one.flags == ("unsure",) or "unsure" in one.flags for one in left)


def test_numbers_are_compared_in_the_first_and_the_last_text() -> None:
    request = Request("Es sind 12 Hunde.", source_lang="de", target_lang="zh")

    def step(text: str, *flags: Any) -> Translation:
        return Translation(text, -1.0, (), (Alternative(text, -1.0, -1.0, ()),), flags=flags)

    wrong = joined(request, ("de", "zh"), "en", step("There are 13 dogs.", "number"), [step("有 13 只狗。")])
    right = joined(request, ("de", "zh"), "en", step("There are 13 dogs.", "number"), [step("有 12 只狗。", "number")])
    assert "number" in wrong.flags
    assert right.flags == ()
    assert joined(request, ("de", "zh"), "en", step("x", "copied"), [step("12", "length")]).flags == (
        "length",
        "copied",
    )


def test_terms_are_demanded_of_the_words_in_the_middle(everyday: Translator) -> None:
    terms = TermList([Term("Hund", ("狗狗",)), Term("Foo")])
    found = Pivot(everyday, everyday, "en").translate("Der Hund von Foo schläft.", terms=terms, **WAY)
    assert "狗狗" in found.text
    assert "Foo" in found.text
    assert found.missing_terms == ()
    lacking = Pivot(everyday, everyday, "en").translate(
        "Das Pferd schläft.", terms=TermList([Term("Pferd", ("Q",))]), off=["script"], **WAY
    )
    assert ("term_missing" in lacking.flags) is ("Q" not in lacking.text)


def test_what_belongs_to_which_step() -> None:
    text = "Anna sagt {x} und Haus."
    request = Request(
        text,
        prefix="她",
        verbatim=((10, 13),),
        terms=TermList([Term("Haus", ("房子",)), Term("Anna")]),
        min_confidence=0.5,
    )
    into = first_request(request, "en")
    assert (into.prefix, into.target_lang, into.min_confidence, into.align) == ("", "en", 0.0, True)
    assert [term.source for term in into.terms or ()] == ["Anna"]
    middle = Alternative(
        "{x} says Anna, and house.", -1.0, -1.0, (), alignment=((0, 2), (1, 1), (2, 0), (3, 3), (4, 4))
    )
    (onward,) = second_requests(request, "en", Translation(middle.text, -1.0, (), (middle,)), 1)
    assert (onward.text, onward.prefix, onward.source_lang, onward.verbatim) == (middle.text, "她", "en", ((0, 3),))
    assert {term.source: term.targets for term in onward.terms or ()} == {"Anna": (), "house": ("房子",)}
    apart = replace(middle, alignment=((4, 0), (4, 4)))
    (onward,) = second_requests(request, "en", Translation(middle.text, -1.0, (), (apart,)), 1)
    assert [term.source for term in onward.terms or ()] == ["Anna"]


def test_a_memory_holds_the_whole(pivot: Pivot) -> None:
    memory = TranslationMemory([Unit(GERMAN[0], "一个男人在骑马。", "de", "zh")])
    equal, part, other = pivot.translate([GERMAN[0], f"{GERMAN[1]} {GERMAN[0]}", GERMAN[1]], memory=memory, **WAY)
    assert (equal.text, equal.pivot) == ("一个男人在骑马。", None)
    assert part.text.endswith("一个男人在骑马。")
    assert part.pivot == other.pivot is not None
    assert other.text == pivot.translate(GERMAN[1], **WAY).text


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"source_lang": "en", "target_lang": "zh"}, "en is the language in the middle"),
        ({"source_lang": "de", "target_lang": "en"}, "en is the language in the middle"),
        ({"source_lang": "de", "target_lang": "de"}, "de is both the source and the target"),
        ({"source_lang": "de"}, "translates into several languages"),
        ({"source_lang": "xx", "target_lang": "zh"}, "does not read 'xx'"),
        ({"source_lang": "de", "target_lang": "xx"}, "does not write 'xx'"),
    ],
)
def test_a_wrong_way_is_told(options: Any, problem: str, pivot: Pivot) -> None:
    with pytest.raises(ConfigError, match=problem) as error:
        pivot.translate("Ein Mann.", **options)
    assert "\n" not in error.value.message


def test_wrong_models_are_told(many: Translator, tmp_path: Path) -> None:
    one_way = Translator.load(write_tiny_bundle(tmp_path / "en-de"), device="cpu")
    for first, second, middle, problem in (
        (many, many, "fr", "'fr' cannot be .* goes into it"),
        (one_way, many, "en", "'en' cannot be .* goes into it"),
        (many, one_way, "zh", "'zh' cannot be .* goes from it"),
    ):
        with pytest.raises(ConfigError, match=problem):
            Pivot(first, second, middle)
    with pytest.raises(ConfigError, match="only translate en into en"):
        Pivot(one_way, Translator.load(_back(tmp_path / "de-en"), device="cpu"), "de")
    with pytest.raises(ConfigError, match="3 models for two steps"):
        Pivot.load("a", "b", "c", middle="en")
    with pytest.raises(ConfigError, match="no model given"):
        Pivot.load(middle="en")


def test_a_typed_tag_of_another_language_is_refused(pivot: Pivot) -> None:
    with pytest.raises(ConfigError, match="begins with the tag of zh"):
        pivot.translate(">>zh<< Ein Mann.", **WAY)


def test_the_command_tells_both_steps(tmp_path: Path, capsys: Any) -> None:
    text = "Die Katze schläft auf dem Sofa.\n\nAm 3. Mai 2024 kommt Anna.\n"
    (tmp_path / "text.de").write_text(text, encoding="utf-8")

    def run(source: Path, *options: str) -> list[str]:
        assert program.run(["translate", "-m", "everyday", "-i", str(source), "-o", "-", *options]) == 0
        return capsys.readouterr().out.splitlines()

    way = ("--source-lang", "de", "--target-lang", "zh", "--pivot", "en")
    found = run(tmp_path / "text.de", *way)
    told = [json.loads(line) for line in run(tmp_path / "text.de", *way, "--json")]
    english = run(tmp_path / "text.de", "--source-lang", "de", "--target-lang", "en")
    (tmp_path / "text.en").write_text("".join(f"{line}\n" for line in english), encoding="utf-8")
    assert found == run(tmp_path / "text.en", "--source-lang", "en", "--target-lang", "zh")
    assert [one["text"] for one in told] == found
    assert [(one["pivot"]["language"], one["pivot"]["text"]) for one in told] == [("en", line) for line in english]


def test_a_document_keeps_its_marks(tmp_path: Path) -> None:
    source, output = tmp_path / "a.html", tmp_path / "b.html"
    source.write_text(
        '<p>Die <b>Katze</b> schläft auf dem <a href="https://a.org">Sofa</a>.</p>\n<ul><li>{name} kommt.</li></ul>',
        encoding="utf-8",
    )
    way = ["--source-lang", "de", "--target-lang", "zh", "--pivot", "en"]
    assert program.run(["translate", "-m", "everyday", "-i", str(source), "-o", str(output), *way]) == 0
    content = output.read_text(encoding="utf-8")
    assert "<b>猫</b>" in content
    assert content.count('<a href="https://a.org">') == content.count("</a>") == 1
    assert "{name}" in content


def test_many_files_go_the_same_way(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("Die Katze schläft.\n", encoding="utf-8")
    command = ["translate", "-m", "everyday", "-i", str(folder), "-o", str(tmp_path / "out")]
    way = ["--source-lang", "de", "--target-lang", "zh"]
    assert program.run([*command, *way, "--pivot", "en"]) == 0
    everyday = Translator.load("everyday", device="cpu")
    expected = Pivot(everyday, everyday, "en").translate("Die Katze schläft.", **WAY).text
    assert (tmp_path / "out" / "a.txt").read_text(encoding="utf-8") == f"{expected}\n"
    assert program.run([*command, *way]) != 0  # made with other settings


def _back(folder: Path) -> Path:
    from dragoman.settings.tokenizer_config import TokenizerConfig
    from dragoman.text.learning import learn_tokenizers

    pairs = [(target, source) for source, target in PAIRS]
    config = TokenizerConfig.model_validate({"vocab_size": 320, "byte_fallback": True})
    write_bundle(folder, tiny_bundle(learn_tokenizers(lambda: iter(pairs), config, "de", "en")))
    return folder
