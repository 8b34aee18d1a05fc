"""What a search runs on: the Transformer in PyTorch (`torch_model`), or without it, in NumPy (`array_model`).

NumPy is faster on a CPU, where a step is many small operations and PyTorch takes several times longer for each; and it
is there at once, where importing PyTorch takes seconds. Read `layers`, `array_model`, `torch_model`.
"""
