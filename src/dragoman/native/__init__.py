"""The C sources and their bindings.

`kernels.c` is the arithmetic of a search and `kernels.py` its binding; `fused.c` is the arithmetic of a training step,
`fused_library.py` its binding and `fused.py` its functions with gradients. Both share `vectors.h`.
"""
