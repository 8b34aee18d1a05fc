"""A look inside a trained model: its attention, its searches, its embeddings, its alignment heads, and pictures.

    from dragoman.inspection import inspect_attention, inspect_search

    attention = inspect_attention(translator, "A man is riding a horse.")
    attention.cross  # (layers, heads, target tokens, source tokens)

The model needs no change: attention and searches are recorded from outside (`dragoman.alignment.capture`,
`watching`). Measuring: `attention_maps`, `search_tree`, `neighbours`, `ibm1`, `choosing`, `curves`. Showing:
`attention_page`, `search_text`, `page`, `pictures`, `run_pictures`.
"""

from dragoman.alignment.capture import capture_attention
from dragoman.inspection.attention_maps import Attention, inspect_attention
from dragoman.inspection.search_tree import SearchTree, inspect_search

__all__ = ["Attention", "SearchTree", "capture_attention", "inspect_attention", "inspect_search"]
