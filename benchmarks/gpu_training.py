"""Training on one GPU: target tokens a second, the share of what products reach, and memory; a part of gpu.py."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from dragoman.data.batches import Batch
from dragoman.machine.processes import Processes
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.presets import PRESETS
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.checkpoint import Progress
from dragoman.training.gradient import Gradients
from dragoman.training.loss_scale import LossScale
from dragoman.training.optimizer import Optimizer

if TYPE_CHECKING:
    from gpu import Bench

VOCABULARY = 32_000
#: Lengths of source and target in the batches, equal parts of the tokens: few shapes, so that layers can be compiled.
LENGTHS = ((16, 16), (24, 24), (32, 40), (48, 48))
BATCH_TOKENS, TINY_TOKENS = 25_000, 200
#: Measured seconds of one row of the table, at most.
SECONDS = 12.0


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    preset: str
    precision: str
    is_compiled: bool


def training(bench: Bench, results: dict[str, Any]) -> dict[str, Any]:
    """Measure each row for which there is time, the most wanted first."""
    peaks = results.get("products", {})
    presets = ("tiny",) if bench.is_tiny else ("base", "big")
    rows = [Row(*row) for row in itertools.product(presets, ("bfloat16", "float16"), (False,))]
    rows += [Row(preset, "bfloat16", True) for preset in presets]
    table: dict[str, Any] = {}
    for index, row in enumerate(rows):
        name = f"{row.preset} {row.precision}" + (" compiled" if row.is_compiled else "")
        seconds = min(SECONDS, 0.4 * bench.seconds_left / (len(rows) - index))
        if seconds < 0.2:
            table[name] = "no time left"
            continue
        try:
            table[name] = _measured(bench, row, seconds, peaks.get(row.precision))
        except (RuntimeError, MemoryError) as error:
            table[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return table


def _measured(bench: Bench, row: Row, seconds: float, peak: float | None) -> dict[str, float]:
    """Train one model on made-up batches."""
    torch.manual_seed(1)
    vocabulary = 500 if bench.is_tiny else VOCABULARY
    sizes = {"source_vocab_size": vocabulary, "target_vocab_size": vocabulary}
    config = ModelConfig.model_validate({**PRESETS[row.preset], **sizes})
    model = Transformer(config).to(bench.device).train()
    if row.is_compiled:
        backend = "eager" if bench.is_tiny else "inductor"
        torch._dynamo.config.recompile_limit = 64  # a few shapes for each kind of layer, in training and evaluation
        for layer in (*model.encoder_layers, *model.decoder_layers):
            layer.compile(backend=backend, dynamic=False)
    settings = TrainingConfig(precision=row.precision)
    optimizer, gradients = Optimizer(model, settings), Gradients(model, settings, Processes())
    progress = Progress()
    scale = LossScale(model, progress) if row.precision == "float16" else None
    batches = made_up_batches(vocabulary, TINY_TOKENS if bench.is_tiny else BATCH_TOKENS)
    if row.is_compiled:
        batches = batches[-2:]  # compiling takes tens of seconds for each shape
    turns = itertools.cycle(batches)
    flops: list[float] = []

    def step() -> float:
        batch = next(turns)
        n_tokens, loss, _ = gradients.of_batch([batch], row.precision, scale)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if math.isfinite(float(norm) + loss):
            optimizer.step(1e-4, row.precision, Processes())
        if scale is not None:
            scale.update(progress)
        model.zero_grad()
        flops.append(training_flops(config, batch) / n_tokens)
        return n_tokens

    if bench.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(bench.device)
    speed = bench.rate(step, seconds, n_warm=2 * len(batches))
    row_of_table = {"target tokens/s": round(speed)}
    rate = speed * sum(flops) / len(flops) / 1e12
    row_of_table |= {"TFLOP/s": round(rate, 4)} | ({"share of products": round(rate / peak, 3)} if peak else {})
    if bench.device.type == "cuda":
        row_of_table["GiB"] = round(torch.cuda.max_memory_allocated(bench.device) / 2**30, 2)
    return row_of_table


def made_up_batches(vocabulary: int, n_tokens: int) -> list[Batch]:
    """Batches of random ids, one for each of `LENGTHS`."""
    batches = []
    for source, target in LENGTHS:
        n_pairs = max(1, n_tokens // max(source, target))
        ids = (torch.randint(4, vocabulary, (n_pairs, length)) for length in (source, target + 1))
        batches.append(Batch(*ids))
    return batches


def training_flops(config: ModelConfig, batch: Batch) -> float:
    """The operations of the products of one step: twice as many backwards as forwards, two for each multiplication."""
    (n_pairs, S), T = batch.source_ids.shape, batch.target_ids.size(1) - 1
    D, F = config.d_model, config.d_ff
    encoder = S * (4 * D * D + 2 * D * F) + 2 * S * S * D
    decoder = T * (6 * D * D + 2 * D * F) + S * 2 * D * D + 2 * T * T * D + 2 * T * S * D
    layers = config.n_encoder_layers * encoder + config.n_decoder_layers * decoder
    return 3 * 2.0 * n_pairs * (layers + T * D * config.target_vocab_size)
