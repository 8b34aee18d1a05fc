"""How good translations are: `metrics` compares texts, `evaluate` runs a Translator over a test set as users do."""
