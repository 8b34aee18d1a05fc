"""Tokenizers: text in any script comes back, nothing in a text is a command, sampling is a pure function."""

import importlib
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from extras import import_extra
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.data.multi30k import multi30k_file
from dragoman.data.text_files.lines import read_lines
from dragoman.errors import BundleError, ConfigError, DataError
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.cleaning import clean, collapse_spaces, without_controls
from dragoman.text.languages import WITHOUT_SPACES, base_language, lacks_spaces, scripts
from dragoman.text.learning import learn_tokenizers
from dragoman.text.sentence_pieces import SentencePieces, split_words
from dragoman.text.special_ids import SpecialIds
from dragoman.text.subword import Subword
from dragoman.text.subword_learning import PieceRules, learn_subword
from dragoman.text.subword_sampling import keyed_draws
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.text.vocabulary import Vocabulary
from dragoman.text.words import load_rules

PAD_ID, UNK_ID, SOS_ID, EOS_ID = SpecialIds().pad, SpecialIds().unknown, SpecialIds().start, SpecialIds().end

ENGLISH = [
    "A man is riding a horse.",
    "She is reading a book in the garden.",
    "The cat is sitting on the mat.",
    "Two young boys are playing football with a red ball.",
    "An old woman sells colourful flowers at the market.",
]
GERMAN = [
    "Ein Mann reitet auf einem Pferd.",
    "Sie liest ein Buch im Garten.",
    "Die Katze sitzt auf der Matte.",
    "Zwei kleine Jungen spielen Fußball mit einem roten Ball.",
    "Eine alte Frau verkauft bunte Blumen auf dem Markt.",
]
CHINESE = ["你好，世界。", "她在看书。", "“猫”坐在垫子上！"]
KINDS = ("bpe", "unigram", "words", "characters")
HOSTILE = ["</s>", "<pad>", "<unk> <sos> <eos>", "<s>", "<2de>", "<0x41>", "▁", "a▁b", "a\x00b", "\x1b[31m", "\ud800"]


def pairs() -> list[tuple[str, str]]:
    return list(zip(ENGLISH, GERMAN, strict=True)) * 4


def learn(kind: str, sampling: float = 0.0, **settings: object) -> Tokenizers:
    config = TokenizerConfig.model_validate({"kind": kind, "sampling": sampling, **settings})
    if kind == "words":
        import_extra("spacy", "words")
    return learn_tokenizers(lambda: iter(pairs()), config, "en", "de")


@pytest.fixture(scope="module", params=KINDS)
def tokenizers(request: pytest.FixtureRequest) -> Tokenizers:
    return learn(request.param)


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def sampling(request: pytest.FixtureRequest) -> Subword:
    source = learn(request.param, sampling=0.3).source
    assert isinstance(source, Subword)
    return source


# -- every kind of tokenizer ----------------------------------------------------------------------------------------


def test_sentences_of_the_corpus_come_back(tokenizers: Tokenizers) -> None:
    for side, sentences in ((tokenizers.source, ENGLISH), (tokenizers.target, GERMAN)):
        assert [side.decode(side.encode(text)) for text in sentences] == sentences


def test_ids_lie_in_the_vocabulary_and_are_not_special(tokenizers: Tokenizers) -> None:
    for text in [*ENGLISH, *CHINESE, *HOSTILE, "", " \t\u3000", "👩‍👩‍👧 שלום نور é"]:
        ids = tokenizers.source.encode(text)
        assert not {PAD_ID, SOS_ID, EOS_ID} & set(ids)
        assert all(0 <= each < tokenizers.source.vocab_size for each in ids)


def test_special_ids_are_left_out_of_sentences_and_named_in_pieces(tokenizers: Tokenizers) -> None:
    target = tokenizers.target
    ids = target.encode(GERMAN[0])
    assert target.decode([SOS_ID, *ids, EOS_ID, PAD_ID]) == GERMAN[0]
    assert target.pieces(range(4)) == ["<pad>", "<unk>", "<sos>", "<eos>"]
    assert len(target.pieces(ids)) == len(ids)


def test_split_gives_each_token_as_the_text_has_it(tokenizers: Tokenizers) -> None:
    for text in [*ENGLISH, *CHINESE, *HOSTILE, "", "zebra ☃☃ x", "👩‍👩‍👧 שלום é"]:
        pieces = tokenizers.source.split(text)
        ids = tokenizers.source.encode(text)
        assert len(pieces) == len(ids)
        known = [
            (piece, name)
            for piece, name, each in zip(pieces, tokenizers.source.pieces(ids), ids, strict=True)
            if each != UNK_ID
        ]
        assert all(piece == name for piece, name in known)
    assert "zebra" in "".join(tokenizers.source.split("a zebra"))


def test_an_unknown_id_is_an_error(tokenizers: Tokenizers) -> None:
    with pytest.raises(IndexError):
        tokenizers.source.decode([tokenizers.source.vocab_size])


def test_without_sampling_sample_equals_encode(tokenizers: Tokenizers) -> None:
    for text in (*ENGLISH, *HOSTILE):
        assert tokenizers.source.sample(text, (1, 2, 3)) == tokenizers.source.encode(text)


def test_saving_and_loading_changes_nothing(tokenizers: Tokenizers, tmp_path: Path) -> None:
    tokenizers.save(tmp_path)
    loaded = load_tokenizers(tmp_path)
    assert loaded.fingerprint() == tokenizers.fingerprint()
    assert (loaded.source_lang, loaded.target_lang, loaded.joint) == ("en", "de", tokenizers.joint)
    assert (loaded.source is loaded.target) == loaded.joint
    for text in (*ENGLISH, *HOSTILE):
        assert loaded.source.encode(text) == tokenizers.source.encode(text)
    for text in GERMAN:
        assert loaded.target.decode(loaded.target.encode(text)) == text


@pytest.mark.parametrize("kind", KINDS)
def test_learning_is_deterministic(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = learn(kind).fingerprint()
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert learn(kind).fingerprint() == first


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joint", [True, False])
def test_one_joint_vocabulary_or_two(kind: str, joint: bool) -> None:
    learned = learn(kind, joint=joint)
    assert learned.joint is joint
    assert (learned.source is learned.target) is joint
    assert [learned.target.decode(learned.target.encode(text)) for text in GERMAN] == GERMAN


def test_only_pieces_are_joint_by_default() -> None:
    assert TokenizerConfig(kind="bpe").is_joint
    assert not TokenizerConfig(kind="words").is_joint
    assert TokenizerConfig(kind="words", joint=True).is_joint


@pytest.mark.parametrize("kind", KINDS)
def test_lowercase(kind: str) -> None:
    learned = learn(kind, lowercase=True)
    assert learned.target.encode("EIN MANN") == learned.target.encode("ein mann")
    assert learned.target.decode(learned.target.encode(GERMAN[0])) == GERMAN[0].lower()


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_source_of_any_case_and_a_target_with_capitals(kind: str, joint: bool, tmp_path: Path) -> None:
    learned = learn(kind, lowercase_source=True, joint=joint)
    learned.save(tmp_path)
    for each in (learned, load_tokenizers(tmp_path)):
        assert each.source.encode(ENGLISH[0].upper()) == each.source.encode(ENGLISH[0].lower())
        assert each.target.decode(each.target.encode(GERMAN[0])) == GERMAN[0]
    pieces = learned.source.pieces(range(4, learned.source.vocab_size))
    german = "".join(GERMAN)
    assert joint or not any(piece.isupper() and not piece.startswith("<0x") for piece in pieces)
    assert not joint or not any(piece.isupper() and piece not in german for piece in pieces if len(piece) == 1)


@pytest.mark.parametrize("kind", KINDS)
def test_lowercasing_source_keeps_the_vocabularies(kind: str) -> None:
    before = learn(kind)
    after = before.lowercasing_source()
    assert after.source.encode(ENGLISH[0].upper()) == before.source.encode(ENGLISH[0].lower())
    assert after.target.encode(GERMAN[0]) == before.target.encode(GERMAN[0])
    assert not after.equals(before)


# -- pieces ------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(HOSTILE[:-1])


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def subword(request: pytest.FixtureRequest) -> Subword:
    source = learn(request.param).source
    assert isinstance(source, Subword)
    return source


@given(text=texts | st.lists(st.sampled_from([*ENGLISH, *CHINESE])).map(" ".join))
@settings(max_examples=300)
def test_words_are_cut_as_sentencepiece_cuts_the_sentence(subword: Subword, text: str) -> None:
    cleaned, processor = " ".join(split_words(clean(text), lowercase=False)), subword.segmenter.processor
    assert subword.encode(text) == processor.encode(cleaned)
    assert subword.split(text) == processor.encode(cleaned, out_type=str)


def test_the_word_cache_is_bounded_and_has_no_long_words(monkeypatch: pytest.MonkeyPatch) -> None:
    source = learn("bpe").source
    monkeypatch.setattr("dragoman.text.subword._MANY_WORDS", 5)
    assert isinstance(source, Subword)
    processor = source.segmenter.processor
    for _ in range(2):
        for text in ENGLISH:
            assert source.encode(text) == processor.encode(text)
            assert len(source._known_words) <= 5
    lines = ["".join(CHINESE) * 3 + str(number) for number in range(5)]
    assert [source.encode(line) for line in lines] == [processor.encode(line) for line in lines]
    assert all(len(word) < 30 for word in source._known_words)
    copy = pickle.loads(pickle.dumps(source))
    assert copy.encode(ENGLISH[0]) == source.encode(ENGLISH[0])


@given(text=texts)
@settings(max_examples=300)
def test_any_text_comes_back_through_bytes(subword: Subword, text: str) -> None:
    expected = collapse_spaces(without_controls(collapse_spaces(clean(text).replace("▁", " "))))
    assert subword.decode(subword.encode(text)) == expected


def test_case_and_full_width_punctuation_are_kept(subword: Subword) -> None:
    for text in (*CHINESE, "Straße „Ü“ ½ ﬁ Ａ", "नमस्ते 👩👧"):
        assert subword.decode(subword.encode(text)) == clean(text)


def test_equal_looking_text_has_equal_ids(subword: Subword) -> None:
    assert subword.encode("cafe\u0301  x\u00a0y") == subword.encode("caf\u00e9 x y")


def test_invalid_bytes_become_replacement_characters(subword: Subword) -> None:
    ids = subword.encode("é")
    assert "\ufffd" in subword.decode(ids[:-1])
    escape = subword.encode("a\x1b")  # a model may still write the byte itself
    first_byte = next(each for each in range(subword.vocab_size) if subword.pieces([each]) == ["<0x00>"])
    assert subword.decode([*escape, first_byte + 0x1B]).isprintable()


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_larger_than_the_corpus_allows(kind: str) -> None:
    with pytest.raises(ConfigError, match="largest possible is") as caught:
        learn(kind, vocab_size=100_000)
    largest = int(caught.value.message.split("largest possible is ")[1].split(";")[0])
    assert learn(kind, vocab_size=largest).source.vocab_size == largest
    with pytest.raises(ConfigError, match=f"largest possible is {largest};"):
        learn(kind, vocab_size=largest + 1)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_smaller_than_the_characters(kind: str) -> None:
    with pytest.raises(ConfigError, match="smallest possible is") as caught:
        learn(kind, vocab_size=20)
    smallest = int(caught.value.message.split("smallest possible is ")[1].split(";")[0])
    assert learn(kind, vocab_size=smallest).source.vocab_size == smallest


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", [("a", "b"), ("A man.", "Ein Mann."), ("你好，世界。", "Hello, world.")])
def test_one_sentence_is_enough(kind: str, pair: tuple[str, str]) -> None:
    if kind == "words":
        import_extra("spacy", "words")
    learned = learn_tokenizers(lambda: iter([pair]), TokenizerConfig.model_validate({"kind": kind}), "en", "de")
    assert learned.target.decode(learned.target.encode(pair[1])) == pair[1]


def test_no_text_and_failing_text() -> None:
    with pytest.raises(ConfigError, match="no text"):
        learn_tokenizers(lambda: iter([]), TokenizerConfig(), "en", "de")

    def failing() -> Iterator[str]:
        yield from ENGLISH
        raise DataError("damaged", "here")

    with pytest.raises(DataError, match="damaged: here"):
        learn_subword(failing(), "bpe", PieceRules(300, is_exact=False, byte_fallback=True, coverage=1.0))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory, and a process to be copied")
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_is_learned_or_memory_is_too_short_for_it(kind: str, tmp_path: Path) -> None:
    """Whatever the limit; SentencePiece aborts its process where there is none for its threads or its text."""
    program = tmp_path / "program.py"
    program.write_text(
        "import re, resource, sys; from pathlib import Path\n"
        "from dragoman.errors import ResourceError\n"
        "from dragoman.text.subword_learning import PieceRules, learn_subword\n"
        "words = [f'{number * 7919 % 99991:x}' for number in range(60000)]\n"
        "texts = [' '.join(words[start : start + 10]) for start in range(0, len(words), 10)]\n"
        "now = int(re.search(r'VmSize:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "seen, learned = set(), set()\n"
        "for more in [1, 4, 16, 64, 256, None]:\n"
        "    limit = resource.RLIM_INFINITY if more is None else now * 1024 + more * 2**20\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))\n"
        "    try:\n"
        "        learned.add(learn_subword(texts, sys.argv[1], PieceRules(500, False, True, 1.0)))\n"
        "        seen.add('learned')\n"
        "    except ResourceError as error: seen.add(error.message)\n"
        "assert len(learned) == 1, len(learned)\n"
        "assert len(seen) > 1, seen",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, program, kind], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_vocabulary_learned_in_another_process_is_the_same(
    kind: Literal["bpe", "unigram"], monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = learn_subword(ENGLISH, kind, PieceRules(300, is_exact=False, byte_fallback=True, coverage=1.0))
    monkeypatch.setattr("dragoman.machine.workers.can_fork", lambda: False)
    assert learn_subword(ENGLISH, kind, PieceRules(300, is_exact=False, byte_fallback=True, coverage=1.0)) == apart


def test_a_large_corpus_is_learned_from_evenly_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.text.learning._ENOUGH_SENTENCES", {"bpe": 20})
    rows = [(f"a{number}", f"b{number}") for number in range(1000)]
    taken: list[str] = []

    def note(texts: Iterator[str], *arguments: Any, **options: Any) -> bytes:
        taken.extend(texts)
        return learn_subword(taken, *arguments, **options)

    monkeypatch.setattr("dragoman.text.learning.learn_subword", note)
    learn_tokenizers(lambda: iter(rows), TokenizerConfig(), "en", "de")
    assert taken == [text for number in range(0, 1000, 100) for text in rows[number]]


# -- sampling ----------------------------------------------------------------------------------------------------


def test_sampling_is_a_pure_function_of_text_and_key(sampling: Subword) -> None:
    keys = [(seed, epoch) for seed in range(3) for epoch in range(20)]
    first = {(text, key): sampling.sample(text, key) for key in keys for text in ENGLISH}
    again = {(text, key): sampling.sample(text, key) for text in reversed(ENGLISH) for key in reversed(keys)}
    assert first == again
    fresh = Subword(sampling.segmenter, sampling._kind, sampling=0.3)  # remembers nothing
    assert all(fresh.sample(text, key) == ids for (text, key), ids in first.items())


def test_samples_spell_the_same_text_in_several_ways(sampling: Subword) -> None:
    for text in [*ENGLISH, "日本 x", "</s> <pad>"]:
        samples = {tuple(sampling.sample(text, (key,))) for key in range(50)}
        assert len(samples) > 5 or text not in ENGLISH
        assert {sampling.decode(each) for each in samples} == {text}
        assert not {PAD_ID, SOS_ID, EOS_ID} & {each for sample in samples for each in sample}


@given(text=texts)
@settings(max_examples=200)
def test_merging_without_dropout_equals_sentencepiece(text: str) -> None:
    assert learned_bpe().sample(text, (1,)) == learned_bpe().encode(text)


@cache
def learned_bpe() -> Subword:
    source = learn("bpe", sampling=1e-12).source
    assert isinstance(source, Subword)
    return source


def test_dropout_leaves_out_the_asked_share_of_merges() -> None:
    """A word of two characters with one merge is left apart with exactly the dropout probability."""
    model = learn_subword(["ab"] * 5, "bpe", PieceRules(12, is_exact=False, byte_fallback=False, coverage=1.0))
    tokenizer = Subword(SentencePieces(model), "bpe", sampling=0.3)
    assert len(tokenizer.encode("ab")) == 1
    n_apart = sum(len(tokenizer.sample("ab", (key,))) == 3 for key in range(4000))
    # "▁" and "a" are merged first; apart means that this merge was left out, and then "ab" cannot be made either way
    assert abs(n_apart / 4000 - share_apart(tokenizer)) < 0.03


def share_apart(tokenizer: Subword) -> float:
    """By hand: which merges there are for "▁ab", and the chance that none of them happens."""
    known = {piece for piece in ("▁a", "ab") if tokenizer.segmenter.processor.piece_to_id(piece) != UNK_ID}
    return 0.3 ** len(known)


def test_unigram_samples_follow_the_smoothed_probabilities() -> None:
    """Against all segmentations of a word, written out."""
    model = learn_subword(ENGLISH * 3, "unigram", PieceRules(330, is_exact=False, byte_fallback=True, coverage=1.0))
    tokenizer = Subword(SentencePieces(model), "unigram", sampling=0.5)
    word = "▁book"
    processor = tokenizer.segmenter.processor
    weights: dict[tuple[int, ...], float] = {}
    for cuts in range(1 << (len(word) - 1)):
        bounds = [0, *(place for place in range(1, len(word)) if cuts >> (place - 1) & 1), len(word)]
        ids = tuple(processor.piece_to_id(word[start:end]) for start, end in pairwise(bounds))
        if UNK_ID not in ids:
            weights[ids] = 2.718281828459045 ** (0.5 * sum(processor.get_score(each) for each in ids))
    assert len(weights) > 1
    counts = dict.fromkeys(weights, 0)
    for key in range(5000):
        counts[tuple(tokenizer.sample("book", (key,)))] += 1
    total = sum(weights.values())
    for ids, weight in weights.items():
        assert abs(counts[ids] / 5000 - weight / total) < 0.03


def test_draws_are_even_and_differ_by_key() -> None:
    draws = keyed_draws((1, 2))
    numbers = [next(draws) for _ in range(4000)]
    assert all(0 <= each < 1 for each in numbers)
    assert len(set(numbers)) == 4000
    assert abs(sum(numbers) / 4000 - 0.5) < 0.03
    assert next(keyed_draws((12,))) != next(keyed_draws((1, 2)))


# -- words and characters ----------------------------------------------------------------------------------------


def test_vocabulary_of_counts() -> None:
    vocabulary = Vocabulary.from_counts({"b": 2, "a": 2, "c": 5, "rare": 1, "<pad>": 3}, min_count=2)
    assert vocabulary.words == ("c", "<pad>", "a", "b")
    assert vocabulary.ids(["<pad>", "rare", "<eos>"]) == [5, UNK_ID, UNK_ID]
    assert len(vocabulary) == 8
    assert Vocabulary.from_json(json.loads(vocabulary.to_bytes())["words"]).words == vocabulary.words
    with pytest.raises(ConfigError, match=r"nothing occurs 9 times, 5 at most; lower tokenizer\.min_count"):
        Vocabulary.from_counts({"a": 5, "b": 3}, min_count=9)
    assert len(Vocabulary.from_counts({}, min_count=9)) == 4


@pytest.mark.parametrize("damaged", [None, "words", [1], ["a", "a"], ["a", ""], ["\ud800"], {"a": 1}])
def test_a_damaged_vocabulary(damaged: object) -> None:
    with pytest.raises(ValueError, match="word"):
        Vocabulary.from_json(damaged)


@pytest.mark.thorough
def test_multi30k_has_the_published_vocabulary_sizes(data_folder: Path) -> None:
    import_extra("spacy", "words")
    sides = [[str(line) for line in read_lines(multi30k_file("train", lang))] for lang in ("en", "de")]
    config = TokenizerConfig(kind="words", min_count=2, lowercase=True)
    learned = learn_tokenizers(lambda: zip(*sides, strict=True), config, "en", "de")
    assert (learned.source.vocab_size, learned.target.vocab_size) == (5893, 7853)


def test_words_read_like_a_sentence() -> None:
    spoken = "It's a t-shirt, isn't it? (Yes!) The man's dog."
    config = TokenizerConfig(kind="words")
    import_extra("spacy", "words")
    learned = learn_tokenizers(lambda: iter([(spoken, "Das „ist“ es.")]), config, "en", "qq")
    assert learned.source.decode(learned.source.encode(spoken)) == spoken
    assert learned.source.decode([UNK_ID]) == "<unk>"
    asked = "Y a-t-il un t-shirt ? Qu'est-ce que c'est ?"
    for code in ("fr", "fra_Latn"):
        learned = learn_tokenizers(lambda: iter([("-", asked)]), config.model_copy(update={"joint": False}), "en", code)
        assert learned.target.decode(learned.target.encode(asked)) == asked


def test_words_without_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ConfigError, match=r'install it: .*"dragoman\[words\]"'):
        load_rules("en")


def test_languages_that_spacy_does_not_know_have_common_rules() -> None:
    import_extra("spacy", "words")
    for code in ("und", "../x", "lex", "zz", "x" * 50):
        assert [token.text for token in load_rules(code)("a, b")] == ["a", ",", "b"]
    for code in ("en-US", "eng", "eng_Latn"):
        assert [token.text for token in load_rules(code)("don't")] == ["do", "n't"]
    assert load_rules("hsb")("a, b").text == "a, b"  # three letters are all it has


def test_codes_of_one_language_are_one_language() -> None:
    same = {
        "zh": "zh ZH zh-TW zh_Hans zho chi cmn cmn_Hans zho_Hant yue yue_Hant",
        "de": "de de-AT deu ger deu_Latn",
        "ar": "ar arb_Arab ary arz",
        "fa": "fa fas per pes_Arab prs",
        "nb": "nb nob_Latn",
        "ja": "ja jpn jpn_Jpan",
    }
    for language, codes in same.items():
        assert {base_language(code) for code in codes.split()} == {language}
    for code in ("", "und", "xx", "hsb", "qq", "no", "iw"):
        assert base_language(code) == code
    assert {base_language(code) for code in ("zho", "jpn", "tha", "lao", "khm", "mya")} == WITHOUT_SPACES


def test_every_language_of_spacy_is_known_by_its_longer_codes() -> None:
    aliases = import_extra("spacy.util", "words").LANG_ALIASES
    for language, codes in aliases.items():
        for code in codes:
            if len(code) == 3 and code not in ("mul", "viw", "rom", "mol", "scr", "scc"):  # no codes of today
                assert base_language(code) == language


def test_scripts_are_counted_by_letters() -> None:
    assert scripts(["a狗, Ж́ 3", "Ä"]) == {"LATIN": 2, "CJK": 1, "CYRILLIC": 1}
    for text in (*CHINESE, "犬が走っています", "ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာဘာသာ", "狗和 DNA 的关系"):
        assert lacks_spaces([text])
    for text in ("", "3 + 4", "한국어 문장", *ENGLISH, "The word 狗"):
        assert not lacks_spaces([text])


@given(text=st.text(st.sampled_from("ab  \tÄß"), max_size=30))
def test_spaces_of_characters_come_back(text: str) -> None:
    learned = learn_tokenizers(lambda: iter([("ab \tÄß", "ab")]), TokenizerConfig(kind="characters"), "en", "de")
    assert learned.source.decode(learned.source.encode(text)) == text


def test_unknown_characters_are_marked() -> None:
    learned = learn("characters")
    assert learned.source.decode(learned.source.encode("a日b")) == "a\ufffdb"


# -- files from strangers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 100, b"[]", b'{"words": 3}', b'{"words": ["a", "a"]}', b"{" * 10_000]
)
def test_a_damaged_vocabulary_file_is_refused(kind: str, content: bytes, tmp_path: Path) -> None:
    learn(kind, joint=True).save(tmp_path)
    next(path for path in tmp_path.iterdir() if path.name.startswith("joint")).write_bytes(content)
    with pytest.raises(BundleError):
        load_tokenizers(tmp_path)


def test_a_model_with_pieces_that_are_no_text_is_refused(tmp_path: Path) -> None:
    learn("bpe").save(tmp_path)
    path = tmp_path / "joint.model"
    content = path.read_bytes()
    assert "▁".encode() in content
    path.write_bytes(content.replace("▁".encode(), b"\xed\xa0\x80", 1))
    with pytest.raises(BundleError):
        load_tokenizers(tmp_path)


def test_wrong_settings_of_a_tokenizer_name_the_file_first(tmp_path: Path) -> None:
    learn("characters").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    description = json.loads(path.read_text())
    description["config"] |= {"kind": 1, "lowercase": "x"}
    path.write_text(json.dumps(description))
    with pytest.raises(BundleError) as caught:
        load_tokenizers(tmp_path)
    first, *others = str(caught.value).split("\n")
    assert str(path) in first
    assert len(others) == 2


def test_a_model_with_other_special_tokens_is_refused(tmp_path: Path) -> None:
    sentencepiece = importlib.import_module("sentencepiece")
    learn("bpe").save(tmp_path)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(ENGLISH), model_prefix=str(tmp_path / "joint"), vocab_size=50, minloglevel=2
    )
    with pytest.raises(BundleError, match="its ids 0, 1, 2, 3 are <unk> <s> </s>"):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format_version", 3),
        ("format_version", None),
        ("config", None),
        ("config", {"kind": "regex"}),
        ("config", {"kind": "bpe", "pattern": ".*"}),
        ("directions", [[7, "de"]]),
        ("directions", [["en", "x" * 1000]]),
        ("directions", None),
    ],
)
def test_a_damaged_description_is_refused(key: str, value: object, tmp_path: Path) -> None:
    learn("characters").save(tmp_path)
    path = tmp_path / "tokenizer.json"
    description = json.loads(path.read_text())
    description[key] = value
    path.write_text(json.dumps(description))
    with pytest.raises(BundleError):
        load_tokenizers(tmp_path)


def test_links_and_missing_files_are_refused(tmp_path: Path) -> None:
    learn("bpe").save(tmp_path)
    model = tmp_path / "joint.model"
    model.rename(tmp_path / "elsewhere")
    with pytest.raises(BundleError):
        load_tokenizers(tmp_path)
    model.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BundleError, match="not a plain file"):
        load_tokenizers(tmp_path)
