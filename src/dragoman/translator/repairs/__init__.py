"""Repairs of translations that fail a check: what a second search must write, and what it reads as a mask.

Read in this order: `all_repairs` (the repairs), `second_search` (their budget, and what is accepted), `phrase_book`
(phrases in the tokens of a model).
"""
