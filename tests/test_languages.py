"""Many languages in one model: tags, reserved pieces, digits, and one vocabulary for all."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import PAIRS

from dragoman.errors import BundleError, ConfigError
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.language_sampling import LanguagePairs, count_languages, sample_languages
from dragoman.text.learning import learn_many_tokenizers, learn_tokenizers
from dragoman.text.subword import Subword
from dragoman.text.tags import reserved_names, split_tags, target_tag, with_tag
from dragoman.text.tokenizer import Tokenizers
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.translator.directions import Directions

CHINESE = [
    ("A man is riding a horse.", "一个男人在骑马。"),
    ("She is reading a book.", "她在看书，看了2024年的书。"),
    ("Room 17, 3 pm", "17号房间，下午3点"),
    ("She rides a horse.", "她在骑马。"),
]
TEXTS = (
    LanguagePairs(lambda: iter(PAIRS), "en", "de", both_ways=True),
    LanguagePairs(lambda: iter(CHINESE), "en", "zh"),
)
DIRECTIONS = (("en", "de"), ("de", "en"), ("en", "zh"))
TAGS = {">>de<<", ">>en<<", ">>zh<<"}
words = st.lists(
    st.sampled_from(["A", "man", "12:45", "⟨1⟩", "(⟨3⟩).", "x⟨2⟩⟨1⟩y", ">>de<<", ">>xx<<", "⟨9⟩", "一个男人", "½"]),
    max_size=8,
)


def learn(kind: str = "bpe", tags: tuple[str, ...] = (), **settings: Any) -> Tokenizers:
    config = {"kind": kind, "split_digits": True, "reserved": 3} | settings
    return learn_many_tokenizers(TEXTS, TokenizerConfig.model_validate(config), tags)


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def many(request: pytest.FixtureRequest) -> Tokenizers:
    return learn(request.param, sampling=0.4, tags=("bt",))


def test_languages_and_tags_follow_from_the_corpora(many: Tokenizers) -> None:
    assert many.directions == DIRECTIONS
    assert many.targets == ("de", "en", "zh")
    assert many.languages == ("mul", "mul")
    assert many.is_tagged
    assert many.source.tags == TAGS | {">>bt<<"}
    assert many.tag("zh") == ">>zh<<"
    assert many.reserved == ("⟨1⟩", "⟨2⟩", "⟨3⟩")


def test_one_target_has_no_tag() -> None:
    texts = [LanguagePairs(lambda: iter(PAIRS), "en", "de"), LanguagePairs(lambda: iter(PAIRS), "nl", "de")]
    learned = learn_many_tokenizers(texts, TokenizerConfig())
    assert (learned.languages, learned.is_tagged, learned.tag("de")) == (("mul", "de"), False, "")
    assert not learned.source.tags


@given(words)
def test_tags_are_read_at_the_beginning_alone(parts: list[str]) -> None:
    tokenizers = _MANY["bpe"]
    text = " ".join(parts)
    encode, pieces = tokenizers.source.encode, tokenizers.source.pieces
    tags, rest = split_tags(text, TAGS)
    assert rest.split() == text.split()[len(tags) :]
    assert pieces(encode(text))[: len(tags)] == list(tags)
    assert not TAGS & set(pieces(encode(text))[len(tags) :])
    assert tokenizers.source.decode(encode(f"x {text}")) == " ".join(f"x {text}".split())
    assert pieces(encode(with_tag(">>zh<<", text))) == [">>zh<<", *pieces(encode(text))]


def test_a_tag_that_is_typed_again_and_again_counts_once() -> None:
    tagged = Directions(_MANY["bpe"]).tagged(">>de<<" * 1_000 + ">>zh<< A man.", "en")
    assert (tagged.typed_tags, tagged.tags) == (">>de<< >>zh<<", ">>de<< >>zh<<")
    assert (tagged.text, tagged.target_lang) == ("A man.", "de")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(words, st.integers(0, 50))
def test_reserved_pieces_and_digits_are_never_cut_or_merged(kind: str, parts: list[str], key: int) -> None:
    tokenizers = _MANY[kind]
    text = " ".join(parts)
    wanted = Counter(re.findall("⟨[123]⟩", text))
    for ids in (tokenizers.source.encode(text), tokenizers.source.sample(text, (key,))):
        pieces = tokenizers.source.pieces(ids)
        assert Counter(piece for piece in pieces if "⟨" in piece and "⟩" in piece) == wanted
        assert all(
            len(piece) == 1
            for piece in pieces
            if re.search("[0-9]", piece) and piece not in ("⟨1⟩", "⟨2⟩", "⟨3⟩") and not piece.startswith("<0x")
        )


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("joint", [True, False])
def test_a_tag_in_a_target_is_text(kind: str, joint: bool, tmp_path: Path) -> None:
    tokenizers = learn(kind, ("bt",), joint=joint, byte_fallback=True, sampling=0.4)
    tokenizers.save(tmp_path)
    for source, target in ((one.source, one.target) for one in (tokenizers, load_tokenizers(tmp_path))):
        for text in (">>de<< Ein Mann", ">>bt<<", "x >>zh<<"):
            assert target.decode(target.encode(text)) == target.decode(target.sample(text, (1,))) == text
            assert not source.tags & set(target.split(text))
        assert target.lowercasing().tags == target.tags == frozenset()
        assert source.pieces(source.encode(">>de<< Ein"))[0] == ">>de<<"
        assert target.encode("Ein ⟨2⟩ Mann") == target.vocabulary.ids(target.split("Ein ⟨2⟩ Mann"))


_MANY = {kind: learn(kind, sampling=0.4) for kind in ("bpe", "unigram")}


def test_old_samples_do_not_change_with_pieces_that_a_text_does_not_have() -> None:
    """Reserved pieces between words that are sampled change the draws of none of them."""
    source = _MANY["bpe"].source
    assert isinstance(source, Subword)
    plain = Subword(source.segmenter, "bpe", sampling=0.4)
    for _, text in PAIRS:
        assert source.sample(text, (1,)) == plain.sample(text, (1,))


@pytest.mark.parametrize("lowercase", [False, True])
def test_saving_and_loading_changes_nothing(many: Tokenizers, lowercase: bool, tmp_path: Path) -> None:
    tokenizers = many.lowercasing_source() if lowercase else many
    tokenizers.save(tmp_path)
    loaded = load_tokenizers(tmp_path)
    assert loaded.equals(tokenizers)
    assert loaded.fingerprint() == tokenizers.fingerprint()
    assert (loaded.directions, loaded.source.tags) == (tokenizers.directions, tokenizers.source.tags)
    for text in (">>zh<< >>bt<< A man ⟨2⟩ 17:45", "Ein Mann", "⟨1⟩"):
        assert loaded.source.encode(text) == tokenizers.source.encode(text)
        assert loaded.source.sample(text, (3,)) == tokenizers.source.sample(text, (3,))


def test_learning_is_deterministic_and_tags_before_sources_change_nothing() -> None:
    tagged = [(with_tag(target_tag("zh"), source), target) for source, target in CHINESE]
    texts = TEXTS[0], LanguagePairs(lambda: iter(tagged), "en", "zh")
    config = TokenizerConfig(split_digits=True, reserved=3)
    assert learn_many_tokenizers(texts, config).fingerprint() == learn().fingerprint()


@pytest.mark.parametrize("joint", [True, False])
def test_sides_have_the_languages_that_they_read(joint: bool) -> None:
    tokenizers = learn(joint=joint, byte_fallback=False)
    unknown = tokenizers.source.special_ids.unknown
    assert (unknown in tokenizers.source.encode("骑马")) != joint  # Chinese is a target only
    assert unknown not in tokenizers.target.encode("骑马")
    assert unknown not in tokenizers.source.encode("Ein Pferd")


def test_small_languages_count_as_the_fifth_root_of_their_size() -> None:
    large = [(f"a{number}", f"b{number}") for number in range(3200)]
    small = [(f"c{number}", f"d{number}") for number in range(100)]
    texts = [LanguagePairs(lambda: iter(large), "en", "de"), LanguagePairs(lambda: iter(small), "en", "fr")]
    counts = count_languages(texts, (0, 1), ())
    assert counts.sentences == {"en": 3300, "de": 3200, "fr": 100}
    taken = Counter(text[0] for text in sample_languages(texts, {0: False, 1: False}, (), counts.rates(1000)))
    assert 995 <= taken.total() <= 1000
    assert taken["b"] / taken["d"] == pytest.approx(2, abs=0.02)  # 32 ** (1/5)
    everything = sum(1 for _ in sample_languages(texts, {0: False, 1: False}, (), counts.rates(10**6)))
    assert 6595 <= everything <= 6600


def test_rare_characters_of_large_scripts_have_pieces() -> None:
    """Where Latin letters are most of a text, those of Chinese are few, and each seen twice has a piece."""
    characters = [chr(0x4E00 + number) for number in range(2000)]
    rows = [("some English text, long enough", character * 2) for character in characters]
    texts = [LanguagePairs(lambda: iter(rows), "en", "zh", both_ways=True)]
    learned = learn_many_tokenizers(texts, TokenizerConfig())
    assert all(character in learned.source.vocabulary for character in characters)
    assert learned.source.vocab_size >= 4300


@pytest.mark.parametrize(
    ("texts", "settings", "message"),
    [
        ([("en", "und"), ("en", "de")], {}, "needs the language of each text, not 'und'"),
        ([("en", "de"), ("en", "fr")], {"kind": "words"}, "need tokenizer.kind bpe or unigram, not words"),
        ([("en", "German"), ("en", "fr")], {}, "'German' is no language code"),
        ([("en", f"x{chr(97 + i)}{chr(97 + j)}") for i in range(26) for j in range(26)] * 2, {}, None),
        ([("aa", f"{chr(97 + k)}{chr(97 + i)}{chr(97 + j)}") for i in range(26) for j in range(26) for k in (1, 2)], {},
         "1,352 directions, but a model has 1 to 1,000"),
    ],
)  # fmt: skip
def test_directions_that_no_model_has_are_refused(
    texts: list[tuple[str, str]], settings: dict[str, Any], message: str | None
) -> None:
    corpora = [LanguagePairs(lambda: iter(PAIRS), *languages) for languages in texts]
    if message is None:
        assert len(learn_many_tokenizers(corpora[:8], TokenizerConfig()).directions) == 8
        return
    with pytest.raises(ConfigError, match=message):
        learn_many_tokenizers(corpora, TokenizerConfig.model_validate(settings))


def test_a_tag_has_a_name() -> None:
    for name in ("", "b t", "<x", "x" * 33):
        with pytest.raises(ConfigError, match="cannot be the name of a tag"):
            learn(tags=(name,))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("directions", None, "directions are not a list of pairs"),
        ("directions", [["en"]], "directions are not a list of pairs"),
        ("directions", [["en", 3]], "directions are not a list of pairs"),
        ("directions", [], "0 directions, but a model has 1 to 100,000"),
        ("directions", [["en", "de"]] * 2, "a direction is there twice"),
        ("directions", [["en", "de"]] * 5000, "a direction is there twice"),
        (
            "directions",
            [
                ["ab", f"{a}{b}_{c}x"]
                for a in "cdefghijklmnopqrs"
                for b in "abcdefghijklmnop"
                for c in "abcdefghijklmnop"
            ],
            "has up to 4,000, or all",
        ),
        ("directions", [["en", "de"], ["en", "und"]], "not 'und'"),
        ("directions", [["en", "de"], ["en", "../x"]], "no language code"),
        ("directions", [["en", "de"], ["en", "it"]], "no tag of its vocabulary is for the language 'it'"),
        ("source_lang", "en", "unknown key 'source_lang'"),
        ("languages", ["en", "de"], "unknown key 'languages'"),
        ("format_version", 2, "format 2 is not known"),
        ("reserved", 4, "the reserved piece ⟨4⟩ is missing"),
    ],
)
def test_a_damaged_description_is_refused(key: str, value: object, message: str, tmp_path: Path) -> None:
    learn().save(tmp_path)
    path = tmp_path / "tokenizer.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    (description["config"] if key == "reserved" else description)[key] = value
    path.write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(BundleError, match=re.escape(message)):
        load_tokenizers(tmp_path)


def test_pieces_that_are_cut_are_not_reserved(tmp_path: Path) -> None:
    plain = learn_tokenizers(lambda: iter([("⟨1⟩ ⟨1⟩", "⟨1⟩")] * 9), TokenizerConfig(vocab_size=264), "en", "de").source
    assert isinstance(plain, Subword)
    with pytest.raises(ValueError, match="the reserved piece"):
        Subword(plain.segmenter, "bpe", reserved=reserved_names(1))
