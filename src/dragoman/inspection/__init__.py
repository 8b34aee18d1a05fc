"""Looking inside a trained model: what it attends to, how it searches, which words go together, and pictures.

    from dragoman.inspection import inspect_attention, inspect_search

    attention = inspect_attention(translator, "A man is riding a horse.")
    attention.cross  # (layers, heads, target tokens, source tokens)

Nothing of it is in the model: maps are captured from outside (`dragoman.alignment.capture`), and so are searches.
Read `attention`, `watching`, `search_tree`, `neighbours`, `ibm1`, `choosing` and `curves`; the others show what these
find.
"""

from dragoman.alignment.capture import capture_attention
from dragoman.inspection.attention_maps import Attention, inspect_attention
from dragoman.inspection.search_tree import SearchTree, inspect_search

__all__ = ["Attention", "SearchTree", "capture_attention", "inspect_attention", "inspect_search"]
