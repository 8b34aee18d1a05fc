"""The attention weights that a model used, recorded from outside: the model itself keeps none.

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

#: Held while attentions tell their weights: captures of several threads take turns.
_CAPTURING = threading.RLock()


class AttentionMaps:
    """What was recorded: for each kind of attention the weights of all its layers, (L, B, H, T, S).

    `maps["encoder"]` is (L, B, H, S, S), `maps["decoder"]` (L, B, H, T, T) and `maps["cross"]` (L, B, H, T, S). Where
    an attention was used more than once, the last use counts.
    """

    def __init__(self) -> None:
        self._layers: dict[Kind, dict[int, Tensor]] = {kind: {} for kind in KINDS}

    def record(self, kind: Kind, layer: int, weights: Tensor) -> None:
        """Keep the weights (B, H, T, S) of one layer."""
        self._layers[kind][layer] = weights

    def __getitem__(self, kind: Kind) -> Tensor:
        """(L, B, H, T, S).

        Raises:
            LookupError: the model did not use this attention, or it was not asked for.
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

    They are computed from the same queries, keys and mask as the model's own, whichever kernel the model uses, and
    before dropout. What other threads do with the model meanwhile is not recorded.
    """
    maps = AttentionMaps()
    encoder_layers = list(cast("Iterable[EncoderLayer]", model.encoder_layers))
    decoder_layers = list(cast("Iterable[DecoderLayer]", model.decoder_layers))
    attentions: dict[Kind, list[MultiHeadAttention]] = {
        "encoder": [layer.self_attention for layer in encoder_layers],
        "decoder": [layer.self_attention for layer in decoder_layers],
        "cross": [layer.cross_attention for layer in decoder_layers],
    }
    with _CAPTURING, contextlib.ExitStack() as stack:
        for kind in kinds:
            for number, attention in enumerate(attentions[kind]):
                stack.enter_context(_recorded(attention, maps, kind, number))
        yield maps


@contextlib.contextmanager
def _recorded(attention: MultiHeadAttention, maps: AttentionMaps, kind: Kind, layer: int) -> Iterator[None]:
    """Let this one attention's `attend` tell its weights first; the class and all other attentions stay as they are."""
    attend: Callable[..., Tensor] = attention.attend
    thread = threading.get_ident()

    def attend_and_tell(
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
    own["attend"] = attend_and_tell
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
    """The weights with which `attention.attend` of the same arguments averages its values: (B, H, T, S)."""
    return attention_weights(attention.query_heads(queries, positions), keys, mask)
