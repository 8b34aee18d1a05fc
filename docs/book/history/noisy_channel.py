"""A noisy channel: what IBM model 1 leaves open, an n-gram language model decides (Brown et al. 1990)."""

import heapq
import math
from collections import defaultdict

from ibm_model_1 import NULL
from ngram import END


class NoisyChannel:
    """Looks for the target that makes P(target) · P(source | target) largest.

    The language model is the first factor: is this good German? IBM model 1 is the second: may it mean the source? So
    the channel was trained the other way round, and in it the target makes the source. The order of the source is
    kept, because model 1 finds every order equally probable and so cannot say when another is better.
    """

    def __init__(self, language_model, channel, n_options=10, n_kept=20):
        """Keep for each source word the `n_options` target words that have most probably made it."""
        self.language_model, self.channel, self.n_kept = language_model, channel, n_kept
        counts = language_model.counts[()]
        makers = defaultdict(list)
        for t, row in channel.table.items():
            for s, p in row.items():
                if t != NULL:
                    makers[s].append((p * counts[t], t))  # Bayes' rule for a single word
        self.options = {s: [t for _, t in heapq.nlargest(n_options, found)] for s, found in makers.items()}

    def translate(self, source):
        """Return the best target that a beam search finds, as a tuple of words."""
        n_seen = self.language_model.order - 1
        beam = [(0.0, ())]
        for s in source:
            if s not in self.options:
                continue
            best = {}
            for score, written in beam:
                for longer, gain in self.extensions(written, s):
                    # The language model sees no more of them, so of those that end alike only the best can win.
                    end = longer[max(len(longer) - n_seen, 0) :]
                    best[end] = max(best.get(end, (-math.inf, ())), (score + gain, longer))
            beam = heapq.nlargest(self.n_kept, best.values())
        return max(beam, key=lambda item: item[0] + self.log_p_next(END, item[1]))[1]

    def extensions(self, written, s):
        """Yield what may be written after a source word, and the gain of the score.

        A new word may have made it, or the word written last (`fährt` makes `is` and `riding`), or NULL.
        """
        for t in self.options[s]:
            yield (*written, t), self.log_p_next(t, written) + self.log_p_made(s, t)
        for t in (NULL, *written[-1:]):
            yield written, self.log_p_made(s, t)

    def log_p_next(self, t, written):
        """Return the log-probability of the next word in the language model."""
        return math.log(self.language_model.probability(t, written))

    def log_p_made(self, s, t):
        """Return the log-probability of a source word in the channel, with a floor for pairs that never occurred."""
        return math.log(max(self.channel.table[t].get(s, 0.0), 1e-9))
