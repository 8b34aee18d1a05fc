"""Trained models for other programs than dragoman, and theirs as bundles."""
