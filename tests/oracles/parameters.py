"""The parameters of linear maps and norms in the form that the search uses.

I inputs, O outputs, D model width.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dragoman.bundle.layout import LinearLayout, NormLayout
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig
from oracles.folding import can_fold


def joined_linears(
    weights: Mapping[str, Floats], *linears: LinearLayout, first_scale: float = 1.0
) -> tuple[Floats, Floats | None]:
    """Return matrix (I, O) and bias (O,) of linear maps of the same input, with their outputs side by side.

    Args:
        weights: all weights of a model by name.
        first_scale: multiplies the first map.
    """
    scales = [np.float32(first_scale)] + [np.float32(1.0)] * (len(linears) - 1)
    matrices = [weights[linear.weight.name] * scale for linear, scale in zip(linears, scales, strict=True)]
    # As (I, O), products of few rows read the matrix in order.
    matrix = np.ascontiguousarray(np.concatenate(matrices).T)
    biases = [
        weights[linear.bias.name] * scale
        for linear, scale in zip(linears, scales, strict=True)
        if linear.bias is not None
    ]
    return matrix, np.concatenate(biases) if biases else None


class NormParameters:
    """Layer norm, RMS norm, or the norm with the unbiased standard deviation; `config.norm_kind` decides:

        (x - mean) / (sqrt(squares * square_factor + inner_epsilon) + outer_epsilon) * gain + bias

    with the sum of the squares of x - mean. A norm that is folded (`oracles.folding`) has no gain and no bias,
    and need not subtract the mean.
    """

    def __init__(self, weights: Mapping[str, Floats], layout: NormLayout, config: ModelConfig) -> None:
        n, kind, is_folded = config.d_model, config.norm_kind, can_fold(config)
        self.gain = None if is_folded else weights[layout.weight.name]
        self.bias = None if is_folded or layout.bias is None else weights[layout.bias.name]
        self.is_centring = kind != "rms" and not is_folded
        self.square_factor = np.float32(1 / max(n - 1, 1) if kind == "std" else 1 / n)
        self.inner_epsilon = np.float32({"layer": config.norm_epsilon, "rms": 1e-6, "std": 0}[kind])
        self.outer_epsilon = np.float32(1e-6 if kind == "std" else 0)
