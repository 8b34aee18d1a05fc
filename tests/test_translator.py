"""Properties of a Translator for any text, with a model of random weights."""

import copy
import math
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args
from unicodedata import category
from unittest.mock import patch

import pytest
from extras import import_extra
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import PAIRS, tiny_bundle, tiny_model, tiny_tokenizers, write_tiny_bundle

from dragoman.bundle.bundle import Bundle
from dragoman.data.filtering import text_problem
from dragoman.decoding.state import State
from dragoman.errors import BundleError, ConfigError, DataError, DeadlineError
from dragoman.machine.arrays import Ints
from dragoman.machine.devices import Precision, find_device
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.runtime.sentence_search import search_sentence
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import sanitize
from dragoman.text.invisible import without_invisible
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.terms import Term, TermList
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import ComputeOptions, Request, StopCondition, Translation, Translator
from dragoman.translator.pipeline import SearchWanted, advance
from dragoman.translator.planning import Planner

SOURCES = [source for source, _ in PAIRS]


#: Rows X1, X3 to X5 and X11 of the fault cases: blank, emoji with joiners, right-to-left with direction marks,
#: combining, astral, private, unassigned, replacement, a mark inside, controls, unknown only, special tokens.
HARD = [
    "",
    " ",
    "\t\u3000 ",
    "👨‍👩‍👧 horse",
    "\u202eשלום \u200fabc\u202c",
    "a\u0301\u0323\u0301 \U0001d54f \ue000 \U0010ffff \ufffd a\ufeffb",
    "a\x00b \x1b[31mred\x1b[0m \x07 \x85 \u2028 c\rd\ne",
    "漢字漢字漢字",
    "</s> <pad> <sos> <eos> <unk> ▁▁ <2de> <0x0A>",
    "half \ud800 pair",
]


def texts(translations: list[Translation]) -> list[str]:
    return [translation.text for translation in translations]


def quiet(translator: Translator, lines: list[str], **options: int) -> list[Translation]:
    return translator.translate(lines, batch_size=options.pop("batch_size", 2048), beam_size=2)


def test_a_string_gives_one_translation_and_a_list_a_list(translator: Translator) -> None:
    one = translator.translate("A man.")
    assert isinstance(one, Translation)
    assert one.score == one.alternatives[0].score
    assert one.alignment is None
    many = translator.translate(["A man."])
    assert texts(many) == [one.text]
    assert translator.translate([]) == []


@settings(max_examples=8)
@given(st.lists(st.sampled_from([*SOURCES, *HARD, "A", "The cat", "x" * 30]), max_size=8), st.integers(1, 200))
def test_order_and_results_do_not_depend_on_the_batch(lines: list[str], batch_size: int) -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    together = quiet(translator, lines, batch_size=batch_size)
    alone = [quiet(translator, [line])[0] for line in lines]
    assert texts(together) == texts(alone)
    for first, second in zip(together, alone, strict=True):
        assert first.score == pytest.approx(second.score, abs=1e-4)


def test_hard_lines_stay_lines(translator: Translator) -> None:
    found = texts(quiet(translator, HARD))
    assert found[:3] == ["", "", ""]
    for text in found:
        assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in text.replace("\t", ""))
        text.encode()


def test_translations_end_even_for_unknown_text_and_models_that_never_stop() -> None:
    tokenizers = tiny_tokenizers("characters")
    model = tiny_bundle(tokenizers)
    model.weights["output_projection.bias"][3] = -1e9  # never the end
    translation = Translator([model], tokenizers).translate("漢字 漢字")
    assert 0 < len(translation.tokens) <= model.config.max_length


def test_control_bytes_of_a_model_do_not_reach_the_text(tokenizers: Tokenizers) -> None:
    """The model writes only bells, escapes and line ends."""
    model = tiny_bundle(tokenizers)
    model.weights["output_projection.bias"].fill(-1e9)
    for token in range(tokenizers.target.vocab_size):
        if tokenizers.target.pieces([token])[0] in ("<0x00>", "<0x07>", "<0x0A>", "<0x0D>", "<0x1B>"):
            model.weights["output_projection.bias"][token] = 0
    translation = Translator([model], tokenizers).translate("A man", max_length=20, sample=True)
    assert len(set(translation.tokens)) >= 3
    text = translation.text
    assert not any(ord(character) < 32 for character in text)


def test_time_is_linear_in_the_length(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the text gives at most twelve times the tokens that pass through the model."""
    n_tokens = 0
    start = translator.scorer.start
    done: list[int] = []

    def count(source_ids: Ints) -> State:
        nonlocal n_tokens
        n_tokens += source_ids.size
        return start(source_ids)

    monkeypatch.setattr(translator.scorer, "start", count)
    for text in ("word " * 300, "word " * 3000, "漢字" * 300, "漢字" * 3000):
        n_tokens = 0
        translator.translate(text, max_length=1, beam_size=1)
        done.append(n_tokens)
    assert 0 < done[1] <= 12 * done[0]
    assert 0 < done[3] <= 12 * done[2]


known_tokenizers = cache(tiny_tokenizers)


#: Control characters, halves of surrogate pairs, and other characters between them.
controlled = st.text(
    st.characters(max_codepoint=0xFF) | st.sampled_from("\ud83d\ude00\u0301\u2028\u200d\ufffd好") | st.characters()
)


@pytest.mark.parametrize("kind", ["bpe", "characters", "words"])
@given(text=controlled)
@settings(max_examples=300)
def test_training_and_translation_read_the_same(kind: str, text: str) -> None:
    if kind == "words":
        import_extra("spacy", "words")
    tokenizer = known_tokenizers(kind).source
    problem = text_problem(text, "b")
    if problem is None:
        assert sanitize(text) == without_invisible(text)
    elif problem == "control characters":
        assert any(category(character) in ("Cc", "Cs") and character != "\t" for character in text)
    assert text_problem(sanitize(text), "b") in (None, "empty")
    assert tokenizer.encode(text) == tokenizer.encode(sanitize(text))
    assert tokenizer.split(text) == tokenizer.split(sanitize(text))


def test_windows_quotes_are_read_in_one_way_only(translator: Translator) -> None:
    assert text_problem("l\x92homme", "der Mann") == "control characters"
    assert translator.translate("l\x92homme").text == translator.translate("l homme").text


def test_special_tokens_in_the_text_are_text(tokenizers: Tokenizers) -> None:
    for kind in (tokenizers, tiny_tokenizers("characters")):
        ids = kind.source.encode(sanitize("<pad> </s> <sos> <eos>"))
        assert not {0, 2, 3} & set(ids)


def test_a_translator_needs_a_model(tokenizers: Tokenizers) -> None:
    with pytest.raises(ConfigError, match="no models"):
        Translator([], tokenizers)


@pytest.mark.torch
def test_a_model_with_other_special_ids_than_its_tokenizers_is_refused(tokenizers: Tokenizers) -> None:
    other = SpecialIdPair(target=SpecialIds(pad=5))
    with pytest.raises(ConfigError, match="the special ids of the model are not those of the tokenizers"):
        Translator([tiny_model(tokenizers, 1, other)], tokenizers)
    with pytest.raises(ConfigError, match="the models of an ensemble have different special ids"):
        Translator([tiny_model(tokenizers), tiny_model(tokenizers, 1, other)], tokenizers)


def test_several_threads_may_use_one_translator(translator: Translator) -> None:
    texts = ["She is reading a book.", "A man.", "The cat is on the mat.", "Two dogs"] * 5
    expected = [translator.translate(text, align=True) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda text: translator.translate(text, align=True), texts)) == expected


def test_a_prefix_that_leaves_no_room_is_named_with_its_text(translator: Translator) -> None:
    texts, prefixes = ["Two dogs run over the green grass.", "A", "She"], ["", "ein " * 30, "Sie"]
    with pytest.raises(ConfigError, match=r"the prefix of text 2 has \d+ tokens, but its translation may have 23"):
        translator.translate(texts, prefixes=prefixes)
    with pytest.raises(ConfigError, match=r"text 3 has \d+ tokens, but its translation may have 1;"):
        translator.translate(texts, prefixes=["", "", "Sie liest ein Buch"], max_length=2)


def test_n_best(translator: Translator) -> None:
    translation = translator.translate("A man", n_best=3, beam_size=4)
    scores = [each.score for each in translation.alternatives]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert translation.alternatives[0].text == translation.text


def test_the_parts_of_each_alternative_are_its_text(translator: Translator) -> None:
    lines = ["A man sleeps.", '  1. A man sleeps. "Two dogs run!"  (Where is it?)', "\u2014 \u2014", ""]
    whole, cut, *rest = translator.translate(lines, n_best=2, sentences=True)
    assert not any(each.parts for translation in (whole, *rest) for each in translation.alternatives)
    assert len(cut.alternatives) == 2
    for each in cut.alternatives:
        assert "".join(part.text for part in each.parts) == each.text
        assert math.fsum(part.score for part in each.parts) == pytest.approx(each.score)
    assert len({len(each.parts) for each in cut.alternatives}) == 1
    assert len(cut.alternatives[0].parts) > 3


def test_extreme_options_work(translator: Translator) -> None:
    assert len(translator.translate("A man", max_length=1).tokens) <= 1
    assert translator.translate("A man", beam_size=999, max_length=2).text is not None
    assert translator.translate("A man", sample=True, temperature=1e-9, n_best=2).alternatives[1]


def test_a_prefix_that_the_vocabulary_lacks_is_refused() -> None:
    tokenizers = tiny_tokenizers("words")
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    assert translator.translate("A man", prefixes="Ein").text.startswith("Ein")
    with pytest.raises(ConfigError, match="the prefix of text 2 has what the vocabulary lacks; leave it out"):
        translator.translate(["A man", "A man"], prefixes=["Ein", "Ein Xylophonist"])


def test_prefixes(translator: Translator) -> None:
    assert translator.translate("A man", prefixes="Ein Mann").text.startswith("Ein Mann")
    found = texts(translator.translate(["A man", "", "She"], prefixes=["Ein", "Zwei", "Sie"]))
    assert found[0].startswith("Ein")
    assert found[1] == ""
    assert found[2].startswith("Sie")
    with pytest.raises(ConfigError, match="1 prefix for 2 texts"):
        translator.translate(["A", "B"], prefixes=["x"])


def test_a_stream_answers_in_order_and_before_its_end(translator: Translator) -> None:
    read: list[str] = []

    def lines() -> Iterator[str]:
        for line in [*SOURCES[:2], "", "A man"]:
            read.append(line)
            yield line

    stream = translator.translate_stream(lines(), batch_size=1)
    assert read == []
    first = next(stream)
    assert read == SOURCES[:1]
    found = [first.text, *texts(list(stream))]
    assert found == texts(translator.translate(read))


def test_lines_before_a_failure_are_translated(translator: Translator) -> None:
    def lines() -> Iterator[str]:
        yield from SOURCES[:2]
        raise DataError("a line that cannot be read")

    stream = translator.translate_stream(lines(), batch_size=1000)
    assert [next(stream).text, next(stream).text] == texts(translator.translate(SOURCES[:2]))
    with pytest.raises(DataError, match="cannot be read"):
        next(stream)


@settings(max_examples=10)
@given(st.lists(st.sampled_from([*SOURCES, "", "x"]), max_size=10), st.integers(1, 60))
def test_a_stream_gives_the_results_of_a_list(lines: list[str], batch_size: int) -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_bundle(tokenizers)], tokenizers, SearchConfig(beam_size=1))
    read_ahead = 1 + batch_size % 3
    streamed = list(translator.translate_stream(lines, batch_size=batch_size, read_ahead=read_ahead))
    assert texts(streamed) == texts(translator.translate(lines))


def test_several_workers_give_the_results_of_one(tokenizers: Tokenizers) -> None:
    lines = ["A man is riding a horse.", "", "dogs", "Two women and a dog walk."] * 5
    found = [
        Translator([tiny_bundle(tokenizers)], tokenizers, compute=ComputeOptions(workers=workers)).translate(
            lines, batch_size=20, beam_size=2
        )
        for workers in (1, 2)
    ]
    assert found[0] == found[1]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one process")
def test_workers_translate_portions_from_the_plan_to_the_end(tokenizers: Tokenizers) -> None:
    """Nothing is left to the process that called them; an error there names the request by its number among all, and
    the workers go on."""
    alone, several = (
        Translator([tiny_bundle(tokenizers)], tokenizers, compute=ComputeOptions(workers=workers)) for workers in (1, 2)
    )
    terms = TermList([Term("dogs", ("Hunde",))])
    requests = [Request(text, align=True, terms=terms) for text in SOURCES * 4]
    expected = alone.pipeline.translate(requests, batch_size=20)
    assert several.pipeline.portions is not None
    several.pipeline.portions.workers.start()
    with patch.object(Planner, "plan", side_effect=AssertionError("planned by the caller")):
        assert several.pipeline.translate(requests, batch_size=20) == expected
    wrong = [*requests[:7], replace(requests[7], prefix="\u4e00" * 9), *requests[8:]]
    with pytest.raises(ConfigError, match="the prefix of text 8 "):
        several.pipeline.translate(wrong, batch_size=20)
    assert several.pipeline.translate(requests, batch_size=20) == expected


def test_coarser_precisions_are_close(tmp_path: Path) -> None:
    write_tiny_bundle(tmp_path / "model")
    fine, *coarse = (Translator.load(tmp_path / "model", precision=each) for each in get_args(Precision))
    sources, targets = ["A man is riding a horse."], ["Ein Mann reitet."]
    for each in coarse:
        (score,), (exact,) = each.score(sources, targets), fine.score(sources, targets)
        assert score.token_log_probs == pytest.approx(exact.token_log_probs, abs=0.2)
        assert each.translate(sources)[0].score == pytest.approx(fine.translate(sources)[0].score, rel=0.02)


def test_a_sentence_alone_is_searched_by_the_engine(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """So are few with a beam, one after the other. Python searches for what it does better, or what only it can: a
    batch, a sample, a wide beam, and what may be cancelled in the main thread. What is found is the same."""
    pipeline, search = translator.pipeline, translator.search
    with patch("dragoman.translator.searching.search_sentence", wraps=search_sentence) as called:
        alone = quiet(translator, SOURCES[:1])
        assert called.call_count == 1
        assert quiet(translator, SOURCES[:1] * 7) == alone * 7
        assert called.call_count == 8
        called.reset_mock()
        quiet(translator, SOURCES[:1] * 8)
        translator.translate(SOURCES[:3], beam_size=1)
        translator.translate(SOURCES[0], sample=True)
        translator.translate(SOURCES[0], beam_size=101)
        plan = pipeline.plan([Request(SOURCES[0])], search)
        job, cancellable = plan.jobs[0], StopCondition(is_cancelled=lambda: False)
        [expected] = pipeline.search([job], stop=cancellable)
        assert not called.called
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(pipeline.search, [job], stop=cancellable).result() == [expected]
        assert pipeline.search([job], stop=StopCondition.after(60)) == [expected]
        assert called.call_count == 2
    monkeypatch.setattr("dragoman.translator.searching.is_fast", lambda _config: False)
    assert quiet(translator, SOURCES[:1]) == alone


@pytest.mark.parametrize("precision", get_args(Precision))
def test_a_translator_computes_in_its_precision(precision: Precision, tmp_path: Path, tokenizers: Tokenizers) -> None:
    write_tiny_bundle(tmp_path / "model")
    with patch("dragoman.translator.models.CompiledModel", wraps=CompiledModel) as made:
        Translator.load(tmp_path / "model", device="cpu", precision=precision)
        Translator([tiny_bundle(tokenizers)], tokenizers, compute=ComputeOptions(precision=precision))
    assert [call.args[2] for call in made.call_args_list] == [*usable_kernels(precision)[:1]] * 2


def test_repr_names_languages_models_and_precision(tokenizers: Tokenizers) -> None:
    models = [tiny_bundle(tokenizers), tiny_bundle(tokenizers)]
    assert repr(Translator(models[:1], tokenizers)) == "<Translator en to de, float32 on cpu>"
    assert repr(Translator(models, tokenizers)) == "<Translator en to de, 2 models, float32 on cpu>"


def test_int8_needs_a_cpu(tokenizers: Tokenizers) -> None:
    with pytest.raises(ConfigError, match="int8 is for the CPU; use bfloat16 on a GPU"):
        Translator([tiny_bundle(tokenizers)], tokenizers, compute=ComputeOptions("meta", precision="int8"))


@pytest.mark.torch
def test_int8_takes_the_cpu_beside_a_gpu(tmp_path: Path) -> None:
    write_tiny_bundle(tmp_path / "model")
    with (
        patch("dragoman.machine.devices.DRIVERS", [str(tmp_path)]),
        patch("torch.cuda.is_available", return_value=True),
    ):
        assert find_device("auto") == "cuda"
        assert Translator.load(tmp_path / "model", precision="int8").device == "cpu"


def test_an_ensemble_needs_equal_tokenizers(tmp_path: Path) -> None:
    first, second = (write_tiny_bundle(tmp_path / f"{seed}", seed) for seed in (1, 2))
    other = write_tiny_bundle(tmp_path / "characters", kind="characters")
    with pytest.raises(ConfigError, match=r"tokenizer differs.*characters"):
        Translator.load(first, other)
    ensemble, alone = Translator.load(first, second, device="cpu"), Translator.load(first, device="cpu")
    assert ensemble.translate("A man", align=True).alignment is not None
    assert all(isinstance(model, Bundle) for model in ensemble._models.models), "none is built in PyTorch"
    same = Translator.load(first, first, device="cpu")
    assert same.translate("A man").text == alone.translate("A man").text
    log_probs = [each.score(["A"], ["B"])[0].token_log_probs[0] for each in (ensemble, alone, Translator.load(second))]
    assert math.exp(log_probs[0]) == pytest.approx((math.exp(log_probs[1]) + math.exp(log_probs[2])) / 2, rel=1e-4)


def test_a_failed_load_names_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model"):
        Translator.load()
    with pytest.raises(BundleError, match="no such model"):
        Translator.load(tmp_path / "none")
    with pytest.raises(ConfigError, match="no device 'abacus'"):
        Translator.load(write_tiny_bundle(tmp_path / "tiny"), device="abacus")


def test_a_translator_can_be_copied_and_sent_to_another_process(translator: Translator) -> None:
    for other in (copy.deepcopy(translator), pickle.loads(pickle.dumps(translator))):
        assert texts(quiet(other, SOURCES)) == texts(quiet(translator, SOURCES))


@pytest.mark.torch
def test_the_translator_and_the_given_model_do_not_change_each_other(tokenizers: Tokenizers) -> None:
    """Its owner may go on training it."""
    import torch

    model = tiny_model(tokenizers)
    for precision in ("float32", "bfloat16"):
        own = Translator([model], tokenizers, compute=ComputeOptions(precision=precision))
        before, scored = own.translate("A man."), own.score(["A man."], ["Ein Mann."])
        assert all(weight.dtype == torch.float32 for weight in model.parameters())
        with torch.no_grad():
            for weight in model.parameters():
                weight += 0.3
        assert (own.translate("A man."), own.score(["A man."], ["Ein Mann."])) == (before, scored)


@pytest.mark.torch
@pytest.mark.parametrize("workers", [1, 2])
def test_pytorch_searches_where_no_library_runs(
    translator: Translator, tokenizers: Tokenizers, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.translator.models.usable_kernels", lambda _precision: ())
    compute = ComputeOptions(precision="int8", workers=workers)
    in_torch = Translator([tiny_bundle(tokenizers)], tokenizers, translator.search, compute=compute)
    for one, other in zip(quiet(in_torch, SOURCES), quiet(translator, SOURCES), strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-4)
    scores = [each.score(["A man."], ["Ein Mann."])[0].log_prob for each in (in_torch, translator)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_without_library_and_pytorch_a_line_says_what_to_install(
    tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.translator.models.usable_kernels", lambda _precision: ())
    monkeypatch.delitem(sys.modules, "dragoman.runtime.torch_model", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigError, match=r"not compiled .* PyTorch is not installed") as refused:
        Translator([tiny_bundle(tokenizers)], tokenizers)
    assert "C compiler" in str(refused.value)


def test_stages_ask_for_the_searches_of_translate(translator: Translator) -> None:
    """A caller that searches for the jobs by itself gets the same translations; random models need second searches."""
    texts = ["Two dogs run 17 times.", "A man is riding a horse.", "", "see https://example.org now", "12 34"]
    requests, pipeline = [Request(text) for text in texts], translator.pipeline
    stages, n_searches = pipeline.stages(requests), 0
    found = None
    while isinstance(wanted := advance(stages, found), SearchWanted):
        found, n_searches = pipeline.search(wanted.jobs), n_searches + 1
    assert wanted == pipeline.translate(requests)
    assert n_searches == 2


def test_stages_end_without_a_second_search_if_there_is_no_time(translator: Translator) -> None:
    pipeline, late = translator.pipeline, DeadlineError("late")
    stages = pipeline.stages([Request("Two dogs run 17 times.")])
    first = advance(stages, None)
    assert isinstance(first, SearchWanted)
    second = advance(stages, pipeline.search(first.jobs))
    assert isinstance(second, SearchWanted)
    assert "number" in advance(stages, late)[0].flags
    stages = pipeline.stages([Request("A man.")])
    advance(stages, None)
    with pytest.raises(DeadlineError):
        advance(stages, late)
