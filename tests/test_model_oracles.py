"""The model against what we did not write: PyTorch's Transformer, exact arithmetic, finite differences, the paper."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import pytest
import torch
import torch.nn.functional as F
from models import small_model
from torch import Tensor, nn

from dragoman.bundle.layout import DecoderLayerLayout, EncoderLayerLayout, Layout, LinearLayout, NormLayout
from dragoman.model.attention import MultiHeadAttention, attend, attention_weights
from dragoman.model.masks import causal_mask, padding_mask
from dragoman.model.norms import StdNorm
from dragoman.model.operations import MAX_KEYS_UNFUSED
from dragoman.model.positions import RotaryPositions, sinusoidal_table
from dragoman.model.ssru import SSRU
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.training.loss import token_losses

pytestmark = pytest.mark.torch

# -- PyTorch's own Transformer, with the same weights --------------------------------------------------------------


def weight_pairs(theirs: nn.Transformer, ours: Transformer) -> dict[str, tuple[Tensor, list[Tensor]]]:
    """Each of PyTorch's parameters with ours: an importer is such a table over `Layout`.

    PyTorch has the three projections of attention in one matrix.
    """
    layout = Layout(ours.config)
    table: dict[str, list[LinearLayout | NormLayout | None]] = {
        "encoder.norm.": [layout.encoder_norm],
        "decoder.norm.": [layout.decoder_norm],
    }
    for i, encoder_layer in enumerate(layout.encoder_layers):
        table |= layer_table(f"encoder.layers.{i}", encoder_layer)
        table[f"encoder.layers.{i}.norm2."] = [encoder_layer.feed_forward_norm]
    for i, decoder_layer in enumerate(layout.decoder_layers):
        name, cross = f"decoder.layers.{i}", decoder_layer.cross_attention
        table |= layer_table(name, decoder_layer)
        table[f"{name}.multihead_attn.in_proj_"] = [cross.query, cross.key, cross.value]
        table[f"{name}.multihead_attn.out_proj."] = [cross.output]
        table[f"{name}.norm2."] = [decoder_layer.cross_norm]
        table[f"{name}.norm3."] = [decoder_layer.feed_forward_norm]
    their_weights, our_weights = dict(theirs.named_parameters()), dict(ours.named_parameters())
    pairs: dict[str, tuple[Tensor, list[Tensor]]] = {}
    for name, parts in table.items():
        for kind in ("weight", "bias"):
            names = [getattr(part, kind).name for part in parts]
            pairs[name + kind] = (their_weights[name + kind], [our_weights[each] for each in names])
    return pairs


def layer_table(
    name: str, layer: EncoderLayerLayout | DecoderLayerLayout
) -> dict[str, list[LinearLayout | NormLayout | None]]:
    attention = layer.self_attention
    return {
        f"{name}.self_attn.in_proj_": [attention.query, attention.key, attention.value],
        f"{name}.self_attn.out_proj.": [attention.output],
        f"{name}.linear1.": [layer.feed_forward.inner],
        f"{name}.linear2.": [layer.feed_forward.outer],
        f"{name}.norm1.": [layer.self_norm],
    }


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize(
    ("norm", "activation"), [("post", "relu"), ("pre", "relu"), ("post", "silu"), ("pre", "silu"), ("pre", "gelu")]
)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("n_rows", "n_source", "n_target"), [(1, 1, 1), (1, 6, 3), (3, 5, 7), (4, 2, 2)])
def test_equals_pytorchs_transformer_with_the_same_weights(
    n_rows: int,
    n_source: int,
    n_target: int,
    padded: bool,
    norm: str,
    activation: str,
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    """Outputs, and the gradients of every weight and both inputs."""
    ours = small_model(norm=norm, activation=activation, final_norm=True, dropout=0.0).to(dtype).train()
    options: dict[str, Any] = {"dropout": 0.0, "batch_first": True, "norm_first": norm == "pre", "dtype": dtype}
    theirs = nn.Transformer(16, 4, 2, 2, 24, activation=getattr(F, activation), **options).train()
    pairs = weight_pairs(theirs, ours)
    assert sum(one.numel() for one, _ in pairs.values()) == sum(each.numel() for each in theirs.parameters())
    with torch.no_grad():
        for one, others in pairs.values():
            one.normal_(std=0.3)  # biases and gains too
            for other, part in zip(others, one.chunk(len(others)), strict=True):
                other.copy_(part)
    source, target = torch.randint(4, 11, (n_rows, n_source)), torch.randint(4, 11, (n_rows, n_target))
    if padded:
        source[1:, max(1, n_source - 2) :], target[: n_rows // 2, max(1, n_target - 1) :] = 0, 0
    embedded: list[Tensor] = []
    for embedding in (ours.source_embedding, ours.target_embedding):
        embedding.register_forward_hook(lambda module, args, out: embedded.append(out))
    got = ours.decode(target, ours.encode(source), padding_mask(source, 0))
    for each in embedded:
        each.retain_grad()
    copies = [each.detach().requires_grad_() for each in embedded]
    expected = theirs(
        *copies,
        tgt_mask=~causal_mask(n_target, n_target),
        src_key_padding_mask=source == 0,
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    assert torch.allclose(got, expected, atol=tolerance, rtol=tolerance)
    direction = torch.randn_like(got)
    (got * direction).sum().backward()
    (expected * direction).sum().backward()
    inputs = {f"input {i}": (copy, [each]) for i, (copy, each) in enumerate(zip(copies, embedded, strict=True))}
    for name, (one, others) in {**pairs, **inputs}.items():
        assert one.grad is not None
        grad = torch.cat([each.grad for each in others if each.grad is not None])
        assert torch.allclose(grad, one.grad, atol=tolerance * max(1.0, one.grad.abs().max().item())), name


# -- attention -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_keys", [7, MAX_KEYS_UNFUSED + 1])
def test_fused_attention_equals_explicit_weights(n_keys: int) -> None:
    sizes = (5, n_keys, n_keys)
    queries, keys, values = (torch.randn(2, 3, n, 8, dtype=torch.float64, requires_grad=True) for n in sizes)
    mask = torch.rand(2, 1, 5, n_keys) < 0.6
    mask[0, 0, 2] = False  # a row with nothing to attend to
    weights = attention_weights(queries, keys, mask)
    explicit, fused = weights @ values, attend(queries, keys, values, mask)
    assert torch.allclose(explicit, fused, atol=1e-12)
    assert torch.allclose(weights.sum(-1), mask.any(-1).double().expand(2, 3, 5))
    direction = torch.randn_like(fused)
    for one, other in zip(
        torch.autograd.grad((explicit * direction).sum(), (queries, keys, values)),
        torch.autograd.grad((fused * direction).sum(), (queries, keys, values)),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("n_keys", [MAX_KEYS_UNFUSED, MAX_KEYS_UNFUSED + 1])
def test_masked_keys_do_not_count_however_large(n_keys: int) -> None:
    """Padding holds numbers, and its weight is zero exactly.

    It never holds NaN, since such weights are neither saved nor loaded.
    """
    queries, keys, values = (torch.randn(2, 3, n, 8, dtype=torch.float64) for n in (4, n_keys, n_keys))
    mask = (torch.arange(n_keys) < n_keys - 3).expand(2, 1, 1, n_keys)
    for far in (keys, values):
        far[:, :, -3:] = 1e30
    for attended in (attend(queries, keys, values, mask), attention_weights(queries, keys, mask) @ values):
        torch.testing.assert_close(attended, attend(queries, keys[:, :, :-3], values[:, :, :-3]))


@pytest.mark.parametrize("n_keys", [7, MAX_KEYS_UNFUSED + 1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_nothing_to_attend_to_gives_zeros_and_no_gradient(dtype: torch.dtype, n_keys: int) -> None:
    queries, keys, values = (torch.randn(2, 3, n, 8).to(dtype).requires_grad_() for n in (5, n_keys, n_keys))
    mask = torch.ones(2, 1, 5, n_keys, dtype=torch.bool)
    mask[0] = False
    attended, weights = attend(queries, keys, values, mask), attention_weights(queries, keys, mask)
    assert (attended[0] == 0).all()
    assert (weights[0] == 0).all()
    assert torch.allclose(weights[1].sum(-1).float(), torch.ones(3, 5), atol=0.02)
    for output in (attended, weights):
        grads = torch.autograd.grad(output.float().square().sum(), (queries, keys), retain_graph=True)
        for grad in grads:
            assert grad.isfinite().all()
            assert (grad[0] == 0).all()


def test_multi_head_attention_equals_pytorchs_for_three_sources() -> None:
    ours = MultiHeadAttention(16, 4).double()
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).double()
    with torch.no_grad():
        projections = (ours.query_projection, ours.key_projection, ours.value_projection)
        matrices, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
        for projection, matrix, bias in zip(projections, matrices, biases, strict=True):
            projection.weight.copy_(matrix)
            projection.bias.copy_(bias.normal_())
        ours.output_projection.load_state_dict(theirs.out_proj.state_dict())
    queries, keys, values = (torch.randn(2, n, 16, dtype=torch.float64) for n in (3, 5, 5))
    expected, _ = theirs(queries, keys, values)
    assert torch.allclose(ours(queries, keys, values), expected, atol=1e-12)


# -- positions -----------------------------------------------------------------------------------------------------


def test_the_sinusoidal_table_in_exact_arithmetic() -> None:
    table, halves = sinusoidal_table(5000, 16), sinusoidal_table(5000, 16, halves=True)
    with mpmath.workdps(40):
        for position, i in itertools.product((0, 1, 7, 63, 4999), range(8)):
            angle = position / mpmath.power(10000, mpmath.mpf(2 * i) / 16)
            for column, exact in ((2 * i, mpmath.sin(angle)), (2 * i + 1, mpmath.cos(angle))):
                assert abs(float(table[position, column]) - exact) < 2**-24  # half a unit in the last place of float32
    assert torch.equal(halves, torch.cat((table[:, 0::2], table[:, 1::2]), dim=1))


def test_a_shift_of_the_sinusoidal_table_is_a_rotation() -> None:
    table = sinusoidal_table(64, 16).double()
    for i, shift in itertools.product(range(8), (1, 5)):
        turn = torch.tensor(shift / 10000 ** (2 * i / 16), dtype=torch.float64)
        rotation = torch.stack((torch.stack((turn.cos(), -turn.sin())), torch.stack((turn.sin(), turn.cos()))))
        pair = table[:, 2 * i : 2 * i + 2]
        assert torch.allclose(pair[shift:], pair[: 64 - shift] @ rotation, atol=1e-6)


def test_rotary_scores_depend_on_the_distance_alone() -> None:
    rotary = RotaryPositions(64, 8).double()
    query, key = torch.randn(2, 1, 1, 1, 8, dtype=torch.float64)

    def turned_by(x: Tensor, position: int) -> Tensor:
        return rotary(x, range(position, position + 1))

    places = itertools.product(range(40), repeat=2)
    scores = {(at, other): float((turned_by(query, at) * turned_by(key, other)).sum()) for at, other in places}
    for (at, other), score in scores.items():
        assert score == pytest.approx(scores[max(at - other, 0), max(other - at, 0)], abs=1e-5)
    assert abs(scores[0, 0] - scores[5, 0]) > 1e-3
    complex_pairs = torch.view_as_complex(query.view(1, 1, 1, 4, 2).contiguous())
    angles = 7.0 / 10000.0 ** (torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    turned = torch.view_as_real(complex_pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    assert torch.allclose(turned_by(query, 7), turned, atol=1e-6)


# -- finite differences --------------------------------------------------------------------------------------------


def test_gradients_by_finite_differences() -> None:
    torch.manual_seed(3)
    mask = torch.ones(1, 1, 3, 4, dtype=torch.bool)
    mask[..., 1, 2:] = False
    queries, keys, values = (torch.randn(1, 2, n, 4, dtype=torch.float64, requires_grad=True) for n in (3, 4, 4))
    assert torch.autograd.gradcheck(lambda q, k, v: attention_weights(q, k, mask) @ v, (queries, keys, values))
    assert torch.autograd.gradcheck(lambda q, k, v: attend(q, k, v, mask), (queries, keys, values))
    x = torch.randn(2, 3, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(StdNorm(8).double(), (x,))
    assert torch.autograd.gradcheck(lambda y: RotaryPositions(8, 8).double()(y[None], range(3)), (x,))
    logits, targets = torch.randn(5, 7, dtype=torch.float64, requires_grad=True), torch.randint(7, (5,))
    assert torch.autograd.gradcheck(lambda scores: token_losses(scores, targets, 0.1)[0], (logits,))


@pytest.mark.parametrize("fields", [{}, {"norm": "pre", "activation": "swiglu", "norm_kind": "rms", "bias": False}])
def test_the_gradient_of_the_whole_model_by_finite_differences(fields: dict[str, Any]) -> None:
    """Along random directions in the space of all weights."""
    model = small_model(**fields)
    source, target = torch.tensor([[4, 5, 3], [6, 3, 0]]), torch.tensor([[2, 7, 8], [2, 9, 0]])
    expected, real = torch.tensor([7, 8, 3, 9, 3]), torch.tensor([True, True, True, True, True, False])
    weights = list(model.parameters())

    def loss() -> Tensor:
        return token_losses(model(source, target).flatten(0, 1)[real], expected, 0.1)[0]

    grads = torch.autograd.grad(loss(), weights)
    for _ in range(4):
        direction = [torch.randn_like(weight) for weight in weights]
        step, values = 1e-6, []
        for sign in (1, -2):
            with torch.no_grad():
                for weight, part in zip(weights, direction, strict=True):
                    weight += sign * step * part
                values.append(float(loss()))
        with torch.no_grad():
            for weight, part in zip(weights, direction, strict=True):
                weight += step * part
        slope = float(sum((grad * part).sum() for grad, part in zip(grads, direction, strict=True)))
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(slope, rel=1e-5)


def test_the_norm_with_epsilon_outside_the_root() -> None:
    x = torch.tensor([[1.0, 2.0, 4.0]], dtype=torch.float64)
    deviation = (((1 - 7 / 3) ** 2 + (2 - 7 / 3) ** 2 + (4 - 7 / 3) ** 2) / 2) ** 0.5
    expected = [(value - 7 / 3) / (deviation + 1e-6) for value in (1, 2, 4)]
    assert StdNorm(3).double()(x)[0].tolist() == pytest.approx(expected, rel=1e-12)
    wide = torch.randn(5, 64, dtype=torch.float64)
    assert torch.allclose(StdNorm(64).double()(wide) * (64 / 63) ** 0.5, nn.LayerNorm(64).double()(wide), atol=1e-4)


# -- the paper -----------------------------------------------------------------------------------------------------

#: Rows of Table 3: the changed settings, and the printed parameters in millions (none: not printed, as base).
TABLE_3: dict[str, tuple[dict[str, Any], int | None]] = {
    "A1": ({"n_heads": 1, "d_k": 512, "d_v": 512}, None),
    "A4": ({"n_heads": 4, "d_k": 128, "d_v": 128}, None),
    "A16": ({"n_heads": 16, "d_k": 32, "d_v": 32}, None),
    "A32": ({"n_heads": 32, "d_k": 16, "d_v": 16}, None),
    "B16": ({"d_k": 16}, 58),
    "B32": ({"d_k": 32}, 60),
    "C depth 2": ({"n_encoder_layers": 2, "n_decoder_layers": 2}, 36),
    "C depth 4": ({"n_encoder_layers": 4, "n_decoder_layers": 4}, 50),
    "C depth 8": ({"n_encoder_layers": 8, "n_decoder_layers": 8}, 80),
    "C width 256": ({"d_model": 256, "d_k": 32, "d_v": 32}, 28),
    "C width 1024": ({"d_model": 1024, "d_k": 128, "d_v": 128}, 168),
    "C inner 1024": ({"d_ff": 1024}, 53),
    "C inner 4096": ({"d_ff": 4096}, 90),
    "D 0.0": ({"dropout": 0.0}, None),
    "D 0.2": ({"dropout": 0.2}, None),
    "E": ({"positions": "learned"}, None),
    "big": (dict(PRESETS["big"]), 213),
}


def n_parameters(**fields: Any) -> int:
    config = ModelConfig(source_vocab_size=37_000, target_vocab_size=37_000, **{**fields, "tie": "all"})
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


@pytest.mark.parametrize("row", TABLE_3)
def test_rows_of_table_3(row: str) -> None:
    fields, printed = TABLE_3[row]
    base, count = n_parameters(), n_parameters(**fields)
    assert base == pytest.approx(65e6, abs=3e6)
    if printed is not None:
        tolerance = 4e6 if "d_model" in fields else 1e6
        assert count - base == pytest.approx((printed - 65) * 1e6, abs=tolerance)
    elif row == "E":  # one table a side in place of the sinusoids
        assert count - base == 2 * 512 * 512
    else:
        assert count == base


def test_presets_are_buildable() -> None:
    counts = {name: n_parameters(**shape) for name, shape in PRESETS.items()}
    assert counts["tiny"] < counts["small"] < counts["base"] < counts["big"]


# -- The recurrent unit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
def test_the_recurrent_unit_is_the_papers(bias: bool) -> None:
    """Number by number: f = sigmoid(Wf x + bf), c = f c + (1 - f) W x (Kim et al. 2019, section 3.1)."""
    unit = SSRU(ModelConfig(source_vocab_size=9, target_vocab_size=9, d_model=4, n_heads=2, bias=bias)).double()
    weights, x = unit.state_dict(), torch.randn(2, 5, 4, dtype=torch.float64)
    states = unit(x, torch.zeros(2, 1, 4, dtype=torch.float64))
    for row, i in itertools.product(range(2), range(4)):
        c = 0.0
        for t in range(5):
            z = float(weights["forget.weight"][i] @ x[row, t]) + (float(weights["forget.bias"][i]) if bias else 0)
            f = 1 / (1 + math.exp(-z))
            c = f * c + (1 - f) * float(weights["input.weight"][i] @ x[row, t])
            assert float(states[row, t, i].detach()) == pytest.approx(c, abs=1e-12)


def test_each_token_may_follow_another_one_of_the_step_before() -> None:
    """As hypotheses of a beam do."""
    unit = SSRU(ModelConfig(source_vocab_size=9, target_vocab_size=9, d_model=4, n_heads=2))
    x, parents = torch.randn(2, 3, 4), torch.tensor([[1, 1, 0], [0, 1, 1]])
    states = torch.randn(2, 2, 4)
    read = unit(x, states, parents)
    for row, slot in itertools.product(range(2), range(3)):
        alone = unit(x[row, slot][None, None], states[row, parents[row, slot]][None, None])
        torch.testing.assert_close(read[row, slot], alone[0, 0])
