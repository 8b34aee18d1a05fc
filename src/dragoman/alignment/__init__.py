"""Which word comes from which, as the model's attention has it.

Read in this order: `capture` (the maps, recorded from outside the model), `words` (where tokens and words lie in a
text), `heads` (which maps tell words apart), `links` (from maps to pairs of words).
"""

from dragoman.alignment.capture import KINDS, AttentionMaps, Kind, capture_attention
from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.links import Link, Places, link_words, token_weights, word_weights
from dragoman.alignment.words import words

__all__ = [
    "KINDS",
    "AlignmentHeads",
    "AttentionMaps",
    "Kind",
    "Link",
    "Places",
    "capture_attention",
    "link_words",
    "token_weights",
    "word_weights",
    "words",
]
