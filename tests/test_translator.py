"""What a Translator promises for any text, with a model that talks nonsense."""

import copy
import math
import pickle
import warnings
from collections import UserList, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import get_args
from unicodedata import category
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import LEARNED, PAIRS, tiny_model, tiny_tokenizers, write_tiny_bundle

from dragoman.data.filtering import text_problem
from dragoman.decoding.search import search
from dragoman.decoding.state import State
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.machine.arrays import Ints
from dragoman.machine.devices import Precision, find_device
from dragoman.native.kernels import usable_kernels
from dragoman.runtime.compiled_model import CompiledModel
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import harmless
from dragoman.text.invisible import without_invisible
from dragoman.text.sentences import harmless_paragraphs
from dragoman.text.special_ids import SpecialIdPair, SpecialIds
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import ComputeOptions, Translation, Translator
from dragoman.translator.cutting import Limits, cut

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


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return tiny_tokenizers()


@pytest.fixture(scope="module")
def translator(tokenizers: Tokenizers) -> Translator:
    return Translator([tiny_model(tokenizers)], tokenizers, SearchConfig(beam_size=2))


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
    translator = Translator([tiny_model(tokenizers)], tokenizers)
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
    model = tiny_model(tokenizers)
    with torch.no_grad():
        model.output_projection.bias[3] = -1e9  # never the end
    translation = Translator([model], tokenizers).translate("漢字 漢字")
    assert 0 < len(translation.tokens) <= model.config.max_length


def test_bytes_that_a_model_writes_are_no_controls(tokenizers: Tokenizers) -> None:
    """A model that says nothing but bells, escapes and line ends."""
    model = tiny_model(tokenizers)
    with torch.no_grad():
        model.output_projection.bias.fill_(-1e9)
        for token in range(tokenizers.target.vocab_size):
            if tokenizers.target.pieces([token])[0] in ("<0x00>", "<0x07>", "<0x0A>", "<0x0D>", "<0x1B>"):
                model.output_projection.bias[token] = 0
    translation = Translator([model], tokenizers).translate("A man", max_length=20, sample=True)
    assert len(set(translation.tokens)) >= 3
    text = translation.text
    assert not any(ord(character) < 32 for character in text)


def test_time_is_linear_in_the_length(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the text are at most twelve times the tokens that pass through the model."""
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
#: Control characters, halves of surrogate pairs, and what stands beside them.
controlled = st.text(
    st.characters(max_codepoint=0xFF) | st.sampled_from("\ud83d\ude00\u0301\u2028\u200d\ufffd好") | st.characters()
)


@pytest.mark.parametrize("kind", ["bpe", "characters", "words"])
@given(text=controlled)
@settings(max_examples=300)
def test_training_and_translation_read_the_same(kind: str, text: str) -> None:
    if kind == "words":
        pytest.importorskip("spacy")
    tokenizer = known_tokenizers(kind).source
    problem = text_problem(text, "b")
    if problem is None:
        assert harmless(text) == without_invisible(text)
    elif problem == "control characters":
        assert any(category(character) in ("Cc", "Cs") and character != "\t" for character in text)
    assert text_problem(harmless(text), "b") in (None, "empty")
    assert tokenizer.encode(text) == tokenizer.encode(harmless(text))
    assert tokenizer.split(text) == tokenizer.split(harmless(text))


def test_windows_quotes_are_read_in_one_way_only(translator: Translator) -> None:
    assert text_problem("l\x92homme", "der Mann") == "control characters"
    assert translator.translate("l\x92homme").text == translator.translate("l homme").text


def test_special_tokens_in_the_text_are_text(tokenizers: Tokenizers) -> None:
    for kind in (tokenizers, tiny_tokenizers("characters")):
        ids = kind.source.encode(harmless("<pad> </s> <sos> <eos>"))
        assert not {0, 2, 3} & set(ids)


@given(st.text(max_size=200), st.integers(2, 30))
def test_cutting_loses_nothing(text: str, limit: int) -> None:
    parts = [part.ids for part in cut(text, visible_ids, Limits(limit))]
    assert all(0 < len(part) <= limit for part in parts)
    assert [each for part in parts for each in part] == visible_ids(text)
    if len(visible_ids(text)) <= limit and len(text) <= 16 * limit:
        assert len(parts) <= 1


def visible_ids(text: str) -> list[int]:
    return [ord(character) for character in text if not character.isspace()]


#: Text that is little else than what decides where a sentence ends.
marked = st.text(alphabet=".!?…。！？।؟”“\"'»«」「)(aAбΓß好と3 \u00a0", max_size=60)


#: Pieces of text as people and programs write it, without regard to what follows what.
WRITTEN = [
    "A man",
    "runs",
    ".",
    "!",
    "?!",
    "…",
    " ",
    "  ",
    "\n",
    "\n\n",
    "e.g.",
    "U.S.A",
    "3.5",
    "Mr.",
    "。",
    "「好」",
    "好人",
    "“Go!”",
    ",",
]
pieces = st.sampled_from([*WRITTEN, "d" * 120, "0f" * 32, "😀" * 101, "\u0301" * 120, "สวัสดี" * 5])
limits = st.builds(
    Limits, st.integers(2, 60), st.none() | st.integers(1, 3), st.none() | st.integers(1, 30), st.just(7)
)


@given(st.lists(pieces | marked, max_size=12).map("".join), limits)
@settings(max_examples=300)
def test_cutting_never_loses_or_invents_a_character(text: str, limits: Limits) -> None:
    text = harmless_paragraphs(text)
    parts = cut(text, visible_ids, limits)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
    for part in parts:
        assert part.ids == ([] if part.is_copied else visible_ids(part.text))
        assert len(part.ids) <= limits.max_length
        assert part.text.strip()
        assert part.flag or len(part.ids) <= limits.longest


def sentences_of(text: str) -> list[str]:
    return [part.text for part in cut(text, lambda part: list(map(ord, part)), Limits(500, sentences=1))]


@given(marked)
@settings(max_examples=500)
def test_sentences_make_up_the_text(text: str) -> None:
    found = sentences_of(text)
    assert all(found)
    assert "".join("".join(found).split()) == "".join(text.split())
    for before, after in pairwise(found):
        # After marks that need no space even a small letter begins a sentence, and in text without capitals.
        if after[0] in "aбß" and text != text.lower():
            assert any(mark in "。！？।" for mark in before)


@given(marked.map(lambda text: "".join(text.split())))
@settings(max_examples=500)
def test_without_spaces_no_sentence_begins_with_what_ends_one(text: str) -> None:
    for sentence in sentences_of(text)[1:]:
        assert sentence[0] not in ".!?…。！？।؟”\"'»«」)"


@pytest.mark.parametrize(
    "text",
    [
        "Am 3. Mai traf Dr. Müller den Abt. | Er kam am 7. 12. 2020. | Sie auch.",
        "Mr. Smith (and J. K. Jones) went to St. Louis. | Mrs. Smith, i.e. Ann, did not.",
        "This is No. 5 of 10 ways. | No. | He lies.",
        "It costs 3.5. | In 2020. | Then (e.g. in Fig. B) 512. | More",
        "他说：“你好。”然后走了。|她没走。",
        "他说：“你好！”。|“你好。”|“再见。”",
        "「行こう。」と彼は言った。|「うん。」|「行こう」。|次。",
        "什么？！|不会吧……真的？|iPhone。",
        "Он пришёл... и ушёл. | «Да!» сказал он. | «Нет.» | Вот.",
        "Ήρθε! και έφυγε. | Μετά.",
        "ის წავიდა. | მერე მოვიდა.",
        "« Bonjour ! » dit-il. | « Oui. » | Il part.",
        "Er ging. | »Komm!« | „Stopp!“ | Er lief (weit.) | Und",
        "वह आया। | वह गया। | هل تأتي؟ | نعم.",
        "See www.example.com. | Now",
        'A woman reads a book.|A dog runs.|Two boys! | "Three."|Four?|Five... | Six',
        "Use Node.js, www.Example.com, e.g.The U.S.A, 3.5 System.Out, v2.Beta, notes.Txt, os.Path.join, a.m.The end.",
        "Ein Mann auf einem Pferd.|Eine Frau liest bzw.Die Frau | singt.".replace(" | ", " "),
        "He came at 5 p.m. | The dog at 6 a.m. Monday.",
        'a man rides a horse. | a woman reads, e.g. mr. smith\'s book! | "stop!" he said.',
        "Он пришёл.|Она ушла.|Да!|Нет. | كيف حالك؟|أنا بخير.",
        "See http://x.org/A.Html?Q=B!C or bob@site.Com there.",
        "It is torch.Tensor here, or np.Array, self.Foo and os.Path, then.",
        "A man runs.Two dogs play.|A boy sits.People watch.".replace(".T", ".|T").replace(".P", ".|P"),
        "He lives in the U.S. | The U.S. Army left at 5 p.m. | It is Apple Inc. and Meier & Co. KG, etc. | He ran.",
        "Gov. Smith met Sen. Jones and Fa. Meier on Jan. 5. | He is 6. | She saw Tab. 4, Ch. 2, pp. 3-5 and Op. 27.",
        "1. The man. | 2. She sings. | Step 3. The end.",
        "Он живёт на ул. Ленина. | См. рис. 3.",
    ],
)
def test_where_sentences_end(text: str) -> None:
    given = text.replace(" | ", " ").replace("|", "")
    assert sentences_of(given) == [sentence.strip() for sentence in text.split("|")]


def test_a_blank_line_ends_a_sentence_and_another_line_break_does_not() -> None:
    assert sentences_of(harmless_paragraphs("A title\n\nA man\nruns\n \r\n\nThe end")) == [
        "A title",
        "A man runs",
        "The end",
    ]


def test_long_text_is_cut_at_sentences_then_words() -> None:
    def parts(text: str) -> list[str]:
        return [part.text.strip() for part in cut(text, lambda part: list(map(ord, part)), Limits(12))]

    assert parts("One two. Three four! Five?") == ["One two.", "Three four!", "Five?"]
    assert parts("一二三四五。六七八九十。十一") == ["一二三四五。", "六七八九十。", "十一"]
    assert parts("aaaa bbbb cccc dddd") == ["aaaa bbbb", "cccc dddd"]
    assert parts("aaaaaa, bbb cccc") == ["aaaaaa,", "bbb cccc"]
    assert parts("一二三四五六七，八九十一二三") == ["一二三四五六七，", "八九十一二三"]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 20_000,
        "a\u0301" * 50_000,
        "x" * 100_000,
        "One. " * 20_000,
        "." * 100_000,
        "J. " * 30_000,
        ".)" * 50_000 + "x",
    ],
)
def test_very_long_text_is_cut_wholly_in_little_time(text: str, tokenizers: Tokenizers) -> None:
    n_characters = 0

    def encode(part: str) -> list[int]:
        nonlocal n_characters
        n_characters += len(part)
        return tokenizers.source.encode(part)

    parts = cut(text, encode, Limits(500))
    assert sum(len(part.text if part.is_copied else part.ids) for part in parts) >= len(text) / 20
    # A function of the length times a logarithm of it at worst, of which the encoder sees the short pieces only.
    assert n_characters <= 6 * len(text)


def test_long_text_is_translated_in_parts_and_flagged(translator: Translator) -> None:
    text = "She is reading a book. The cat is sitting on the mat."
    translation = translator.translate(text)
    assert translation.n_parts == 2
    assert "unusual" in translation.flags
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = translator.translate(
            [f"{part}" for part in ("She is reading a book.", "The cat is sitting on the mat.")]
        )
    assert translation.text == " ".join(part.text for part in alone)
    assert translation.score == pytest.approx(sum(part.score for part in alone))


def test_sentences_are_translated_each_by_itself_where_asked_for() -> None:
    assert sentences_of('He runs. "Stop!" It\'s J. Smith, i. e. a man (old.) Yes… 一二。三') == [
        "He runs.",
        '"Stop!"',
        "It's J. Smith, i. e. a man (old.)",
        "Yes…",
        "一二。",
        "三",
    ]
    assert sentences_of("one") == ["one"]
    assert sentences_of("  ") == []
    translator = Translator.load("multi30k-en-de", device="cpu")
    apart = ["A man is riding a horse.", "A woman is reading a book.", "Two dogs are playing in the snow."]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = translator.translate(" ".join(apart), sentences=True, align=True)
        [streamed] = translator.translate_stream([" ".join(apart)], sentences=True)
    assert whole.text == streamed.text == " ".join(texts(translator.translate(apart)))
    assert whole.n_parts == 3
    assert {source for source, _ in whole.alignment or ()} >= {1, 7, 13}


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


def test_a_prefix_that_leaves_no_room_is_named_by_its_text(translator: Translator) -> None:
    texts, prefixes = ["Two dogs run over the green grass.", "A", "She"], ["", "ein " * 30, "Sie"]
    with pytest.raises(ConfigError, match=r"the prefix of text 2 has \d+ tokens, but its translation may have 23"):
        translator.translate(texts, prefixes=prefixes)
    with pytest.raises(ConfigError, match=r"text 3 has \d+ tokens, but its translation may have 1;"):
        translator.translate(texts, prefixes=["", "", "Sie liest ein Buch"], max_length=2)


@pytest.mark.parametrize("language", ["zh-CN", "zho_Hans", "jpn"])
def test_chinese_parts_are_joined_without_a_space(language: str) -> None:
    tokenizers = tiny_tokenizers(target_lang=language)
    translator = Translator([tiny_model(tokenizers)], tokenizers)
    translation = translator.translate("She is reading a book. The cat is sitting on the mat.")
    alone = translator.translate(["She is reading a book.", "The cat is sitting on the mat."])
    assert translation.text == "".join(part.text for part in alone)


def test_n_best(translator: Translator) -> None:
    translation = translator.translate("A man", n_best=3, beam_size=4)
    scores = [each.score for each in translation.alternatives]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert translation.alternatives[0].text == translation.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_best": 3}, "n_best 3 is more than beam_size 2"),
        ({"beam_size": 0}, "beam_size"),
        ({"temperature": 0.0}, "temperature"),
        ({"min_length": 9, "max_length": 8}, "min_length 9"),
        ({"beam_siez": 3}, "did you mean 'beam_size'"),
    ],
)
def test_wrong_options_are_configuration_errors(
    translator: Translator, options: dict[str, float], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.translate("A", **options)  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match=message):
        translator.translate_stream([], **options)  # type: ignore[arg-type]


def test_extreme_but_right_options(translator: Translator) -> None:
    assert len(translator.translate("A man", max_length=1).tokens) <= 1
    assert translator.translate("A man", beam_size=999, max_length=2).text is not None
    assert translator.translate("A man", sample=True, temperature=1e-9, n_best=2).alternatives[1]


def test_a_prefix_that_the_vocabulary_lacks_is_refused() -> None:
    tokenizers = tiny_tokenizers("words")
    translator = Translator([tiny_model(tokenizers)], tokenizers)
    assert translator.translate("A man", prefixes="Ein").text.startswith("Ein")
    with pytest.raises(ConfigError, match="the prefix of text 2 has what the vocabulary lacks; leave it out"):
        translator.translate(["A man", "A man"], prefixes=["Ein", "Ein Xylophonist"])


def test_what_no_option_can_be_is_refused(tmp_path: Path, translator: Translator) -> None:
    with pytest.raises(ConfigError, match="batch_size is 0"):
        translator.translate(["A man"], batch_size=0)
    with pytest.raises(ConfigError, match="unknown precision 'bf16'; use float32, bfloat16 or int8"):
        Translator.load(write_tiny_bundle(tmp_path / "tiny"), device="cpu", precision="bf16")  # type: ignore[arg-type]


def test_prefixes(translator: Translator) -> None:
    assert translator.translate("A man", prefixes="Ein Mann").text.startswith("Ein Mann")
    found = texts(translator.translate(["A man", "", "She"], prefixes=["Ein", "Zwei", "Sie"]))
    assert found[0].startswith("Ein")
    assert found[1] == ""
    assert found[2].startswith("Sie")
    with pytest.raises(ConfigError, match="1 prefixes for 2 texts"):
        translator.translate(["A", "B"], prefixes=["x"])


def test_streaming_answers_before_the_end_and_in_order(translator: Translator) -> None:
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


def test_what_was_read_before_a_failure_is_translated(translator: Translator) -> None:
    def lines() -> Iterator[str]:
        yield from SOURCES[:2]
        raise DataError("a line that cannot be read")

    stream = translator.translate_stream(lines(), batch_size=1000)
    assert [next(stream).text, next(stream).text] == texts(translator.translate(SOURCES[:2]))
    with pytest.raises(DataError, match="cannot be read"):
        next(stream)


@settings(max_examples=10)
@given(st.lists(st.sampled_from([*SOURCES, "", "x"]), max_size=10), st.integers(1, 60))
def test_streaming_gives_what_a_list_gives(lines: list[str], batch_size: int) -> None:
    tokenizers = tiny_tokenizers()
    translator = Translator([tiny_model(tokenizers)], tokenizers, SearchConfig(beam_size=1))
    read_ahead = 1 + batch_size % 3
    streamed = list(translator.translate_stream(lines, batch_size=batch_size, read_ahead=read_ahead))
    assert texts(streamed) == texts(translator.translate(lines))


def test_several_workers_give_what_one_gives(tokenizers: Tokenizers) -> None:
    lines = ["A man is riding a horse.", "", "dogs", "Two women and a dog walk."] * 5
    found = [
        Translator([tiny_model(tokenizers)], tokenizers, compute=ComputeOptions(workers=workers)).translate(
            lines, batch_size=20, beam_size=2
        )
        for workers in (1, 2)
    ]
    assert found[0] == found[1]


def test_coarser_numbers_are_near(tmp_path: Path) -> None:
    write_tiny_bundle(tmp_path / "model")
    fine, *coarse = (Translator.load(tmp_path / "model", precision=each) for each in get_args(Precision))
    sources, targets = ["A man is riding a horse."], ["Ein Mann reitet."]
    for each in coarse:
        assert each.score(sources, targets) == fine.score(sources, targets)  # nearest to the search's own, on a CPU
        assert each.translate(sources)[0].score == pytest.approx(fine.translate(sources)[0].score, rel=0.02)


@pytest.mark.parametrize("precision", get_args(Precision))
def test_a_translator_computes_in_its_precision(precision: Precision, tmp_path: Path, tokenizers: Tokenizers) -> None:
    write_tiny_bundle(tmp_path / "model")
    with patch("dragoman.translator.models.CompiledModel", wraps=CompiledModel) as made:
        Translator.load(tmp_path / "model", device="cpu", precision=precision)
        Translator([tiny_model(tokenizers)], tokenizers, compute=ComputeOptions(precision=precision))
    assert [call.args[2] for call in made.call_args_list] == [*usable_kernels(precision)[:1]] * 2


def test_a_translator_says_what_it_is(tokenizers: Tokenizers) -> None:
    models = [tiny_model(tokenizers), tiny_model(tokenizers)]
    assert repr(Translator(models[:1], tokenizers)) == "<Translator en to de, float32 on cpu>"
    assert repr(Translator(models, tokenizers)) == "<Translator en to de, 2 models, float32 on cpu>"


def test_integers_are_for_the_cpu(tokenizers: Tokenizers, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="int8 is for the CPU; use bfloat16 on a GPU"):
        Translator([tiny_model(tokenizers)], tokenizers, compute=ComputeOptions("meta", precision="int8"))
    write_tiny_bundle(tmp_path / "model")
    with (
        patch("dragoman.machine.devices.DRIVERS", [str(tmp_path)]),
        patch("torch.cuda.is_available", return_value=True),
    ):
        assert find_device("auto") == "cuda"
        assert Translator.load(tmp_path / "model", precision="int8").device == "cpu"


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
    models = [tiny_model(tokenizers, 1), tiny_model(tokenizers, 2)]
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


def test_scores_of_the_unreadable_are_errors(translator: Translator) -> None:
    long = "The cat " * 20
    assert not translator.fits(long, "x")
    with pytest.raises(DataError, match="pair 2 has"):
        translator.score(["A", long], ["A", "B"])
    with pytest.raises(DataError, match="2 sources but 1 targets"):
        translator.score(["A", "B"], ["A"])
    with pytest.raises(DataError, match="a text and the other a list"):
        translator.score("A", ["A"])  # type: ignore[call-overload]


def test_an_ensemble_needs_equal_tokenizers(tmp_path: Path) -> None:
    first, second = (write_tiny_bundle(tmp_path / f"{seed}", seed) for seed in (1, 2))
    other = write_tiny_bundle(tmp_path / "characters", kind="characters")
    with pytest.raises(ConfigError, match=r"tokenizer differs.*characters"):
        Translator.load(first, other)
    ensemble, alone = Translator.load(first, second, device="cpu"), Translator.load(first, device="cpu")
    same = Translator.load(first, first, device="cpu")
    assert same.translate("A man").text == alone.translate("A man").text
    log_probs = [each.score(["A"], ["B"])[0].token_log_probs[0] for each in (ensemble, alone, Translator.load(second))]
    assert math.exp(log_probs[0]) == pytest.approx((math.exp(log_probs[1]) + math.exp(log_probs[2])) / 2, rel=1e-4)


def test_loading_tells_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model"):
        Translator.load()
    with pytest.raises(BundleError, match="no such model"):
        Translator.load(tmp_path / "none")
    with pytest.raises(ConfigError, match="no device 'abacus'"):
        Translator.load(write_tiny_bundle(tmp_path / "tiny"), device="abacus")


def test_a_translator_can_be_copied_and_sent_to_another_process(translator: Translator) -> None:
    for other in (copy.deepcopy(translator), pickle.loads(pickle.dumps(translator))):
        assert texts(quiet(other, SOURCES)) == texts(quiet(translator, SOURCES))


def test_a_model_that_is_given_stays_as_it_is(tokenizers: Tokenizers) -> None:
    """Whoever gave it may train on: neither does that change the translator, nor the translator the model."""
    model = tiny_model(tokenizers)
    for precision in ("float32", "bfloat16"):
        own = Translator([model], tokenizers, compute=ComputeOptions(precision=precision))
        before, scored = own.translate("A man."), own.score(["A man."], ["Ein Mann."])
        assert all(weight.dtype == torch.float32 for weight in model.parameters())
        if precision == "bfloat16":
            changed = own.score(["A man."], ["Ein Mann."])
            assert changed == scored
        with torch.no_grad():
            for weight in model.parameters():
                weight += 0.3
        assert own.translate("A man.") == before


def test_without_compiled_kernels_numpy_gives_the_same(
    translator: Translator, tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.translator.models.usable_kernels", lambda _precision: ())
    in_numpy = Translator(translator.models, tokenizers, translator.search)
    for one, other in zip(quiet(in_numpy, SOURCES), quiet(translator, SOURCES), strict=True):
        assert one.text == other.text
        assert one.score == pytest.approx(other.score, abs=1e-4)


@pytest.fixture(scope="module")
def single(tokenizers: Tokenizers) -> Translator:
    """A translator that learned from single sentences, each of at most 20 tokens."""
    return Translator([tiny_model(tokenizers, max_length=64)], tokenizers, SearchConfig(beam_size=2), learned=LEARNED)


def test_what_learned_from_single_sentences_is_given_single_ones(single: Translator) -> None:
    apart = ["She is reading.", "The cat is here.", "Two dogs"]
    alone = texts(single.translate(apart))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in (" ".join(apart), "\n".join(apart), "She is reading.The cat is here.\n\nTwo dogs"):
            whole = single.translate(text)
            assert (whole.text, whole.n_parts) == (" ".join(alone), 3)
            assert not {"copied", "unusual"} & set(whole.flags)
        assert single.translate(" ".join(apart), sentences=True) == single.translate(" ".join(apart))
        assert single.translate(" ".join(apart[:2]), sentences=False).n_parts == 1
        [streamed] = single.translate_stream([" ".join(apart)])
    assert streamed.text == " ".join(alone)


@given(st.lists(st.sampled_from(["He runs.", "She is reading.", "Two dogs run."]), max_size=9), st.integers(1, 4))
def test_so_many_sentences_go_together_as_the_model_knows(sentences: list[str], known: int) -> None:
    parts = cut(" ".join(sentences), visible_ids, Limits(500, known, 30, 20))
    assert sum(len(sentences_of(part.text)) for part in parts) == len(sentences)
    for part in parts:
        assert len(sentences_of(part.text)) <= known
        assert len(part.ids) <= 30
    for one, other in pairwise(parts):  # neither could have taken in what follows
        first = sentences_of(other.text)[0]
        assert len(sentences_of(one.text)) == known or len(one.ids) + len(visible_ids(first)) > 30


def test_the_sentences_that_a_model_knows_are_those_of_one_line_in_twenty() -> None:
    for shares, known in (((), 1), ((0.049,), 1), ((0.05,), 2), ((0.9, 0.5, 0.01), 3)):
        assert LEARNED.model_copy(update={"several_sentences": shares}).known_sentences == known


def test_a_sentence_longer_than_those_learned_from_is_cut_and_flagged(single: Translator) -> None:
    text = "A man is riding a horse, a cat is sitting on the mat, two dogs run over the grass, she is reading."
    short, long = single.translate(["A man.", text])
    assert ("unusual" in short.flags, "unusual" in long.flags) == (False, True)
    assert long.n_parts > 1
    whole = single.translate("A man is riding a horse, two dogs run.", sentences=False)
    assert (whole.n_parts, "unusual" in whole.flags) == (1, True)


#: No words of any language; each is copied as it is.
NO_WORDS = [
    "data:image/png;base64," + "iVBORw0KGgo" * 50,
    "https://example.com/" + "a/b-c?d=e&" * 30,
    "x" * 20_000,
    "0123456789" * 2_000,
    "and/or-" * 3_000,
    "ab\u00b7" * 3_000,
    "👨‍👩‍👧" * 1_000,
    "a" + "\u0323\u0301" * 30_000,
    "Ä" * 101,
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
]


@pytest.mark.parametrize("word", NO_WORDS, ids=range(len(NO_WORDS)))
def test_what_is_no_word_is_copied_and_told(translator: Translator, word: str) -> None:
    with patch.object(translator.scorer, "start", side_effect=AssertionError("it is searched for")):
        alone = translator.translate(word)
    assert (alone.text, alone.tokens, alone.flags) == (word, (word,), ("copied",))
    around = translator.translate(["A man", "She is reading"])
    inside = translator.translate(f"A man {word} She is reading", n_best=2, align=True)
    assert inside.text == f"{around[0].text} {word} {around[1].text}"
    assert "copied" in inside.flags
    assert len(inside.alternatives) == 2
    for each in inside.alternatives:
        assert word in each.text
        n_before = len(each.text.split(word)[0].split())
        assert (2, n_before) in (each.alignment or ())
        assert not any((source == 2) != (target == n_before) for source, target in each.alignment or ())


marks = st.text(alphabet=".!?…-—*_♥👍()«»“” ", min_size=1, max_size=20).filter(str.strip)


@given(marks)
def test_marks_without_a_word_are_copied_and_told(single: Translator, text: str) -> None:
    with patch.object(single.scorer, "start", side_effect=AssertionError("it is searched for")):
        alone = single.translate(text)
    assert alone.text == " ".join(text.split())
    assert alone.flags == ("copied",)


def test_a_word_of_more_tokens_than_the_lines_learned_from_is_copied(single: Translator) -> None:
    word = "zqxjvw" * 10
    assert single.translate(word).text == word
    assert single.translate(word[:30]).flags[-1] == "unusual"  # it may be a word of a kind that was not learned from
    inside = single.translate(f"A man, {word}, two dogs")
    assert f"{word}," in inside.text.split()
    assert "copied" in inside.flags


def test_pictures_after_a_sentence_are_copied(single: Translator) -> None:
    assert single.translate("A man. ♥ ♥").text == f"{single.translate('A man.').text} ♥ ♥"


def test_marks_are_read_by_a_model_that_learned_from_such_lines(tokenizers: Tokenizers) -> None:
    knows = LEARNED.model_copy(update={"without_words": 0.1})
    for learned in (knows, None):
        translator = Translator([tiny_model(tokenizers, max_length=64)], tokenizers, learned=learned)
        assert "copied" not in translator.translate("...").flags


def test_wide_space_makes_no_text_long(single: Translator) -> None:
    assert single.translate(f"A man{' ' * 50_000}is riding.") == single.translate("A man is riding.")


def test_several_of_them_are_copied_with_the_marks_between(translator: Translator) -> None:
    text = f"- {'x' * 200}, {'y' * 200} - A man {'z' * 300} ."
    translation = translator.translate(text, align=True)
    assert translation.text.startswith(f"- {'x' * 200}, {'y' * 200} ")
    assert translation.text.endswith(f" {'z' * 300} .")
    words = len(text.split()), len(translation.text.split())
    assert {(0, 0), (1, 1), (2, 2), (words[0] - 2, words[1] - 2)} <= set(translation.alignment or ())


def test_a_copied_word_follows_the_prefix_and_is_harmless(translator: Translator) -> None:
    word = "\x1b" + "y\ud800" * 100 + "\x07"
    translation = translator.translate(f"{word} A man", prefixes="Ein Mann", align=True)
    assert translation.text.startswith("Ein Mann " + "y\ufffd" * 100 + " ")
    assert (0, 2) in set(translation.alignment or ())


def test_long_rows_of_scripts_without_spaces_are_no_words() -> None:
    for letters in ("漢字", "ひらがな", "สวัสดี", "བོད་ཡིག", "한국어", "，、"):
        text = letters * 3_000
        parts = cut(text, visible_ids, Limits(60, 1, 40, 30))
        assert not any(part.is_copied for part in parts)
        assert "".join(part.text for part in parts) == text
        assert len(parts) <= len(text) / 10
        assert not any(category(part.text[0]).startswith("M") for part in parts)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "the texts are None; give a string, or a list"),
        (3.5, "the texts are 3.5, a number"),
        (b"A", "the texts are bytes"),
        (Path("a"), "the texts are a .*Path"),
        ({"a": "b"}, "the texts are a dict"),
        ({"a"}, "the texts are a set"),
        ((each for each in "ab"), "the texts are a generator; translate_stream takes"),
        (np.array("A man"), "the texts are an? ndarray"),
        (["A", None], "text 2 is None; give strings"),
        (("A", "B", 7), "text 3 is 7, a number"),
        (["A", b"B"], "text 2 is bytes; decode"),
        ([["A"]], "text 1 is a list"),
        (["A", Path("b")], "text 2 is a .*Path"),
        ([{}], "text 1 is a dict"),
        (np.array([["A"]]), "text 1 is an? ndarray"),
        (range(2), "text 1 is 0, a number"),
        ([True], "text 1 is True"),
        ([math.nan], "text 1 is nan, a number"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_is_no_text_is_named_with_its_place(translator: Translator, given: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        translator.translate(given)  # type: ignore[call-overload]
    if not isinstance(given, Iterator):
        both = message.replace("text", "source")
        with pytest.raises(ConfigError, match=both):
            translator.score(given, given)  # type: ignore[call-overload]


@pytest.mark.parametrize("wrong", [None, 3, b"A", {"a": "b"}], ids=str)
def test_no_text_beside_a_text_is_named(translator: Translator, wrong: object) -> None:
    for call in (translator.score, translator.fits):
        for pair in (("A", wrong), (wrong, "A")):
            with pytest.raises(ConfigError, match=r"(the source|the target|the sources) (is|are) "):
                call(*pair)  # type: ignore[operator]


@pytest.mark.parametrize("wrong", [None, 3, b"a", ["a", "b"], {"a": 1}], ids=str)
def test_what_is_no_name_of_a_model_is_refused(wrong: object) -> None:
    with pytest.raises(ConfigError, match="model 1 is "):
        Translator.load(wrong)  # type: ignore[arg-type]


def test_anything_in_an_order_that_has_only_strings_is_a_list_of_them(translator: Translator) -> None:
    expected = translator.translate(["A man", "She"])
    both = ["A man", "She"]
    for each in (tuple(both), np.array(both), deque(both), UserList(both)):
        assert translator.translate(each) == expected  # type: ignore[call-overload]
    assert translator.translate(np.str_("A man")) == expected[0]
    assert translator.translate("A man", batch_size=np.int64(64)) == expected[0]
    assert translator.translate("A man", beam_size=np.int64(2)) == translator.translate("A man", beam_size=2)
    assert list(translator.translate_stream(each for each in ["A man", "She"])) == expected


def test_wrong_arguments_beside_the_texts_are_named(translator: Translator) -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"prefixes": [None, "x"]}, "prefix 1 is None"),
        ({"prefixes": 3}, "the prefixes are 3, a number"),
        ({"prefixes": b"Ein"}, "the prefixes are bytes"),
        ({"batch_size": "64"}, "batch_size is a str; give a whole number"),
        ({"batch_size": True}, "batch_size is True"),
        ({"batch_size": 2.0}, "batch_size is 2.0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": np.array([1, 2])}, "batch_size is an? ndarray"),
        ({"align": "yes"}, "align is a str; give True or False"),
        ({"sentences": 1}, "sentences is 1"),
        ({"beam_size": "5"}, "beam_size"),
        ({"n_best": [1]}, "n_best"),
    ]
    for options, message in wrong:
        with pytest.raises(ConfigError, match=message):
            translator.translate(["A", "B"], **options)  # type: ignore[call-overload]
    for name in ("prefixes", "read_ahead", "batch_size"):
        with pytest.raises(ConfigError, match=f"{name.replace('prefixes', 'the prefix')} is a list"):
            translator.translate_stream([], **{name: ["x"]})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [None, "A man", b"A", 3, {"a": "b"}, Path("a")], ids=str)
def test_a_stream_is_read_one_by_one(translator: Translator, given: object) -> None:
    with pytest.raises(ConfigError, match=r"the lines are .*; give a list or a generator"):
        translator.translate_stream(given)  # type: ignore[arg-type]


def test_a_line_of_a_stream_that_is_no_text_comes_after_those_before_it(translator: Translator) -> None:
    stream = translator.translate_stream(iter(["A man", None]), batch_size=1000)  # type: ignore[list-item]
    assert next(stream) == translator.translate("A man")
    with pytest.raises(ConfigError, match="line 2 is None"):
        next(stream)
