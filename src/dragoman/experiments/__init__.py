"""Experiments made of whole trainings: `compare` trains variants of a recipe under one budget."""
