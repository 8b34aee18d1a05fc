"""The gradient of a whole batch, however it is cut into micro-batches and spread over processes."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dragoman.data.batches import Batch
from dragoman.machine.processes import Processes, translate_lost_process
from dragoman.model.transformer import Transformer
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.training.loss_scale import LossScale

#: The types of products by the names of `training.precision`; those of float32 stay as they are.
NARROW = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class _BatchLoss(nn.Module):
    """`batch_loss` as a module, which PyTorch's `DistributedDataParallel` can wrap."""

    def __init__(self, model: Transformer, training: TrainingConfig) -> None:
        super().__init__()
        self.model, self._smoothing, self._r_drop = model, training.label_smoothing, training.r_drop

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> tuple[Tensor, Tensor]:
        """source_ids (B, S), target_ids (B, T) -> the sums of the loss and of -log p(target)."""
        return batch_loss(self.model, Batch(source_ids, target_ids), self._smoothing, self._r_drop)


class Gradients:
    """The gradients of a model's batches, in one process or several.

    Several processes add theirs up in one of two ways. On GPUs, PyTorch's `DistributedDataParallel` sends those of a
    layer while the layers before it are computed. On CPUs, one flat message follows the backward pass, because
    the processes need all cores for the products. `benchmarks/processes.py` measures both.
    """

    def __init__(self, model: Transformer, training: TrainingConfig, processes: Processes) -> None:
        self.model, self._processes = model, processes
        self._losses: nn.Module = _BatchLoss(model, training)
        self._parallel: DistributedDataParallel | None = None
        if processes.overlaps and processes.world_size > 1:
            with warnings.catch_warnings():  # PyTorch 2.13 renames `broadcast_buffers`; older ones lack the new name
                warnings.simplefilter("ignore", FutureWarning)
                self._parallel = DistributedDataParallel(
                    self._losses, broadcast_buffers=False, gradient_as_bucket_view=True
                )
            self._losses = self._parallel

    def of_batch(
        self, micro_batches: Sequence[Batch], precision: str, scale: LossScale | None = None
    ) -> tuple[int, float, float]:
        """Leave in the parameters the gradient of the mean loss of all target tokens of a batch.

        Args:
            micro_batches: this process's share of the batch, which may be none.
            precision: "float32", "bfloat16" or "float16", of products.
            scale: of the loss in float16. The gradients are divided by it again.

        Returns:
            The number of target tokens of all processes, and the sums over them of the loss that was minimised and of
            the negative log-likelihood, in nats.
        """
        device, pad_id = next(self.model.parameters()).device, self.model.special_ids.target.pad
        n_tokens = sum(n_target_tokens(batch, pad_id) for batch in micro_batches)
        if self._processes.world_size > 1:
            n_tokens = int(self._processes.sum(torch.tensor(n_tokens, device=device)))
        weights = [1.0] * len(micro_batches)
        if self._parallel is not None and not micro_batches:  # each process takes part in the sum
            micro_batches, weights = [self._stand_in()], [0.0]
        sums = torch.zeros(2, device=device)
        for index, (batch, weight) in enumerate(zip(micro_batches, weights, strict=True)):
            narrow = NARROW.get(precision)
            with self._sending(is_last=index == len(micro_batches) - 1):
                with torch.autocast(device.type, narrow, enabled=narrow is not None):
                    on_device = batch.to(device)
                    loss, nll = self._losses(on_device.source_ids, on_device.target_ids)
                self._backward(loss * weight / n_tokens, scale)
            sums += torch.stack((loss.detach(), nll.detach())) * weight
        if self._parallel is None:
            sum_gradients(self.model, sums, self._processes)
        else:
            self._processes.sum(sums)
        if scale is not None:
            scale.unscale()
        loss_sum, nll_sum = sums.tolist()
        return n_tokens, loss_sum, nll_sum

    def _backward(self, loss: Tensor, scale: LossScale | None) -> None:
        loss = loss if scale is None else scale.scale(loss)
        if self._parallel is None:
            loss.backward()
            return
        with translate_lost_process():
            (loss * self._processes.world_size).backward()  # of whose gradients it takes the mean

    def _sending(self, *, is_last: bool) -> contextlib.AbstractContextManager[None]:
        """Let gradients be sent during the last backward pass of a batch only, and kept in those before."""
        parallel = self._parallel
        if parallel is None or is_last:
            return contextlib.nullcontext()
        without: contextlib.AbstractContextManager[None] = parallel.no_sync()
        return without

    def _stand_in(self) -> Batch:
        """Return a batch of one empty pair, for a process without a share."""
        source, target = self.model.special_ids.source, self.model.special_ids.target
        return Batch(torch.tensor([[source.unknown]]), torch.tensor([[target.start, target.end]]))


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
