"""An RNN encoder-decoder with attention: a new context for each word (Bahdanau et al. 2015).

B sentences in a batch, S source and T target positions, D width, V words of a vocabulary.
"""

import torch
from rnn_encoder_decoder import RNNEncoder
from torch import nn
from transformer import padding_mask


class AdditiveAttention(nn.Module):
    """Scores every word of the source by a small network, and returns the weighted mean of their vectors."""

    def __init__(self, width):
        super().__init__()
        self.query_projection = nn.Linear(width, width)
        self.key_projection = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def forward(self, state, keys, memory, mask):
        """state (B, D), keys and memory (B, S, D), mask (B, S) -> context (B, D), weights (B, S)."""
        compared = (self.query_projection(state)[:, None] + keys).tanh()
        scores = self.score(compared).squeeze(-1).masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ memory).squeeze(1), weights


class AttentiveRNNTranslator(nn.Module):
    """The same two RNNs, but before each word the second looks back at all vectors of the first."""

    def __init__(self, n_source_words, n_target_words, width=256):
        super().__init__()
        self.encoder = RNNEncoder(n_source_words, width)
        self.embedding = nn.Embedding(n_target_words, width)
        self.attention = AdditiveAttention(width)
        self.rnn = nn.GRUCell(2 * width, width)
        self.first_state = nn.Linear(width, width)
        self.output = nn.Linear(2 * width, n_target_words)

    def encode(self, source_ids):
        """source_ids (B, S) -> memory (B, S, D), and the first state of the decoder (B, D)."""
        memory, last = self.encoder(source_ids)
        return memory, self.first_state(last).tanh()

    def decode(self, target_ids, encoded, source_mask):
        """target_ids (B, T), what was encoded, source_mask (B, 1, 1, S) -> logits (B, T, V)."""
        (memory, state), mask = encoded, source_mask[:, 0, 0]
        keys = self.attention.key_projection(memory)  # once, since they do not depend on the state
        embedded, steps = self.embedding(target_ids), []
        for t in range(target_ids.size(1)):  # one after the other: the context needs the state before
            context, _ = self.attention(state, keys, memory, mask)
            state = self.rnn(torch.cat((embedded[:, t], context), dim=-1), state)
            steps.append(torch.cat((state, context), dim=-1))
        return self.output(torch.stack(steps, dim=1))

    def forward(self, source_ids, target_ids):
        """source_ids (B, S), target_ids (B, T) -> logits (B, T, V) of the words that follow."""
        return self.decode(target_ids, self.encode(source_ids), padding_mask(source_ids))
