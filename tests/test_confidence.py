"""Confidence: the curve of a calibration, doubtful words, texts that stay, packages and commands."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import many_tokenizers, tiny_bundle, tiny_tokenizers, with_calibration, write_tiny_bundle

from dragoman import Translator
from dragoman.alignment.word_spans import words
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.cli.program import run
from dragoman.documents import open_document, translate_document
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.evaluation.calibration import calibrate, isotonic, reliability
from dragoman.translator import ModelFacts, Translation
from dragoman.translator.confidence import FACT, Calibration, Calibrations, least_confidence

Capture = pytest.CaptureFixture[str]

TOKENIZERS = tiny_tokenizers()
TEXTS = ["A man is riding a horse.", "She is reading a book.", "x", "Two dogs run over the green grass."]


def calibrated(**changes: object) -> Bundle:
    return with_calibration(tiny_bundle(TOKENIZERS), "en-de", **changes)


def translator_of(bundle: Bundle) -> Translator:
    return Translator([bundle], bundle.tokenizers, bundle.search, facts=ModelFacts.of_bundles([bundle], ["it"]))


EASY = Calibration.model_validate(calibrated().facts[FACT]["directions"]["en-de"])


@pytest.fixture(scope="module")
def translator() -> Translator:
    return translator_of(calibrated())


@pytest.fixture(scope="module")
def bundle_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrated") / "bundle"
    write_bundle(folder, calibrated())
    return folder


# --- the curve -------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(-20, 0), st.integers(0, 10)), min_size=1, max_size=12))
def test_the_curve_is_the_nearest_one_that_rises(groups: list[tuple[int, int]]) -> None:
    """Against the formula: the greatest, over earlier starts, of the least mean up to later ends."""
    values = np.repeat([float(value) + 0.01 * number for number, (value, _) in enumerate(groups)], 40)
    outcomes = np.repeat([float(outcome) for _, outcome in groups], 40)
    points, heights = isotonic(values, outcomes)
    means = outcomes[np.argsort(values, kind="stable")[::40]]
    ends = range(len(means))
    best = [max(min(means[start : end + 1].mean() for end in ends[own:]) for start in ends[: own + 1]) for own in ends]
    np.testing.assert_allclose(heights, np.unique(np.round(best, 9)), atol=1e-8)
    assert (np.diff(points) > 0).all()


@given(st.lists(st.tuples(st.sampled_from([0.0, -1e-5, -1.2e-4, -0.5]), st.integers(0, 10)), min_size=1, max_size=12))
def test_equal_probabilities_are_one_point(groups: list[tuple[float, int]]) -> None:
    """A model that is nearly sure of everything, or text that repeats itself, has a calibration too."""
    values = np.repeat([value for value, _ in groups], 40)
    points, heights = isotonic(values, np.repeat([outcome / 10 for _, outcome in groups], 40))
    changed = {"log_probs": tuple(points.round(4).tolist()), "chrf": tuple(heights.round(4).tolist())}
    assert Calibration(**{**EASY.model_dump(), **changed}).log_probs


@given(st.floats(-50, 0), st.floats(-50, 0), st.integers(1, 60))
def test_confidence_is_a_share_and_rises_with_probability(one: float, other: float, n_tokens: int) -> None:
    low, high = sorted((one, other))
    assert 0 <= EASY.confidence(low, n_tokens) <= EASY.confidence(high, n_tokens) <= 1


def test_what_was_learned_from_is_matched_by_its_own_curve() -> None:
    draw = np.random.default_rng(1)
    log_probs = -draw.exponential(0.5, 4_000)
    chrf = np.clip(np.exp(log_probs) + draw.normal(0, 0.2, 4_000), 0, 1)
    found = reliability(np.interp(log_probs[::2], *isotonic(log_probs[1::2], chrf[1::2])), chrf[::2])
    assert found.error < 0.02
    assert found.correlation > 0.6
    assert [group.confidence for group in found.groups] == sorted(group.confidence for group in found.groups)
    wrong = reliability(np.exp(log_probs) ** 3, chrf)
    assert wrong.error > 0.1


@pytest.mark.parametrize(
    ("change", "words_of_error"),
    [
        ({"log_probs": (-1.0, -1.0)}, "do not rise"),
        ({"chrf": (0.8, 0.2)}, "fall"),
        ({"chrf": (0.8,)}, "2 log-probabilities but 1 scores"),
        ({"chrf": (0.5, 1.5)}, "less than or equal to 1"),
        ({"log_probs": (-1.0, 0.5)}, "less than or equal to 0"),
        ({"n_sentences": "many"}, "n_sentences"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused_with_its_bundle(
    tmp_path: Path, change: dict[str, object], words_of_error: str
) -> None:
    write_bundle(tmp_path / "bundle", calibrated(**change))
    with pytest.raises(BundleError, match=words_of_error):
        Translator.load(tmp_path / "bundle")


# --- translations ----------------------------------------------------------------------------------------------------


def test_confidence_follows_from_probability_and_length(translator: Translator) -> None:
    for text in TEXTS:
        found = translator.translate(text)
        best = found.alternatives[0]
        assert found.confidence == EASY.confidence(best.log_prob, len(best.tokens) + 1)
        assert found.doubtful is None


def test_a_text_is_as_sure_as_its_least_sure_sentence(translator: Translator) -> None:
    sentences = [text for text in TEXTS if text.endswith(".")]
    each = [one.confidence for one in translator.translate(sentences)]
    assert len(set(each)) > 1
    for first in range(len(sentences)):
        for last in range(first + 1, len(sentences) + 1):
            found = translator.translate(" ".join(sentences[first:last]), sentences=True)
            assert found.n_parts == last - first
            assert found.confidence == min(one for one in each[first:last] if one is not None)


@pytest.mark.captions
def test_words_of_improbable_tokens_are_doubtful() -> None:
    """Against the probabilities that `score` gives: a word is doubtful if one of its pieces is below the threshold."""
    bundle = load_bundle("multi30k-en-de")
    threshold, n_doubtful = -0.3, 0
    translator = translator_of(with_calibration(bundle, "en-de", doubtful_below=threshold))
    for text in [*TEXTS[:2], TEXTS[3], "A violinist tunes her battered instrument backstage."]:
        found = translator.translate(text, doubts=True)
        score = translator.score(text, found.text)
        assert score.tokens[:-1] == found.tokens
        expected, word = set(), -1
        for piece, log_prob in zip(found.tokens, score.token_log_probs[:-1], strict=True):
            word += piece.startswith("▁")
            if log_prob < threshold and piece != "▁":
                expected.add(word)
        assert set(found.doubtful or ()) == expected
        n_doubtful += len(expected)
    assert n_doubtful > 2


def test_doubts_change_nothing_else(translator: Translator) -> None:
    with_doubts = translator.translate(TEXTS, doubts=True, align=True)
    without = translator.translate(TEXTS, align=True)
    assert [replace(one, doubtful=None) for one in with_doubts] == without


def test_a_text_stays_below_the_least_confidence(translator: Translator) -> None:
    text = f"  {TEXTS[0]}\n{TEXTS[1]} "
    stays = translator.translate(text, min_confidence=1, align=True, doubts=True)
    plain = translator.translate(text, align=True)
    assert stays.text == f"{TEXTS[0]} {TEXTS[1]}"
    assert stays.flags[-1] == "unsure"
    assert stays.doubtful == ()
    assert stays.alignment == tuple((number, number) for number in range(len(words(stays.text))))
    assert (stays.alternatives, stays.confidence) == (plain.alternatives, plain.confidence)
    assert translator.translate(text, min_confidence=0, align=True) == plain
    assert "unsure" not in plain.flags


def test_a_probably_wrong_translation_has_a_flag(translator: Translator) -> None:
    found = translator.translate(TEXTS)
    least = least_confidence("de")
    assert {("low_confidence" in one.flags) == ((one.confidence or 0) < least) for one in found} == {True}
    assert any("low_confidence" in one.flags for one in found)
    for quiet in (translator.translate(TEXTS, off=["confidence"]), translator.translate(TEXTS, plain=True)):
        assert not any("low_confidence" in one.flags for one in quiet)
    assert least_confidence("zh-CN") < least


def test_the_command_counts_what_is_probably_wrong(bundle_folder: Path, tmp_path: Path, capsys: Capture) -> None:
    text = tmp_path / "text.en"
    text.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    n_wrong = sum("low_confidence" in one.flags for one in Translator.load(bundle_folder).translate(TEXTS))
    assert run(["translate", "-m", str(bundle_folder), "-i", str(text)]) == 0
    said = capsys.readouterr().err
    assert said.count("probably wrong") == 1
    assert f"{n_wrong} of {len(TEXTS)} lines" in said


XLIFF = (
    '<xliff version="1.2"><file source-language="en" target-language="de" datatype="x" original="x"><body>'
    '<trans-unit id="1"><source>A dog.</source></trans-unit></body></file></xliff>'
)
TMX = '<tmx version="1.4"><header srclang="en"/><body><tu><tuv xml:lang="en"><seg>A dog.</seg></tuv></tu></body></tmx>'
PO = 'msgid "A dog."\nmsgstr ""\n'
PLURAL = 'msgid "A dog."\nmsgid_plural "%d dogs."\nmsgstr[0] ""\nmsgstr[1] ""\n'


@pytest.mark.parametrize(("name", "content"), [("a.po", PO), ("a.po", PLURAL), ("a.xlf", XLIFF), ("a.tmx", TMX)])
def test_a_place_for_translations_alone_gets_no_unsure_one(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    for flags in ((), ("unsure",)):
        document = open_document(path, None)
        document.set_languages("en", "de")  # type: ignore[attr-defined]
        translations = [Translation("Ein Hund.", 0.0, (), flags=flags) for _ in document.segments()]
        assert ("Ein Hund." in document.rebuild(translations, "de").decode()) == (not flags)


def test_a_document_stays_below_the_least_confidence(translator: Translator, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>A <b>man</b> is riding a <i>horse</i>.</p>\n<p>She is <a href='x'>reading</a> a book.</p>\n")
    document = open_document(page, None)
    translations = list(translate_document(document, translator, min_confidence=1))
    assert document.rebuild(translations, "en") == page.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_confidence": 1.5}, "min_confidence is 1.5"),
        ({"min_confidence": "0.5"}, "min_confidence is a str"),
        ({"min_confidence": float("nan")}, "min_confidence is nan"),
        ({"doubts": 1}, "doubts is 1"),
    ],
)
def test_wrong_values_are_named(translator: Translator, options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.translate("A man.", **options)  # type: ignore[call-overload]


def test_a_model_that_is_not_calibrated_says_so() -> None:
    plain = translator_of(tiny_bundle(TOKENIZERS))
    assert plain.translate("A man.").confidence is None
    with pytest.raises(ConfigError, match=r"not calibrated from en to de.*dragoman package --calibrate"):
        plain.translate("A man.", doubts=True)
    with pytest.raises(ConfigError, match=r"--min-confidence needs .* not calibrated"):
        plain.translate("A man.", min_confidence=0.5)
    two = [calibrated(), calibrated()]
    ensemble = Translator(two, TOKENIZERS, facts=ModelFacts.of_bundles(two, ["one", "other"]))
    assert ensemble.translate("A man.").confidence is None
    with pytest.raises(ConfigError, match="an ensemble has none; translate with one model"):
        ensemble.translate("A man.", doubts=True)


def test_the_command_says_once_that_a_model_is_not_calibrated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, told = tmp_path / "a.txt", "the model is not calibrated, so no line is marked as probably wrong"
    text.write_text("A man.\n" * 20)
    command = ["translate", "-m", str(write_tiny_bundle(tmp_path / "m")), "-i", str(text)]
    for more, count in [([], 1), (["--plain"], 0), (["--off", "confidence"], 0)]:
        assert run([*command, *more]) == 0
        assert capfd.readouterr().err.count(told) == count
    assert run([*command, "--min-confidence", "0.5"]) == 2
    assert "--min-confidence needs" in capfd.readouterr().err


def test_each_direction_has_its_own_calibration() -> None:
    tokenizers = many_tokenizers()
    bundle = tiny_bundle(tokenizers)
    other = EASY.model_copy(update={"chrf": (0.1, 0.3)})
    facts = Calibrations(directions={"en-de": EASY, "en-zh": other}).model_dump(mode="json")
    translator = translator_of(replace(bundle, facts={FACT: facts}))
    for target, calibration in (("de", EASY), ("zh", other)):
        for source in ("en", None):
            found = translator.translate("A man.", source_lang=source, target_lang=target)
            best = found.alternatives[0]
            assert found.confidence == calibration.confidence(best.log_prob, len(best.tokens) + 1)
    assert translator.translate("Ein Mann.", source_lang="de", target_lang="en").confidence is None


# --- learning it -----------------------------------------------------------------------------------------------------


@pytest.mark.captions
def test_a_calibration_holds_for_other_sentences(data_folder: Path) -> None:
    lines = {
        language: gzip.decompress((data_folder / f"multi30k/val.{language}.gz").read_bytes()).decode().splitlines()
        for language in ("en", "de")
    }
    translator = Translator.load("multi30k-en-de")
    found = calibrate(translator, lines["en"][:300], lines["de"][:300], ("en", "de"))
    assert found.n_sentences == 300
    assert found.error < 0.1
    assert found.correlation > 0.25
    assert -4 < found.doubtful_below < -0.3


def test_too_few_pairs_are_refused() -> None:
    translator = translator_of(tiny_bundle(TOKENIZERS))
    with pytest.raises(DataError, match=r"3 pairs are too few to calibrate from; give 100 or more"):
        calibrate(translator, TEXTS[:3], TEXTS[:3], ("en", "de"))


@pytest.mark.torch
def test_a_package_of_a_run_is_calibrated(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = [f"A man is riding {n} horses.\tEin Mann reitet {n} Pferde.\n" for n in range(300)]
    (tmp_path / "train.tsv").write_text("".join(rows[:150]), encoding="utf-8")
    (tmp_path / "val.tsv").write_text("".join(rows[150:]), encoding="utf-8")
    options = ["--source-lang", "en", "--target-lang", "de", "-o", tmp_path / "run"]
    options += ["--pairs", tmp_path / "train.tsv", "--validation-pairs", tmp_path / "val.tsv"]
    sizes = ["model.d_model=16", "model.d_ff=32", "model.n_heads=2", "tokenizer.vocab_size=300", "training.max_steps=3"]
    more = [part for setting in sizes for part in ("--set", setting)]
    assert run(["train", *map(str, options), *more]) == 0
    assert run(["package", "-m", str(tmp_path / "run"), "-o", str(tmp_path / "packaged")]) == 0
    assert "confidence en-de, learned from " in capfd.readouterr().err
    assert load_bundle(tmp_path / "packaged").facts[FACT]["directions"]["en-de"]["n_sentences"] >= 100
    assert Translator.load(tmp_path / "packaged").translate("A man.", doubts=True).confidence is not None
    assert run(["package", "-m", str(tmp_path / "packaged"), "-o", str(tmp_path / "again")]) == 0
    assert load_bundle(tmp_path / "again").facts == load_bundle(tmp_path / "packaged").facts


# --- commands --------------------------------------------------------------------------------------------------------


def test_the_command_marks_doubtful_words(bundle_folder: Path, tmp_path: Path, translator: Translator) -> None:
    (tmp_path / "in").write_text("".join(f"{text}\n" for text in TEXTS))
    arguments = ["translate", "-m", str(bundle_folder), "-i", str(tmp_path / "in"), "--overwrite", "-o"]
    assert run([*arguments, str(tmp_path / "out"), "--doubts"]) == 0
    lines = (tmp_path / "out").read_text().splitlines()
    assert run([*arguments, str(tmp_path / "json"), "--doubts", "--json"]) == 0
    found = [json.loads(line) for line in (tmp_path / "json").read_text().splitlines()]
    for line, one in zip(lines, found, strict=True):
        assert line.replace("[?", "").replace("]", "") == one["text"]
        assert line.count("[?") == len(one["doubtful"])
        assert one["confidence"] is not None
    assert "[?" in "".join(lines)


def test_the_command_leaves_lines_of_little_confidence(
    bundle_folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").write_text("".join(f"{text}\n" for text in TEXTS))
    arguments = ["translate", "-m", str(bundle_folder), "-i", str(tmp_path / "in"), "-o", str(tmp_path / "out")]
    assert run([*arguments, "--min-confidence", "1"]) == 0
    assert (tmp_path / "out").read_text() == (tmp_path / "in").read_text()
    assert "line 1: " in (err := capfd.readouterr().err)
    assert "left as it is, because the model is not sure enough" in err
