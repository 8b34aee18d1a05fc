"""Scores are sacreBLEU's and the literature's; an evaluation sees what users get."""

import functools
import gzip
import itertools
import json
import math
import unicodedata
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import PAIRS, tiny_bundle, tiny_model, tiny_tokenizers

from dragoman.cli.evaluate import _json as to_json
from dragoman.cli.metric_tables import evaluation_table
from dragoman.data.encode_corpus import PartText, write_stores
from dragoman.data.multi30k import tokenised_references
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import select
from dragoman.data.store import PairStore
from dragoman.errors import ConfigError, DataError
from dragoman.evaluation.evaluation import evaluate, m30k_references, vary_search
from dragoman.evaluation.metrics import (
    corpus_bleu,
    corpus_chrf,
    exact_match,
    m30k_bleu,
    moses_lines,
    paired_test,
)
from dragoman.settings.data_config import DataConfig
from dragoman.translator import Request, Translator

REFERENCES = [
    "Ein Mann reitet auf einem Pferd.",
    "Sie liest ein Buch, das neu ist.",
    "Die Katze sitzt auf der Matte.",
    "Zwei Hunde laufen über das Gras.",
] * 5
GOOD = ["Ein Mann reitet auf einem Pferd.", "Sie liest ein Buch.", "Die Katze sitzt auf einer Matte.", *REFERENCES[3:]]
BAD = ["Ein Hund.", "Sie liest ein Buch.", "Die Katze sitzt dort auf dem Tisch.", "Zwei Hunde laufen."] * 5


def test_bleu_and_chrf_are_those_of_sacrebleu() -> None:
    assert corpus_bleu(GOOD, REFERENCES, "de").score == sacrebleu.corpus_bleu(GOOD, [REFERENCES]).score
    assert corpus_chrf(GOOD, REFERENCES).score == sacrebleu.corpus_chrf(GOOD, [REFERENCES]).score
    perfect = corpus_bleu(REFERENCES, REFERENCES, "de")
    assert perfect.score == pytest.approx(100)
    assert "case:mixed|eff:no|tok:13a|smooth:exp" in perfect.signature
    assert "nc:6|nw:0" in corpus_chrf(GOOD, REFERENCES).signature
    with_words = corpus_chrf(GOOD, REFERENCES, word_order=2)
    assert with_words.score == sacrebleu.corpus_chrf(GOOD, [REFERENCES], word_order=2).score
    assert (with_words.name, "nc:6|nw:2" in with_words.signature) == ("chrF++", True)
    assert corpus_chrf(REFERENCES, REFERENCES, word_order=2).score == pytest.approx(100)


def test_a_phrase_without_spaces_is_one_word_of_chrf() -> None:
    """It matches nothing if one character differs: of seven n-gram orders, the one of words then counts 0."""
    texts = ["我今天去学校"], ["我今天去学校了"]
    assert corpus_chrf(*texts, word_order=2).score == pytest.approx(corpus_chrf(*texts).score * 6 / 7)


@pytest.mark.parametrize(
    ("language", "tokenization"),
    [
        *[(code, "zh") for code in ("zh", "zh-TW", "zho", "chi", "cmn", "zho_Hans", "yue_Hant", "cmn-Hans")],
        *[(code, "char") for code in ("ja", "ko", "th", "jpn", "jpn_Jpan", "kor", "tha", "lao", "khm_Khmr", "mya")],
    ],
)
def test_languages_without_spaces_are_counted_by_characters(language: str, tokenization: str) -> None:
    metric = corpus_bleu(["我今天去学校了。"], ["我今天去学校。"], language)
    assert f"tok:{tokenization}" in metric.signature
    assert metric.score > 50


@pytest.mark.parametrize("language", ["", "und", "eng", "deu_Latn", "de-AT", "mni", "viet"])
def test_languages_with_spaces_are_counted_by_words(language: str) -> None:
    assert "tok:13a" in corpus_bleu(["ein Hund"], ["ein Hund"], language).signature


def test_bleu_without_case_is_sacrebleus() -> None:
    expected = sacrebleu.corpus_bleu(["ein Hund läuft"], [["Ein Hund läuft schnell"]], lowercase=True)
    metric = corpus_bleu(["ein Hund läuft"], ["Ein Hund läuft schnell"], "de", lowercase=True)
    assert metric.score == pytest.approx(expected.score)
    assert "case:lc" in metric.signature


def test_m30k_bleu_ignores_case_and_is_tokenised_by_moses() -> None:
    hypotheses = [line.upper().replace("ÜBER", "über") for line in REFERENCES]
    metric = m30k_bleu(hypotheses, moses_lines(REFERENCES, "de"), "de")
    assert metric.score == pytest.approx(100)
    assert "case:lc|eff:no|tok:none|smooth:exp" in metric.signature
    assert moses_lines(["Er sagt: „Rock ’n’ Roll & mehr“ (z.B. heute)..."], "de") == [
        "er sagt : &quot; rock &apos; n &apos; roll &amp; mehr &quot; ( z.b. heute ) ..."
    ]
    spoken = ["Qu'est-ce que c'est ?"]
    assert moses_lines(spoken, "fra_Latn") == moses_lines(spoken, "fre") == moses_lines(spoken, "fr")
    assert moses_lines(spoken, "fr") != moses_lines(spoken, "en")


@pytest.mark.parametrize("language", ["en", "de", "fr"])
@pytest.mark.parametrize(("split", "name"), [("validation", "val"), ("test", "test_2016_flickr")])
def test_the_pipeline_gives_the_corpus_own_references(data_folder: Path, split: str, name: str, language: str) -> None:
    folder = data_folder / "multi30k"
    raw = gzip.decompress((folder / f"{name}.{language}.gz").read_bytes()).decode().removesuffix("\n").split("\n")
    official = (folder / f"{name}.lc.norm.tok.{language}").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    made = moses_lines(raw, language)
    assert len(made) == len(official)
    different = [number for number, pair in enumerate(zip(made, official, strict=True), 1) if pair[0] != pair[1]]
    # Where sacremoses and the original Perl scripts disagree.
    known = {("val", "de"): [656], ("val", "fr"): [861], ("test_2016_flickr", "fr"): [694]}
    assert different == known.get((name, language), [])


def test_own_references_are_used_where_they_are(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAGOMAN_DATA", str(data_folder))
    references = ["x"] * 1014
    assert "&quot; tea" not in m30k_references(references, "de", tokenised_references("validation", "de"))[0]
    assert len(set(m30k_references(references, "de", tokenised_references("validation", "de")))) > 1000
    assert m30k_references(["Ein Haus."], "de", tokenised_references("validation", "de")) == ["ein haus ."]
    assert m30k_references(["Ein Haus."], "de") == ["ein haus ."]


def test_exact_match_is_a_share() -> None:
    assert exact_match(["a", "b", "c", "d"], ["a", "b ", "x", "D"]) == 0.5


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_paired_test_finds_a_difference_and_no_difference(method: Any) -> None:
    compared = paired_test(BAD, GOOD, REFERENCES, "de", method=method, n_samples=300)
    bleu, chrf, with_words = compared
    assert [each.name for each in compared] == ["BLEU", "chrF2", "chrF++"]
    assert with_words.baseline == pytest.approx(corpus_chrf(BAD, REFERENCES, word_order=2).score)
    assert "nw:2" in with_words.signature
    assert bleu.baseline == pytest.approx(corpus_bleu(BAD, REFERENCES, "de").score)
    assert bleu.system == pytest.approx(corpus_bleu(GOOD, REFERENCES, "de").score)
    assert bleu.p_value < 0.05
    assert chrf.p_value < 0.05
    same = paired_test(GOOD, GOOD, REFERENCES, "de", method=method, n_samples=300)
    assert [each.p_value for each in same] == [1, 1, 1]


SPOKEN = {
    "de": REFERENCES[:4],
    "vi": ["Một người đàn ông đang cưỡi ngựa.", "Hai con chó chạy trên cỏ xanh.", "Cô ấy đọc sách."],
    "ko": ["한 남자가 말을 타고 있다.", "개 두 마리가 풀밭을 달린다.", "그녀는 책을 읽는다."],
    "ja": ["男性が馬に乗っています。", "彼女はガラスのコップで飲む。", "犬がバスの前を走る。"],
    "fr": ["L'été, « Zoé » s'assoit à côté.", "Il a dû être fâché.", "Où est-ce ?"],
}


HIDDEN = ["", "\u200b", "\u00ad", "\u202e", "\ufeff", "\u2060\ufe0f", "\u034f"]


@pytest.mark.parametrize("language", SPOKEN)
@given(data=st.data())
@settings(max_examples=30)
def test_neither_how_text_is_composed_nor_what_nobody_sees_changes_a_score(language: str, data: st.DataObject) -> None:
    references = SPOKEN[language]
    hypotheses = [" ".join(data.draw(st.permutations(each.split()))) for each in references]
    every = [hypotheses, references, hypotheses[::-1]]
    forms = [data.draw(st.sampled_from(["NFC", "NFD"])) for _ in every]
    hidden = itertools.cycle(data.draw(st.lists(st.sampled_from(HIDDEN), min_size=1, max_size=5)))
    changed = [[unicodedata.normalize(form, each) for each in side] for form, side in zip(forms, every, strict=True)]
    changed = [["".join(letter + next(hidden) for letter in each) for each in side] for side in changed]
    for metric in (corpus_bleu, corpus_chrf, functools.partial(corpus_chrf, word_order=2), exact_match):
        assert metric(changed[0], changed[1]) == metric(hypotheses, references)  # type: ignore[operator]
    assert exact_match(references, changed[1]) == 1
    assert corpus_bleu(changed[0], changed[1], language) == corpus_bleu(hypotheses, references, language)
    assert moses_lines(changed[0], language) == moses_lines(hypotheses, language)
    tokenised = [unicodedata.normalize("NFD", each) for each in moses_lines(references, language)]
    expected = m30k_bleu(hypotheses, moses_lines(references, language), language)
    assert m30k_bleu(changed[0], tokenised, language) == expected
    of_changed, of_plain = (paired_test(*three, language, n_samples=20) for three in (changed, every))
    assert of_changed == of_plain


@given(texts=st.lists(st.text(st.sampled_from("aB ß.,'’«»…ä ，。\u00a0你한½ﬁ"), max_size=12), min_size=1, max_size=4))
def test_composed_and_visible_text_scores_as_it_is(texts: list[str]) -> None:
    others = [each[::-1] for each in texts]
    assert corpus_bleu(texts, others).score == sacrebleu.corpus_bleu(texts, [others]).score
    assert corpus_chrf(texts, others).score == sacrebleu.corpus_chrf(texts, [others]).score
    assert exact_match(texts, others) == sum(map(lambda a, b: a.strip() == b.strip(), texts, others)) / len(texts)


@pytest.mark.torch
def test_a_validation_scores_decomposed_text_as_composed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dragoman.training.validation import validate

    class Perfect:
        """Writes the references, composed."""

        def __init__(self, models: object, tokenizers: object, **options: object) -> None:
            self.tokenizers = tokenizers

        def answering(self, beam_size: int) -> Callable[[list[Request]], list[SimpleNamespace]]:
            return lambda requests: [SimpleNamespace(text=dict(PAIRS)[request.text]) for request in requests]

    monkeypatch.setattr("dragoman.training.validation.Translator", Perfect)
    tokenizers = tiny_tokenizers()
    model = tiny_model(tokenizers, max_length=40)
    found = []
    for form in ("NFC", "NFD"):
        pairs = [(source, unicodedata.normalize(form, target)) for source, target in PAIRS]
        text = ParallelText.of_pairs("x", functools.partial(iter, pairs))
        folder = tmp_path / form
        folder.mkdir()
        write_stores(folder, [PartText(select(text, DataConfig(), {}, hold_out=False), text)], tokenizers)
        found.append(validate(model, PairStore(folder / "validation"), tokenizers, 200, lambda: False))
    assert found[0] == found[1]
    assert found[1] is not None
    assert found[1].bleu == pytest.approx(100)


@pytest.mark.parametrize("metric", [corpus_bleu, corpus_chrf, exact_match])
def test_lists_that_do_not_fit_are_told(metric: type) -> None:
    with pytest.raises(DataError, match="2 translations but 1 reference"):
        metric(["a", "b"], ["a"])
    with pytest.raises(DataError, match="no sentences"):
        metric([], [])


def test_unequal_lists_are_refused_before_anything_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    monkeypatch.setattr(Translator, "translate", None)
    for call in (evaluate, functools.partial(vary_search, settings=[{"beam_size": 1}])):
        with pytest.raises(DataError, match="2 sources but 1 reference"):
            call(translator, ["a", "b"], ["a"])


def test_evaluation_is_what_users_get() -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers, max_length=40)], tokenizers)
    sources, references = (list(side) for side in zip(*PAIRS, strict=True))
    results = evaluate(translator, sources, references, m30k_references=moses_lines(references, "de"), beam_size=2)
    found = [each.text for each in translator.translate(sources, beam_size=2)]
    assert list(results.translations) == found
    assert [metric.name for metric in results.metrics] == ["M30k-BLEU", "BLEU", "chrF2", "chrF++"]
    assert results.metrics[2] == corpus_chrf(found, references)
    scores = translator.score(sources, references)
    n_tokens = sum(len(score.tokens) for score in scores)
    assert results.perplexity == pytest.approx(math.exp(-sum(score.log_prob for score in scores) / n_tokens))
    assert results.n_too_long == 0
    shown = json.loads(to_json(results))
    assert (shown["search"]["beam_size"], shown["search"]["length_penalty"]) == (2, 0.6)
    assert shown["n_sentences"] == len(PAIRS)
    assert "translations" not in shown
    assert evaluation_table(results).row_count == 7


def test_pairs_too_long_for_the_model_have_no_share_in_the_perplexity() -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    long = "The cat is sitting. " * 8
    alone = evaluate(translator, ["A man"], ["Ein Mann"], beam_size=1)
    results = evaluate(translator, ["A man", long], ["Ein Mann", long], beam_size=1)
    assert results.n_too_long == 1
    assert results.perplexity == pytest.approx(alone.perplexity, rel=1e-4)
    none = evaluate(translator, [long], ["x"], beam_size=1)
    assert none.perplexity is None
    assert evaluation_table(none).row_count == evaluation_table(alone).row_count


@pytest.mark.parametrize("wrong", [None, "A man", b"A", ["A", None], [b"A", "B"], [1, 2]], ids=str)
def test_what_is_no_list_of_texts_is_refused(wrong: Any) -> None:
    for metric in (corpus_bleu, corpus_chrf, exact_match):
        for pair in ((wrong, ["A", "B"]), (["A", "B"], wrong)):
            with pytest.raises(ConfigError, match=r"(translation|reference)s? "):
                metric(*pair)
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    for pair in ((wrong, ["A", "B"]), (["A", "B"], wrong)):
        with pytest.raises(ConfigError, match=r"(source|reference)s? "):
            evaluate(translator, *pair)
