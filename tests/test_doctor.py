"""The doctor passes every sound model and finds each deliberately broken one, by the check that is meant for it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from models import small_model
from test_model import VARIANTS
from tiny import write_tiny_bundle
from torch import Tensor, nn

from dragoman.cli.program import run
from dragoman.doctor import check, checks
from dragoman.errors import ConfigError
from dragoman.model import attention, cache, transformer
from dragoman.model.cache import SequenceCache
from dragoman.model.transformer import Transformer

pytestmark = pytest.mark.torch


def failures(model: nn.Module, **options: Any) -> list[str]:
    return [finding.name for finding in check(model, **options).findings if finding.passed is False]


#: The variants that `make test` examines: the paper's, and the one that differs most from it. Each takes seconds.
FIRST = (VARIANTS[0], VARIANTS[6])


@pytest.mark.parametrize(
    "fields", [*FIRST, *(pytest.param(each, marks=pytest.mark.thorough) for each in VARIANTS if each not in FIRST)]
)
def test_sound_models_pass(fields: dict[str, Any]) -> None:
    model = small_model(**{**fields, "dropout": 0.3, "max_length": 16}).train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    examination = check(model)
    assert examination.passed, str(examination)
    assert model.training
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


@pytest.mark.thorough
def test_small_models_are_given_time_and_short_ones_are_asked_less() -> None:
    slow = small_model(d_model=16, d_ff=32, n_heads=2, source_vocab_size=300, target_vocab_size=300)
    assert failures(slow) == []
    for vocab_size in (5, 6, 8):  # where the mark that a translation starts with is one of its tokens, nearly
        few = small_model(target_vocab_size=vocab_size, positions="rotary")
        assert failures(few) == []
    short = {finding.name: finding.passed for finding in check(small_model(max_length=2)).findings}
    assert (short["source padding"], short["target padding"], short["order"]) == (None, None, None)
    assert False not in short.values()


class PyTorchs(nn.Module):
    """A model that is not ours, with the same forward."""

    def __init__(self, *, causal: bool = True) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(12, 16), nn.Embedding(32, 16)
        self.body = nn.Transformer(16, 2, 1, 1, 32, dropout=0.1, batch_first=True)
        self.output, self.causal = nn.Linear(16, 12), causal

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        embedded = [self.tokens(ids) + self.positions(torch.arange(ids.size(1))) for ids in (source, target)]
        future = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1) if self.causal else None
        hidden = (source == 0) & (source != 0).any(dim=1, keepdim=True)  # a row of padding would be NaN
        body = self.body(*embedded, tgt_mask=future, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
        logits: Tensor = self.output(body)
        return logits


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:Support for mismatched")
def test_models_that_are_not_ours() -> None:
    sizes = {"source_vocab_size": 12, "target_vocab_size": 12, "pad_id": 0}
    torch.manual_seed(1)
    assert failures(PyTorchs(), **sizes) == []
    assert "causality" in failures(PyTorchs(causal=False), **sizes)
    with pytest.raises(ConfigError, match="source_vocab_size"):
        check(PyTorchs())


def future_visible(patch: pytest.MonkeyPatch) -> Transformer:
    patch.setattr(cache, "decoder_mask", lambda target_mask, n_queries: target_mask)
    return small_model()


def padding_attended(patch: pytest.MonkeyPatch) -> Transformer:
    patch.setattr(transformer, "padding_mask", lambda ids, pad_id: (ids == ids)[:, None, None])
    return small_model()


def mask_on_the_wrong_side(patch: pytest.MonkeyPatch) -> Transformer:
    """The encoder's padding mask hides queries instead of keys."""
    model = small_model()
    for layer in model.encoder_layers:
        layer.register_forward_pre_hook(lambda module, args: (args[0], args[1].transpose(-2, -1)))
    return model


def positions_on_the_batch_axis(patch: pytest.MonkeyPatch) -> Transformer:
    model = small_model()
    for embedding in (model.source_embedding, model.target_embedding):
        table = embedding.positions.table  # type: ignore[union-attr]
        embedding.positions = BatchPositions(table)  # type: ignore[arg-type, assignment]
    return model


class BatchPositions(nn.Module):
    table: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x: Tensor, positions: range) -> Tensor:
        return x + self.table[: x.size(0), None]


def cache_off_by_one(patch: pytest.MonkeyPatch) -> Transformer:
    length = SequenceCache.length.fget
    assert length is not None
    patch.setattr(SequenceCache, "length", property(lambda self: max(0, length(self) - 1)))
    return small_model()


def untied_after_load(patch: pytest.MonkeyPatch) -> Transformer:
    model = small_model(tie="decoder")
    model.output_projection.weight = nn.Parameter(model.output_projection.weight.detach().clone())
    return model


def nan_row(patch: pytest.MonkeyPatch) -> Transformer:
    def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
        return scores.masked_fill(~mask, -math.inf).softmax(dim=-1) @ values

    patch.setattr(attention, "attend", attend)
    return small_model()


class Shifting(Transformer):
    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        return super().forward(source_ids, torch.cat((target_ids[:, :1], target_ids[:, :-1]), dim=1))


def shifted_targets(patch: pytest.MonkeyPatch) -> Transformer:
    return Shifting(small_model().config)


def source_ignored(patch: pytest.MonkeyPatch) -> Transformer:
    model = small_model()
    for layer in model.decoder_layers:
        layer.cross_attention.output_projection.weight.data.zero_()  # type: ignore[union-attr, operator]
    return model


def no_positions(patch: pytest.MonkeyPatch) -> Transformer:
    model = small_model()
    for embedding in (model.source_embedding, model.target_embedding):
        embedding.positions.table.zero_()  # type: ignore[union-attr, operator]
    return model


@pytest.mark.parametrize(
    ("broken", "check_name"),
    [
        (future_visible, "causality"),
        (padding_attended, "source padding"),
        (mask_on_the_wrong_side, "source padding"),
        (positions_on_the_batch_axis, "neighbours"),
        (cache_off_by_one, "cache"),
        (untied_after_load, "tying"),
        (nan_row, "finite"),
        (shifted_targets, "reads its output"),
        (source_ignored, "reads its source"),
        (no_positions, "order"),
    ],
)
def test_broken_models_are_found(
    broken: Callable[[pytest.MonkeyPatch], Transformer], check_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = broken(monkeypatch)
    monkeypatch.setattr(checks, "OVERFIT_STEPS", 5)
    assert check_name in failures(model)


class Parrot(nn.Module):
    """Says again what it has read, as a model does that was trained on targets that were not shifted."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor([5.0]))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.gain * nn.functional.one_hot(target, 12).float()


def test_a_model_trained_on_targets_that_were_not_shifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "OVERFIT_STEPS", 5)
    sizes = {"source_vocab_size": 12, "target_vocab_size": 12, "pad_id": 0}
    assert "next token" in failures(Parrot(), trained=True, **sizes)
    assert "next token" not in failures(Parrot(), **sizes)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = write_tiny_bundle(tmp_path / "bücher", tie="none")
    monkeypatch.setattr(checks, "OVERFIT_STEPS", 1)
    assert run(["doctor", "-m", str(bundle)]) == 1
    assert "FAIL  learns" in capsys.readouterr().out
    assert run(["doctor", "-m", str(bundle), "--json"]) == 1
    out = capsys.readouterr().out
    assert json.dumps(str(bundle), ensure_ascii=False) in out
    report = json.loads(out)
    assert [each["name"] for each in report["findings"] if each["passed"] is False] == ["learns"]
