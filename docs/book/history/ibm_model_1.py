"""IBM model 1: a table of word translations, learned by expectation maximization (Brown et al. 1993)."""

import math
from collections import defaultdict

NULL = "<null>"  # makes the words that no word of the source stands for


class IBMModel1:
    """P(target | source), where each target word is made by one word of the source, in no order.

    `table[s][t]` is the probability that the source word s makes the target word t. Every word of the source, and
    NULL, is equally likely to be the one that makes a target word; the model knows nothing of positions.
    """

    def __init__(self, pairs):
        """Let each source word make all target words equally often. Pairs are of two lists of words."""
        p = 1 / len({word for _, target in pairs for word in target})
        self.table = defaultdict(dict)
        for source, target in pairs:
            for s in [NULL, *source]:
                self.table[s].update(dict.fromkeys(target, p))

    def train_step(self, pairs):
        """Take one step of expectation maximization; return the log-likelihood before it, without the lengths' part.

        Nobody has said which word made which. So each target word is shared out among the words that may have made
        it, by the table as it is (expectation), and the shares are counted as if they had been seen (maximization).
        """
        counts = defaultdict(lambda: defaultdict(float))
        log_likelihood = 0.0
        for source, target in pairs:
            makers = [NULL, *source]
            for t in target:
                shares = [self.table[s][t] for s in makers]
                total = sum(shares)
                log_likelihood += math.log(total / len(makers))
                for s, share in zip(makers, shares, strict=True):
                    counts[s][t] += share / total
        for s, row in counts.items():
            total = sum(row.values())
            self.table[s] = {t: count / total for t, count in row.items()}
        return log_likelihood

    def translate(self, source):
        """Write the most probable word for each word of the source, in the order of the source."""
        return [max(self.table[s], key=self.table[s].get) for s in source if s in self.table]
