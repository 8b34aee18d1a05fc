"""A trained model goes on with more layers, or with wider feed-forward ones, from where it was: what is added does
nothing at first.

Method: transformations that preserve the function (Chen et al. 2016, "Net2Net", section 2). Pre-norm layers add to what
passes through them, so that one which adds zero is the identity; and a unit whose output is weighted with zero
might not be there. Both learn, since the last map alone of what is added is zero, and what comes before it is random.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from dragoman.config import ModelShape
from dragoman.model.transformer import Transformer
from dragoman.weights import Floats, unique_weights

#: The last map of each part of a layer.
_LAST = (".output_projection.", ".outer.")


def may_grow(shape: ModelShape) -> set[str]:
    """The sizes of a model of this shape that may be larger in one that goes on from it."""
    # After a layer that adds nothing, post-norm would still norm once more.
    return {"d_ff", "n_encoder_layers", "n_decoder_layers"} if shape.norm == "pre" else {"d_ff"}


@torch.no_grad()
def load_grown(model: Transformer, weights: Mapping[str, Floats]) -> None:
    """Give `model` the weights of one of its shape, or of one that is smaller in what `may_grow`: it computes the same.

    What is added keeps its random weights, but for the last maps.

    Args:
        weights: by their names in `Transformer`, a tied one under its first name only.
    """
    for name, weight in unique_weights(model).items():
        if name in weights:
            known = torch.tensor(weights[name])
            if ".outer." in name:
                weight.zero_()
            weight[tuple(map(slice, known.shape))] = known.to(weight.device)
        elif any(last in name for last in _LAST):
            weight.zero_()
