"""What a search runs on: the Transformer in PyTorch (`torch_model`), or without it, compiled (`compiled_model`) or in
NumPy (`array_model`).

On a CPU, a step is many small operations, each of which costs PyTorch several times what it costs NumPy, and importing
PyTorch takes seconds. `array_model` is the arithmetic in NumPy, to be read first. `kernels.c` is the same, and faster;
it is compiled when dragoman is installed, and used if it is there.

Read `layers`, `array_model`, `packing`, `compiled_model`, `kernels.c`, `torch_model`.
"""
