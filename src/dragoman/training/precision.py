"""float32 or bfloat16: chosen by measuring, once, and then kept for the whole training."""

from __future__ import annotations

import time
from collections.abc import Iterable

import torch

from dragoman.data.batches import Batch
from dragoman.model.transformer import Transformer
from dragoman.training.loss import batch_loss

#: bfloat16 has to be this many times faster to be worth its coarser numbers.
WORTH_IT = 1.15
#: Batches that are measured, after one that warms up.
N_MEASURED = 3


def choose_precision(wanted: str, model: Transformer, batches: Iterable[Batch]) -> str:
    """`wanted`, or for "auto" the faster of "float32" and "bfloat16" on real batches, forward and backward.

    Args:
        batches: the first warms up. Each is read once in either precision, as in a training: on a CPU, the first
            product of a shape in bfloat16 takes much longer than those that follow.
    """
    if wanted != "auto":
        return wanted
    device = next(model.parameters()).device
    moved = [batch.to(device) for batch in batches]
    model.train()
    seconds = {}
    for precision in ("float32", "bfloat16"):
        times = [_seconds(model, batch, precision) for batch in moved]
        seconds[precision] = sum(times[1:])
    return "bfloat16" if seconds["bfloat16"] * WORTH_IT < seconds["float32"] else "float32"


def _seconds(model: Transformer, batch: Batch, precision: str) -> float:
    started = time.perf_counter()
    with torch.autocast(batch.source_ids.device.type, torch.bfloat16, enabled=precision == "bfloat16"):
        loss, _nll = batch_loss(model, batch, smoothing=0.0)
    loss.backward()
    float(loss.detach())  # waits for a GPU
    model.zero_grad(set_to_none=True)
    return time.perf_counter() - started
