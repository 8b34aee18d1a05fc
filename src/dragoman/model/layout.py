"""How a model's weights lie in memory, which changes its speed and nothing else."""

from __future__ import annotations

from torch import nn

from dragoman.model.transformer import Transformer


def lay_out_for_cpu(model: Transformer) -> None:
    """Store the weights of a trained model's linear maps as (in, out), the output projection's apart from embeddings.

    PyTorch stores them as (out, in). The products of search have few rows, often fewer than a hundred; with (in, out)
    those are faster, some of them twice. Training such a model on would no longer tie its matrices.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight = nn.Parameter(module.weight.detach().t().contiguous().t(), requires_grad=False)
