"""A look inside a trained model: its attention, its searches, its embeddings, its alignment heads, and pictures.

    from dragoman.inspection import inspect_attention, inspect_search

    attention = inspect_attention(translator, "A man is riding a horse.")
    attention.cross  # (layers, heads, target tokens, source tokens)

The model needs no change: attention and searches are recorded from outside (`dragoman.alignment.capture`,
`watching`). Measuring: `attention_maps`, `search_tree`, `neighbours`, `head_choice`, `curves`. Showing:
`page`, `pictures`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.alignment.capture import capture_attention
    from dragoman.inspection.attention_maps import Attention, inspect_attention
    from dragoman.inspection.search_tree import SearchTree, inspect_search

__all__ = ["Attention", "SearchTree", "capture_attention", "inspect_attention", "inspect_search"]

_HOMES = {
    "alignment.capture": ("capture_attention",),
    "inspection.attention_maps": ("Attention", "inspect_attention"),
    "inspection.search_tree": ("SearchTree", "inspect_search"),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: those of attention need PyTorch."""
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"dragoman.{home}"), name)
            return value
    raise AttributeError(f"module 'dragoman.inspection' has no attribute {name!r}")
