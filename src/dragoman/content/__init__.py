"""Entities that must survive a translation, numbers, dates and amounts, for any language with a data file."""
