"""Word alignments from a model's attention.

Read in this order: `capture` (attention weights, recorded from outside the model), `word_spans` (the places of
tokens and words in a text), `heads` (the heads that align words), `links` (from weights to pairs of words).
"""
