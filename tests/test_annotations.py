"""Annotated terms: what training makes of a corpus, and what a model that knows them reads."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from runs import settings, write_rows
from test_masking import ScriptedSearch, pipeline
from tiny import PAIRS, tiny_tokenizers

from dragoman.alignment.term_lexicon import learn_terms
from dragoman.bundle.bundle import load_bundle
from dragoman.data.augmentation.augment import Augmentation
from dragoman.data.augmentation.term_annotation import annotate_terms
from dragoman.data.store import PairStore, Part, StoreWriter, pack
from dragoman.errors import BundleError, ConfigError
from dragoman.settings.augmentation_config import AugmentationConfig
from dragoman.settings.parsing import parse_config
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.annotations import FACT, Annotation, AnnotationMarks, knows_annotations
from dragoman.text.learning import learn_tokenizers
from dragoman.text.tags import reserved_names
from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizers
from dragoman.training.run import train
from dragoman.translator import Pipeline, Request, Translator
from dragoman.translator.model_facts import ModelFacts
from dragoman.translator.planning import Planner

pytestmark = pytest.mark.torch

PIECES = reserved_names(8)
MARKS = AnnotationMarks("⟨6⟩", "⟨7⟩", "⟨8⟩")
#: An annotation in a source: the term, and its translation.
WRITTEN = re.compile("⟨6⟩( ?)([^⟨]*)⟨7⟩ ?([^⟨]*)⟨8⟩")
EN_DE = ("en", "de")


def without(source: str) -> str:
    return WRITTEN.sub(r"\1\2", source)


# --- marks -----------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(["flu", "a", "Café", "I'm", "流感"]), min_size=1, max_size=6), st.sets(st.integers(0, 5))
)
def test_a_source_without_its_annotations_is_what_it_was(words: list[str], annotated: set[int]) -> None:
    source, places = " ".join(words), []
    for number, word in enumerate(words):
        start = len(" ".join(words[:number])) + (number > 0)
        if number in annotated:
            places.append(Annotation(start, start + len(word), f"t{number}"))
    changed = MARKS.annotate(source, reversed(places))
    assert [(term, target) for _, term, target in WRITTEN.findall(changed)] == [
        (source[start:end], target) for start, end, target in places
    ]
    assert without(changed).replace(" ", "") == source.replace(" ", "")
    assert MARKS.annotate(f"{source} ⟨7⟩", places) == f"{source} ⟨7⟩"


def test_words_keep_their_pieces() -> None:
    tokenizers = learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig(vocab_size=348, reserved=8), "en", "de")
    split, text = tokenizers.source.split, "A man rides a horse."
    assert AnnotationMarks.of(tokenizers.reserved) == MARKS
    found = MARKS.annotate(text, [Annotation(14, 19, "Pferd"), Annotation(0, 1, "Ein")])
    assert found == "⟨6⟩ A⟨7⟩ Ein⟨8⟩ man rides a⟨6⟩ horse⟨7⟩ Pferd⟨8⟩."
    pieces = split(WRITTEN.sub(r"⟨6⟩ \2⟨8⟩", found))
    kept = [piece for piece in split(text) if piece != "▁"]
    assert [piece for piece in pieces if piece != "▁" and piece not in MARKS] == kept
    assert AnnotationMarks.of(reserved_names(7)) is None


# --- training --------------------------------------------------------------------------------------------------------

NOUNS = {f"{letter}noun{letter}": f"{letter}wort{letter}" for letter in "abcdefghijklmnop"}
FRAMES = [("the {} sees the {}", "der {} sieht den {}"), ("a {} and a {}", "ein {} und ein {}"), ("{} {}", "{} {}")]


def made_up(n: int) -> list[tuple[str, str]]:
    """Sentences with two nouns in the same order, whose other words are frequent."""
    draw = random.Random(1)
    pairs = []
    for _ in range(n):
        nouns = draw.sample(sorted(NOUNS), 2)
        source, target = draw.choice(FRAMES)
        pairs.append((source.format(*nouns), target.format(*(NOUNS[noun] for noun in nouns))))
    return pairs


def store_of(folder: Path, pairs: list[tuple[str, str]], tokenizers: Tokenizers, parts: list[Part]) -> PairStore:
    folder.mkdir()
    sources, targets = zip(*pairs, strict=True)
    ids = [list(map(tokenizers.source.encode, sources)), list(map(tokenizers.target.encode, targets))]
    with StoreWriter(folder, (tokenizers.source.vocab_size, tokenizers.target.vocab_size)) as writer:
        for part in parts or [None]:
            if part is not None:
                writer.begin(part)
            writer.add(pack(ids, [sources, targets]))
    return PairStore(folder)


def test_translations_of_words_are_learned_for_each_direction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.alignment.term_lexicon._N_FREQUENT", 4)
    tokenizers = tiny_tokenizers()
    (terms,) = learn_terms(store_of(tmp_path / "a", made_up(300), tokenizers, []), tokenizers).values()
    found = {term.source: term.targets for term in terms}
    assert {noun: found.get(noun) for noun in NOUNS} == {noun: (word,) for noun, word in NOUNS.items()}
    assert not found.keys() & {"the", "a"}
    parts = [Part("x", "en", "de"), Part("y", "en", "fr")]
    of_parts = learn_terms(store_of(tmp_path / "b", made_up(300), tokenizers, parts), tokenizers)
    assert list(of_parts) == [("en", "de"), ("en", "fr")]
    assert all(list(each) == list(terms) for each in of_parts.values())


TERMS = TermList(
    [Term("horse", ("pferd", "gaul")), Term("red", ("rote",)), Term("house", ("haus",)), Term("of", ("von",))]
)


def test_annotations_are_translations_that_stand_in_the_target() -> None:
    pair = "The red house of a horse", "Das rote Haus von einem Gaul"
    changed = {annotate_terms(pair, TERMS, MARKS, default_rng(seed)) for seed in range(60)}
    found = {one for source, _ in changed for one in WRITTEN.findall(source)}
    assert {target for _, target in changed} == {pair[1]}
    assert {without(source) for source, _ in changed} == {pair[0]}
    assert {(term, target) for _, term, target in found} == {
        *[("red", "rote"), ("house", "Haus"), ("of", "von"), ("horse", "Gaul")],
        *[("red house", "rote Haus"), ("house of", "Haus von"), ("red house of", "rote Haus von")],
    }


@pytest.mark.parametrize(
    ("pair", "found"),
    [
        (("A horse.", "Ein Gaul, ein Pferd."), set()),  # which of them is unknown
        (("A horse.", "Pferde."), set()),
        (("a horse", "Pferd"), {("horse", "pferd")}),  # its capital letter may be that of the beginning
        (("HORSE", "PFERD"), {("HORSE", "PFERD")}),
        (("horse house", "Ein Haus Pferd"), {("horse", "Pferd"), ("house", "Haus"), ("horse house", "Haus Pferd")}),
        (("horse house red", "Haus rote Pferd"), {("horse", "Pferd"), ("house", "haus"), ("red", "rote"),
                                                 ("house red", "haus rote")}),
        (("A horse ⟨6⟩.", "Ein Pferd."), set()),
    ],
)  # fmt: skip
def test_words_whose_translation_is_not_sure_are_not_annotated(
    pair: tuple[str, str], found: set[tuple[str, str]]
) -> None:
    changed = [annotate_terms(pair, TERMS, MARKS, default_rng(seed))[0] for seed in range(80)]
    assert {(term, target) for source in changed for _, term, target in WRITTEN.findall(source)} == found


@given(st.sampled_from(PAIRS), st.integers(0, 5), st.integers(0, 5))
def test_other_changes_stay_the_same_and_all_follow_from_the_key(
    pair: tuple[str, str], epoch: int, number: int
) -> None:
    doses, key = {"spans": 0.5, "case": 0.3, "typos": 0.3}, (epoch, number)
    terms = {EN_DE: TermList([Term("A", ("Ein",)), Term("man", ("mann",)), Term("horse", ("pferd",))])}
    plain = Augmentation(AugmentationConfig.model_validate(doses), PIECES).change(pair, EN_DE, key)
    augmentation = Augmentation(AugmentationConfig.model_validate({**doses, "terms": 0.5}), PIECES, terms)
    changed = augmentation.change(pair, EN_DE, key)
    assert changed == augmentation.change(pair, EN_DE, key)
    assert (without(changed[0]).replace(" ", ""), changed[1]) == (plain[0].replace(" ", ""), plain[1])
    other = Augmentation(AugmentationConfig.model_validate({**doses, "terms": 1}), PIECES, {("en", "fr"): TERMS})
    assert other.change(pair, EN_DE, key) == plain


def test_masks_are_never_the_marks() -> None:
    augmentation = Augmentation(AugmentationConfig(reserved=1, terms=1), PIECES, {EN_DE: TERMS})
    pair = " ".join(f"{{x{number}}}" for number in range(9)), " ".join(f"{{x{number}}}" for number in range(9))
    for key in range(20):
        assert not any(mark in side for mark in MARKS for side in augmentation.change(pair, EN_DE, (key,)))


def test_annotations_need_reserved_pieces() -> None:
    with pytest.raises(ConfigError, match=r"augmentation.terms needs 8 reserved pieces or more; set tokenizer"):
        parse_config({"augmentation": {"terms": 0.1}, "tokenizer": {"reserved": 7}})
    parse_config({"augmentation": {"terms": 0.1}, "tokenizer": {"reserved": 8}})


def test_a_bundle_says_that_its_model_knows_annotations(tmp_path: Path) -> None:
    asked = settings(write_rows(tmp_path), max_steps=2, warmup_steps=1)
    asked["tokenizer"] = {"kind": "bpe", "vocab_size": 300, "joint": True, "reserved": 8}
    for terms in (0.0, 0.5):
        best = train({**asked, "augmentation": {"terms": terms}}, tmp_path / f"run{terms}", device="cpu")
        bundle = load_bundle(best)
        assert bundle.facts.get(FACT) == (True if terms else None)
        assert Translator.load(best, device="cpu").pipeline.planner.knows_annotations == bool(terms)
    again = train(asked, tmp_path / "tuned", init_from=best, device="cpu")
    assert load_bundle(again).facts[FACT] is True
    facts = [
        ModelFacts.of_bundles([bundle, replace(bundle, facts={})], ["a", "b"]),
        ModelFacts.of_bundles([bundle], ["a"]),
    ]
    assert [one.knows_annotations for one in facts] == [False, True]
    with pytest.raises(BundleError, match="its fact annotated_terms is 'yes', not true or false"):
        knows_annotations({FACT: "yes"}, "a")


# --- translating -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return learn_tokenizers(
        lambda: iter(PAIRS), TokenizerConfig(kind="bpe", vocab_size=348, joint=True, reserved=8), "en", "de"
    )


def knowing(search: ScriptedSearch, max_length: int = 400) -> Pipeline:
    known = pipeline(search, max_length)
    facts = ModelFacts(knows_annotations=True)
    return replace(known, planner=Planner(search.tokenizers, known.planner._directions, max_length, facts))


def obedient(source: str) -> list[str]:
    """A model that writes the targets of all annotations."""
    return [WRITTEN.sub(r" \3", source)]


LIST = TermList([Term("horse", ("Gaul*", "Pferd")), Term("book", ("Heft",)), Term("Bob")])


def test_terms_are_read_as_annotations_and_searched_for_once(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, obedient)
    texts = ["A horse, a {horse} and Bob.", "A BOOK.", "A cat."]
    found = knowing(search).translate([Request(text, terms=LIST) for text in texts])
    assert search.read == [
        "A⟨6⟩ horse⟨7⟩ Gaul⟨8⟩, a ⟨1⟩ and ⟨2⟩.",
        "A⟨6⟩ book⟨7⟩ Heft⟨8⟩.",
        "A cat.",
    ]
    assert [one.text for one in found] == ["A Gaul, a {horse} and Bob.", "A HEFT.", "A cat."]
    assert not any(one.flags or one.missing_terms for one in found)
    assert len(search.calls) == 1
    marks = set(tokenizers.target.vocabulary.ids(MARKS))
    assert all(marks <= set(job.forbidden_ids) for job in search.calls[0])


def test_a_term_that_is_still_missing_is_searched_for_again(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, lambda source: [without(source)])
    (found,) = knowing(search).translate([Request("A horse.", terms=LIST)])
    assert found.missing_terms == ("horse",)
    first, second = search.calls
    assert first[0].ids == second[0].ids
    assert not first[0].required
    assert second[0].required


def test_other_models_and_texts_read_what_they_read_before(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, obedient)
    pipeline(search).translate([Request("A horse.", terms=LIST)])
    assert "A horse." in search.read
    search = ScriptedSearch(tokenizers, obedient)
    long = "horse " * 15
    knowing(search, 40).translate([Request(long, terms=LIST), Request("A horse.")])
    assert not any(mark in text for mark in MARKS for text in search.read)


def test_text_that_looks_like_a_mark_is_masked(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, obedient)
    (found,) = knowing(search).translate([Request("A horse ⟨7⟩.", terms=LIST)])
    assert search.read == ["A⟨6⟩ horse⟨7⟩ Gaul⟨8⟩ ⟨1⟩."]
    assert found.text == "A Gaul ⟨7⟩."


def test_words_are_aligned_with_those_of_the_text(tokenizers: Tokenizers) -> None:
    search = ScriptedSearch(tokenizers, obedient)
    (found,) = knowing(search).translate([Request("A man rides a horse.", terms=LIST, align=True)])
    assert found.alignment is not None
    n_words = len(["A", "man", "rides", "a", "horse."])
    assert all(source < n_words and target < n_words for source, target in found.alignment)
