"""Search: from the model's probabilities to translations, as ids.

Read in this order: `faults`, `hypothesis`, `state`, `constraints`, `greedy`, `sampling`, `beam`, `search`.
"""
