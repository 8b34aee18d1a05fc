"""Text cut into segments: nothing is lost, and each segment is of a kind that the model can translate."""

import warnings
from itertools import pairwise
from unicodedata import category
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import LEARNED, tiny_bundle, tiny_tokenizers

from dragoman.settings.search_config import SearchConfig
from dragoman.text.sentences import sanitize_paragraphs
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import ModelFacts, Translation, Translator
from dragoman.translator.cutting import SegmentLimits, cut


def texts(translations: list[Translation]) -> list[str]:
    return [translation.text for translation in translations]


@given(st.text(max_size=200), st.integers(2, 30))
def test_cutting_loses_nothing(text: str, limit: int) -> None:
    parts = [part.ids for part in cut(text, visible_ids, SegmentLimits(limit, takes_frames=False))]
    assert all(0 < len(part) <= limit for part in parts)
    assert [each for part in parts for each in part] == visible_ids(text)
    if len(visible_ids(text)) <= limit and len(text) <= 16 * limit:
        assert len(parts) <= 1


def visible_ids(text: str) -> list[int]:
    return [ord(character) for character in text if not character.isspace()]


#: Text made mostly of the marks that decide where a sentence ends.
marked = st.text(alphabet=".!?…。！？।؟”“\"'»«」「)(aAбΓß好と3 \u00a0", max_size=60)


#: Pieces of text as people and programs write it; a test joins them in any order.
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
    SegmentLimits, st.integers(2, 60), st.none() | st.integers(1, 3), st.none() | st.integers(1, 30), st.just(7)
)


@given(st.lists(pieces | marked, max_size=12).map("".join), limits)
@settings(max_examples=300)
def test_cutting_never_loses_or_invents_a_character(text: str, limits: SegmentLimits) -> None:
    text = sanitize_paragraphs(text)
    parts = cut(text, visible_ids, limits)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
    for part in parts:
        assert part.ids == ([] if part.is_copied else visible_ids(part.text))
        assert len(part.ids) <= limits.max_length
        assert part.text.strip()
        assert part.flag or len(part.ids) <= limits.longest


def sentences_of(text: str) -> list[str]:
    limits = SegmentLimits(500, sentences=1, takes_frames=False)
    return [part.text for part in cut(text, lambda part: list(map(ord, part)), limits)]


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
def test_without_spaces_no_sentence_begins_with_an_end_mark(text: str) -> None:
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
        "Τι κάνεις; | Ο κ. Νίκος ρώτησε: «Πού είσαι;» | Πήγε; ναι. | Τι;|Πού;",
        "Run a; exit. | Write α, β; then γ.",
        "We set λ; However, it failed. | Der Winkel α; Die Seite b.",
        "Πού είναι; | «Εδώ» είπε.",
        "Ես տանն եմ: | Նա ասում է «այո»: | Ժամը 10:30 է, տես՝ գիրք: էջ 5։ | Վերջ։",
        "እንዴት ነህ፧ | ደህና ነኝ። | ሰላም አለ፡፡ | ሄደ።|ነገ።",
        "គាត់ទៅសាលារៀន៕ | ថ្ងៃនេះគាត់ឈឺ។|ល្អណាស់។",
        "डॉ. शर्मा आए। | वे गए॥ | ठीक है?",
    ],
)
def test_sentences_end_where_expected(text: str) -> None:
    given = text.replace(" | ", " ").replace("|", "")
    assert sentences_of(given) == [sentence.strip() for sentence in text.split("|")]


def test_a_blank_line_ends_a_sentence_and_another_line_break_does_not() -> None:
    assert sentences_of(sanitize_paragraphs("A title\n\nA man\nruns\n \r\n\nThe end")) == [
        "A title",
        "A man runs",
        "The end",
    ]


def test_long_text_is_cut_at_sentences_then_words() -> None:
    def parts(text: str) -> list[str]:
        return [part.text.strip() for part in cut(text, lambda part: list(map(ord, part)), SegmentLimits(12))]

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
def test_very_long_text_is_cut_whole_in_linear_time(text: str, tokenizers: Tokenizers) -> None:
    n_characters = 0

    def encode(part: str) -> list[int]:
        nonlocal n_characters
        n_characters += len(part)
        return tokenizers.source.encode(part)

    parts = cut(text, encode, SegmentLimits(500))
    assert sum(len(part.text if part.is_copied else part.ids) for part in parts) >= len(text) / 20
    # The cost grows as n log n at worst, and the encoder sees the short pieces only.
    assert n_characters <= 6 * len(text)


def test_long_text_is_translated_in_segments_and_flagged(translator: Translator) -> None:
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


@pytest.mark.captions
def test_sentences_are_translated_one_by_one_on_request() -> None:
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


@pytest.mark.parametrize("language", ["zh-CN", "zho_Hans", "jpn"])
def test_chinese_segments_are_joined_without_a_space(language: str) -> None:
    tokenizers = tiny_tokenizers(target_lang=language)
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    translation = translator.translate("She is reading a book. The cat is sitting on the mat.")
    alone = translator.translate(["She is reading a book.", "The cat is sitting on the mat."])
    assert translation.text == "".join(part.text for part in alone)


@pytest.fixture(scope="module")
def single(tokenizers: Tokenizers) -> Translator:
    """A translator that learned from single sentences, each of at most 20 tokens."""
    bundle, facts = tiny_bundle(tokenizers, max_length=64), ModelFacts(learned=LEARNED)
    return Translator([bundle], tokenizers, SearchConfig(beam_size=2), facts=facts)


def test_a_model_of_single_sentences_gets_single_sentences(single: Translator) -> None:
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
def test_segments_have_as_many_sentences_as_the_model_knows(sentences: list[str], known: int) -> None:
    parts = cut(" ".join(sentences), visible_ids, SegmentLimits(500, known, 30, 20))
    assert sum(len(sentences_of(part.text)) for part in parts) == len(sentences)
    for part in parts:
        assert len(sentences_of(part.text)) <= known
        assert len(part.ids) <= 30
    for one, other in pairwise(parts):  # neither could have taken in what follows
        first = sentences_of(other.text)[0]
        assert len(sentences_of(one.text)) == known or len(one.ids) + len(visible_ids(first)) > 30


def test_a_model_knows_as_many_sentences_as_one_line_in_twenty_has() -> None:
    for shares, known in (((), 1), ((0.049,), 1), ((0.05,), 2), ((0.9, 0.5, 0.01), 3)):
        assert LEARNED.model_copy(update={"several_sentences": shares}).known_sentences == known


def test_an_unusually_long_sentence_is_cut_and_flagged(single: Translator) -> None:
    text = "A man is riding a horse, a cat is sitting on the mat, two dogs run over the grass, she is reading."
    short, long = single.translate(["A man.", text])
    assert ("unusual" in short.flags, "unusual" in long.flags) == (False, True)
    assert long.n_parts > 1
    whole = single.translate("A man is riding a horse, two dogs run.", sentences=False)
    assert (whole.n_parts, "unusual" in whole.flags) == (1, True)


#: Strings that are no words of any language; each is copied as it is.
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
def test_strings_too_long_for_a_word_are_copied_and_flagged(translator: Translator, word: str) -> None:
    with patch.object(translator.scorer, "start", side_effect=AssertionError("it is searched for")):
        alone = translator.translate(word)
    is_flagged = any(map(str.isalnum, word)) and not word.startswith("https://")  # marks and addresses are right
    assert (alone.text, alone.tokens, alone.flags) == (word, (word,), ("copied",) if is_flagged else ())
    around = translator.translate(["A man", "She is reading"])
    inside = translator.translate(f"A man {word} She is reading", n_best=2, align=True)
    assert inside.text == f"{around[0].text} {word} {around[1].text}"
    assert ("copied" in inside.flags) == is_flagged
    assert len(inside.alternatives) == 2
    for each in inside.alternatives:
        assert word in each.text
        n_before = len(each.text.split(word)[0].split())
        assert (2, n_before) in (each.alignment or ())
        assert not any((source == 2) != (target == n_before) for source, target in each.alignment or ())


marks = st.text(alphabet=".!?…-—*_♥👍()«»“” ", min_size=1, max_size=20).filter(str.strip)


@given(marks)
def test_marks_without_words_are_copied(single: Translator, text: str) -> None:
    with patch.object(single.scorer, "start", side_effect=AssertionError("it is searched for")):
        alone = single.translate(text)
    assert (alone.text, alone.flags) == (" ".join(text.split()), ())


def test_a_word_of_too_many_tokens_is_copied(single: Translator) -> None:
    word = "zqxjvw" * 10
    assert single.translate(word).text == word
    assert "unusual" in single.translate(word[:30]).flags  # it may be a word of a kind that was not learned from
    inside = single.translate(f"A man, {word}, two dogs")
    assert f"{word}," in inside.text.split()
    assert "copied" in inside.flags


def test_pictures_after_a_sentence_are_copied(single: Translator) -> None:
    assert single.translate("A man. ♥ ♥").text == f"{single.translate('A man.').text} ♥ ♥"
    assert single.translate("A man. ♥ ♥").flags == single.translate("A man.").flags


def test_a_model_that_learned_from_marks_translates_them(tokenizers: Tokenizers) -> None:
    knows = LEARNED.model_copy(update={"without_words": 0.1})
    for learned in (knows, None):
        translator = Translator([tiny_bundle(tokenizers, max_length=64)], tokenizers, facts=ModelFacts(learned=learned))
        assert "copied" not in translator.translate("...").flags


def test_wide_spaces_do_not_cut_a_text(single: Translator) -> None:
    assert single.translate(f"A man{' ' * 50_000}is riding.") == single.translate("A man is riding.")


def test_copied_strings_keep_the_marks_between_them(translator: Translator) -> None:
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


def test_long_stretches_of_scripts_without_spaces_are_cut() -> None:
    for letters in ("漢字", "ひらがな", "สวัสดี", "བོད་ཡིག", "한국어", "，、"):
        text = letters * 3_000
        parts = cut(text, visible_ids, SegmentLimits(60, 1, 40, 30))
        assert not any(part.is_copied for part in parts)
        assert "".join(part.text for part in parts) == text
        assert len(parts) <= len(text) / 10
        assert not any(category(part.text[0]).startswith("M") for part in parts)
