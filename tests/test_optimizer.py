"""Adam, Muon and the moving average against PyTorch's own, the singular value decomposition, and their formulas."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any, Literal, get_args

import pytest
import torch
from models import small_model
from torch import Tensor

from dragoman.machine.processes import Processes
from dragoman.model.transformer import Transformer
from dragoman.settings.training_config import TrainingConfig
from dragoman.training import muon
from dragoman.training.muon import Muon, orthogonal
from dragoman.training.optimizer import OPTIMIZERS, MovingAverage, Optimizer

pytestmark = pytest.mark.torch

BOTH = pytest.mark.parametrize("kind", ["adam", "muon"])
#: Rate, precision and processes of a step.
STEP = 0.01, "float32", Processes()


def training(kind: str) -> TrainingConfig:
    return TrainingConfig.model_validate({"optimizer": kind})


def learn(model: Transformer, optimizer: Optimizer | torch.optim.Optimizer, n: int, start: int = 0) -> None:
    """Some steps, of gradients that depend on the weights and on the step."""
    for number in range(start, start + n):
        torch.manual_seed(number)
        model(torch.randint(4, 11, (2, 4)), torch.randint(4, 11, (2, 4))).square().sum().backward()
        optimizer.step(*STEP if isinstance(optimizer, Optimizer) else ())
        model.zero_grad()


def trained(kind: str) -> tuple[Transformer, Optimizer]:
    """A model after two steps, with gradients for a third, and its optimizer."""
    model = small_model()
    optimizer = Optimizer(model, training(kind))
    learn(model, optimizer, 2)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    return model, optimizer


def no_memory(*_: object) -> Tensor:
    raise MemoryError


def assert_equal(one: Transformer, other: Transformer, **tolerance: float) -> None:
    for name, value in one.state_dict().items():
        torch.testing.assert_close(other.state_dict()[name], value, **(tolerance or {"rtol": 0, "atol": 0}))


def matrices_of(model: Transformer) -> set[str]:
    """The weights of the linear maps inside of layers."""
    maps = {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    return {f"{name}.weight" for name in maps if name.startswith(("encoder_layers.", "decoder_layers."))}


def test_adam_is_pytorchs() -> None:
    ours, theirs = small_model(bias=False), small_model(bias=False)  # a bias of keys has no gradient but rounding's
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    learn(ours, Optimizer(ours, training("adam")), 5)
    learn(theirs, optimizer, 5)
    assert_equal(theirs, ours, rtol=1e-12, atol=1e-12)


def test_an_optimizer_does_not_import_pytorchs_compiler() -> None:
    """Its import takes longer than a small training."""
    program = (
        "import sys; from dragoman.settings.training_config import TrainingConfig\n"
        "from dragoman.training.optimizer import Optimizer; from torch.nn import Linear\n"
        "from dragoman.machine.processes import Processes; model = Linear(2, 2); model(model.bias).sum().backward()\n"
        "Optimizer(model, TrainingConfig(optimizer='adam')).step(0.1, 'float32', Processes())\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this PyTorch has no Muon to compare with")
@pytest.mark.parametrize("tie", ["none", "all"])
def test_muon_is_pytorchs_for_the_matrices_of_layers_and_adam_for_all_else(
    tie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.float)  # in which PyTorch's would be coarser
    ours, theirs = small_model(tie=tie), small_model(tie=tie)
    names = matrices_of(theirs)
    assert len(names) == 2 * 6 + 2 * 10
    matrices = [each for name, each in theirs.named_parameters() if name in names]
    others = [each for name, each in theirs.named_parameters() if name not in names]
    rate = 0.01 * muon.UPDATE_RMS / 0.2  # PyTorch's is 0.2
    optimizers = (
        torch.optim.Muon(matrices, lr=rate, weight_decay=0.0, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.Adam(others, lr=0.01, betas=(0.9, 0.98), eps=1e-9),
    )
    start = {name: value.clone() for name, value in theirs.state_dict().items()}
    optimizer = Optimizer(ours, training("muon"))
    for _ in range(3):
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            one.grad = torch.randn_like(one)
            other.grad = one.grad.clone()
        optimizer.step(*STEP)
        for each in optimizers:
            each.step()
    for name, value in theirs.named_parameters():
        moved, expected = ours.get_parameter(name) - start[name], value - start[name]
        assert (moved - expected).norm() < (1e-5 if name in names else 1e-12) * expected.norm(), name


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_an_update_has_the_gradients_singular_vectors_and_values_of_one(precision: str, scale: float) -> None:
    torch.manual_seed(3)
    left, _, right = torch.linalg.svd(torch.randn(5, 24, 40, dtype=torch.float64), full_matrices=False)
    values = torch.logspace(0, -1.5, 24, dtype=torch.float64)
    found = orthogonal((left * values @ right).float() * scale, precision)
    among = left.mT @ found.double() @ right.mT
    diagonal = among.diagonal(dim1=1, dim2=2)
    assert ((diagonal > 0.6) & (diagonal < 1.3)).all()
    assert (among - torch.diag_embed(diagonal)).abs().max() < (0.05 if precision == "bfloat16" else 1e-5)


def test_a_matrix_without_a_gradient_stays() -> None:
    matrix = torch.nn.Parameter(torch.randn(3, 5))
    before, optimizer = matrix.detach().clone(), Muon([matrix])
    optimizer.apply(optimizer.updates("float32", Processes()), 1.0)
    assert torch.equal(matrix, before)


def test_an_update_is_as_large_as_it_says_whatever_the_shape() -> None:
    torch.manual_seed(4)
    for shape in ((32, 32), (32, 96), (96, 32)):
        matrix = torch.nn.Parameter(torch.zeros(shape))
        matrix.grad = torch.randn(shape)
        optimizer = Muon([matrix])
        optimizer.apply(optimizer.updates("float32", Processes()), 0.5)
        assert matrix.square().mean().sqrt().item() == pytest.approx(0.5 * muon.UPDATE_RMS, rel=0.2)


def test_each_process_finds_a_part_of_the_updates() -> None:
    """What the two parts add up to is what one process finds."""
    torch.manual_seed(5)
    matrices = [torch.nn.Parameter(torch.zeros(shape)) for shape in [(4, 6), (6, 4), (4, 6), (5, 5)]]
    for matrix in matrices:
        matrix.grad = torch.randn_like(matrix)

    def updates(rank: int, world_size: int) -> list[Tensor]:
        alone: Any = SimpleNamespace(rank=rank, world_size=world_size, sum=lambda tensor: tensor)
        return [update for _, update in Muon(matrices).updates("float32", alone)]

    for whole, first, second in zip(updates(0, 1), updates(0, 2), updates(1, 2), strict=True):
        assert torch.equal(first + second, whole)
        assert not (first.bool() & second.bool()).any()
    assert any(update.any() for update in updates(1, 2))


@pytest.mark.parametrize("numbers_at_once", [1, 100, 1 << 20])
def test_matrices_become_orthogonal_some_at_a_time(numbers_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(6)
    matrices = [torch.nn.Parameter(torch.zeros(shape)) for shape in [(4, 6), (6, 4), (4, 6), (5, 5), (4, 6)]]
    for matrix in matrices:
        matrix.grad = torch.randn_like(matrix)
    expected = Muon(matrices).updates("float32", Processes())
    monkeypatch.setattr(muon, "NUMBERS_AT_ONCE", numbers_at_once)
    found = Muon(matrices).updates("float32", Processes())
    assert [matrix for matrix, _ in found] == [matrix for matrix, _ in expected]
    for (_, one), (_, other) in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_a_step_that_runs_out_of_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it does: `orthogonal` is what asks for most of it."""
    model, optimizer = trained("muon")
    before = {name: value.clone() for name, value in (model.state_dict() | optimizer.tensors()).items()}
    n_shapes = len({tuple(sorted(model.get_parameter(name).shape)) for name in matrices_of(model)})
    assert n_shapes > 1
    for n_calls in range(n_shapes):
        answers: Any = iter([*[orthogonal] * n_calls, no_memory])
        monkeypatch.setattr(muon, "orthogonal", lambda *arguments, answers=answers: next(answers)(*arguments))
        with pytest.raises(MemoryError):
            optimizer.step(*STEP)
        assert next(answers, None) is None
        for name, value in (model.state_dict() | optimizer.tensors()).items():
            assert torch.equal(value, before[name]), name


@BOTH
def test_moving_the_weights_asks_for_no_memory(kind: str) -> None:
    _, optimizer = trained(kind)
    moves = [part.prepare("float32", Processes()) for part in optimizer.parts]
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True, acc_events=True) as profile:
        for move in moves:
            move(0.01)
    assert max(event.self_cpu_memory_usage for event in profile.events()) < 100  # but for a number or two


@BOTH
def test_a_restored_optimizer_continues_to_the_same_bits(kind: Literal["adam", "muon"]) -> None:
    whole, broken, continued = (small_model(tie="all") for _ in range(3))
    learn(whole, Optimizer(whole, training(kind)), 6)
    optimizer = Optimizer(broken, training(kind))
    learn(broken, optimizer, 3)
    saved = {name: value.clone() for name, value in optimizer.tensors().items()}
    continued.load_state_dict(broken.state_dict())
    optimizer = Optimizer(continued, training(kind))
    optimizer.restore(saved)
    learn(continued, optimizer, 3, start=3)
    assert_equal(whole, continued)


def test_each_optimizer_that_a_recipe_can_name_exists() -> None:
    assert get_args(TrainingConfig.model_fields["optimizer"].annotation) == tuple(OPTIMIZERS)


def test_the_moving_average() -> None:
    model = small_model()
    average = MovingAverage(model, decay=0.5)
    first = [parameter.clone() for parameter in model.parameters()]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    average.update(model, average.weight(step=1_000_000))
    for parameter, start in zip(average.model.parameters(), first, strict=True):
        assert torch.allclose(parameter, start + 0.5)
    average.update(model, torch.tensor(average.weight(step=1_000_000)))  # a number on the device
    for parameter, start in zip(average.model.parameters(), first, strict=True):
        assert torch.allclose(parameter, start + 0.75)
