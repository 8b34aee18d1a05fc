"""Quality of translations: `metrics` compares texts, `evaluation` runs a Translator over a test set."""
