"""Corpora that the project makes itself: captions in three languages, and texts to copy, reverse or sort."""
