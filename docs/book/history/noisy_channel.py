"""A noisy channel: what the channel garbled is put right by what the language model expects (Brown et al. 1990)."""

import heapq
import math
from collections import Counter, defaultdict

from ngram import END


class NoisyChannel:
    """Looks for the target that makes P(target) · P(source | target) largest.

    The n-gram model gives the first factor, IBM model 1 the second. It was trained the other way round: there the
    target makes the source. So the first says what is good German, the second only what it may mean.
    """

    def __init__(self, language_model, channel, n_options=10, n_kept=20, reach=3):
        """Prepare the search: keep for each source word the `n_options` best target words that may have made it."""
        self.language_model, self.channel = language_model, channel
        self.n_kept, self.reach = n_kept, reach
        counts = Counter(language_model.counts[()])
        made_by = defaultdict(list)
        for t, row in channel.table.items():
            for s, p in row.items():
                if t in counts:  # not NULL
                    made_by[s].append((p * counts[t], t))  # Bayes' rule for a single word
        self.options = {s: [t for _, t in heapq.nlargest(n_options, found)] for s, found in made_by.items()}

    def translate(self, source):
        """Return the best target that a beam search finds.

        A hypothesis has explained some words of the source. Each step explains one more: by a new target word, by the
        target word written last, or by NULL. It may take any of the next few open words, so that order can change.
        """
        source = [s for s in source if s in self.options]
        stack = {((), frozenset()): 0.0}
        for _ in source:
            longer = {}
            for (written, explained), score in stack.items():
                still_open = [j for j in range(len(source)) if j not in explained]
                for j in still_open[: self.reach]:
                    for target, gain in self.extensions(written, source[j]):
                        key = (target, explained | {j})
                        longer[key] = max(score + gain, longer.get(key, -math.inf))
            stack = dict(heapq.nlargest(self.n_kept, longer.items(), key=lambda item: item[1]))
        return max(stack, key=lambda key: stack[key] + self.log_p_next(END, key[0]))[0]

    def extensions(self, written, s):
        """Yield each way to explain a source word: the target with it, and the change of the score."""
        for t in self.options[s]:
            yield (*written, t), self.log_p_next(t, written) + self.log_p_made(s, t)
        for t in ("<null>", *written[-1:]):
            yield written, self.log_p_made(s, t)

    def log_p_next(self, t, written):
        """Return the language model's opinion of the next word."""
        return math.log(self.language_model.probability(t, written))

    def log_p_made(self, s, t):
        """Return the channel's opinion of a source word, with a floor for pairs that never occurred."""
        return math.log(max(self.channel.table[t].get(s, 0.0), 1e-9))
