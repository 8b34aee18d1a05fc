"""The Transformer of *Attention Is All You Need* (Vaswani et al. 2017), and nothing else.

Read in this order: `masks`, `operations`, `positions`, `dropout`, `attention`, `norms`, `cache`, `ssru`, `layers`,
`transformer`.
"""
