"""The Transformer of *Attention Is All You Need* (Vaswani et al. 2017), and nothing else.

Read in this order: `masks`, `positions`, `dropout`, `attention`, `norms`, `cache`, `layers`, `transformer`.
`layout` is the table of all weights; `summary` is what `print(model)` shows.
"""
