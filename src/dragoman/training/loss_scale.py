"""The scale of the loss in float16, which has no numbers as small as many gradients (Micikevicius et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor

from dragoman.model.transformer import Transformer
from dragoman.training.checkpoint import Progress


class LossScale:
    """PyTorch's `GradScaler`, whose state lies in the progress of a training, so that a stopped one continues exactly.

    The scale is halved after a step whose gradient is not finite, and doubled after 2,000 others.
    """

    def __init__(self, model: Transformer, progress: Progress) -> None:
        device = next(model.parameters()).device
        # It finds the gradients by an optimizer. Ours are other classes; this one never makes a step.
        self._gradients = torch.optim.SGD(model.parameters(), lr=0.0)
        self._scaler = torch.amp.GradScaler(device.type)
        self._scaler.scale(torch.zeros(1, device=device))  # it makes its scale at the first call
        if progress.loss_scale is not None:
            state = {**self._scaler.state_dict(), "scale": progress.loss_scale}
            self._scaler.load_state_dict({**state, "_growth_tracker": progress.loss_scale_steps})

    def scale(self, loss: Tensor) -> Tensor:
        """Return the scaled loss."""
        scaled: Tensor = self._scaler.scale(loss)
        return scaled

    def unscale(self) -> None:
        """Divide the gradients by the scale. They are equal in all processes, and so is what follows from them."""
        self._scaler.unscale_(self._gradients)

    def update(self, progress: Progress) -> None:
        """Choose the scale of the next step, and note it."""
        self._scaler.update()
        state = self._scaler.state_dict()
        progress.loss_scale, progress.loss_scale_steps = float(state["scale"]), int(state["_growth_tracker"])
