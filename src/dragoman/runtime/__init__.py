"""The models of a search: compiled (`compiled_model`) and in PyTorch (`torch_model`).

On a CPU, a step is many small operations, each of them slow in PyTorch, and importing PyTorch takes seconds. The engine
in `native/` computes a step in one call, and a whole search for one sentence. On a GPU, and where the engine was not
compiled when dragoman was installed, the search runs on PyTorch; on a CUDA device it is tensors itself
(`tensor_search`).

Read in this order: `engine_config`, `key_value_cache`, `compiled_model`, `projection`, `sentence_search`,
`torch_model`; then `tensor_beam`, `tensor_space`, `step_graphs`, `tensor_results`, `tensor_search`.
"""
