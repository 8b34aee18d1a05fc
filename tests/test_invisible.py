"""Invisible characters change nothing: no ids, no hashes, no vocabulary; joiners stay where they are needed."""

import itertools
import unicodedata
from dataclasses import replace
from functools import cache

import pytest
import regex
import tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import tiny_bundle, tiny_tokenizers

from dragoman.data.filtering import text_problem
from dragoman.data.hashed_pairs import text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.data.selection import select
from dragoman.errors import DataError, printable
from dragoman.inspection.search_tree import inspect_search
from dragoman.settings.data_config import DataConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import clean, comparable, sanitize, without_controls
from dragoman.text.invisible import has_joiners, is_blank, unknown_joiners, without_invisible, without_joiners
from dragoman.text.learning import learn_tokenizers
from dragoman.text.segmenter import Characters
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.text.words import Words
from dragoman.translator import Translator

KINDS = ("bpe", "unigram", "words", "characters")
PAIRS = [
    ("A man is riding a horse.", "Ein Mann reitet auf einem Pferd."),
    ("She is reading a book in the garden.", "Sie liest ein Buch im Garten."),
    ("The café is open, isn't it?", "Zwei kleine Jungen spielen Fußball über dem Café."),
]
#: Words that are other words, or look broken, without their joiners.
PERSIAN = "می\u200cخواهم کتاب\u200cها را بخوانم"
HINDI, SINHALA, OLD_MALAYALAM = "क्\u200dष क्\u200cष", "ශ්\u200dරී", "അവന്\u200d"
MONGOLIAN = "ᠬᠠᠭᠠᠨ\u180eᠠ ᠨ\u180b"
FAMILY, HEART, RAINBOW = "👩🏽\u200d👩\u200d👧", "\u2764\ufe0f\u200d🔥", "🏳\ufe0f\u200d🌈"
KEYCAP, ENGLAND = "3\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
JOINED = [PERSIAN, HINDI, SINHALA, OLD_MALAYALAM, MONGOLIAN, FAMILY, HEART, RAINBOW, KEYCAP, ENGLAND, "\u2600\ufe0e"]

DEFAULT_IGNORABLE = regex.findall(r"\p{Default_Ignorable_Code_Point}", "".join(map(chr, range(0x110000))))
invisible = st.sampled_from(DEFAULT_IGNORABLE) | st.sampled_from(
    "\u200b\u200c\u200d\u200e\u202e\u2060\u2066\u00ad\ufe0f\ufeff\u180b\u180e\u3164\u034f\u2063\ufffa\U000e0001"
)
texts = st.lists(
    st.sampled_from(
        [*(side for pair in PAIRS for side in pair), *JOINED, "e\u0301 e\u0323\u0302", "ᄒ\u1161ᆫ 你好", "tôi"]
    )
    | st.text(max_size=20)
).map(" ".join)


@st.composite
def with_invisible(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the same with characters that nobody sees somewhere in it."""
    text = draw(texts)
    changed = text
    for character in draw(st.lists(invisible, min_size=1, max_size=8)):
        place = draw(st.integers(0, len(changed)))
        changed = changed[:place] + character + changed[place:]
    return text, changed


@cache
def learned(kind: str, sampling: float = 0.0) -> Tokenizers:
    config = TokenizerConfig.model_validate({"kind": kind, "sampling": sampling})
    return learn_tokenizers(lambda: iter(PAIRS), config, "en", "de")


@cache
def learned_with_joiners(kind: str) -> Tokenizer:
    rows = [(each, each) for each in JOINED for _ in range(3)]
    config = TokenizerConfig.model_validate({"kind": kind, "joint": True})
    return learn_tokenizers(lambda: iter(rows), config, "fa", "fa").target


# -- which characters -----------------------------------------------------------------------------------------------


def test_default_ignorable_characters_are_removed() -> None:
    assert all(map(is_blank, DEFAULT_IGNORABLE))
    assert all(without_invisible(f"a{each}b") == sanitize(f"a{each}b") == "ab" for each in DEFAULT_IGNORABLE)


def test_visible_format_characters_stay() -> None:
    for each in map(chr, range(0x110000)):
        if unicodedata.category(each) == "Cf" and not is_blank(each):
            assert regex.match(r"\p{Prepended_Concatenation_Mark}|\p{Egyptian_Hieroglyphs}", each), hex(ord(each))
            assert clean(f"a{each}b") == f"a{each}b"


def test_letters_marks_and_symbols_are_visible() -> None:
    for code in range(0x20000):
        each = chr(code)
        if is_blank(each) and not each.isspace() and not regex.match(r"\p{Default_Ignorable_Code_Point}", each):
            assert each in "\u2800\ufff9\ufffa\ufffb\U0001d159"


def test_every_emoji_keeps_its_style() -> None:
    for each in map(chr, range(0x20000)):
        if regex.match(r"\p{Emoji}", each) and each not in "0123456789#*":
            assert clean(f"{each}\ufe0f") == f"{each}\ufe0f"


@pytest.mark.parametrize(
    "text", ["", " ", "\u200b", "\ufeff\u200e", " \u2800\u2028\u00a0", "\u200d\ufe0f", "\U000e0001"]
)
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)
    assert comparable(text) == ""
    assert text_problem(text, "a") == text_problem("a", text) == "empty"


@pytest.mark.parametrize("control", ["\0", "\x07", "\b", "\x1b", "\x7f"])
def test_removed_controls_leave_words_whole(control: str) -> None:
    assert sanitize(f"ri{control}ding{control}") == "riding"
    assert sanitize(f"a\n{control}b\rc") == "a b c"


@given(text=texts)
def test_blank_text_is_empty_after_cleaning(text: str) -> None:
    assert is_blank(text) == (not without_invisible(text).strip())


@pytest.mark.parametrize("text", JOINED)
def test_joiners_stay_where_they_change_how_text_looks(text: str) -> None:
    assert clean(text) == without_controls(text) == text
    assert has_joiners(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("fi\u200cle re\u200dad", "file read"),
        ("a\ufe0f 3\ufe0f 3\ufe0fa", "a 3 3a"),
        ("\u200cمی \u200cخواهم\u200c.", "می خواهم."),
        ("می\u200c\u200c\u200b\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d \u200d👧", "👩 👧"),
        ("\u2764\ufe0f\ufe0f\u200b\u200d\u200d🔥", HEART),
        ("🏴\U000e0067\U000e0062 🐈\U000e0067\U000e007f", "🏴 🐈"),
        ("x\u180by\u180ez", "xyz"),
        ("e\u200d\u0301 e\u034f\u0301", "é é"),
        ("葛\U000e0100", "葛"),
        ("a\u2028b\u2800c", "a b c"),
        ("\u0600\u200f\u0661", "\u0600\u0661"),
    ],
)
def test_joiners_elsewhere_are_removed(text: str, left: str) -> None:
    assert clean(text) == left


@given(pair=with_invisible())
@settings(max_examples=300)
def test_cleaning_is_idempotent_and_independent_of_composition(pair: tuple[str, str]) -> None:
    for text in pair:
        assert clean(clean(text)) == clean(text)
        assert clean(unicodedata.normalize("NFD", text)) == clean(text)
        assert without_invisible(without_invisible(text)) == without_invisible(text)
        assert not set(sanitize(text)) & {"\u200b", "\u202e", "\u2066", "\u2028", "\ufeff"}


@given(text=st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Mn", "Zl"]), max_size=30))
def test_visible_text_stays_as_it_is(text: str) -> None:
    text = "".join(each for each in text if not is_blank(each) or each.isspace())
    assert sanitize(text) == without_controls(text) == text


# -- reading text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(pair=with_invisible())
@settings(max_examples=150)
def test_joiners_unknown_to_the_vocabulary_are_ignored(kind: str, pair: tuple[str, str]) -> None:
    plain, changed = without_joiners(without_invisible(pair[0])), pair[1]
    for side in (learned(kind).source, learned(kind).target):
        assert side.encode(changed) == side.encode(plain)
        assert side.split(changed) == side.split(plain)
        assert len(side.split(changed)) == len(side.encode(changed))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(pair=with_invisible(), key=st.integers(0, 5))
@settings(max_examples=100)
def test_samples_ignore_unknown_joiners(kind: str, pair: tuple[str, str], key: int) -> None:
    source = learned(kind, 0.3).source
    assert source.sample(pair[1], (key,)) == source.sample(without_joiners(without_invisible(pair[0])), (key,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", JOINED)
def test_joiners_that_were_learned_come_back(kind: str, text: str) -> None:
    tokenizer = learned_with_joiners(kind)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert "".join(tokenizer.split(text)).replace("▁", "").replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_learned_joiner_is_dropped_where_it_changes_nothing(kind: str) -> None:
    tokenizer = learned_with_joiners(kind)
    assert tokenizer.encode("\u200c" + PERSIAN.replace("\u200c", "\u200c\u200b\u200c")) == tokenizer.encode(PERSIAN)


def test_a_word_is_also_looked_up_without_its_joiners() -> None:
    words = Tokenizer(Words("fa"), Vocabulary(["می\u200cخواهم", "کتابها"]))
    assert words.encode("می\u200cخواهم کتاب\u200cها کتابها") == [4, 5, 5]
    assert words.split("کتاب\u200cها بچه\u200cها") == ["کتابها", "بچه\u200cها"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_corpus_with_invisible_characters_gives_the_same_vocabulary(kind: str) -> None:
    rows = [(source.replace(" ", "\u200b \u2060"), target.replace("e", "e\u00ad\ufeff")) for source, target in PAIRS]
    rows = [(unicodedata.normalize("NFD", source), target) for source, target in rows]
    config = TokenizerConfig.model_validate({"kind": kind})
    assert learn_tokenizers(lambda: iter(rows), config, "en", "de").fingerprint() == learned(kind).fingerprint()


def test_joiners_of_the_vocabulary_are_kept() -> None:
    unknown = unknown_joiners(["ab", "می", "\u200b", "\u2764\ufe0f"])
    assert without_joiners(HEART + PERSIAN, unknown) == "\u2764\ufe0f🔥" + PERSIAN.replace("\u200c", "")
    assert without_joiners(ENGLAND + HINDI, unknown_joiners(JOINED)) == ENGLAND + HINDI
    assert without_joiners("\u0928\u200d\u093c") == "\u0929"


# -- comparing text -----------------------------------------------------------------------------------------------


@given(pair=with_invisible())
def test_texts_that_look_the_same_have_one_hash(pair: tuple[str, str]) -> None:
    plain, changed = (without_joiners(without_invisible(each)) for each in pair)
    assert plain == changed
    shown = pair[0] if not has_joiners(pair[0]) else plain
    for same in (
        f"\u200b{shown}",
        shown.replace(" ", " \u2060 "),
        unicodedata.normalize("NFD", shown),
        f" {shown}\u00a0",
    ):
        assert text_hash(same) == text_hash(shown)


def test_texts_that_look_different_have_different_hashes() -> None:
    assert len(set(map(text_hash, [PERSIAN, PERSIAN.replace("\u200c", ""), "ab", "a b", "é", "e", "", "葛"]))) == 8


# -- writing text -------------------------------------------------------------------------------------------------

HIDDEN = ["\u202e", "\u2066", "\u200b", "\ufeff", "\u00ad", "\U000e0001", "\x1b", "\u2028", "\ufe0f", "\u200d"]


def test_no_vocabulary_writes_invisible_characters() -> None:
    vocabulary = Vocabulary([*HIDDEN, "a", "é", " ", "\u202eb"])
    ids = [each for word in range(len(HIDDEN)) for each in (14, word + 4, 15)] + [17, 16]
    for segmenter in (Words("en"), Characters()):
        tokenizer = Tokenizer(segmenter, vocabulary)
        written = tokenizer.decode(ids)
        assert not set(written) & {*HIDDEN, "\u202e"}
        assert written.isprintable()
    assert Tokenizer(Words("en"), vocabulary).decode([14, 6, 14]) == "a a"


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_no_bytes_write_invisible_characters(kind: str) -> None:
    tokenizer = learned(kind).target
    names = tokenizer.pieces(range(tokenizer.vocab_size))
    for hidden in HIDDEN:
        ids = [names.index(f"<0x{byte:02X}>") for byte in f"a{hidden}b".encode()]
        assert tokenizer.decode(ids).replace(" ", "") == "ab"


def test_invisible_tokens_are_shown_as_code_points() -> None:
    rows = [("a \u0627\u200cب", "x y")]
    learned = learn_tokenizers(lambda: iter(rows), TokenizerConfig(kind="characters", joint=True), "en", "de")
    hostile = Tokenizer(Characters(), Vocabulary(["\u202e", "\u200c", "a"]))
    assert hostile.pieces([4, 5, 6]) == ["\u202e", "\u200c", "a"]
    tokenizers = replace(learned, source=hostile, target=hostile)
    translator = Translator([tiny_bundle(tokenizers)], tokenizers)
    for seed in range(8):
        found = translator.translate("a", sample=True, seed=seed, temperature=9.0, max_length=20)
        assert not any("\u202e" in each for each in (found.text, *found.tokens))
        if "\\u202e" in found.tokens:
            break
    else:
        pytest.fail("the token was never written")


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\u2066", "\ufeff", "\u2028", "\u00ad", "\u2060", "\ufffa"])
def test_messages_show_invisible_characters_as_code_points(hidden: str) -> None:
    said = str(DataError("file not found", f"a{hidden}b"))
    assert hidden not in said
    assert hidden.encode("unicode_escape").decode() in said
    assert printable("می\u200cخواهم 👩\u200d👧") == "می\u200cخواهم 👩\u200d👧"


# -- from end to end -----------------------------------------------------------------------------------------------


@cache
def tiny_translator(kind: str) -> Translator:
    tokenizers = tiny_tokenizers(kind)
    return Translator([tiny_bundle(tokenizers, max_length=60)], tokenizers)


def hide(text: str) -> str:
    """The text with something invisible before each character and at its end."""
    hidden = itertools.cycle("\u200b\u200c\u200d\u2060\u200f\u202e\u2066\u00ad\ufe0f\ufeff\u180e\u3164\u034f\U000e0001")
    return "".join(next(hidden) + each for each in text) + "\u202e"


@pytest.mark.parametrize("kind", ["bpe", "characters"])
@pytest.mark.torch
def test_invisible_characters_do_not_change_a_translation(kind: str) -> None:
    from dragoman.inspection.attention_maps import inspect_attention

    translator = tiny_translator(kind)
    source, target = tiny.PAIRS[0]
    for text in (source, source * 5, "", " ", "é."):
        plain, changed = (translator.translate(each, align=True) for each in (text, hide(text)))
        assert changed == plain
        assert [each.text for each in translator.translate([text, hide(text)])] == [plain.text] * 2
    assert translator.score(hide(source), hide(target)) == translator.score(source, target)
    assert translator.translate(source, prefixes=hide("Ein")) == translator.translate(source, prefixes="Ein")
    assert translator.translate(source, prefixes="\u200b") == translator.translate(source)
    assert inspect_search(translator, hide(source)).to_dict() == inspect_search(translator, source).to_dict()
    looked = [
        inspect_attention(translator, *pair).to_dict() for pair in ((source, target), (hide(source), hide(target)))
    ]
    assert looked[0] == looked[1]


def test_invisible_lines_give_empty_lines() -> None:
    lines = ["\u200b", "A man", "\ufeff \u2060", "\u2028\u2800", "\u200d\ufe0f"]
    translations = list(tiny_translator("bpe").translate_stream(lines))
    assert [bool(each.text) for each in translations] == [False, True, False, False, False]


def test_pairs_that_look_the_same_are_duplicates_and_overlap() -> None:
    pairs = [("A café.", "Ein Café."), (hide("A café."), "Ein  Cafe\u0301."), ("Same", hide("Same")), ("\u200b", "x")]
    other = ParallelText.of_pairs("other", lambda: iter([(unicodedata.normalize("NFD", "A café."), "y")]))
    selection = select(
        ParallelText.of_pairs("x", lambda: iter(pairs)), DataConfig(dedup=True), {"validation": other}, hold_out=False
    )
    assert (selection.n_repeated, selection.n_equal, selection.overlaps) == (1, 1, {"validation": 2})
    assert selection.dropped.dropped == {"duplicate": 1, "empty": 1}
