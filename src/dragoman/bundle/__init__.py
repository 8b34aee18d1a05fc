"""Trained models on disk: find, check, load, save and average them."""

from dragoman.bundle.bundle import Bundle, load_bundle, save_bundle

__all__ = ["Bundle", "load_bundle", "save_bundle"]
