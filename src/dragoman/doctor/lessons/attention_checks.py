"""Checks of chapters 4 to 6: attention, heads and masks.

B sentences, H heads, T queries, S keys, K width of a head, D model width. Masks are True where a query may attend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dragoman.doctor.lessons.known_faults import (
    LinearMap,
    apply,
    difference,
    gradient_difference,
    gradients,
    in_some_order,
    is_equal,
    linear_maps,
    randomized,
    unused_weights,
)

_MIXED = '(chapter 17: "Heads mixed up: `view` without `transpose`")'


def _inputs() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return queries (B, H, T, K), keys and values (B, H, S, K), and a mask (B, 1, T, S) that leaves each a key."""
    mask = torch.rand(2, 1, 4, 5) < 0.6
    mask[..., 1] = True
    mask[..., 3] = False
    return torch.randn(2, 3, 4, 6), torch.randn(2, 3, 5, 6), torch.randn(2, 3, 5, 6), mask


def attend(file: Any) -> str:
    """Return what is wrong with the weighted means."""
    queries, keys, values, mask = _inputs()
    products = queries @ keys.transpose(-2, -1)
    width = queries.size(-1)
    scores = products / math.sqrt(width)
    low = -1e9

    def means(scores: Tensor, mask: Tensor, axis: int = -1, low: float = low) -> Tensor:
        return scores.masked_fill(~mask, low).softmax(dim=axis) @ values

    everything = torch.ones_like(mask)
    return difference(
        file.attend(queries, keys, values, mask),
        F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask),
        {
            "the scores are not divided by the root of K, the width of a head": means(products, mask),
            "the scores are divided by K, and should be divided by its root": means(products / width, mask),
            "the scores are multiplied by the root of K, and should be divided by it": means(
                products * math.sqrt(width), mask
            ),
            "the scores are divided by the root of H times K, the whole width "
            '(chapter 17: "Attention divided by the root of `d_model`")': means(
                products / math.sqrt(width * queries.size(1)), mask
            ),
            "the scores are divided by the root of the number of keys": means(products / math.sqrt(keys.size(2)), mask),
            "the scores are divided by the root of the number of queries": means(
                products / math.sqrt(queries.size(2)), mask
            ),
            "the scores are divided by the root of the number of heads": means(
                products / math.sqrt(queries.size(1)), mask
            ),
            "the softmax runs over the queries, and should run over the keys, dim=-1": means(scores, mask, axis=-2),
            "the softmax runs over the heads, and should run over the keys, dim=-1": means(scores, mask, axis=1),
            "the softmax runs over the sentences, and should run over the keys, dim=-1": means(scores, mask, axis=0),
            'the mask is taken the wrong way round (chapter 17: "`True` means the opposite")': means(scores, ~mask),
            "the mask is not used: everything is attended to": means(scores, everything),
            "the mask's low number is next to zero (1e-9 or 0), and should be -1e9": means(scores, mask, low=0.0),
            "the mask's low number is high: 1e9, and should be -1e9": means(scores, mask, low=1e9),
            "the mask is applied after the softmax, so the weights no longer sum to one": (
                scores.softmax(dim=-1) * mask
            )
            @ values,
            "the result is divided by the root: divide the scores": means(products, mask) / math.sqrt(width),
            "there is no softmax": scores.masked_fill(~mask, low) @ values,
            "there is no softmax: the weights are the scores, or 0 where masked": (scores * mask) @ values,
            "the weights are e to the scores, but are not divided by their sum": (scores.exp() * mask) @ values,
            "the weights are applied to the keys, and should be applied to the values": (
                scores.masked_fill(~mask, low).softmax(dim=-1) @ keys
            ),
            "log_softmax is no weight: take softmax": scores.masked_fill(~mask, low).log_softmax(dim=-1) @ values,
            "the weights come back, and not the means of the values": scores.masked_fill(~mask, low).softmax(dim=-1),
        },
    )


def attend_all_masked(file: Any) -> str:
    """Return what is wrong with a query that may see nothing."""
    queries, keys, values, mask = _inputs()
    mask[0, :, 2] = False
    nan = 'mask with -1e9 instead of -inf (chapter 17: "The loss becomes NaN: a row that is all masked")'

    def attend(*inputs: Tensor) -> Tensor:
        result: Tensor = file.attend(*inputs, mask)
        return result

    if not attend(queries, keys, values).isfinite().all():
        return f"a query that may see nothing gets NaN: {nan}"
    if not all(each.isfinite().all() for each in gradients(attend, (queries, keys, values))):
        return f"a query that may see nothing makes the gradients NaN: {nan}"
    return ""


def attend_large_scores(file: Any) -> str:
    """Return what is wrong with scores that are very large."""
    queries, keys, values, mask = _inputs()
    queries = 1000 * queries
    yours = file.attend(queries, keys, values, mask)
    fault = difference(yours, F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask))
    if isinstance(yours, Tensor) and not yours.isfinite().all():
        return "large scores overflow: subtract the largest score before the exponential, or take softmax"
    return fault


def attend_gradients(file: Any) -> str:
    """Return what is wrong with the gradients."""
    queries, keys, values, mask = _inputs()
    return gradient_difference(
        lambda *inputs: file.attend(*inputs, mask),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        {"queries": queries, "keys": keys, "values": values},
    )


def _split(x: Tensor, n_heads: int) -> Tensor:
    """Return x (B, T, D) as heads (B, H, T, K)."""
    return x.view(x.size(0), x.size(1), n_heads, -1).transpose(1, 2)


def _merge(heads: Tensor) -> Tensor:
    """Return heads (B, H, T, K) as (B, T, D)."""
    return heads.transpose(1, 2).flatten(2)


def _mixed_split(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


def _mixed_merge(heads: Tensor) -> Tensor:
    return heads.reshape(heads.size(0), heads.size(2), -1)


def _combed(x: Tensor, n_heads: int) -> Tensor:
    """Give head h the numbers h, h + H, h + 2H and so on."""
    return x.view(x.size(0), x.size(1), -1, n_heads).movedim(-1, 1)


def _heads_of(
    sources: tuple[Tensor, Tensor, Tensor],
    maps: tuple[LinearMap, ...],
    mask: Tensor | None,
    n_heads: int = 3,
    split: Callable[[Tensor, int], Tensor] = _split,
    merge: Callable[[Tensor], Tensor] = _merge,
    scale: float | None = None,
) -> Tensor:
    """Return the merged heads (B, T, D) before the output projection."""
    queries, keys, values = (split(apply(linear, x), n_heads) for linear, x in zip(maps, sources, strict=True))
    return merge(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=scale))


def _projections(module: Any, d_model: int, n_heads: int) -> list[list[LinearMap]]:
    """Return the projections in the ways in which they may be meant; maps of single heads are put side by side."""
    maps = linear_maps(module, d_model)
    if len(maps) != 3 * n_heads + 1:
        return [maps]
    small = maps[:-1]
    ways = [[small[i * n_heads : (i + 1) * n_heads] for i in range(3)], [small[i::3] for i in range(3)]]
    return [[*(_side_by_side(part) for part in way), maps[-1]] for way in ways]


def _side_by_side(maps: list[LinearMap]) -> LinearMap:
    weights, biases = zip(*maps, strict=True)
    return torch.cat(weights), torch.cat(biases)


def heads(file: Any) -> str:
    """Return what is wrong with the numbers of multi-head attention."""
    B, T, D, H = 2, 5, 12, 3  # as many queries as keys, so that mistakes compute
    module = randomized(file.MultiHeadAttention(D, H))
    sources = torch.randn(B, T, D), torch.randn(B, T, D), torch.randn(B, T, D)
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    yours = module(*sources, mask)
    ways = _projections(module, D, H)
    maps = ways[0]
    n_weights = sum(weight.numel() for weight in module.parameters() if weight.ndim > 1)
    if n_weights < 4 * D * D and len(maps) < 4:
        return f"there are {len(maps)} projections, and should be 4: of queries, keys, values, and of the output"
    if len(maps) != 4 or any(weight.shape != (D, D) for weight, _ in maps):
        return ""  # weights in a form of the reader's own: the other checks must do
    q, k, v = sources

    def result(**changes: Any) -> Callable[..., Tensor]:
        """Return a formula that differs from the right one in something."""
        given = changes.pop("sources", sources)
        given_mask = changes.pop("mask", mask)
        return lambda a, b, c, d: apply(d, _heads_of(given, (a, b, c), given_mask, **changes))

    def joined(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        return _merge(F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask))

    if not all(in_some_order(yours, way, result(), {}) for way in ways):
        return ""
    return in_some_order(
        yours,
        maps,
        result(),
        {
            f"the split has no transpose, so that heads mix positions {_MIXED}": result(split=_mixed_split),
            f"split and merge have no transpose {_MIXED}": result(split=_mixed_split, merge=_mixed_merge),
            "the merge does not transpose back, so that positions are mixed "
            '(chapter 17: "Heads merged without transposing back")': result(merge=_mixed_merge),
            "the mask is not passed on to attend": result(mask=None),
            "the mask is inverted before it is passed on: pass it on as it is": result(mask=~mask),
            "there is one wide head: n_heads is not used": result(n_heads=1),
            "n_heads is taken for the width of a head": result(n_heads=D // H),
            "a head gets every H-th number, and should get K neighbouring ones: it learns as well, but the toolkit's "
            "weights do not fit": result(split=_combed, merge=lambda x: x.movedim(1, -1).flatten(2)),
            "a head gets every H-th number, and is merged otherwise": result(split=_combed),
            "the keys are made of the queries, and should be made of `keys`": result(sources=(q, q, v)),
            "the values are made of the queries, and should be made of `values`": result(sources=(q, k, q)),
            "the values are made of the keys, and should be made of `values`": result(sources=(q, k, k)),
            "the keys are made of the values, and should be made of `keys`": result(sources=(q, v, v)),
            "keys and values have changed places": result(sources=(q, v, k)),
            "queries and keys have changed places": result(sources=(k, q, v)),
            "keys and values are made of the queries: it can attend to nothing but itself": result(sources=(q, q, q)),
            "the output projection is not used": lambda a, b, c, d: _heads_of(sources, (a, b, c), mask),
            "the queries are not projected": lambda a, b, c, d: apply(
                d, joined(_split(q, H), _split(apply(b, k), H), _split(apply(c, v), H))
            ),
            "the keys are not projected": lambda a, b, c, d: apply(
                d, joined(_split(apply(a, q), H), _split(k, H), _split(apply(c, v), H))
            ),
            "the values are not projected": lambda a, b, c, d: apply(
                d, joined(_split(apply(a, q), H), _split(apply(b, k), H), _split(v, H))
            ),
            "one projection serves queries, keys and values": lambda a, b, c, d: apply(
                d, _heads_of(sources, (a, a, a), mask)
            ),
            "one projection serves queries and keys": lambda a, b, c, d: apply(d, _heads_of(sources, (a, a, c), mask)),
            "one projection serves keys and values": lambda a, b, c, d: apply(d, _heads_of(sources, (a, b, b), mask)),
            "the scores are divided by the root of D "
            '(chapter 17: "Attention divided by the root of `d_model`")': result(scale=1 / math.sqrt(D)),
        },
    )


def heads_shape(file: Any) -> str:
    """Return what is wrong with the shape when there are more keys than queries."""
    module = file.MultiHeadAttention(12, 3)
    mask = torch.ones(4, 6, dtype=torch.bool)
    yours = module(torch.randn(2, 4, 12), torch.randn(2, 6, 12), torch.randn(2, 6, 12), mask)
    right = (2, 4, 12)
    return "" if yours.shape == right else f"the shape is {tuple(yours.shape)}, and should be (B, T, D) = {right}"


def heads_order(file: Any) -> str:
    """Return what is wrong with how positions are kept apart."""
    module = randomized(file.MultiHeadAttention(12, 3))
    queries, keys, values = torch.randn(2, 4, 12), torch.randn(2, 6, 12), torch.randn(2, 6, 12)
    mask = torch.rand(2, 1, 4, 6) < 0.6
    mask[..., 1] = True
    mask[..., 3] = False
    plain = module(queries, keys, values, mask)
    order, others = torch.tensor([2, 0, 3, 1]), torch.tensor([5, 3, 0, 1, 4, 2])
    if not is_equal(module(queries[:, order], keys, values, mask[:, :, order]), plain[:, order]):
        return f"a query's result depends on where the query stands: positions are mixed {_MIXED}"
    if not is_equal(module(queries, keys[:, others], values[:, others], mask[..., others]), plain):
        return f"keys and values in another order give another result: positions are mixed {_MIXED}"
    changed_keys, changed_values = keys.clone(), values.clone()
    changed_keys[:, 3] += 1
    changed_values[:, 3] += 1
    if not is_equal(module(queries, changed_keys, changed_values, mask), plain):
        return "a key that the mask hides from every query has an influence"
    if not is_equal(module(queries[1:], keys[1:], values[1:], mask[1:]), plain[1:]):
        return "a sentence gets another result alone than as the second of a batch"
    return ""


def heads_weights(file: Any) -> str:
    """Return which weights of multi-head attention learn nothing."""
    module = file.MultiHeadAttention(12, 3)
    x, memory = torch.randn(2, 4, 12), torch.randn(2, 6, 12)
    return unused_weights(module, module(x, memory, memory, torch.ones(4, 6, dtype=torch.bool)))


_IDS = torch.tensor([[7, 8, 9, 5], [6, 4, 3, 0], [1, 2, 0, 0]])


def padding_mask(file: Any) -> str:
    """Return what is wrong with the padding mask."""
    mask = file.padding_mask(_IDS)
    is_word = _IDS != 0
    right = is_word[:, None, None, :]
    fault = difference(
        mask,
        right,
        {
            'True and False have changed places (chapter 17: "`True` means the opposite")': ~right,
            "the shape is (B, 1, S): with one axis of length 1 less, B stands where the scores have their heads": (
                is_word[:, None, :]
            ),
            "the shape is (B, S): the axes of the heads and of the queries are missing": is_word,
            "the mask hides queries instead of keys: its shape is (B, 1, S, 1), and should be (B, 1, 1, S) "
            '(chapter 17: "The mask hides queries instead of keys")': is_word[:, None, :, None],
            "the mask hides nothing": torch.ones_like(right),
            "END is hidden instead of PAD": (_IDS != 3)[:, None, None, :],
            "UNKNOWN is hidden instead of PAD": (_IDS != 1)[:, None, None, :],
            "START is hidden instead of PAD": (_IDS != 2)[:, None, None, :],
            "not only PAD is hidden, but all special words": (_IDS > 3)[:, None, None, :],
        },
    )
    if not fault and mask.dtype != torch.bool:
        return f"the mask is {mask.dtype}, and should be bool: `~` and `&` mean something else for numbers"
    return fault


def causal_mask(file: Any) -> str:
    """Return what is wrong with the causal mask."""
    mask, right = file.causal_mask(5), torch.ones(5, 5, dtype=torch.bool).tril()
    if isinstance(mask, Tensor) and mask.shape[:-2].numel() == 1:
        mask = mask.view(mask.shape[-2:])  # axes of length 1 in front do no harm
    fault = difference(
        mask,
        right,
        {
            'True and False have changed places (chapter 17: "`True` means the opposite")': ~right,
            "each query sees the future, and should see the past: tril instead of triu": right.T,
            "a query does not see its own position: the diagonal should be True": right.tril(-1),
            "a query sees the next position, which it is asked for": torch.ones(5, 5, dtype=torch.bool).tril(1),
            'the future is not hidden (chapter 17: "The loss is too good: no causal mask")': torch.ones_like(right),
            "a query sees nothing but its own position": torch.eye(5, dtype=torch.bool),
        },
    )
    if not fault and mask.dtype != torch.bool:
        return f"the mask is {mask.dtype}, and should be bool: `~` and `&` mean something else for numbers"
    return fault


def both_masks(file: Any) -> str:
    """Return what is wrong with both masks together."""
    both = file.padding_mask(_IDS) & file.causal_mask(4)
    right = (_IDS != 0)[:, None, None, :] & torch.ones(4, 4, dtype=torch.bool).tril()
    return difference(both, right)
