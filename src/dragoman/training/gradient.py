"""The gradient of a whole batch, however it is cut into micro-batches and spread over processes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from dragoman.data.batches import Batch
from dragoman.machine.processes import Processes
from dragoman.model.transformer import Transformer
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.loss import batch_loss, n_target_tokens


def batch_gradient(
    model: Transformer,
    micro_batches: Sequence[Batch],
    training: TrainingConfig,
    processes: Processes,
    precision: str,
) -> tuple[int, float, float]:
    """Leave in the parameters the gradient of the mean loss of all target tokens of a batch.

    Args:
        micro_batches: this process's share of the batch, which may be none.
        precision: "float32" or "bfloat16", of products.

    Returns:
        The number of target tokens of all processes, and the sums over them of the loss that was minimised and of the
        negative log-likelihood, in nats.
    """
    device, pad_id = next(model.parameters()).device, model.special_ids.target.pad
    n_tokens = sum(n_target_tokens(batch, pad_id) for batch in micro_batches)
    if processes.world_size > 1:
        n_tokens = int(processes.sum(torch.tensor(n_tokens, device=device)))
    sums = torch.zeros(2, device=device)
    for batch in micro_batches:
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            loss, nll = batch_loss(model, batch.to(device), training.label_smoothing, training.r_drop)
        (loss / n_tokens).backward()
        sums += torch.stack((loss.detach(), nll.detach()))
    sum_gradients(model, sums, processes)
    loss_sum, nll_sum = sums.tolist()
    return n_tokens, loss_sum, nll_sum


def sum_gradients(model: Transformer, sums: Tensor, processes: Processes) -> None:
    """Add the gradients of all processes, and their `sums` (2,), as one flat tensor: one message is the fastest."""
    if processes.world_size == 1:
        return
    parameters = list(model.parameters())
    grads = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    parts = [each.flatten() for each in (*grads, sums)]
    flat = processes.sum(torch.cat(parts))
    *summed, total = flat.split([part.numel() for part in parts])
    for parameter, part in zip(parameters, summed, strict=True):
        parameter.grad = part.view_as(parameter)
    sums.copy_(total)
