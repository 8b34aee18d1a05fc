"""The Transformer of *Attention Is All You Need* (Vaswani et al. 2017), and nothing else.

Read in this order: `masks`, `positions`, `dropout`, `attention`, `norms`, `cache`, `layers`, `transformer`.
`summary` is what `print(model)` shows; `shapes` tells the weights from a configuration alone.
"""
