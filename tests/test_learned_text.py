"""Statistics of the text that a model learned from: exact, and checked when read from a stranger's bundle."""

from __future__ import annotations

import json
import math
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import LEARNED, tiny_bundle, tiny_tokenizers

from dragoman.bundle.bundle import load_bundle, write_bundle
from dragoman.bundle.named_models import CAPTION_MODELS
from dragoman.errors import BundleError
from dragoman.settings.sections import parse_section
from dragoman.text.composing import compose
from dragoman.text.learned_text import FACT, LearnedText, fewest_sentences
from dragoman.translator import Translator

lengths = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=40)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=30), lengths)
def test_counts_agree_with_the_text(n_sentences: list[int], tokens: list[tuple[int, int]]) -> None:
    source, target = np.array(tokens).T
    learned = LearnedText.count((" ".join(["He ran."] * n) for n in n_sentences), source, target)
    for place, share in enumerate(learned.several_sentences):
        assert share == pytest.approx(sum(n >= place + 2 for n in n_sentences) / len(n_sentences), abs=1e-6)
    assert len(learned.several_sentences) == min(max(*n_sentences, 1), 32) - 1
    assert learned.without_words == pytest.approx(n_sentences.count(0) / len(n_sentences), abs=1e-6)
    assert learned.longest_tokens == max(1, *source)
    assert np.mean(source > learned.usual_tokens) <= 0.01
    assert np.mean(source > learned.long_tokens) <= 0.0001
    assert parse_section(LearnedText, json.loads(json.dumps(learned.model_dump(mode="json")))) == learned


@pytest.mark.parametrize(
    "change",
    [
        {"several_sentences": [0.1, 0.2]},
        {"several_sentences": [1.5]},
        {"several_sentences": [math.nan]},
        {"several_sentences": [0.5] * 100},
        {"several_sentences": "0.5"},
        {"median_tokens": 0},
        {"median_tokens": 13},
        {"usual_tokens": 2.5},
        {"longest_tokens": 15},
        {"long_tokens": 10**30},
        {"target_ratio": math.inf},
        {"target_ratio": -1.0},
        {"target_ratio": None},
        {"without_words": 2.0},
        {"n_lines": True},
        {"more": 1},
    ],
    ids=str,
)
def test_a_bundle_with_impossible_statistics_is_refused(change: dict[str, Any]) -> None:
    facts = {FACT: {**LEARNED.model_dump(mode="json"), **change}}
    with pytest.raises(BundleError, match=r"its facts about the text it learned from are wrong \(.*\): bad"):
        LearnedText.of_bundle(facts, "bad")


def test_bad_statistics_are_noticed_when_a_bundle_is_loaded(tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers()
    write_bundle(tmp_path / "bad", replace(tiny_bundle(tokenizers), facts={FACT: {"n_lines": 0}}))
    with pytest.raises(BundleError, match=r"its facts about the text .*bad"):
        Translator.load(tmp_path / "bad", device="cpu")


@pytest.mark.parametrize("fact", [None, [], "x", {}, 3])
def test_a_fact_of_another_type_refuses_the_bundle(fact: object) -> None:
    with pytest.raises(BundleError, match="its facts about the text"):
        LearnedText.of_bundle({FACT: fact}, "name")


def test_bundles_without_statistics_translate_lines_whole(tmp_path: Path) -> None:
    tokenizers = tiny_tokenizers()
    write_bundle(tmp_path / "old", replace(tiny_bundle(tokenizers), facts={}))
    translator = Translator.load(tmp_path / "old", device="cpu")
    assert translator.learned is None
    assert translator.translate("A man. She. Two.").n_parts == 1


def test_an_ensemble_reads_as_many_sentences_as_its_weakest_model() -> None:
    more = LEARNED.model_copy(update={"several_sentences": (0.5,)})
    assert fewest_sentences([None, more, LEARNED]) == LEARNED
    assert fewest_sentences([None]) is None


@pytest.mark.captions
def test_shipped_models_of_captions_learned_from_single_sentences_and_translate_each() -> None:
    for name in CAPTION_MODELS:
        learned = LearnedText.of_bundle(load_bundle(name).facts, name)
        assert learned is not None
        assert learned.known_sentences == 1
        translator = Translator.load(name, device="cpu")
        apart = ["A man is riding a horse.", "A woman is reading a book.", "A dog runs.", "Two boys play football."]
        whole = translator.translate(f"{apart[0]} {apart[1]}{apart[2]} {apart[3]}")
        assert whole.text == " ".join(each.text for each in translator.translate(apart))


@given(st.text(st.sampled_from("aé\u0301\u0323\u0e48\u0e38 한\u1100\u1161")))
@settings(max_examples=300)
def test_composing_is_nfc(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFC", text)


@given(st.lists(st.sampled_from("\u0301\u0323"), min_size=200, max_size=900).map("".join))
def test_many_marks_on_a_letter_are_composed_some_at_a_time(marks: str) -> None:
    composed = compose(f"é a{marks} e\u0301")
    assert unicodedata.normalize("NFC", composed) == unicodedata.normalize("NFC", f"é a{marks} e\u0301")
    assert composed.startswith("é ")
    assert composed.endswith(" é")
