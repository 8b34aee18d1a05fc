"""The simpler simple recurrent unit (Kim et al. 2019), which can take the place of the decoder's self-attention.

B batch, T tokens, P tokens of the step before, D model width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from dragoman.settings.model_config import ModelShape


class SSRU(nn.Module):
    """A mean of the tokens read so far, in which each number of a token says how much of the past it keeps:

        f_t = sigmoid(Wf x_t + bf),  c_t = f_t * c_(t-1) + (1 - f_t) * W x_t,  h_t = max(0, c_t)

    The past is one vector, the state c, where attention has a key and a value for each token.
    """

    def __init__(self, config: ModelShape) -> None:
        super().__init__()
        self.input = nn.Linear(config.d_model, config.d_model, bias=False)
        self.forget = nn.Linear(config.d_model, config.d_model, config.bias)

    def forward(self, x: Tensor, states: Tensor, parents: Tensor | None = None) -> Tensor:
        """Read x (B, T, D) after the tokens that left `states` (B, P, D) -> the states (B, T, D) that these leave.

        Args:
            parents: int64 (B, T), the one of the P tokens that each of the T follows. None: the T tokens are a
                sequence, which follows the last of the P.
        """
        dtype = torch.promote_types(x.dtype, torch.float32)  # a sum of many terms is too much for 16 bits
        kept = self.forget(x).to(dtype).sigmoid()
        added = (1 - kept) * self.input(x)
        if parents is not None:
            return torch.addcmul(added, kept, states.gather(1, parents[:, :, None].expand_as(x)))
        state, read = states[:, -1], []
        for keep, add in zip(kept.unbind(1), added.unbind(1), strict=True):
            state = torch.addcmul(add, keep, state)
            read.append(state)
        return torch.stack(read, dim=1)
