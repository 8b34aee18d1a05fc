"""The model against PyTorch's own layers, and the properties that the field's silent bugs break."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from models import sentences, small_model
from torch import Tensor, nn

from dragoman.config import PRESETS, ModelConfig
from dragoman.model.attention import MultiHeadAttention, attend, attention_weights
from dragoman.model.dropout import Dropout, dropout_mask
from dragoman.model.masks import causal_mask, decoder_mask, padding_mask
from dragoman.model.positions import sinusoidal_table
from dragoman.model.transformer import Transformer

VARIANTS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "activation": "gelu"},
    {"memory": "layerwise", "positions": "learned"},
    {"tie": "all", "d_k": 3, "d_v": 5},
    {"tie": "decoder", "norm": "pre", "memory": "layerwise"},
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


def test_shapes_of_the_walk_through() -> None:
    model = Transformer(
        ModelConfig(source_vocab_size=5000, target_vocab_size=5000, n_encoder_layers=2, n_decoder_layers=2)
    )
    source, target = torch.randint(4, 5000, (32, 10)), torch.randint(4, 5000, (32, 15))
    memories = model.encode(source)
    assert model.source_embedding(source).shape == (32, 10, 512)
    assert [tuple(memory.shape) for memory in memories] == [(32, 10, 512)] * 2
    assert model.decode(target, memories, padding_mask(source, 0)).shape == (32, 15, 512)
    assert model(source, target).shape == (32, 15, 5000)


def test_the_compact_example_is_finite() -> None:
    shape = {"d_model": 4, "d_ff": 8, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "max_length": 3}
    model = Transformer(ModelConfig(source_vocab_size=5, target_vocab_size=5, **shape))
    logits = model(torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 0]]))
    assert logits.shape == (1, 3, 5)
    assert logits.isfinite().all()


def test_masks() -> None:
    ids = sentences([5, 6, 0], [7, 0, 0])
    assert padding_mask(ids, 0).tolist() == [[[[True, True, False]]], [[[True, False, False]]]]
    assert causal_mask(3, 3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(1, 3).tolist() == [[True, True, True]]
    assert decoder_mask(padding_mask(ids, 0), 3).shape == (2, 1, 3, 3)


def _copy_attention(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> None:
    query, key, value = theirs.in_proj_weight.chunk(3)
    for projection, weight in zip(
        (ours.query_projection, ours.key_projection, ours.value_projection), (query, key, value), strict=True
    ):
        projection.weight.copy_(weight)
        projection.bias.zero_()
    ours.output_projection.weight.copy_(theirs.out_proj.weight)
    ours.output_projection.bias.copy_(theirs.out_proj.bias)


@torch.no_grad()
def _copy_layer(theirs: Any, ours: Any, names: dict[str, str]) -> None:
    for their_name, our_name in names.items():
        source, target = theirs.get_submodule(their_name), ours.get_submodule(our_name)
        if isinstance(source, nn.MultiheadAttention):
            _copy_attention(source, target)
        else:
            target.load_state_dict(source.state_dict())


ENCODER_NAMES = {
    "self_attn": "self_attention",
    "linear1": "feed_forward.inner",
    "linear2": "feed_forward.outer",
    "norm1": "attention_residual.norm",
    "norm2": "feed_forward_residual.norm",
}
DECODER_NAMES = {
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "linear1": "feed_forward.inner",
    "linear2": "feed_forward.outer",
    "norm1": "self_residual.norm",
    "norm2": "cross_residual.norm",
    "norm3": "feed_forward_residual.norm",
}


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_equals_pytorchs_layers_with_the_same_weights(norm: str) -> None:
    """Outputs and input gradients of encoder and decoder layers, with padding, in float64."""
    model = small_model(norm=norm)
    options: dict[str, Any] = {"dim_feedforward": 24, "dropout": 0.0, "batch_first": True, "norm_first": norm == "pre"}
    encoder_layer = nn.TransformerEncoderLayer(16, 4, **options).double()
    decoder_layer = nn.TransformerDecoderLayer(16, 4, **options).double()
    _copy_layer(encoder_layer, model.encoder_layers[0], ENCODER_NAMES)
    _copy_layer(decoder_layer, model.decoder_layers[0], DECODER_NAMES)
    hidden = torch.tensor([[False] * 5, [False, False, False, True, True]])
    x = torch.randn(2, 5, 16, dtype=torch.float64, requires_grad=True)
    y = torch.randn(2, 4, 16, dtype=torch.float64, requires_grad=True)
    mask = ~hidden[:, None, None, :]
    ours = model.encoder_layers[0](x, mask)
    theirs = encoder_layer(x, src_key_padding_mask=hidden)
    assert torch.allclose(ours[~hidden], theirs[~hidden], atol=1e-10)
    causal = causal_mask(4, 4)
    layer = model.decoder_layers[0]
    ours = layer(y, causal[None, None], mask, layer.start_cache(x))
    theirs = decoder_layer(y, x, tgt_mask=~causal, memory_key_padding_mask=hidden)
    assert torch.allclose(ours, theirs, atol=1e-10)
    direction = torch.randn_like(ours)
    for our_grad, their_grad in zip(
        torch.autograd.grad((ours * direction).sum(), (x, y)),
        torch.autograd.grad((theirs * direction).sum(), (x, y)),
        strict=True,
    ):
        assert torch.allclose(our_grad, their_grad, atol=1e-10)


def test_fused_attention_equals_explicit_weights() -> None:
    queries, keys, values = (torch.randn(2, 3, n, 8, dtype=torch.float64, requires_grad=True) for n in (5, 7, 7))
    mask = torch.rand(2, 1, 5, 7) < 0.6
    mask[0, 0, 2] = False  # a row with nothing to attend to
    weights = attention_weights(queries, keys, mask)
    explicit, fused = weights @ values, attend(queries, keys, values, mask)
    assert torch.allclose(explicit, fused, atol=1e-12)
    assert torch.allclose(weights.sum(-1), mask.any(-1).double().expand(2, 3, 5))
    assert (fused[0, :, 2] == 0).all()
    for one, other in zip(
        torch.autograd.grad(explicit.sum(), (queries, keys, values)),
        torch.autograd.grad(fused.sum(), (queries, keys, values)),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-12)
        assert one.isfinite().all()


def test_attention_takes_three_sources_of_different_widths() -> None:
    attention = MultiHeadAttention(16, 4, key_width=10, value_width=6)
    assert attention(torch.randn(2, 3, 16), torch.randn(2, 5, 10), torch.randn(2, 5, 6)).shape == (2, 3, 16)


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
def test_padding_and_neighbours_do_not_matter(fields: dict[str, Any]) -> None:
    model = small_model(**fields)
    alone = model(sentences([4, 5, 6]), sentences([2, 7, 8]))
    among = model(sentences([9] * 9, [4, 5, 6]), sentences([2] + [10] * 8, [2, 7, 8]))
    assert torch.allclose(alone[0], among[1, :3], atol=1e-12)


@pytest.mark.parametrize("fields", VARIANTS)
def test_stepping_with_the_cache_equals_the_full_forward(fields: dict[str, Any]) -> None:
    model = small_model(**fields)
    source, target = sentences([4, 5, 6], [7, 8]), torch.randint(4, 11, (2, 6))
    full = model(source, target)
    cache = model.start_cache(model.encode(source), padding_mask(source, 0))
    steps = [model.project(model.step(part, cache)) for part in target.split([1, 2, 1, 2], dim=1)]
    assert torch.allclose(torch.cat(steps, dim=1), full, atol=1e-12)
    assert cache.length == 6


def test_the_cache_follows_its_rows() -> None:
    model = small_model()
    source, target = sentences([4, 5, 6], [7, 8]), torch.randint(4, 11, (2, 3))
    full = model(source, target)
    cache = model.start_cache(model.encode(source), padding_mask(source, 0))
    model.step(target[:, :2], cache)
    cache.select(torch.tensor([1, 0, 1]))
    cache.select(torch.tensor([2, 1, 0]))  # the same sentences in each place: the memory may stay
    last = model.project(model.step(target[[1, 0, 1], 2:], cache))
    assert torch.allclose(last[:, 0], full[[1, 0, 1], 2], atol=1e-12)


def test_without_positions_order_is_invisible() -> None:
    """Attention itself commutes with permutations; the position table is what breaks the symmetry."""
    model = small_model()
    ids, order = torch.randint(4, 11, (1, 6)), torch.randperm(6)
    with_positions = model.encode(ids)[0][:, order] - model.encode(ids[:, order])[0]
    model.source_embedding.positions.table.zero_()  # type: ignore[union-attr, operator]
    without = model.encode(ids)[0][:, order] - model.encode(ids[:, order])[0]
    assert without.abs().max() < 1e-12 < with_positions.abs().max()


def test_the_sinusoidal_table_and_its_shift() -> None:
    table = sinusoidal_table(64, 16).double()
    for position, i in itertools.product((0, 1, 7, 63), range(8)):
        angle = torch.tensor(position / 10000 ** (2 * i / 16), dtype=torch.float64)
        assert table[position, 2 * i] == pytest.approx(angle.sin().item(), abs=1e-7)
        assert table[position, 2 * i + 1] == pytest.approx(angle.cos().item(), abs=1e-7)
    for i, shift in itertools.product(range(8), (1, 5)):
        turn = torch.tensor(shift / 10000 ** (2 * i / 16), dtype=torch.float64)
        rotation = torch.stack((torch.stack((turn.cos(), -turn.sin())), torch.stack((turn.sin(), turn.cos()))))
        pair = table[:, 2 * i : 2 * i + 2]
        assert torch.allclose(pair[shift:], pair[: 64 - shift] @ rotation, atol=1e-6)


def test_too_long_a_sequence_is_refused() -> None:
    model = small_model()
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


def test_presets_are_buildable() -> None:
    counts = {}
    for name, shape in PRESETS.items():
        config = ModelConfig(source_vocab_size=37_000, target_vocab_size=37_000, **shape)
        with torch.device("meta"):
            counts[name] = sum(parameter.numel() for parameter in Transformer(config).parameters())
    assert counts["tiny"] < counts["small"] < counts["base"] < counts["big"]
    assert counts["base"] == pytest.approx(65e6, rel=0.05)  # Table 3
    assert counts["big"] == pytest.approx(213e6, rel=0.05)


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
    module, x = Dropout(0.3), torch.randn(5, 7, requires_grad=True)
    assert module.eval()(x) is x
    torch.manual_seed(2)
    out = module.train()(x)
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert torch.equal(out, x * grad)
