"""The compiled functions of a training step, of each library that runs here, against PyTorch in float64."""

import copy
import math
import platform
import runpy
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from engines import COMPILER, needs_compiler
from torch import Tensor

from dragoman.data.batches import Batch
from dragoman.model.attention import attend, attention_weights
from dragoman.model.dropout import Dropout
from dragoman.model.norms import LayerNorm, norm_and_keep
from dragoman.model.operations import MAX_KEYS_FUSED, n_dropped
from dragoman.model.positions import RotaryPositions
from dragoman.model.transformer import Transformer
from dragoman.native import fused
from dragoman.native import fused_library as library_module
from dragoman.native.fused_library import LIBRARIES, Library
from dragoman.native.libraries import SUFFIX, loaded_openmp
from dragoman.settings.model_config import ModelConfig
from dragoman.training import loss as loss_module
from dragoman.training.loss import batch_loss

pytestmark = pytest.mark.torch

NATIVE = Path(library_module.__file__).parent
USABLE = dict(library_module.usable())
NARROW = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.bfloat16, 8e-3)])


@pytest.fixture(params=USABLE)
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Library:
    """One library after another; work is shared among three threads, however little it is."""
    library = Library(request.param, USABLE[request.param])
    monkeypatch.setattr(fused, "library", lambda: library)
    monkeypatch.setattr(fused, "n_threads", lambda _: 3)
    torch.manual_seed(1)
    return library


def assert_same(
    ours: Callable[..., Tensor], oracle: Callable[..., Tensor], inputs: Sequence[Tensor], tolerance: float
) -> None:
    """The same results and the same gradients, relative to the largest, from the same numbers."""
    leaves = [x.detach().clone(memory_format=torch.preserve_format).requires_grad_() for x in inputs]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    got, expected = ours(*leaves), oracle(*wide)
    direction = torch.randn_like(expected)
    grads = torch.autograd.grad(got, leaves, direction.to(got.dtype))
    for leaf, grad in zip(leaves, grads, strict=True):
        assert grad.dtype == leaf.dtype
    expected_grads = torch.autograd.grad(expected, wide, direction.to(got.dtype).double())
    for one, other in zip((got, *grads), (expected, *expected_grads), strict=True):
        scale = max(1.0, other.abs().max().item()) if other.numel() else 1.0
        torch.testing.assert_close(one.double(), other, rtol=0, atol=tolerance * scale)


# -- dropout -----------------------------------------------------------------------------------------------------------


@NARROW
@pytest.mark.parametrize("width", [1, 17, 64, 100])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_dropped_numbers_are_added_and_have_no_gradient(
    p: float, width: int, dtype: torch.dtype, tolerance: float, compiled: Library
) -> None:
    x = torch.randn(40, 50, width, requires_grad=True)
    y = torch.ones(40, 50, width, dtype=dtype, requires_grad=True)
    out = fused.add_dropped(x, y, n_dropped(p))
    added = (out - x).detach()
    scale = 65536 / (65536 - round(p * 65536))
    kept = added > scale / 2
    torch.testing.assert_close(added, kept * scale, atol=1e-5, rtol=0)
    assert abs(kept.double().mean().item() - (1 - p)) < 5 * math.sqrt(p * (1 - p) / kept.numel())
    by_x, by_y = torch.autograd.grad(out, (x, y), torch.ones_like(out))
    assert (by_x == 1).all()
    assert by_y.dtype == dtype
    torch.testing.assert_close(by_y.float(), kept * scale, atol=tolerance, rtol=0)


def test_draws_differ_between_calls_rows_and_places_and_follow_the_seed(compiled: Library) -> None:
    x, y = torch.zeros(4096, 64, requires_grad=True), torch.ones(4096, 64)
    one, other = (fused.add_dropped(x, y, 32768) > 0 for _ in range(2))
    torch.manual_seed(1)
    assert torch.equal(fused.add_dropped(x, y, 32768) > 0, one)
    pairs = [(one, other), (one[:-1], one[1:]), (one[:, :-1], one[:, 1:]), (one[:, :-4], one[:, 4:])]
    for left, right in pairs:  # equal as often as two coins
        assert abs((left == right).double().mean().item() - 0.5) < 5 * 0.5 / math.sqrt(left.numel())
    assert one.double().mean(dim=0).sub(0.5).abs().max() < 6 * 0.5 / math.sqrt(len(one))


def test_one_thread_or_several_draw_the_same(compiled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = torch.zeros(50, 30, requires_grad=True), torch.ones(50, 30)
    of_three = fused.add_dropped(x, y, 20000)
    monkeypatch.setattr(fused, "n_threads", lambda _: 1)
    torch.manual_seed(1)
    assert torch.equal(fused.add_dropped(x, y, 20000), of_three)


# -- layer norm --------------------------------------------------------------------------------------------------------


@NARROW
@pytest.mark.parametrize("width", [1, 7, 16, 100, 256])
@pytest.mark.parametrize("has_bias", [True, False])
def test_layer_norm_and_its_gradients(
    has_bias: bool, width: int, dtype: torch.dtype, tolerance: float, compiled: Library
) -> None:
    inputs = [3 * torch.randn(5, 4, width) + 1, torch.randn(width)] + has_bias * [torch.randn(width)]

    def ours(x: Tensor, gain: Tensor, bias: Tensor | None = None) -> Tensor:
        normed, kept = fused.layer_norm(x, gain, bias, 1e-5, dtype)
        assert normed.dtype == dtype
        return normed + kept.tanh()  # the gradient by x comes from both

    def oracle(x: Tensor, gain: Tensor, bias: Tensor | None = None) -> Tensor:
        return F.layer_norm(x, (width,), gain, bias) + x.tanh()

    assert_same(ours, oracle, inputs, 10 * tolerance)


def test_of_a_norm_and_its_input_one_alone_may_be_used(compiled: Library) -> None:
    x, gain = torch.randn(3, 8, requires_grad=True), torch.ones(8, requires_grad=True)
    _, kept = fused.layer_norm(x, gain, None, 1e-5, torch.float32)
    assert torch.equal(torch.autograd.grad(kept.sum(), x)[0], torch.ones_like(x))


# -- attention ---------------------------------------------------------------------------------------------------------

SHAPES = [(1, 1, 1, 1, 1, 1), (2, 3, 5, 7, 8, 8), (4, 2, 17, 16, 10, 36), (3, 4, 14, 33, 64, 48), (1, 2, 3, 256, 4, 20)]


@NARROW
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", ["not", "keys", "all"])
def test_attention_and_its_gradients(
    masked: str, shape: tuple[int, ...], dtype: torch.dtype, tolerance: float, compiled: Library
) -> None:
    batch, n_heads, n_queries, n_keys, key_width, value_width = shape
    sizes = (n_queries, key_width), (n_keys, key_width), (n_keys, value_width)
    inputs = [torch.randn(batch, n, n_heads, width).to(dtype).transpose(1, 2) for n, width in sizes]
    mask = None
    if masked != "not":
        mask = torch.rand(batch, 1, n_queries if masked == "all" else 1, n_keys) < 0.6
        mask[0] = False  # nothing to attend to
    assert_same(
        lambda *x: fused.attend(*x, mask), lambda *x: attention_weights(*x[:2], mask) @ x[2], inputs, 4 * tolerance
    )


def test_masks_are_broadcast_as_pytorch_does(compiled: Library) -> None:
    inputs = [torch.randn(3, 2, n, 8, requires_grad=True) for n in (5, 6, 6)]
    for mask in (
        torch.rand(1, 1, 5, 6) < 0.5,
        torch.rand(3, 1, 1, 1) < 0.5,
        torch.rand(6, 5, 1, 1).permute(2, 3, 1, 0) < 0.5,
    ):
        expected = attention_weights(*inputs[:2], mask) @ inputs[2]
        torch.testing.assert_close(fused.attend(*inputs, mask), expected)


@pytest.mark.parametrize("n_keys", [5, 6])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3), (2, 3, 2)])
def test_gradients_for_any_number_of_dimensions(compiled: Library, batch: tuple[int, ...], n_keys: int) -> None:
    inputs = [torch.randn(*batch, n, 8) for n in (5, n_keys, n_keys)]
    rotary = RotaryPositions(9, 8)
    assert_same(lambda x: rotary(x, range(5)), lambda x: rotary(x, range(5)), inputs[:1], 1e-6)  # in float64, PyTorch's
    for mask in (None, torch.rand(5, n_keys) < 0.5):
        assert_same(
            lambda *x, mask=mask: attend(*x, mask),
            lambda *x, mask=mask: attention_weights(*x[:2], mask) @ x[2],
            inputs,
            1e-5,
        )


def test_tensors_may_lie_in_memory_as_they_like(compiled: Library) -> None:
    wide = torch.randn(2, 2, 9, 3 * 16)
    layouts = (
        wide[..., ::3],
        wide[..., :16],
        wide.transpose(0, 1)[..., 16:32],
        wide[:1, ..., :16].expand(2, -1, -1, -1),
    )
    for layout in layouts:
        assert_same(lambda *x: fused.attend(*x, None), lambda *x: attention_weights(*x[:2]) @ x[2], [layout] * 3, 1e-5)


@pytest.mark.parametrize("sizes", [((2, 3), (1, 3)), ((2, 3), (2, 1))])
def test_attention_over_other_sentences_or_heads_is_refused(
    sizes: tuple[tuple[int, int], tuple[int, int]], compiled: Library
) -> None:
    one, other = (torch.randn(*size, 5, 8, requires_grad=True) for size in sizes)
    with pytest.raises(ValueError, match="do not fit each other"):
        fused.attend(one, other, other, None)


@pytest.mark.parametrize("value", [math.nan, 1e30, -1e30])
def test_large_scores_and_nan(value: float, compiled: Library) -> None:
    queries, keys, values = (torch.randn(1, 1, 4, 8, requires_grad=True) for _ in range(3))
    with torch.no_grad():
        queries[0, 0, 1, 2] = value
    attended, expected = fused.attend(queries, keys, values, None), attention_weights(queries, keys) @ values
    torch.testing.assert_close(attended, expected, equal_nan=True)


def test_a_nan_is_not_lost_behind_a_mask(compiled: Library) -> None:
    queries, keys, values = (torch.randn(1, 1, 4, 8, requires_grad=True) for _ in range(3))
    with torch.no_grad():
        keys[0, 0, 0] = math.nan
    attended = fused.attend(queries, keys, values, torch.ones(4, 4, dtype=torch.bool).tril()[None, None])
    assert attended.isnan().all()


def test_gradients_may_lie_in_memory_as_they_like(compiled: Library) -> None:
    inputs = [torch.randn(3, 2, n, 8, requires_grad=True) for n in (5, 6, 6)]
    for ours, oracle in zip(
        torch.autograd.grad(fused.attend(*inputs, None).sum(), inputs),
        torch.autograd.grad((attention_weights(*inputs[:2]) @ inputs[2]).sum(), inputs),
        strict=True,
    ):
        torch.testing.assert_close(ours, oracle)


@NARROW
@pytest.mark.parametrize("positions", [range(9), range(3, 12), range(4, 5)])
def test_rotary_positions_and_their_gradients(
    positions: range, dtype: torch.dtype, tolerance: float, compiled: Library
) -> None:
    rotary = RotaryPositions(20, 10)
    x = torch.randn(3, 9, 2, 10).to(dtype).transpose(1, 2)
    wide = copy.deepcopy(rotary).double()
    assert_same(lambda x: rotary(x, positions), lambda x: wide(x, positions), [x], 2 * tolerance)
    table = rotary.table[positions.start : positions.stop]
    torch.testing.assert_close(fused.rotate(x.requires_grad_(), table), rotary(x, positions), rtol=0, atol=0)


# -- the loss ----------------------------------------------------------------------------------------------------------


@NARROW
@pytest.mark.parametrize("vocab_size", [1, 5, 64, 301])
@pytest.mark.parametrize("has_bias", [True, False])
def test_softmax_over_the_vocabulary(
    has_bias: bool, vocab_size: int, dtype: torch.dtype, tolerance: float, compiled: Library
) -> None:
    scores = (5 * torch.randn(1, 11, vocab_size)).to(dtype)
    bias = torch.randn(vocab_size) if has_bias else None
    expected = scores.double() + (0 if bias is None else bias.double())
    normalisers, divergence = fused.softmax_(scores, bias, 0.0)
    torch.testing.assert_close(normalisers.double(), expected.logsumexp(dim=-1), rtol=0, atol=1e-5)
    torch.testing.assert_close(scores.double(), expected.softmax(dim=-1), rtol=0, atol=tolerance)
    assert divergence == 0


@pytest.mark.parametrize("vocab_size", [3, 64, 301])
def test_r_drop_of_two_passes(vocab_size: int, compiled: Library) -> None:
    scores, weight = torch.randn(2, 11, vocab_size), 3.0
    wide = scores.double().requires_grad_()
    p, q = wide.log_softmax(dim=-1)
    expected = (F.kl_div(q, p, reduction="sum", log_target=True) + F.kl_div(p, q, reduction="sum", log_target=True)) / 2
    by_scores = torch.autograd.grad(weight * expected, wide)[0] + wide.detach().softmax(dim=-1)
    normalisers, divergence = fused.softmax_(scores, None, weight)
    torch.testing.assert_close(normalisers.double(), wide.logsumexp(dim=-1).detach(), rtol=0, atol=1e-5)
    torch.testing.assert_close(divergence.double(), expected.detach(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(scores.double(), by_scores, rtol=0, atol=1e-5)


@NARROW
def test_numbers_are_added_to_floats(dtype: torch.dtype, tolerance: float, compiled: Library) -> None:
    totals, numbers = torch.randn(7, 21), torch.randn(7, 21).to(dtype)
    expected = totals + numbers.float()
    fused.add_(totals, numbers)
    assert torch.equal(totals, expected)


# -- where they are used -----------------------------------------------------------------------------------------------

VARIANTS = [
    {"norm": "pre", "positions": "rotary", "memory": "layerwise", "bias": False, "tie": "all"},
    {"norm": "post", "positions": "sinusoidal", "tie": "decoder", "target_vocab_size": 43},
    {"norm": "pre", "norm_kind": "rms", "activation": "swiglu", "positions": "learned", "d_k": 6, "d_v": 10},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("r_drop", [0.0, 3.0])
def test_a_models_loss_and_gradients_are_those_in_float64(
    r_drop: float, variant: dict[str, object], compiled: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK_TOKENS", 16)  # the last chunk is not full
    shape = {"d_model": 20, "d_ff": 28, "n_heads": 2, "n_encoder_layers": 2, "n_decoder_layers": 2, "dropout": 0.0}
    sizes = {"source_vocab_size": 51, "target_vocab_size": 51}
    model = Transformer(ModelConfig.model_validate({**shape, **sizes, **variant}))
    source, target = torch.randint(4, 43, (5, 11)), torch.randint(4, 43, (5, 14))
    source[1, 4:] = target[3, 6:] = 0
    found = []
    for each in (model, copy.deepcopy(model).double()):
        loss, nll = batch_loss(each, Batch(source, target), 0.1, r_drop)
        loss.backward()
        found.append([loss, nll, *(weight.grad for weight in each.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_only_training_on_a_cpu_uses_them(compiled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    for name in ("attend", "add_dropped", "layer_norm", "rotate"):
        monkeypatch.setattr(fused, name, lambda *_, name=name: called.append(name))
    leaf, dropout = torch.randn(2, 2, 5, 8, requires_grad=True), Dropout(0.1)
    plain = [(leaf.detach(), leaf.detach()), (leaf.double(), leaf.double()), (leaf.half(), leaf.half())]
    for x, y in plain:
        attend(x, x, x)
        dropout.add(x, y)
        RotaryPositions(9, 8).to(x.dtype)(x, range(5))
    with torch.no_grad():
        attend(leaf, leaf, leaf)
        dropout.add(leaf, leaf)
    dropout.eval().add(leaf, leaf)
    long = torch.randn(1, 1, MAX_KEYS_FUSED + 1, 4, requires_grad=True)
    attend(long, long, long)
    assert called == []
    attend(leaf, leaf, leaf)
    dropout.train().add(leaf, leaf)
    assert called == ["attend", "add_dropped"]


def test_without_a_library_pytorch_does_the_same(compiled: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    sizes = {"source_vocab_size": 51, "target_vocab_size": 51, "d_model": 20, "d_ff": 28, "n_heads": 2}
    layers = {"n_encoder_layers": 1, "n_decoder_layers": 1, "dropout": 0.0, "norm": "pre", "positions": "rotary"}
    model = Transformer(ModelConfig.model_validate(sizes | layers))
    batch = Batch(torch.randint(4, 51, (5, 11)), torch.randint(4, 51, (5, 14)))
    losses = []
    for library in (compiled, None):
        monkeypatch.setattr(fused, "library", lambda library=library: library)
        losses.append(batch_loss(model, batch, 0.1)[0].item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_too_little_ram_is_reported(compiled: Library) -> None:
    scores = torch.zeros(1, 1, 1)
    with pytest.raises(MemoryError, match="not enough memory"):
        compiled.call("softmax", library_module.array(scores), None, scores, scores, 0.0, 2**57, 1, 2)


def test_tensors_that_do_not_fit_are_left_to_pytorch_or_refused(compiled: Library) -> None:
    x = torch.randn(2, 3, 4, requires_grad=True)
    assert Dropout(0.1).add(x, torch.randn(1, 1, 4)).shape == x.shape  # which broadcasts
    mask = torch.rand(2, 3, 4, 4) < 0.5  # of each head its own
    heads = torch.randn(2, 3, 4, 8, requires_grad=True)
    torch.testing.assert_close(attend(heads, heads, heads, mask), attention_weights(heads, heads, mask) @ heads)
    with torch.autocast("cpu", torch.float16):
        normed, _ = norm_and_keep(LayerNorm(4), x)
    torch.testing.assert_close(normed, F.layer_norm(x, (4,)).half(), rtol=1e-3, atol=1e-3)
    rotary = RotaryPositions(20, 8).bfloat16()
    narrow = heads.detach().bfloat16()
    turned = rotary(narrow.requires_grad_(), range(4))
    torch.testing.assert_close(turned, rotary(narrow.detach(), range(4)), rtol=0.02, atol=0.02)
    for refused in (
        lambda: RotaryPositions(20, 8)(heads, range(17, 20)),
        lambda: LayerNorm(5)(x),
        lambda: fused.softmax_(torch.zeros(1, 2, 3), None, 1.0),
        lambda: fused.add_dropped(x, x[:1], 9),
    ):
        with pytest.raises(ValueError, match=r"not|differ"):
            refused()
    for refused in (
        lambda: fused.add_(torch.zeros(2, 2).double(), torch.zeros(2, 2)),
        lambda: library_module.array(x.half()),
    ):
        with pytest.raises(TypeError):
            refused()


def test_pytorchs_default_type_does_not_matter(compiled: Library) -> None:
    x, gain = torch.randn(6, 16, requires_grad=True), torch.ones(16, requires_grad=True)
    expected = torch.autograd.grad(F.layer_norm(x, (16,), gain).square().sum(), (x, gain))
    torch.set_default_dtype(torch.float64)
    try:
        normed, _ = fused.layer_norm(x, gain, None, 1e-5, torch.float32)
        found = torch.autograd.grad(normed.square().sum(), (x, gain))
        fused.softmax_(torch.zeros(1, 4, 8, dtype=torch.float32), None, 0.0)
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(found, expected)


# -- the libraries -----------------------------------------------------------------------------------------------------


def test_the_libraries_are_there_and_the_fastest_is_taken() -> None:
    if platform.machine() == "x86_64":
        assert list(USABLE) == list(reversed(LIBRARIES[: len(USABLE)]))
    library = library_module.library()
    if sys.platform != "linux":
        assert library is None
        return
    assert library is not None, "install dragoman again: pip install -e ."
    assert library.lanes == max(Library(*each).lanes for each in USABLE.items())


@pytest.mark.skipif(sys.platform != "linux", reason="the libraries are for Linux")
def test_the_libraries_find_the_openmp_of_pytorch() -> None:
    """Also where its functions are not global, as in some builds of PyTorch."""
    openmp = loaded_openmp()
    assert openmp is not None
    assert "/torch" in openmp
    program = """if True:
        import ctypes, sys
        from dragoman.native.libraries import loaded_openmp
        openmp, library = sys.argv[1:]
        assert loaded_openmp() is None
        ctypes.CDLL(openmp)
        try:
            sys.exit(f"{ctypes.CDLL(library)} needs no OpenMP")
        except OSError:
            ctypes.CDLL(loaded_openmp(), mode=ctypes.RTLD_GLOBAL)
            ctypes.CDLL(library)
    """
    library = NATIVE / f"_fused{SUFFIX}"
    done = subprocess.run([sys.executable, "-c", program, openmp, library], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_compiler
@pytest.mark.parametrize("name", LIBRARIES)
def test_the_libraries_are_of_this_source_and_compile_without_a_warning(name: str, tmp_path: Path) -> None:
    modules = runpy.run_path(str(Path(__file__).parent.parent / "setup.py"))["EXTENSIONS"]
    options = next((each.extra_compile_args for each in modules if each.name == f"dragoman.native._{name}"), None)
    if options is None:
        pytest.skip("of another processor or system")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    sources = [str(path) for path in NATIVE.glob("fused*.c")]
    subprocess.run([str(COMPILER), *options, *warnings, "-c", *sources], check=True, cwd=tmp_path)
    made_of = [*NATIVE.glob("fused*.[ch]"), NATIVE / "vectors.h"]
    for library in NATIVE.glob(f"_{name}.*"):
        assert library.stat().st_mtime >= max(path.stat().st_mtime for path in made_of), "install dragoman again"
