"""The models of a search: compiled (`compiled_model`), in NumPy (`array_model`), in PyTorch (`torch_model`).

On a CPU, a step is many small operations. Each costs PyTorch several times as much as NumPy, and importing PyTorch
takes seconds. `array_model` is the arithmetic in NumPy; read it first. The engine in `native/` does the same faster, if
it was compiled when dragoman was installed, and a whole search for one sentence. On a GPU the search runs on PyTorch.

Read in this order: `folding`, `parameters`, `embedding`, `array_layers`, `array_model`, `engine_config`,
`key_value_cache`, `compiled_model`, `projection`, `sentence_search`, `torch_model`.
"""
