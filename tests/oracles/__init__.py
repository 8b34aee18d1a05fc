"""The engine in NumPy, a second computation of what the compiled one does; begin with `array_model`."""
