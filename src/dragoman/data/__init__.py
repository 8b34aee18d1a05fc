"""Parallel text, from files to batches of ids."""
