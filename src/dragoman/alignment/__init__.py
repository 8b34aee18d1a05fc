"""Which word comes from which, as the model's attention has it.

Read in this order: `capture` (the maps, recorded from outside the model), `words` (where tokens and words lie in a
text), `heads` (which maps tell words apart), `links` (from maps to pairs of words).
"""
