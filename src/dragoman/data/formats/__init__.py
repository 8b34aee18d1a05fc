"""Formats of parallel text."""
