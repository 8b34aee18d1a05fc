"""Probabilities of given translations."""

import math

import numpy as np
import pytest
from tiny import tiny_bundle

from dragoman.decoding.search import search
from dragoman.errors import DataError
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import Translator


def test_forced_scores_are_those_of_the_search(translator: Translator) -> None:
    translation = translator.translate("A man", beam_size=5, max_length=8, length_penalty=0.0, min_length=2)
    best = translation.alternatives[0]
    (score,) = translator.score(["A man"], ["Ein Mann"])
    assert score.log_prob == pytest.approx(math.fsum(score.token_log_probs))
    assert score.per_token == pytest.approx(score.log_prob / len(score.tokens))
    assert len(score.tokens) == len(score.token_log_probs)
    assert score.tokens[-1] == "<eos>"
    assert score.log_prob <= best.log_prob or len(score.tokens) > 8


def test_scores_follow_the_search_token_by_token(tokenizers: Tokenizers) -> None:
    models = [tiny_bundle(tokenizers, 1), tiny_bundle(tokenizers, 2)]
    target = "Ein Mann"
    ids = tokenizers.target.encode(target)
    source_ids = np.array([[*tokenizers.source.encode("A man"), 3]])
    config = SearchConfig(beam_size=1, max_length=len(ids) + 1)
    translator = Translator(models, tokenizers)
    found = search(translator.scorer, source_ids, config, prefixes=[ids])[0][0]
    (score,) = translator.score(["A man"], [target])
    assert score.token_log_probs[: len(ids)] == pytest.approx(found.token_log_probs[: len(ids)], abs=1e-4)
    state = translator.scorer.start(source_ids)
    *_, last = [state.step(np.array([id])) for id in [SpecialIds().start, *ids]]
    assert score.token_log_probs[-1] == pytest.approx(float(last.array()[0, SpecialIds().end]), abs=1e-4)


def test_scores_do_not_depend_on_the_batch(translator: Translator) -> None:
    sources, targets = ["A man", "", "The cat is on a mat", "x"], ["Ein Mann", "Sie", "", "Die Katze"]
    together = translator.score(sources, targets)
    for one, source, target in zip(together, sources, targets, strict=True):
        assert one.log_prob == pytest.approx(translator.score([source], [target], batch_size=1)[0].log_prob, abs=1e-4)
    assert translator.score([], []) == []
    assert translator.score("x", "Die Katze").log_prob == pytest.approx(together[3].log_prob, abs=1e-4)


def test_long_or_uneven_pairs_cannot_be_scored(translator: Translator) -> None:
    long = "The cat " * 20
    assert not translator.fits(long, "x")
    with pytest.raises(DataError, match="pair 2 has"):
        translator.score(["A", long], ["A", "B"])
    with pytest.raises(DataError, match="2 sources but 1 target"):
        translator.score(["A", "B"], ["A"])
    with pytest.raises(DataError, match="a text and the other a list"):
        translator.score("A", ["A"])  # type: ignore[call-overload]
