"""The highest scores of each row, by fewer steps than a sort of them all. R rows, V vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor

#: Scores in a group: a multiple of what a processor's widest instructions take at once.
GROUP = 64


def top_k(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k highest of each row of scores (R, V), falling, and their columns: `Tensor.topk`, several times faster.

    The k highest lie in the k groups whose own highest scores are the k highest. So one pass over the scores finds the
    highest of each group, and only k groups are looked into. A NaN is higher than all numbers, as for PyTorch.
    """
    n_groups = scores.size(1) // GROUP
    if scores.device.type != "cpu" or n_groups <= k:
        values, columns = scores.topk(k, dim=-1)
        return values, columns
    if k == 1:
        columns = torch.from_numpy(scores.numpy().argmax(axis=-1, keepdims=True))
        return scores.gather(1, columns), columns
    n_grouped = n_groups * GROUP
    highest = scores[:, :n_grouped].unflatten(1, (n_groups, GROUP)).amax(dim=-1)
    groups = highest.topk(k, dim=-1).indices
    inside = (groups[:, :, None] * GROUP + torch.arange(GROUP)).flatten(1)  # (R, k * GROUP)
    outside = torch.arange(n_grouped, scores.size(1)).expand(len(scores), -1)
    candidates = torch.cat((inside, outside), dim=1)
    values, places = scores.gather(1, candidates).topk(k, dim=-1)
    return values, candidates.gather(1, places)
