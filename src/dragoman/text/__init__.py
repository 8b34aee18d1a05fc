"""Text to ids and back: a tokenizer is a segmenter with a vocabulary.

Read in this order: `special_ids`, `vocabulary`, `segmenter`, `characters`, `words`, `sentence_pieces`, `tokenizer`,
`subword`, `sides`, `learning`, `tokenizer_files`. `cleaning`, `composing` and `invisible` come before every tokenizer.
"""
