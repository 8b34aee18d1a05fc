"""The C sources and their bindings.

`kernels.c` is the arithmetic of a search and `kernels.py` its binding. The files `fused*.c` are the arithmetic of a
training step, `fused_library.py` is their binding, and `fused.py` has their functions with gradients. Both share
`vectors.h`.
"""
