"""The five translators of the book's line of history do what their page says."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch

BOOK = Path(__file__).resolve().parent.parent / "docs" / "book"
sys.path += [str(BOOK), str(BOOK / "history"), str(BOOK / "building")]

from ibm_model_1 import NULL, IBMModel1  # noqa: E402
from ngram import END, NGramModel  # noqa: E402
from noisy_channel import NoisyChannel  # noqa: E402
from rnn_attention import AttentiveRNNTranslator  # noqa: E402
from rnn_encoder_decoder import RNNTranslator  # noqa: E402
from transformer import PAD, START, Transformer, Vocabulary, rectangle, train, translate  # noqa: E402

pytestmark = pytest.mark.torch

TEXTS = {
    "the dog sleeps": "der hund schläft",
    "the cat sleeps": "die katze schläft",
    "a dog eats": "ein hund isst",
    "a cat eats": "eine katze isst",
    "a child sleeps": "ein kind schläft",
}
PAIRS = [(source.split(), target.split()) for source, target in TEXTS.items()]
BUILDERS = {
    "rnn": lambda *sizes: RNNTranslator(*sizes, width=32),
    "attention": lambda *sizes: AttentiveRNNTranslator(*sizes, width=32),
    "transformer": lambda *sizes: Transformer(*sizes, d_model=32),
}


@pytest.mark.parametrize("path", sorted((BOOK / "history").glob("*.py")), ids=lambda path: path.stem)
def test_each_program_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 120


def em_by_enumeration(table: dict[str, dict[str, float]]) -> tuple[dict[str, dict[str, float]], float]:
    """Return the table after a step of EM over all alignments of all pairs, and the log-likelihood before it."""
    counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    log_likelihood = 0.0
    for source, target in PAIRS:
        alignments = list(itertools.product([NULL, *source], repeat=len(target)))
        p = [math.prod(table[s][t] for s, t in zip(each, target, strict=True)) for each in alignments]
        log_likelihood += math.log(sum(p) / len(alignments))
        for alignment, p_alignment in zip(alignments, p, strict=True):
            for s, t in zip(alignment, target, strict=True):
                counts[s][t] += p_alignment / sum(p)
    return {s: {t: n / sum(row.values()) for t, n in row.items()} for s, row in counts.items()}, log_likelihood


def test_ibm_model_1_is_em_over_all_alignments() -> None:
    model = IBMModel1(PAIRS)
    log_likelihoods = []
    for _ in range(5):
        expected, log_likelihood = em_by_enumeration(model.table)
        log_likelihoods.append(model.train_step(PAIRS))
        assert log_likelihoods[-1] == pytest.approx(log_likelihood)
        for s, row in expected.items():
            assert model.table[s] == pytest.approx(row)
            assert sum(model.table[s].values()) == pytest.approx(1)
    assert log_likelihoods == sorted(log_likelihoods)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_of_the_n_gram_model_sum_to_one(order: int) -> None:
    model = NGramModel([target for _, target in PAIRS], order)
    for context in [(), ("der",), ("der", "hund"), ("hund", "der"), ("unheard",), ("der", "hund", "isst")]:
        p = [model.probability(word, context) for word in model.words]
        assert sum(p) == pytest.approx(1)
        assert min(p) > 0
    assert END in model.words


def test_perplexity_is_the_inverse_of_the_mean_probability() -> None:
    model = NGramModel([target for _, target in PAIRS])
    p = math.prod(model.probability(word, ["der", "hund"][:i]) for i, word in enumerate(["der", "hund", END]))
    assert model.perplexity([["der", "hund"]]) == pytest.approx(p ** (-1 / 3))


def test_the_channel_finds_what_brute_force_finds() -> None:
    """No pruning: the best of all ways to make each source word in turn."""
    channel = IBMModel1([(target, source) for source, target in PAIRS])
    for _ in range(5):
        channel.train_step([(target, source) for source, target in PAIRS])
    decoder = NoisyChannel(NGramModel([target for _, target in PAIRS]), channel, n_options=3, n_kept=10_000)
    for source in TEXTS:
        ways: list[tuple[float, Any]] = [(0.0, ())]
        for s in source.split():
            ways = [(score + gain, end) for score, written in ways for end, gain in decoder.extensions(written, s)]
        best = max(score + decoder.log_p_next(END, written) for score, written in ways)
        found = decoder.translate(source.split())
        assert max(score + decoder.log_p_next(END, w) for score, w in ways if w == found) == pytest.approx(best)


def test_what_counts_learns_five_sentences() -> None:
    inverted = [(target, source) for source, target in PAIRS]
    direct, channel = IBMModel1(PAIRS), IBMModel1(inverted)
    for _ in range(10):
        direct.train_step(PAIRS)
        channel.train_step(inverted)
    assert direct.translate(["dog", "cat", "eats"]) == ["hund", "katze", "isst"]
    decoder = NoisyChannel(NGramModel([target for _, target in PAIRS]), channel)
    assert [" ".join(decoder.translate(source)) for source, _ in PAIRS] == list(TEXTS.values())


@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_trained_learns_five_sentences(name: str) -> None:
    torch.manual_seed(1)
    random.seed(1)
    source_words, target_words = Vocabulary(TEXTS), Vocabulary(TEXTS.values())
    ids = [(source_words.ids(source), [START, *target_words.ids(target)]) for source, target in TEXTS.items()]
    model = BUILDERS[name](len(source_words.words), len(target_words.words))
    assert len(list(train(model, ids, n_steps=100, n_rows=5))) == 100
    assert [translate(model, source_words, target_words, source) for source in TEXTS] == list(TEXTS.values())


@pytest.mark.parametrize("name", ["rnn", "attention"])
def test_neither_padding_nor_the_future_matters_to_an_rnn(name: str) -> None:
    torch.manual_seed(1)
    model = BUILDERS[name](9, 9).eval()
    source, target = rectangle([[4, 5, 6, 3], [7, 3]]), rectangle([[2, 4, 5], [2, 6, 7]])
    logits = model(source, target)
    torch.testing.assert_close(model(source[1:, :2], target[1:]), logits[1:])
    changed = target.clone()
    changed[:, 2] = 8
    torch.testing.assert_close(model(source, changed)[:, :2], logits[:, :2])


def test_weights_of_attention_sum_to_one_and_leave_out_padding() -> None:
    torch.manual_seed(1)
    model = AttentiveRNNTranslator(9, 9, width=8)
    seen: list[torch.Tensor] = []
    model.attention.register_forward_hook(lambda module, given, result: seen.append(result[1]))
    source = rectangle([[4, 5, 6, 3], [7, 3]])
    model(source, rectangle([[2, 4, 5], [2, 6, 7]]))
    assert len(seen) == 3
    for weights in seen:
        torch.testing.assert_close(weights.sum(dim=1), torch.ones(2))
        assert not weights[source == PAD].any()


def test_the_page_has_what_it_reads() -> None:
    from record_history import GROUPS, N_EM_STEPS, N_ROWS, N_STEPS, SENTENCES

    record = json.loads((BOOK / "data" / "history.json").read_text(encoding="utf-8"))
    assert record["training"] == {"n_steps": N_STEPS, "n_rows": N_ROWS, "n_em_steps": N_EM_STEPS}
    assert record["sentences"] == SENTENCES
    assert record["corpus"]["fewest_words"] == list(GROUPS)
    assert record["log_likelihood"] == sorted(record["log_likelihood"])
    systems = [*record["counted"], *record["neural"]]
    names = ["IBM model 1", "noisy channel", "RNN", "RNN with attention", "Transformer"]
    assert [each["name"] for each in systems] == names
    for each in systems:
        assert len(each["translations"]) == len(SENTENCES)
        assert len(each["bleu_by_length"]) == len(GROUPS) == len(record["corpus"]["n_held_out"])
    attention = record["attention"]
    assert len(attention["weights"]) == len(attention["target"])
    for row in attention["weights"]:
        assert len(row) == len(attention["source"])
        assert sum(row) == pytest.approx(1, abs=0.02)
