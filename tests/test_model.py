"""The properties of every variant of the model that the field's silent bugs break."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from models import sentences, small_model
from torch import Tensor, nn

from dragoman.inspection.module_tree import module_tree
from dragoman.model.attention import MultiHeadAttention, attend, attention_weights
from dragoman.model.dropout import Dropout
from dragoman.model.masks import causal_mask, decoder_mask, padding_mask
from dragoman.model.operations import dropout_mask
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

pytestmark = pytest.mark.torch

VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "activation": "gelu"},
    {"activation": "silu"},
    {"memory": "layerwise", "positions": "learned"},
    {"tie": "all", "d_k": 3, "d_v": 5},
    {"tie": "decoder", "norm": "pre", "memory": "layerwise"},
    {"positions": "rotary", "norm_kind": "rms", "norm": "pre", "activation": "swiglu", "bias": False},
    {"positions": "halves", "norm_kind": "std", "final_norm": True, "scale_embeddings": False},
    {"positions": "rotary", "init": "pytorch", "n_encoder_layers": 1, "n_decoder_layers": 3, "d_k": 6},
    {"decoder_layer": "ssru"},
    {"decoder_layer": "ssru", "positions": "rotary", "norm": "pre", "memory": "layerwise", "bias": False},
]


def test_the_parameters_of_the_notes_translator() -> None:
    config = ModelConfig(
        source_vocab_size=5893,
        target_vocab_size=7853,
        d_model=256,
        d_ff=512,
        n_heads=4,
        n_encoder_layers=2,
        n_decoder_layers=2,
    )
    assert sum(parameter.numel() for parameter in Transformer(config).parameters()) == 8_172_973


@torch.no_grad()
def test_shapes_of_the_walk_through() -> None:
    model = Transformer(ModelConfig(source_vocab_size=5000, target_vocab_size=5000))
    source, target = torch.randint(4, 5000, (32, 10)), torch.randint(4, 5000, (32, 15))
    memories = model.encode(source)
    assert model.source_embedding(source).shape == (32, 10, 512)
    assert [tuple(memory.shape) for memory in memories] == [(32, 10, 512)] * 6
    assert model.decode(target, memories, padding_mask(source, 0)).shape == (32, 15, 512)
    assert model(source, target).shape == (32, 15, 5000)


def test_the_compact_example_is_finite() -> None:
    shape = {"d_model": 4, "d_ff": 8, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "max_length": 3}
    model = Transformer(ModelConfig(source_vocab_size=5, target_vocab_size=5, **shape))
    logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 0]]))
    assert logits.shape == (1, 3, 5)
    assert logits.isfinite().all()


@torch.no_grad()
def test_the_assembled_model_with_shared_weights() -> None:
    model = Transformer(ModelConfig(source_vocab_size=1000, target_vocab_size=1200, tie="decoder", final_norm=True))
    source, target = torch.randint(4, 1000, (4, 20)), torch.randint(4, 1200, (4, 18))
    source[1:, 15:], target[2:, 12:] = 0, 0
    logits = model(source, target)
    assert logits.shape == (4, 18, 1200)
    assert logits.isfinite().all()


def test_the_tree_of_a_model() -> None:
    tree = module_tree(small_model(tie="decoder"))
    assert "output_projection: Linear  weight 11 x 16 (tied), bias 11" in tree
    assert "0-1: 2 x EncoderLayer, each" in tree
    total = sum(parameter.numel() for parameter in small_model(tie="decoder").parameters())
    assert tree.startswith(f"Transformer  {total:,} parameters\n")


#: Each option alone; what it is combined with so that it can matter.
OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"norm": "pre"}, {}),
    ({"norm_kind": "std"}, {}),
    ({"norm_kind": "rms"}, {}),
    ({"final_norm": True}, {}),
    ({"final_norm": False}, {"norm": "pre"}),
    ({"activation": "gelu"}, {}),
    ({"activation": "silu"}, {}),
    ({"activation": "swiglu"}, {}),
    ({"scale_embeddings": False}, {}),
    ({"positions": "halves"}, {}),
    ({"positions": "learned"}, {}),
    ({"positions": "rotary"}, {}),
    ({"init": "pytorch"}, {}),
    ({"memory": "layerwise"}, {}),
    ({"decoder_layer": "ssru"}, {}),
    ({"tie": "decoder"}, {}),
    ({"tie": "all"}, {}),
    ({"d_k": 2}, {}),
    ({"d_v": 2}, {}),
    ({"n_decoder_layers": 1}, {}),
    ({"special_ids": SpecialIdPair(source=SpecialIds(pad=5))}, {}),
    ({"special_ids": SpecialIdPair(target=SpecialIds(pad=9))}, {}),
]


def test_special_ids_lie_in_the_vocabulary() -> None:
    for ids in (SpecialIdPair(source=SpecialIds(pad=11)), SpecialIdPair(target=SpecialIds(end=11))):
        with pytest.raises(ValueError, match="special id 11 lies outside a vocabulary of 11"):
            small_model(ids)


@pytest.mark.parametrize(("option", "base"), OPTIONS)
def test_an_option_changes_what_the_model_computes(option: dict[str, Any], base: dict[str, Any]) -> None:
    source, target = torch.tensor([[4, 5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
    plain, changed = small_model(**base), small_model(**base, **option)
    with torch.no_grad():
        for weight in plain.parameters():
            weight += 0.3 * torch.randn_like(weight)  # a norm of a norm is only something else once it has learned
    shared = {name: weight for name, weight in plain.state_dict().items() if _fits(changed, name, weight)}
    changed.load_state_dict(shared, strict=False)  # so that other random numbers are not the difference
    if "init" in option:
        changed = small_model(**base, **option)
    assert not torch.allclose(plain(source, target), changed(source, target), atol=1e-4)


def _fits(model: nn.Module, name: str, weight: Tensor) -> bool:
    state = model.state_dict()
    return name in state and state[name].shape == weight.shape


def test_without_bias_only_embeddings_matrices_and_gains_are_left() -> None:
    names = [name for name, _ in small_model(bias=False, positions="sinusoidal").named_parameters()]
    assert names
    assert all(name.endswith("weight") for name in names)


@pytest.mark.parametrize("kind", ["dropout", "embedding_dropout", "attention_dropout", "activation_dropout"])
def test_each_dropout_drops_in_training_only(kind: str) -> None:
    rates = {"dropout": 0.0, kind: 0.5}
    model, source, target = small_model(**rates), torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7]])
    assert torch.equal(model(source, target), model(source, target))
    model.train()
    assert not torch.equal(model(source, target), model(source, target))
    plain = small_model(dropout=0.0).train()
    assert torch.equal(plain(source, target), plain(source, target))


def test_masks() -> None:
    ids = sentences([5, 6, 0], [7, 0, 0])
    assert padding_mask(ids, 0).tolist() == [[[[True, True, False]]], [[[True, False, False]]]]
    assert causal_mask(3, 3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(1, 3).tolist() == [[True, True, True]]
    assert decoder_mask(padding_mask(ids, 0), 3).shape == (2, 1, 3, 3)


def test_masks_of_any_shape_that_broadcasts_and_of_no_other_type() -> None:
    queries, keys = torch.randn(2, 3, 4, 8, requires_grad=True), torch.randn(2, 3, 5, 8)
    for mask in (torch.rand(5) > 0.3, torch.rand(4, 5) > 0.3, torch.rand(1, 4, 5) > 0.3, torch.rand(2, 3, 4, 5) > 0.3):
        expected = attention_weights(queries, keys, mask) @ keys
        torch.testing.assert_close(attend(queries, keys, keys, mask), expected)
    one = keys[:1]
    torch.testing.assert_close(attend(queries, one, one), attention_weights(queries, one) @ one)
    for wrong in (torch.zeros(2, 1, 1, 5), torch.ones(2, 1, 1, 5, dtype=torch.uint8)):
        with pytest.raises(TypeError, match=r"of type torch\.bool"):
            attend(queries, keys, keys, wrong)


def test_attention_refuses_ambiguous_widths_and_masks() -> None:
    with pytest.raises(ValueError, match="3 heads do not divide a width of 10"):
        MultiHeadAttention(10, 3)
    assert MultiHeadAttention(10, 3, (4, 5))(*[torch.randn(1, 2, 10)] * 3).shape == (1, 2, 10)
    x = torch.randn(2, 3, 8)
    of_sentences = torch.rand(2, 3, 3) > 0.3
    attention = MultiHeadAttention(8, 2)
    with pytest.raises(ValueError, match="three dimensions"):
        attention(x, x, x, of_sentences)
    assert attention(x, x, x, of_sentences.unsqueeze(1)).shape == (2, 3, 8)


@pytest.mark.parametrize("fields", VARIANTS)
def test_the_future_does_not_leak(fields: dict[str, Any]) -> None:
    model = small_model(**fields)
    source, target = torch.randint(4, 11, (2, 6)), torch.randint(4, 11, (2, 7))
    embedded: list[Tensor] = []
    model.target_embedding.register_forward_hook(lambda module, args, out: embedded.append(out.requires_grad_()))
    logits = model(source, target)
    for position in range(7):
        (grad,) = torch.autograd.grad(logits[:, position].sum(), embedded[0], retain_graph=True)
        assert (grad[:, position + 1 :] == 0).all()
        assert (grad[:, : position + 1] != 0).any()


@pytest.mark.parametrize("fields", VARIANTS)
@pytest.mark.parametrize("n_pads", [0, 1, 64])
def test_padding_and_neighbours_do_not_matter(fields: dict[str, Any], n_pads: int) -> None:
    model = small_model(**fields, max_length=80)
    source, target = [4, 5, 6], [2, 7, 8]
    alone = model(sentences(source), sentences(target))
    among = model(sentences([9] * (3 + n_pads), source, [10]), sentences([2] + [10] * (2 + n_pads), target, [2]))
    assert torch.allclose(alone[0], among[1, :3], atol=1e-12)


@pytest.mark.parametrize("fields", VARIANTS)
def test_a_row_of_padding_is_finite_and_changes_no_other(fields: dict[str, Any]) -> None:
    model = small_model(**fields).train()
    for module in model.modules():
        if isinstance(module, Dropout):
            module.p = 0.0
    with_row = model(sentences([4, 5, 6], []), sentences([2, 7], []))
    without = model(sentences([4, 5, 6]), sentences([2, 7]))
    assert with_row.isfinite().all()
    assert torch.allclose(with_row[0], without[0], atol=1e-12)
    (with_row**2).mean().backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("fields", VARIANTS)
def test_the_shortest_sentences(fields: dict[str, Any]) -> None:
    model = small_model(**fields)
    logits = model(torch.tensor([[3]]), torch.tensor([[2]]))
    assert logits.shape == (1, 1, 11)
    assert logits.isfinite().all()


@pytest.mark.parametrize("fields", VARIANTS)
def test_stepping_with_the_cache_equals_the_full_forward(fields: dict[str, Any]) -> None:
    model = small_model(**fields)
    source, target = sentences([4, 5, 6], [7, 8]), torch.randint(4, 11, (2, 6))
    full = model(source, target)
    cache = model.start_cache(model.encode(source), padding_mask(source, 0))
    steps = [model.project(model.step(part, cache)) for part in target.split([1, 2, 1, 2], dim=1)]
    assert torch.allclose(torch.cat(steps, dim=1), full, atol=1e-12)
    assert cache.length == 6


def test_without_positions_order_is_invisible() -> None:
    """Attention itself commutes with permutations; the position table is what breaks the symmetry."""
    model = small_model()
    ids, order = torch.randint(4, 11, (1, 6)), torch.randperm(6)
    with_positions = model.encode(ids)[0][:, order] - model.encode(ids[:, order])[0]
    model.source_embedding.positions.table.zero_()  # type: ignore[union-attr, operator]
    without = model.encode(ids)[0][:, order] - model.encode(ids[:, order])[0]
    assert without.abs().max() < 1e-12 < with_positions.abs().max()


@pytest.mark.parametrize("positions", ["sinusoidal", "halves", "rotary"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_table_of_positions_grows_with_the_sequences(
    positions: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the numbers that it would have had from the start, in the model's type; and a training may follow."""
    whole = small_model(positions=positions, max_length=90).to(dtype)
    monkeypatch.setattr("dragoman.model.positions.FIRST_NUMBERS", 50)
    growing = small_model(positions=positions, max_length=90).to(dtype)
    assert whole.state_dict().keys() == growing.state_dict().keys()
    for length in (2, 40, 3, 85):
        ids = torch.arange(length)[None] % 5 + 4
        with torch.inference_mode():
            assert torch.equal(whole(ids, ids), growing(ids, ids))
    tables = [[each for each in model.buffers() if each.dim() == 2] for model in (whole, growing)]
    assert tables[0]
    assert all(table.size(0) == 90 for table in tables[0])
    for table, grown in zip(*tables, strict=True):
        assert grown.dtype == dtype
        assert torch.equal(table[: len(grown)], grown)
    growing(ids, ids).float().square().mean().backward()


@pytest.mark.parametrize("positions", ["sinusoidal", "halves", "learned", "rotary"])
def test_too_long_a_sequence_is_refused(positions: str) -> None:
    model = small_model(positions=positions)
    model(torch.full((1, 32), 4), torch.full((1, 32), 4))
    with pytest.raises(ValueError, match="33 tokens is longer than the model's max_length, 32"):
        model(torch.full((1, 33), 4), torch.full((1, 3), 4))


@pytest.mark.parametrize(("tie", "n_matrices"), [("none", 3), ("decoder", 2), ("all", 1)])
def test_tied_matrices_are_one_tensor_also_after_a_step(tie: str, n_matrices: int) -> None:
    model = small_model(tie=tie)

    def matrices() -> set[int]:
        weights = (model.source_embedding.tokens, model.target_embedding.tokens, model.output_projection)
        return {module.weight.data_ptr() for module in weights}

    optimizer = torch.optim.Adam(model.parameters())
    assert len(matrices()) == n_matrices
    model(torch.randint(4, 11, (2, 4)), torch.randint(4, 11, (2, 4))).sum().backward()
    optimizer.step()
    assert len(matrices()) == n_matrices
    if tie == "none":
        assert (model.source_embedding.tokens.weight[0] == 0).all()
    model.load_state_dict({name: weight + 1 for name, weight in model.state_dict().items()})
    assert len(matrices()) == n_matrices
    model.to("cuda" if torch.cuda.is_available() else "cpu", torch.float32)
    assert len(matrices()) == n_matrices


def test_dropout_drops_independently_with_its_probability_and_keeps_the_mean() -> None:
    torch.manual_seed(1)
    mask = dropout_mask(torch.Size((401, 1001)), 0.3, torch.float64)
    dropped = (mask == 0).double()
    n = mask.numel()
    assert dropped.mean().item() == pytest.approx(0.3, abs=5 * (0.21 / n) ** 0.5)
    assert mask.mean().item() == pytest.approx(1.0, abs=0.01)
    for shift in (1, 2, 3, 4, 1001):  # neighbours come from one 64-bit draw
        flat = dropped.flatten()
        together = (flat[shift:] * flat[:-shift]).mean().item()
        assert together == pytest.approx(0.09, abs=5 * (0.09 / n) ** 0.5)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        torch.manual_seed(1)
        narrow = dropout_mask(torch.Size((401, 1001)), 0.3, dtype)
        assert narrow.dtype == dtype
        assert torch.equal(narrow, mask.to(dtype))
    module, x = Dropout(0.3), torch.randn(5, 7, requires_grad=True)
    assert module.eval()(x) is x
    torch.manual_seed(2)
    out = module.train()(x)
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert torch.equal(out, x * grad)
