"""Corpora that the project makes itself: captions in English and German, and texts to copy, reverse or sort."""
