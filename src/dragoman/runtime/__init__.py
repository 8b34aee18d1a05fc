"""The models of a search: compiled (`compiled_model`), in NumPy (`array_model`), in PyTorch (`torch_model`).

On a CPU, a step is many small operations. Each costs PyTorch several times as much as NumPy, and importing PyTorch
takes seconds. `array_model` is the arithmetic in NumPy; read it first. `native/kernels.c` does the same faster, if
it was compiled when dragoman was installed. On a GPU the search runs on PyTorch.

Read in this order: `folding`, `parameters`, `embedding`, `array_layers`, `array_model`, `packing`, `key_value_cache`,
`compiled_model`, `projection`, `torch_model`.
"""
