"""Quality without references, and the choice of candidates by it: against the scores of both directions."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

from dragoman import Translator
from dragoman.cli.program import run
from dragoman.errors import ConfigError, DataError
from dragoman.translator import Request
from dragoman.translator.quality import BACK

DIRECTION = {"source_lang": "en", "target_lang": "de"}
SOURCES = (
    "Please restart your computer after the update.",
    "He is 12 years old. She lives near the sea in a small house.",
    "The violinist tuned her battered instrument.",
)


@cache
def everyday() -> Translator:
    return Translator.load("everyday")


def by_hand(source: str, target: str) -> float:
    forward = everyday().score(source, target, source_lang="en", target_lang="de").per_token
    back = everyday().score(target, source, source_lang="de", target_lang="en").per_token
    return math.exp((forward + BACK * back) / (1 + BACK))


def test_quality_is_the_mean_probability_of_a_token_in_both_directions() -> None:
    targets = ["Bitte starten Sie den Computer neu.", "Er ist 12.", ""]
    found = everyday().quality(SOURCES, targets, **DIRECTION)
    assert found == pytest.approx([by_hand(*pair) for pair in zip(SOURCES, targets, strict=True)], rel=1e-4)
    assert everyday().quality(SOURCES[0], targets[0], **DIRECTION) == pytest.approx(found[0], rel=1e-4)
    assert all(0 <= each <= 1 for each in found)


@pytest.mark.captions
def test_a_model_of_one_direction_reads_nothing_back() -> None:
    one_way = Translator.load("multi30k-en-de")
    score = one_way.score("A man runs.", "Ein Mann läuft.").per_token
    assert one_way.quality("A man runs.", "Ein Mann läuft.") == math.exp(score)
    with pytest.raises(ConfigError, match="does not translate de to en"):
        one_way.translate("A man runs.", rerank=True)


def test_an_omission_lowers_the_quality() -> None:
    source = "My sister bought a new car last week."
    whole = everyday().quality(source, "Meine Schwester hat letzte Woche ein neues Auto gekauft.", **DIRECTION)
    assert whole > everyday().quality(source, "Meine Schwester hat ein neues Auto gekauft.", **DIRECTION)


def test_reranking_takes_the_candidate_of_the_best_quality() -> None:
    """Of each sentence, the candidates are those of the search alone."""
    for source in (SOURCES[0], SOURCES[2]):
        searched = everyday().translate(source, beam_size=6, n_best=6, plain=True, **DIRECTION)
        reranked = everyday().translate(source, beam_size=6, n_best=6, plain=True, rerank=True, **DIRECTION)
        texts = [each.text for each in searched.alternatives]
        assert {each.text for each in reranked.alternatives} == set(texts)
        best = max(texts, key=lambda text: by_hand(source, text))
        assert reranked.text == reranked.alternatives[0].text == best
        one = everyday().translate(source, beam_size=6, plain=True, rerank=True, **DIRECTION)
        assert (one.text, len(one.alternatives)) == (best, 1)


def test_reranking_is_the_same_wherever_it_runs() -> None:
    expected = [each.text for each in everyday().translate(SOURCES, rerank=True, **DIRECTION)]
    assert [everyday().translate(source, rerank=True, **DIRECTION).text for source in SOURCES] == expected
    with everyday().shared() as shared:
        assert [each.text for each in shared.translate(SOURCES, rerank=True, **DIRECTION)] == expected


def test_reranking_keeps_spans_and_numbers() -> None:
    text = "Send 12.50 euros to pay@example.com by Friday, please."
    translation = everyday().translate(text, rerank=True, **DIRECTION)
    assert "pay@example.com" in translation.text
    assert "12,50" in translation.text


def test_what_cannot_be_read_back_is_refused() -> None:
    with pytest.raises(ConfigError, match="language of the text"):
        everyday().translate("Good morning!", target_lang="de", rerank=True)
    with pytest.raises(DataError, match="the other a list"):
        everyday().quality("Good morning!", ["Guten Morgen!"], **DIRECTION)
    tokens = next(n for n in range(everyday().max_length, 0, -1) if everyday().fits("A dog.", "Hund " * n, **DIRECTION))
    with pytest.raises(DataError, match="pair 2 is too long to be read back"):
        everyday().quality(["A dog."] * 2, ["Ein Hund.", "Hund " * tokens], **DIRECTION)
    with pytest.raises(ConfigError, match="reranking needs several candidates"):
        everyday().translate("Good morning!", beam_size=1, rerank=True, **DIRECTION)


def test_reranking_puts_what_is_finished_before_what_is_cut() -> None:
    """However probable it is."""
    pipeline, mixed = everyday().pipeline, 0
    for max_length in range(8, 16):
        config = everyday().search_config(max_length=max_length, beam_size=6, n_best=6, rerank=True)
        (found,) = pipeline.search(pipeline.plan([Request(SOURCES[0], **DIRECTION)], config).jobs)
        is_finished = [candidate.hypothesis.finished for candidate in found]
        assert is_finished == sorted(is_finished, reverse=True)
        mixed += len(set(is_finished)) > 1
    assert mixed


def test_the_command_says_when_it_reads_nothing_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("Good morning!\tGuten Morgen!\n", encoding="utf-8")
    command = ["score", "-m", "everyday", "--pairs", str(pairs), "--target-lang", "de", "--qe"]
    assert run(command) == 0
    assert "nothing is read back" in capfd.readouterr().err
    assert run([*command, "--source-lang", "en"]) == 0
    assert "nothing is read back" not in capfd.readouterr().err
