"""Text to ids and back: subword, word and character tokenizers."""
