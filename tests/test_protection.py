"""Stretches that a request protects reach the translation unchanged, once each, with every kind of model."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_masking import N_RESERVED, ScriptedSearch, learned, pipeline

from dragoman.alignment.word_spans import words, words_in_place
from dragoman.cli.program import run
from dragoman.errors import ConfigError
from dragoman.text.protection import Protection, Stretch, merged, occurrences
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Request, Translation, Translator
from dragoman.translator.directions import TaggedText
from dragoman.translator.finishing import _with_stretches
from dragoman.translator.placing import place
from dragoman.translator.plans import TextPlan
from dragoman.translator.results import Alternative, Flag

pytestmark = pytest.mark.torch

WORDS = st.sampled_from(
    ["a", "horse", "Buch", "Foo", "{x}", "é", "中", "12", ".", "(man),", "⟨1⟩", "x  y", "\u200b", "\n"]
)
SENTENCES = st.lists(WORDS, max_size=8).map(" ".join)
LINKS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12)


@pytest.fixture(scope="module")
def masking() -> Tokenizers:
    return learned(N_RESERVED)


@pytest.fixture(scope="module")
def plain() -> Tokenizers:
    return learned(0)


def stretches_of(text: str, ends: list[int]) -> list[Stretch]:
    cuts = sorted({end % (len(text) + 1) for end in ends})
    return [pair for pair in zip(cuts[::2], cuts[1::2], strict=False) if text[slice(*pair)].strip()]


@given(SENTENCES, st.lists(st.integers(0, 99), max_size=6), SENTENCES, LINKS)
def test_placing_gives_every_stretch_and_keeps_what_was_there(
    source: str, ends: list[int], translation: str, links: list[tuple[int, int]]
) -> None:
    stretches = stretches_of(source, ends)
    placed = place(source, stretches, translation, links)
    for text, least in Counter(source[start:end] for start, end in stretches).items():
        assert placed.text.count(text) >= least
    assert all(0 <= target < len(words(placed.text)) for _, target in placed.links if placed.text != translation)
    if not stretches:
        assert placed.text == translation


def test_a_stretch_replaces_what_it_became_or_stands_beside_its_neighbour() -> None:
    source = "The Foo is here, he said."
    links = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 5), (5, 4)]
    placed = place(source, [(4, 7)], "Der Fuß ist hier, sagte er.", links)
    assert placed == ("Der Foo ist hier, sagte er.", tuple(links))
    placed = place(source, [(4, 7)], "Hier ist der, sagte er.", [(3, 0), (2, 1), (0, 2), (5, 3), (4, 4)])
    assert placed.text == "Hier ist der Foo, sagte er."
    assert (1, 3) in placed.links
    assert place(source, [(4, 7)], "Foo ist Foo.", [(1, 0), (1, 2)]).text == "Foo ist."
    assert place("看 Foo 吧", [(2, 5)], "看吧", [(0, 0), (2, 1)]).text == "看Foo吧"
    assert place("%s: no", [(0, 2)], "non", [(1, 0)]).text == "%s non"
    source = "See http://a.de and http://b.de"
    assert place(source, [(4, 15), (20, 31)], "参见。", []).text == "参见。http://a.de http://b.de"
    assert place(source, [(4, 15), (20, 31)], "参见吧", [(0, 1), (2, 1)]).text == "参见http://a.de http://b.de吧"
    links = [(0, 0), (1, 1), (3, 3)]
    source = "Use :a:`x`'s :b:`y` now"
    assert place(source, [(4, 10), (13, 19)], "Nutze :a:`x` jetzt", links).text == "Nutze :a:`x` :b:`y` jetzt"


def test_the_flags_of_what_was_placed_are_those_of_a_choice() -> None:
    text, translation = "It costs $15 a day, ask XYZ.", "Es kostet $51 am Tag."
    plan = TextPlan(Request(text, verbatim=[(24, 27)]), text, [], TaggedText(text, "", "", "en", "de"))
    flags: tuple[Flag, ...] = ("span", "number")
    lost = Translation(translation, 0.0, (), (Alternative(translation, 0.0, 0.0, ()),), flags=flags)
    placed = _with_stretches(plan, lost)
    assert placed.text.count("XYZ") == 1
    assert placed.flags == ("number",)


def test_a_long_word_takes_no_long_time() -> None:
    word = "a" + "," * 10_000 + "b"
    assert place("Foo bar", [(4, 7)], f"{word} {word}", [(0, 0)]).text == f"{word} bar {word}"


@given(st.text(st.sampled_from("ab ,.\u200b\u00a0中é"), max_size=20))
def test_words_have_the_same_numbers_in_place(text: str) -> None:
    assert [words(text[start:end]) for start, end in words_in_place(text)] == [[word] for word in words(text)]


def test_rules_find_their_stretches() -> None:
    text = "Set %s, `x_y`_ of :py:class:`A <b>` at ``a b`` to |v| [1]_ and Foo-2 (www.a.org, {n})"
    for rules, expected in {
        ("printf",): ["%s", "{n}"],
        ("urls", r"Foo-\d"): ["Foo-2", "www.a.org"],
        ("rst,printf",): ["%s", "`x_y`_", ":py:class:`A <b>`", "``a b``", "|v|", "[1]_", "{n}"],
        ("zzz", "x*"): ["x"],
    }.items():
        assert [text[start:end] for start, end in Protection.of(rules).stretches(text)] == expected
    assert occurrences("a.b ab a", "a") == [(0, 1), (7, 8)]
    with pytest.raises(ConfigError, match=r"'\(' is no regular expression .*; correct it"):
        Protection.of(["("])
    for rule, wrong in [
        ("pritnf,urls", "pritnf"),
        ("prinf", "prinf"),
        ("print", "print"),
        ("url", "url"),
        ("mention,emoji", "mention"),
    ]:
        with pytest.raises(
            ConfigError, match=rf"unknown preset '{wrong}'; the presets are printf, urls, .*\(\?:{wrong}\)"
        ):
            Protection.of([rule])
    for word in ("Foo", "core", "first", "nodes", "(?:prinf)"):
        assert Protection.of([word]).patterns[0].fullmatch(word.strip("(?:)"))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8))
def test_merged_stretches_cover_the_same_characters(stretches: list[tuple[int, int]]) -> None:
    together = merged(stretches)
    assert {at for pair in together for at in range(*pair)} == {at for pair in stretches for at in range(*pair)}
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(together))


@pytest.mark.parametrize("verbatim", [[(0, 9)], [(2, 2)], [(0, 1, 2)], [3], "ab", 5, [(0.0, 1)], [(True, 2)]])
def test_wrong_stretches_are_refused(plain: Tokenizers, verbatim: object) -> None:
    with pytest.raises(
        ConfigError, match=r"verbatim of request 1 .*give pairs \(start, end\) with 0 <= start < end <= 3"
    ):
        pipeline(ScriptedSearch(plain, lambda text: [text])).plan([Request("abc", verbatim=verbatim)])  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="protect of request 1 2 is 5, a number"):
        pipeline(ScriptedSearch(plain, lambda text: [text])).plan([Request("abc", protect=["a", 5])])  # type: ignore[list-item]


@given(st.lists(st.sampled_from(["horse", "Buch", "man.", "12", "BOOK", "over,"]), min_size=1, max_size=9), st.data())
def test_models_with_pieces_never_read_a_stretch(masking: Tokenizers, parts: list[str], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from(["Quux. Vile", "riding", "e", "FOO bar"]), max_size=N_RESERVED))
    text = " ".join([*parts, *names])
    ends = [match.span() for name in set(names) for match in re.finditer(rf"\b{name}\b", text)]
    search = ScriptedSearch(masking, lambda text: [" ".join(reversed(text.split()))])
    (translation,) = pipeline(search).translate([Request(text, verbatim=ends)])
    assert translation.flags in ((), ("copied",))
    assert not any(re.search(rf"\b{name}\b", read) for name in names for read in search.read)
    assert all(len(occurrences(translation.text, name)) == names.count(name) for name in set(names))


@given(SENTENCES.filter(lambda text: text.strip(" \u200b\n")), st.lists(st.integers(0, 99), max_size=4), st.booleans())
def test_every_model_gives_every_stretch(
    masking: Tokenizers, plain: Tokenizers, text: str, ends: list[int], with_pieces: bool
) -> None:
    request = Request(text, verbatim=stretches_of(text, ends), align=True)
    for answer in ("ein Pferd", "", "a a Foo {x} {x}"):
        search = ScriptedSearch(masking if with_pieces else plain, lambda text, answer=answer: [answer] * 3)  # type: ignore[misc]
        (translation,) = pipeline(search, 22).translate([request])
        if "span" not in translation.flags:
            assert all(text[start:end] in translation.text for start, end in request.stretches())
        assert all(target < len(words(translation.text)) for _, target in translation.alignment or ())


def test_a_model_that_cannot_copy_gets_help(plain: Tokenizers) -> None:
    search = ScriptedSearch(plain, lambda text: ["Ein Pferd."])
    text = "A Foobar horse of {x}."
    lost, kept, flagged = pipeline(search).translate(
        [Request(text), Request(text, protect=["Foobar", "printf"]), Request(text, protect="Foobar")]
    )
    assert (lost.text, lost.flags) == ("Ein Pferd.", ("span",))
    assert kept.flags == ()
    assert "Foobar" in kept.text
    assert "{x}" in kept.text
    assert kept.alignment is None
    assert kept.alternatives[0].text == kept.text
    assert flagged.flags == ("span",)
    assert "Foobar" in flagged.text


def test_the_command_and_the_translator_protect(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    translator = Translator.load("everyday")
    text = "I like the Blue Bird and the %s."
    translation = translator.translate(text, target_lang="de", protect=["Blue Bird", "printf"])
    assert "Blue Bird" in translation.text
    assert "%s" in translation.text
    assert "span" not in translation.flags
    (streamed,) = translator.translate_stream([text], target_lang="de", protect=["Blue Bird", "printf"])
    assert streamed.text == translation.text
    (tmp_path / "a.txt").write_text(text + "\n")
    command = ["translate", "-m", "everyday", "--target-lang", "de", "--json", "--input", str(tmp_path / "a.txt")]
    assert run([*command, "--protect", "Blue Bird", "--protect", "printf"]) == 0
    assert json.loads(capfd.readouterr().out)["text"] == translation.text
    assert run([*command, "--protect", "["]) == 2
    assert "'[' is no regular expression" in capfd.readouterr().err
