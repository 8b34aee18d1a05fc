"""The inside of a translation: the same translation as without looking, a tree of sums, and attention as PyTorch's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from serving import write_many
from tiny import PAIRS

from dragoman.inspection.inside import MOST_WEIGHTS, Inside, look_inside
from dragoman.text.terms import Term, TermList
from dragoman.translator import Request, StopCondition, Translator

SOURCES = [source for source, _ in PAIRS]


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return Translator.load(write_many(tmp_path_factory.mktemp("inside") / "many"), device="cpu")


def look(
    translator: Translator, text: str, prefix: str = "", terms: TermList | None = None, **options: object
) -> Inside | None:
    request = Request(text, prefix, source_lang="en", target_lang="de", terms=terms, off=["script"])
    config = translator.search_config(**{"beam_size": 4, "n_best": 4, **options})  # type: ignore[arg-type]
    return look_inside(translator, request, config, StopCondition.after(60))


@pytest.mark.parametrize("text", SOURCES[:3])
@pytest.mark.parametrize("prefix", ["", "Sie"])
def test_its_hypotheses_are_the_alternatives_of_the_translation(translator: Translator, text: str, prefix: str) -> None:
    inside = look(translator, text, prefix)
    assert inside is not None
    options = {
        "source_lang": "en",
        "target_lang": "de",
        "beam_size": 4,
        "n_best": 4,
        "prefixes": prefix,
        "off": ["script"],
    }
    expected = translator.translate(text, **options)  # type: ignore[call-overload]
    assert inside.target_text == expected.text
    assert inside.read[1:] == inside.written[:-1] == expected.tokens
    scores = [each.score for each in inside.hypotheses]
    assert sorted(scores) == pytest.approx(sorted(each.score for each in expected.alternatives), abs=1e-4)


def test_nothing_is_shown_of_a_search_that_was_led_to_a_term(translator: Translator) -> None:
    text, terms = "Two dogs run over the green grass.", TermList([Term("dogs", ("Pferd",))])
    alone = translator.pipeline.search(translator.pipeline.plan([Request(text, target_lang="de")]).jobs)
    translation = translator.translate(text, source_lang="en", target_lang="de", terms=terms)
    assert "Pferd" in translation.text
    assert all("Pferd" not in candidate.text for candidate in alone[0])
    assert look(translator, text, terms=terms) is None


def test_its_nodes_are_a_tree_that_has_each_hypothesis_as_a_path(translator: Translator) -> None:
    inside = look(translator, SOURCES[1])
    assert inside is not None
    assert (inside.nodes[0].parent, inside.node_tokens[0]) == (-1, "<sos>")
    children: dict[tuple[int, int], int] = {}
    for number, node in enumerate(inside.nodes[1:], 1):
        assert 0 <= node.parent < number
        assert node.total == pytest.approx(inside.nodes[node.parent].total + node.log_prob, abs=1e-4)
        children[node.parent, node.id] = number
    for hypothesis in inside.hypotheses:
        at = 0
        for id, log_prob in zip(hypothesis.ids, hypothesis.token_log_probs, strict=False):
            at = children[at, id]
            assert inside.nodes[at].log_prob == pytest.approx(log_prob, abs=1e-4)


@pytest.mark.torch
def test_its_attention_is_that_of_the_model_in_pytorch(translator: Translator) -> None:
    from dragoman.inspection.inputs import single_model
    from dragoman.translator.forced_in_torch import forced_attention
    from dragoman.translator.padding import pad_pairs

    inside = look(translator, SOURCES[0])
    assert inside is not None
    assert np.allclose(inside.weights.sum(axis=-1), 1, atol=1e-5)
    source_ids = translator.tokenizers.source.vocabulary.ids(inside.source[:-1])
    pairs = pad_pairs([(source_ids, inside.hypotheses[0].ids)], translator.scorer.special_ids)
    expected = forced_attention(single_model(translator), *pairs)[:, 0]
    assert np.allclose(inside.weights, expected, atol=1e-4)


def test_a_long_text_shows_its_first_part_alone(translator: Translator) -> None:
    inside = look(translator, " ".join(SOURCES) * 3)
    assert inside is not None
    assert SOURCES[0].startswith(inside.source_text) or inside.source_text.startswith(SOURCES[0][:5])
    assert inside.weights.size <= MOST_WEIGHTS


def test_there_is_nothing_to_show_of_what_no_model_has_read(translator: Translator) -> None:
    assert look(translator, " ") is None
    assert look(translator, SOURCES[0], sample=True, beam_size=1, n_best=1) is None


def test_a_very_long_segment_is_not_shown(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.inspection.inside.MOST_WEIGHTS", 10)
    assert look(translator, SOURCES[0]) is None


def test_models_that_the_engine_has_not_loaded_are_not_looked_into(tmp_path: Path) -> None:
    folders = [write_many(tmp_path / str(seed), seed) for seed in (1, 2)]
    ensemble = Translator.load(*folders, device="cpu")
    assert look(ensemble, SOURCES[0]) is None
