"""Checks of a whole corpus before training: alignment of its sides, languages, remains of markup."""
