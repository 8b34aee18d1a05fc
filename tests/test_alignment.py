"""Attention captured from outside the model, and the word alignments read from it."""

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from models import sentences, small_model
from tiny import PAIRS, tiny_model, tiny_tokenizers, write_tiny_bundle
from torch import Tensor

from dragoman.alignment.capture import capture_attention, used_weights
from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import Places, link_words, token_weights, word_weights
from dragoman.alignment.word_spans import token_spans, word_spans, words
from dragoman.bundle.bundle import load_bundle, save_bundle
from dragoman.errors import BundleError
from dragoman.model.attention import MultiHeadAttention
from dragoman.model.transformer import Transformer
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import clean
from dragoman.text.special_ids import SpecialIds
from dragoman.text.tokenizer import Tokenizers
from dragoman.translator import ModelFacts, Translator

pytestmark = pytest.mark.torch

SOS_ID, EOS_ID = SpecialIds().start, SpecialIds().end

SOURCE = sentences([4, 5, 6, 7, 3], [8, 9, 3])
TARGET = sentences([2, 4, 5, 6], [2, 7])
VARIANTS: list[dict[str, Any]] = [
    {"norm": "post"},
    {"norm": "pre", "bias": False},
    {"positions": "rotary"},
    {"positions": "learned", "d_k": 6, "d_v": 5},
    {"memory": "layerwise"},
]

# ------------------------------------------------------------------------------------------------------- capture


def attentions(model: Transformer) -> dict[tuple[str, int], MultiHeadAttention]:
    found: dict[tuple[str, int], Any] = {}
    for number, layer in enumerate(model.encoder_layers):
        found["encoder", number] = layer.self_attention
    for number, layer in enumerate(model.decoder_layers):
        found["decoder", number] = layer.self_attention
        found["cross", number] = layer.cross_attention
    return found


def watch_values(attention: MultiHeadAttention, seen: list[tuple[Tensor, Tensor]]) -> None:
    """Record the values that go into an attention and its output."""
    attend = attention.attend

    def noted(queries: Tensor, keys: Tensor, values: Tensor, *rest: Any) -> Tensor:
        out = attend(queries, keys, values, *rest)
        seen.append((values, out))
        return out

    vars(attention)["attend"] = noted


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("source_length", [5, 70])  # over 64 keys the model uses a fused kernel
def test_the_maps_are_the_weights_of_the_model(variant: dict[str, Any], source_length: int) -> None:
    model = small_model(max_length=80, **variant)
    source = torch.cat((SOURCE[:, :1].repeat(1, source_length - 5), SOURCE), dim=1)
    seen: dict[tuple[str, int], list[tuple[Tensor, Tensor]]] = {key: [] for key in attentions(model)}
    for key, attention in attentions(model).items():
        watch_values(attention, seen[key])
    with capture_attention(model) as maps:
        model(source, TARGET)
    assert maps["encoder"].shape == (2, 2, 4, source_length, source_length)
    assert maps["decoder"].shape == (2, 2, 4, 4, 4)
    assert maps["cross"].shape == (2, 2, 4, 4, source_length)
    for (kind, number), attention in attentions(model).items():
        ((values, out),) = seen[kind, number]
        attended = maps[kind][number] @ values  # type: ignore[index]
        merged = attention.output_projection(attended.transpose(1, 2).flatten(2))
        torch.testing.assert_close(merged, out)


def test_rows_sum_to_one_and_masked_positions_have_no_weight() -> None:
    model = small_model()
    with capture_attention(model) as maps:
        model(SOURCE, TARGET)
    for kind in ("encoder", "decoder", "cross"):
        torch.testing.assert_close(maps[kind].sum(-1), torch.ones_like(maps[kind][..., 0]))
    assert not maps["encoder"][:, 1, ..., 3:].any()
    assert not maps["cross"][:, 1, ..., 3:].any()
    assert not maps["decoder"].triu(1).any()


def test_capturing_changes_nothing_and_leaves_nothing_behind() -> None:
    model = small_model()
    before = model(SOURCE, TARGET)
    with capture_attention(model), capture_attention(model) as inner:
        during = model(SOURCE, TARGET)
    assert torch.equal(before, during)
    assert inner["cross"].size(0) == 2
    assert not any("attend" in vars(attention) for attention in attentions(model).values())
    with pytest.raises(RuntimeError, match="stop"), capture_attention(model):
        raise RuntimeError("stop")
    assert not any("attend" in vars(attention) for attention in attentions(model).values())


def test_a_capture_step_by_step_equals_one_at_once() -> None:
    model = small_model(positions="rotary")
    with capture_attention(model) as whole:
        model(SOURCE[:1], TARGET[:1])
    source_mask = (SOURCE[:1] != 0)[:, None, None, :]
    cache = model.start_cache(model.encode(SOURCE[:1]), source_mask)
    for place in range(4):
        with capture_attention(model) as step:
            model.step(TARGET[:1, place : place + 1], cache)
        torch.testing.assert_close(step["cross"][..., 0, :], whole["cross"][..., place, :])
        torch.testing.assert_close(step["decoder"][..., 0, :], whole["decoder"][..., place, : place + 1])


def test_an_unused_attention_is_an_error() -> None:
    with capture_attention(small_model()) as maps:
        pass
    with pytest.raises(LookupError, match="run the model"):
        maps["cross"]


def test_the_weights_of_a_single_attention() -> None:
    attention = MultiHeadAttention(8, 2).eval()
    x = torch.randn(1, 3, 8)
    keys, values = attention.keys_values(x, x)
    weights = used_weights(attention, x, keys)
    merged = attention.output_projection((weights @ values).transpose(1, 2).flatten(2))
    torch.testing.assert_close(merged, attention(x, x, x))


# --------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ein Mann, ein Pferd.", ["Ein", "Mann,", "ein", "Pferd."]),
        ("车站在哪里？", ["车", "站", "在", "哪", "里", "？"]),
        ("我爱Tom Smith。", ["我", "爱", "Tom", "Smith。"]),
        ("  \t ", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0x2000), max_size=60))
@example("\u180b")
def test_words_of_spaced_scripts_are_those_of_split(text: str) -> None:
    """Invisible characters are no words, here a variation selector."""
    if not any(
        "\u0e00" <= each <= "\u0eff" or "\u1000" <= each <= "\u109f" or "\u1780" <= each <= "\u17ff" for each in text
    ):
        assert len(words(text)) == len(clean(text).split())


@pytest.fixture(scope="module", params=["bpe", "characters"])
def tokenizers(request: pytest.FixtureRequest) -> Tokenizers:
    return tiny_tokenizers(request.param)


TEXTS = [
    *(source for source, _ in PAIRS),
    "A  riding☃ zebra, x",
    "木 a木材b.",
    "a▁b",
    "<sos> <0x41>",
    "é e\u0301 ✂️",
    ".",
]


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_lie_in_order_and_fill_their_words(tokenizers: Tokenizers, text: str) -> None:
    pieces = tokenizers.source.split(text)
    spans = token_spans(pieces, text)
    assert len(spans) == len(pieces)
    assert all(0 <= start <= end for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert max(end for _, end in spans) == (word_spans(text)[-1][1] if word_spans(text) else 0)
    shares = Places.of(pieces, text).shares()
    assert bool((shares.sum(axis=1) > 0).all()), "every word has a token"
    assert bool((shares.sum(axis=0) <= 1 + 1e-6).all()), "no token is there twice"


def test_pieces_belong_to_their_words() -> None:
    pieces = ["▁col", "our", "ful", "▁", "<0xE2>", "<0x98>", "<0x83>", "!", "▁x", "."]
    shares = Places.of(pieces, "colourful ☃! x.").shares()
    assert shares.argmax(axis=0).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert shares.sum(axis=0).tolist() == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1], "a space is no word's"


def test_a_token_may_hold_several_words_and_an_unknown_token_the_rest() -> None:
    assert Places.of(["▁", "车站", "在"], "车站在").shares().tolist() == [[0, 0.5, 0], [0, 0.5, 0], [0, 0, 1]]
    shares = Places.of(["a", "<unk>", "rides"], "a zebra rides").shares()
    assert shares.argmax(axis=0).tolist() == [0, 1, 2]


def test_tokens_of_very_long_texts_are_placed_by_proportion() -> None:
    spans = token_spans(["x"] * 6000, "y" * 6000)
    assert spans[3000] == (3000, 3001)


# --------------------------------------------------------------------------------------------------------- links


def test_links_follow_the_weights_of_the_chosen_heads() -> None:
    cross = np.zeros((2, 2, 4, 3), dtype=np.float32)  # three tokens were written, after the start mark
    cross[1, 0] = np.eye(4)[:, :3]  # row t looks at source token t
    cross[0, 1, 1:] = np.eye(3)[::-1]  # read: the reverse
    source, target = Places.of(["▁a", "▁b", "▁c"], "a b c"), Places.of(["▁x", "▁y", "▁z"], "x y z")

    def links(layer: int, head: int, shifted: bool) -> tuple[tuple[int, int], ...]:
        weights = token_weights(cross, AlignmentHeads(heads=((layer, head),), shifted=shifted))
        return link_words(word_weights(weights, source, target))

    assert links(1, 0, shifted=False) == ((0, 0), (1, 1), (2, 2))
    assert links(0, 1, shifted=True) == ((0, 2), (1, 1), (2, 0))
    assert links(1, 0, shifted=True) == ((1, 0), (2, 1))  # the last token looked at nothing
    assert links(0, 0, shifted=False) == ()


def test_weights_of_the_tokens_of_a_word_are_added_and_averaged() -> None:
    weights = np.array([[0.3, 0.3, 0.4, 0.0], [0.1, 0.5, 0.4, 0.0], [0.0, 0.0, 0.1, 0.9]], dtype=np.float32)
    source = Places.of(["▁rid", "ing", "▁a"], "riding a")  # the fourth column is the end mark
    target = Places.of(["▁rei", "tet"], "reitet")
    np.testing.assert_allclose(word_weights(weights, source, target), [[0.6, 0.4]], rtol=1e-6)


IN_PARTS = Places.in_parts


def in_parts_with_all_words(parts: Sequence[tuple[Sequence[str], str]], text: str) -> Iterator[Places]:
    """Give every part the words of the whole text: the slow way."""
    for places in IN_PARTS(parts, text):
        yield Places(places.tokens, word_spans(text))


PARTS = st.lists(st.lists(st.just("<unk>") | st.text("ab.木車é\u0301☃ ▁", max_size=4), max_size=6), max_size=6)


@given(PARTS)
def test_a_part_has_the_words_that_it_shares_characters_with(pieces: list[list[str]]) -> None:
    parts = [(each, "".join(each).replace("<unk>", "zz")) for each in pieces]
    text = "".join(part for _, part in parts)
    n_words = 0
    for places, whole in zip(Places.in_parts(parts, text), in_parts_with_all_words(parts, text), strict=True):
        first, end = places.first_word, places.first_word + len(places.words)
        shares = whole.shares()
        assert np.array_equal(places.shares(), shares[first:end])
        assert not shares[:first].any()
        assert not shares[end:].any()
        n_words += len(places.words)
    assert n_words <= len(words(text)) + len(parts), "only the word that a cut goes through is in both its parts"


# ---------------------------------------------------------------------------------------------------- translator


@pytest.fixture(scope="module")
def translator() -> Translator:
    tokenizers = tiny_tokenizers()
    return Translator([tiny_model(tokenizers, n_decoder_layers=2)], tokenizers, SearchConfig(beam_size=3))


def expected_links(translator: Translator, text: str, target: str, ids: list[int]) -> tuple[tuple[int, int], ...]:
    """Return the links of one translation, computed by hand."""
    source_ids = translator.tokenizers.source.encode(text)
    with torch.inference_mode(), capture_attention(translator.models[0]) as maps:
        translator.models[0](torch.tensor([[*source_ids, EOS_ID]]), torch.tensor([[SOS_ID, *ids[:-1]]]))
    rows = maps["cross"][:, 0].mean(dim=(0, 1))[:, :-1].numpy()
    source = Places.of(translator.tokenizers.source.split(text), text)
    return link_words(word_weights(rows, source, Places.of(translator.tokenizers.target.pieces(ids), target)))


def test_translations_are_aligned_when_asked(translator: Translator) -> None:
    texts = [source for source, _ in PAIRS]
    plain = translator.translate(texts, n_best=2)
    aligned = translator.translate(texts, n_best=2, align=True)
    streamed = list(translator.translate_stream(texts, n_best=2, align=True, batch_size=1))
    for text, one, other, third in zip(texts, plain, aligned, streamed, strict=True):
        assert one.alignment is None
        assert (one.text, one.score) == (other.text, other.score)
        assert other.alignment == other.alternatives[0].alignment == third.alignment
        for each in other.alternatives:
            tokens = list(each.tokens)
            names = translator.tokenizers.target.pieces(range(translator.tokenizers.target.vocab_size))
            assert each.alignment == expected_links(translator, text, each.text, [names.index(name) for name in tokens])
            assert all(0 <= i < len(text.split()) and 0 <= j < len(each.text.split()) for i, j in each.alignment or ())


def test_words_are_numbered_across_segments(translator: Translator) -> None:
    parts = ["She is reading a book.", "The cat is sitting on the mat."]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = translator.translate(" ".join(parts), align=True)
    alone = translator.translate(parts, align=True)
    assert whole.n_parts == 2
    n_source, n_target = len(words(parts[0])), len(words(alone[0].text))
    moved = {(i + n_source, j + n_target) for i, j in alone[1].alignment or ()}
    assert set(whole.alignment or ()) == {*(alone[0].alignment or ()), *moved}


@settings(max_examples=30)
@given(st.text("amn.木車\u0301☃ ", max_size=200))
def test_links_of_a_long_text_equal_those_of_the_slow_way(translator: Translator, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Places, "in_parts", in_parts_with_all_words)
        slow = translator.translate(text, n_best=2, align=True)
    assert translator.translate(text, n_best=2, align=True) == slow


def test_shifted_heads_align_a_translation_of_the_greatest_length(translator: Translator) -> None:
    heads = AlignmentHeads(heads=((0, 0),), shifted=True)
    later = Translator(translator.models, translator.tokenizers, translator.search, facts=ModelFacts(heads))
    translation = later.translate("A man", align=True, min_length=later.max_length)
    assert len(translation.tokens) == later.max_length
    assert translation.alignment
    (weights,) = later.forced_decoder.token_weights([([5, 6, 7], list(range(4, 4 + later.max_length)))], heads)
    assert weights.shape == (later.max_length, 3)
    assert weights[-1].any()


def test_scores_and_captures_of_other_threads_are_not_recorded(translator: Translator) -> None:
    texts = [source for source, _ in PAIRS]
    model, ids = translator.models[0], torch.tensor([[5, 6, 7, 3]])
    expected = translator.translate(texts, align=True)
    with capture_attention(model) as maps:
        model(ids, ids)
    alone = maps["cross"]

    def score(_: int) -> None:
        translator.score(texts[:3], [target for _, target in PAIRS[:3]])

    def capture(_: int) -> Tensor:
        with capture_attention(model) as maps:
            model(ids, ids)
        return maps["cross"]

    with ThreadPoolExecutor(3) as threads:
        others, captured = threads.map(score, range(20)), threads.map(capture, range(20))
        assert all(translator.translate(texts, align=True) == expected for _ in range(10))
        assert all(torch.equal(each, alone) for each in captured)
        list(others)
    assert "attend" not in vars(model.decoder_layers[0].cross_attention)


def test_empty_text_has_no_links(translator: Translator) -> None:
    assert translator.translate(["", " "], align=True)[0].alignment == ()


def test_chosen_heads_are_saved_with_the_bundle(tmp_path: Any) -> None:
    bundle = load_bundle(write_tiny_bundle(tmp_path / "plain"))
    facts = {"alignment": {"heads": [[0, 1]], "shifted": True}}
    save_bundle(tmp_path / "chosen", bundle.model, bundle.tokenizers, bundle.search, facts=facts)
    assert Translator.load(tmp_path / "plain").alignment.heads == ((0, 0), (0, 1))
    assert Translator.load(tmp_path / "chosen").alignment == AlignmentHeads(heads=((0, 1),), shifted=True)


@pytest.mark.parametrize(
    "fact",
    [
        None,
        {},
        {"heads": [], "shifted": True},
        {"heads": [[0, 9]], "shifted": True},
        {"heads": [[1, 0]], "shifted": False},
        {"heads": [[0, 0]], "shifted": 2},
    ],
)
def test_heads_that_a_model_lacks_are_refused(tmp_path: Any, fact: object) -> None:
    bundle = load_bundle(write_tiny_bundle(tmp_path / "plain"))
    save_bundle(tmp_path / "wrong", bundle.model, bundle.tokenizers, bundle.search, facts={"alignment": fact})
    with pytest.raises(BundleError, match="alignment heads"):
        Translator.load(tmp_path / "wrong")
