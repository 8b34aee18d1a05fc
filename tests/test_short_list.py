"""Short-lists: what is learned, what is stored, and that a search writes nothing else, with the right probabilities."""

import itertools
import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from engines import ALL_KERNELS, every_library, needs_engine
from models import compiled, random_model
from numpy.typing import NDArray
from safetensors.numpy import load, save
from test_bundle import remake_manifest
from tiny import many_tokenizers, tiny_model, write_tiny_bundle

from dragoman import Translator
from dragoman.alignment.lexicon import expected_counts, learn_short_list
from dragoman.bundle.bundle import Bundle, load_bundle, write_bundle
from dragoman.bundle.short_list_file import short_list_bytes
from dragoman.bundle.weights import weights_of
from dragoman.cli.program import run
from dragoman.data.prepared import open_prepared
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import BundleError
from dragoman.native.kernels import Kernels
from dragoman.runtime.compiled_model import CompiledModel, CompiledScores, ShortListedModel
from dragoman.settings.search_config import SearchConfig
from dragoman.text.short_list import LikelyTokens, ShortList
from dragoman.text.special_ids import SpecialIds
from dragoman.translator.request import Request

pytestmark = [pytest.mark.torch, needs_engine]

EOS_ID = SpecialIds().end

SOURCES = np.array([[4, 5, 6, EOS_ID], [7, 8, EOS_ID, 0], [9, EOS_ID, 0, 0]])
LISTS = [np.array(ids) for ids in ([3, 4, 9, 20], [3, 5, 21, 22, 23, 24], [24, 3, 3, 1])]


def whole(translator: Translator, n_likely: int = 0) -> ShortList:
    """The list of every token, for each language; or of the first ones."""
    source, target = translator.tokenizers.source, translator.tokenizers.target
    frequent = np.arange(n_likely or target.vocab_size)
    tokens = LikelyTokens(frequent, np.zeros(source.vocab_size + 1, dtype=int), np.empty(0, dtype=int))
    return ShortList(dict.fromkeys(translator.tokenizers.targets, tokens))


def with_list(bundle: Bundle, folder: Path) -> Path:
    """A bundle that may write its first 30 tokens."""
    write_bundle(folder, replace(bundle, short_list=whole(Translator([bundle], bundle.tokenizers), 30)))
    return folder


# --- scores ----------------------------------------------------------------------------------------------------------


def expected_scores(model: CompiledModel, ids: NDArray[np.int64]) -> NDArray[np.float32]:
    """The log-softmax over each sentence's own list, from the scores of the whole vocabulary; -inf elsewhere."""
    scores = model.start(SOURCES).step(ids, 0, None, np.arange(3)).array()
    for row, allowed in zip(scores, LISTS, strict=True):
        others = np.setdiff1d(np.arange(len(row)), allowed)
        row[others] = -np.inf
        row -= np.logaddexp.reduce(row)
    return scores


@every_library
def test_probabilities_of_each_sentence_sum_up_over_its_own_list(kernels: Kernels) -> None:
    model = compiled(random_model(1), kernels)
    ids = np.array([[2], [2], [2]])
    scores = [model.start(SOURCES, LISTS).step(ids, 0, None, np.arange(3)) for _ in range(3)]
    expected = expected_scores(model, ids)
    np.testing.assert_allclose(scores[0].array(), expected, atol=2e-5)
    values, best = scores[1].top_k(3)
    np.testing.assert_allclose(values, -np.sort(-expected, axis=1)[:, :3], atol=2e-5)
    assert all(set(row) <= set(allowed) for row, allowed in zip(best.tolist(), map(set, LISTS), strict=True))
    scores[2].forbid_everywhere([3, 4])
    values, best = scores[2].top_k(4)
    n_left = [len(set(allowed.tolist()) - {3, 4}) for allowed in LISTS]
    assert np.isfinite(values).sum(axis=1).tolist() == [min(4, n) for n in n_left]
    assert not {3, 4} & {id for row, n in zip(best.tolist(), n_left, strict=True) for id in row[: min(4, n)]}


@every_library
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_batch_gives_each_sentence_what_it_gets_alone(kernels: Kernels, beam_size: int) -> None:
    """Also those that are still open when others are done: the lists follow their sentences."""
    model, config = compiled(random_model(2), kernels), SearchConfig(beam_size=beam_size, n_best=beam_size)
    together = search(TransformerScorer([ShortListedModel(model, LISTS)]), SOURCES, config)
    for source, allowed, beam in zip(SOURCES, LISTS, together, strict=True):
        scorer = TransformerScorer([ShortListedModel(model, [allowed])])
        (alone,) = search(scorer, source[None, source != 0], config)
        assert [one.ids for one in beam] == [one.ids for one in alone]
        assert {id for one in beam for id in one.ids} <= set(allowed.tolist())
        np.testing.assert_allclose([one.score for one in beam], [one.score for one in alone], rtol=1e-4)


@every_library
def test_lists_and_tokens_that_do_not_exist_are_refused(kernels: Kernels) -> None:
    model, hidden = compiled(random_model(1), kernels), np.zeros((2, 16), dtype=np.float32)
    short_lists = [None, kernels.make_short_list(model.loaded, LISTS), kernels.make_short_list(model.loaded, LISTS[:1])]
    for short_list in short_lists[1:]:
        for numbers in ([0, 3], [-1, 0]):
            scores = CompiledScores(hidden, model, short_list, np.array(numbers))
            for ask in (partial(scores.top_k, 2), scores.array):
                with pytest.raises(IndexError):
                    ask()
    for short_list, forbidden in itertools.product(short_lists, (25, -1, 2**40)):
        scores = CompiledScores(hidden, model, short_list)
        scores.forbid_everywhere([4, forbidden])
        with pytest.raises(IndexError):
            scores.top_k(2)


def test_a_large_vocabulary_in_many_rows() -> None:
    """More columns and rows than are looked through at once."""
    model = compiled(random_model(1, target_vocab_size=3000), ALL_KERNELS[0])
    dice = np.random.default_rng(1)
    sources = np.concatenate([dice.integers(4, 30, (70, 3)), np.full((70, 1), EOS_ID)], axis=1)
    lists = [np.append(dice.choice(3000, 900, replace=False), EOS_ID) for _ in sources]
    ids, slots = np.full((70, 2), 2), np.arange(140)
    scores = model.start(sources, lists).step(ids, 0, np.eye(2, dtype=bool)[None].repeat(70, 0), slots)
    values, best = scores.top_k(5)
    matrix = scores.array()
    assert (np.isfinite(matrix).sum(axis=1) == [len(set(lists[row // 2].tolist())) for row in range(140)]).all()
    np.testing.assert_allclose(np.exp(matrix.astype(float)).sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(matrix, best, axis=1), values, rtol=1e-6)
    np.testing.assert_allclose(-np.sort(-matrix, axis=1)[:, :5], values, rtol=1e-6)


# --- translating -----------------------------------------------------------------------------------------------------


def test_the_list_of_all_tokens_changes_nothing(translator: Translator) -> None:
    bundle = as_bundle(translator)
    with_all = replace(bundle, short_list=whole(translator))
    texts = ["A man is riding a horse.", "She is reading a book. The cat is sitting.", "x"]
    expected = Translator([bundle], bundle.tokenizers).translate(texts)
    assert [one.text for one in Translator([with_all], bundle.tokenizers).translate(texts)] == [
        one.text for one in expected
    ]


def as_bundle(translator: Translator) -> Bundle:
    model = translator.models[0]
    return Bundle(model.config, weights_of(model), translator.tokenizers, SearchConfig(beam_size=2), {})


def test_only_tokens_of_the_list_are_written_and_those_of_the_prefix(tmp_path: Path) -> None:
    path = with_list(load_bundle(write_tiny_bundle(tmp_path / "plain")), tmp_path / "listed")
    listed, free = Translator.load(path), Translator.load(path, short_list=False)
    prefix = listed.tokenizers.target.encode("Pferd")
    assert max(prefix) >= 30
    for texts in (["A man."], ["A man.", "Some dogs run.", "The cat."]):  # by the engine alone, and in a batch
        written, others = (written_ids(one, texts) for one in (listed, free))
        assert max(written) < 30 <= max(others)  # the model has random weights: it would write anything
        assert all(one.text.startswith("Pferd") for one in listed.translate(texts, prefixes="Pferd"))


def written_ids(translator: Translator, texts: list[str]) -> list[int]:
    tokens = [token for one in translator.translate(texts, min_length=4) for token in one.tokens]
    return translator.tokenizers.target.vocabulary.ids(tokens)


def test_a_language_without_a_list_may_write_all_tokens(tmp_path: Path) -> None:
    tokenizers = many_tokenizers()
    model = tiny_model(tokenizers)
    bundle = Bundle(model.config, weights_of(model), tokenizers, SearchConfig(beam_size=2), {})
    tables = whole(Translator([bundle], tokenizers), 30).languages
    listed = replace(bundle, short_list=ShortList({"de": tables["de"]}))
    for language, is_equal in (("zh", True), ("de", False)):
        texts = [
            Translator([one], tokenizers).translate("A man.", target_lang=language).text for one in (bundle, listed)
        ]
        assert (texts[0] == texts[1]) is is_equal


def test_languages_with_a_list_and_without_one_are_searched_apart() -> None:
    tokenizers = many_tokenizers()
    model = tiny_model(tokenizers)
    bundle = Bundle(model.config, weights_of(model), tokenizers, SearchConfig(beam_size=2), {})
    tables = whole(Translator([bundle], tokenizers), 30).languages
    translator = Translator([replace(bundle, short_list=ShortList({"de": tables["de"]}))], tokenizers)
    requests = [Request("A man.", target_lang=language) for language in ("zh", "de", "zh", "de")]
    together = translator.pipeline.translate(requests, translator.search)
    alone = [translator.translate("A man.", target_lang=language).text for language in ("zh", "de")]
    assert [one.text for one in together] == [*alone, *alone]


# --- learning --------------------------------------------------------------------------------------------------------


def naive_counts(pairs: list[tuple[list[int], list[int]]]) -> dict[tuple[int, int], float]:
    """Model 1 by the book: expected counts, one pair of tokens at a time."""
    probability: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(5):
        counts = defaultdict[tuple[int, int], float](float)
        totals: dict[int, float] = defaultdict(float)
        for source, target in pairs:
            for token in target:
                whole = sum(probability[one, token] for one in source)
                for one in source:
                    counts[one, token] += probability[one, token] / whole
                    totals[one] += probability[one, token] / whole
        probability = defaultdict(float, {pair: count / totals[pair[0]] for pair, count in counts.items()})
    return counts


@pytest.mark.parametrize("chunk", [7, 100])
def test_the_counts_are_those_of_model_1(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(1)
    pairs = [(dice.integers(0, 9, dice.integers(1, 6)).tolist(), dice.integers(0, 7, 4).tolist()) for _ in range(30)]
    sources, targets = ([np.array(pair[side], dtype=np.uint8) for pair in pairs] for side in (0, 1))
    monkeypatch.setattr("dragoman.alignment.lexicon._CHUNK", chunk)
    links, counts = expected_counts(sources, targets, 7)
    expected = naive_counts(pairs)
    assert [divmod(link, 7) for link in links.tolist()] == sorted(expected)
    np.testing.assert_allclose(counts, [expected[pair] for pair in sorted(expected)], rtol=1e-4)


def test_the_list_of_a_run_has_what_its_text_teaches(reference: Path, tmp_path: Path) -> None:
    """Its sources are small letters, and their translations the capitals."""
    prepared = open_prepared(reference)
    short_list = learn_short_list(prepared.train, prepared.tokenizers)
    source, target = prepared.tokenizers.source, prepared.tokenizers.target
    allowed = short_list.ids(source.encode("a c"), prepared.tokenizers.target_lang).tolist()
    assert {*target.encode("A C"), target.special_ids.end} <= set(allowed)
    output = tmp_path / "listed"
    assert run(["package", "-m", str(reference), "-o", str(output), "--short-list", str(reference)]) == 0
    stored = load_bundle(output).short_list
    assert stored is not None
    assert stored.ids(source.encode("a c"), prepared.tokenizers.target_lang).tolist() == allowed
    assert stored.ids([], "xx").tolist() == []


@pytest.mark.parametrize("kind", ["nothing there", "other tokenizers"])
def test_text_that_is_not_the_models_is_refused(
    kind: str, reference: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, model = (tmp_path, reference) if kind == "nothing there" else (reference, write_tiny_bundle(tmp_path / "m"))
    assert run(["package", "-m", str(model), "-o", str(tmp_path / "out"), "--short-list", str(folder)]) != 0
    errors = capsys.readouterr().err
    assert ("no prepared training text" if kind == "nothing there" else "other tokenizers") in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


# --- on disk ---------------------------------------------------------------------------------------------------------


def change(name: str, array: Callable[[NDArray[np.uint16]], NDArray[np.generic]]) -> Callable[[bytes], bytes]:
    return lambda content: save({key: array(value) if key == name else value for key, value in load(content).items()})


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content.replace(b'"U16"', b'"F16"', 1).replace(b'"U16"', b'"BF16"', 1),
        lambda content: save({key: value for key, value in load(content).items() if key != "de.counts"}),
        lambda content: save(load(content) | {"fr.likely": np.zeros(3, dtype=np.uint16)}),
        change("de.frequent", lambda array: array + np.uint16(60_000)),
        change("de.frequent", lambda array: array[:3]),
        change("de.frequent", lambda array: array.astype(np.int64)),
        change("de.frequent", lambda array: array[None]),
        change("de.counts", lambda array: array + np.uint16(1)),
        change("de.counts", lambda array: array[1:]),
    ],
)
def test_a_damaged_list_is_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = with_list(load_bundle(write_tiny_bundle(tmp_path / "plain")), tmp_path / "listed")
    file = path / "short_list.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(BundleError, match="differs from its SHA-256"):
        load_bundle(path)
    remake_manifest(path)
    with pytest.raises(BundleError, match="not the short-list of this model"):
        load_bundle(path)


def test_a_list_that_the_manifest_lacks_is_refused(tmp_path: Path) -> None:
    listed = with_list(load_bundle(write_tiny_bundle(tmp_path / "plain")), tmp_path / "listed")
    shutil.copy(listed / "short_list.safetensors", tmp_path / "plain")
    with pytest.raises(BundleError, match="not listed"):
        load_bundle(tmp_path / "plain")


def test_large_vocabularies_are_stored_in_more_bytes() -> None:
    tokens = LikelyTokens(np.array([3, 70_000]), np.array([0, 0]), np.empty(0, dtype=int))
    assert load(short_list_bytes(ShortList({"de": tokens})))["de.frequent"].tolist() == [3, 70_000]
