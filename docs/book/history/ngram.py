"""An n-gram language model: the probability of the next word, from counts of short runs of words."""

import math
from collections import Counter, defaultdict

START, END = "<sos>", "<eos>"


class NGramModel:
    """Counts of all runs of 1 to `order` words, and the probabilities that follow from them."""

    def __init__(self, sentences, order=3):
        """Count in sentences, which are lists of words."""
        self.order = order
        self.counts = defaultdict(Counter)  # context -> how often each word follows it
        for sentence in sentences:
            padded = [START] * (order - 1) + [*sentence, END]
            for i in range(order - 1, len(padded)):
                for length in range(order):
                    self.counts[tuple(padded[i - length : i])][padded[i]] += 1
        self.words = list(self.counts[()])
        self.totals = {context: followers.total() for context, followers in self.counts.items()}

    def probability(self, word, before):
        """Return P(word | the words before it).

        Most runs of three words never occur, so a count alone would say zero. Each context therefore mixes its own
        count with what the context that is one word shorter says (Witten and Bell 1991): the more different words
        have followed it, the less it is sure, and the more weight the shorter one gets.
        """
        padded = (START,) * (self.order - 1) + tuple(before)
        p = 1 / len(self.words)
        for length in range(self.order):
            context = padded[len(padded) - length :]
            if context not in self.totals:
                break  # then a longer one has not occurred either
            n_kinds = len(self.counts[context])
            p = (self.counts[context][word] + n_kinds * p) / (self.totals[context] + n_kinds)
        return p

    def perplexity(self, sentences):
        """Return the perplexity of sentences of known words, their ends included."""
        log_p, n_words = 0.0, 0
        for sentence in sentences:
            words = [*sentence, END]
            log_p += sum(math.log(self.probability(word, words[:i])) for i, word in enumerate(words))
            n_words += len(words)
        return math.exp(-log_p / n_words)
