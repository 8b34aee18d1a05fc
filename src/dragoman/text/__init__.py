"""Text to ids and back: a tokenizer is a segmenter with a vocabulary.

Read in this order: `special_ids`, `vocabulary`, `segmenter`, `words`, `sentence_pieces`, `tags`,
`tokenizer`, `subword`, `sides`, `language_sampling`, `learning`, `tokenizer_files`. `cleaning`,
`composing` and `invisible` come before every tokenizer.
"""
