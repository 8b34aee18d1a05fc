"""Experiments made of whole trainings: `compare` trains variants of a recipe under one budget, `distill` lets trained
models write text for another to learn from."""
