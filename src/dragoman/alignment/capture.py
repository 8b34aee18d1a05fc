"""The attention weights of a model, recorded from outside, because the model keeps none.

L layers, B batch, H heads, T queries, S keys.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal, cast

import torch
from torch import Tensor

from dragoman.model.attention import MultiHeadAttention, attention_weights
from dragoman.model.layers import DecoderLayer, EncoderLayer
from dragoman.model.transformer import Transformer

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")

#: Held during a capture: captures of several threads take turns.
_CAPTURING = threading.RLock()


class AttentionMaps:
    """The weights of all layers for each kind of attention.

    `maps["encoder"]` is (L, B, H, S, S), `maps["decoder"]` (L, B, H, T, T) and `maps["cross"]` (L, B, H, T, S). If
    an attention ran more than once, the last run counts.
    """

    def __init__(self) -> None:
        self._layers: dict[Kind, dict[int, Tensor]] = {kind: {} for kind in KINDS}

    def record(self, kind: Kind, layer: int, weights: Tensor) -> None:
        """Keep the weights (B, H, T, S) of one layer."""
        self._layers[kind][layer] = weights

    def __getitem__(self, kind: Kind) -> Tensor:
        """Return the weights of a kind: (L, B, H, T, S).

        Raises:
            LookupError: the model did not use this attention, or the capture was not asked for it.
        """
        layers = self._layers[kind]
        if not layers:
            raise LookupError(f"no {kind} attention was recorded: run the model inside the `with` block")
        return torch.stack([layers[number] for number in sorted(layers)])


@contextlib.contextmanager
def capture_attention(model: Transformer, kinds: Collection[Kind] = KINDS) -> Iterator[AttentionMaps]:
    """Record the weights of every attention of `model`, or of some kinds, while the block runs::

        with capture_attention(model) as maps:
            model(source_ids, target_ids)
        maps["cross"]  # (L, B, H, T, S)

    The weights are computed from the model's own queries, keys and mask, before dropout, whichever kernel the model
    uses. The use of the model by other threads is not recorded.
    """
    maps = AttentionMaps()
    encoder_layers = list(cast("Iterable[EncoderLayer]", model.encoder_layers))
    decoder_layers = list(cast("Iterable[DecoderLayer]", model.decoder_layers))
    attentions: dict[Kind, list[MultiHeadAttention]] = {
        "encoder": [layer.self_attention for layer in encoder_layers],
        "decoder": [layer.self_attention for layer in decoder_layers if layer.self_attention is not None],
        "cross": [layer.cross_attention for layer in decoder_layers],
    }
    with _CAPTURING, contextlib.ExitStack() as stack:
        for kind in kinds:
            for number, attention in enumerate(attentions[kind]):
                stack.enter_context(_recorded(attention, maps, kind, number))
        yield maps


@contextlib.contextmanager
def _recorded(attention: MultiHeadAttention, maps: AttentionMaps, kind: Kind, layer: int) -> Iterator[None]:
    """Make `attend` of this one attention record its weights first; the class stays as it is."""
    attend: Callable[..., Tensor] = attention.attend
    thread = threading.get_ident()

    def record_and_attend(
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        positions: range | None = None,
    ) -> Tensor:
        if threading.get_ident() == thread:
            maps.record(kind, layer, used_weights(attention, queries, keys, mask, positions))
        return attend(queries, keys, values, mask, positions)

    own = vars(attention)
    before = own.get("attend")
    own["attend"] = record_and_attend
    try:
        yield
    finally:
        del own["attend"]
        if before is not None:  # a capture around this one
            own["attend"] = before


@torch.no_grad()
def used_weights(
    attention: MultiHeadAttention,
    queries: Tensor,
    keys: Tensor,
    mask: Tensor | None = None,
    positions: range | None = None,
) -> Tensor:
    """Return the weights with which `attention.attend` of the same arguments averages its values: (B, H, T, S)."""
    return attention_weights(attention.query_heads(queries, positions), keys, mask)
