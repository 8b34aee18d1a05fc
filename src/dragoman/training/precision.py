"""float32 or bfloat16: chosen by measuring, once, and then kept for the whole training."""

from __future__ import annotations

import time

import torch

from dragoman.data.batches import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.loss import batch_loss

#: bfloat16 has to be this many times faster to be worth its coarser numbers.
WORTH_IT = 1.15
ROUNDS = 3


def choose_precision(wanted: str, model: Transformer, micro_batches: list[Batch]) -> str:
    """`wanted`, or for "auto" the faster of "float32" and "bfloat16" on a real batch, forward and backward."""
    if wanted != "auto":
        return wanted
    if not micro_batches:
        return "float32"
    batch = micro_batches[0].to(next(model.parameters()).device)
    model.train()
    seconds = {precision: _seconds(model, batch, precision) for precision in ("float32", "bfloat16")}
    return "bfloat16" if seconds["bfloat16"] * WORTH_IT < seconds["float32"] else "float32"


def _seconds(model: Transformer, batch: Batch, precision: str) -> float:
    """The best time of a few rounds; the first also warms up."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        with torch.autocast(batch.source_ids.device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            loss, _nll = batch_loss(model, batch, smoothing=0.0)
        loss.backward()
        float(loss.detach())  # waits for a GPU
        times.append(time.perf_counter() - started)
        model.zero_grad(set_to_none=True)
    return min(times)
