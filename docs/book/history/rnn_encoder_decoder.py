"""An RNN encoder-decoder: one vector stands for the sentence (Cho et al. 2014; Sutskever et al. 2014).

B sentences in a batch, S source and T target positions, D width, V words of a vocabulary.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from transformer import PAD


class RNNEncoder(nn.Module):
    """Reads a sentence from both ends, and keeps a vector for each word and one for the whole."""

    def __init__(self, n_words, width):
        super().__init__()
        self.embedding = nn.Embedding(n_words, width)
        self.rnn = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)

    def forward(self, source_ids):
        """source_ids (B, S) -> states (B, S, D), and the last states of both directions (B, D)."""
        lengths = (source_ids != PAD).sum(dim=1)
        # Packed, so that no state is made of padding.
        packed = pack_padded_sequence(self.embedding(source_ids), lengths, batch_first=True, enforce_sorted=False)
        states, last = self.rnn(packed)
        return pad_packed_sequence(states, batch_first=True)[0], last.transpose(0, 1).flatten(1)


class RNNTranslator(nn.Module):
    """Two RNNs. All that the second knows of the source is one vector, the context."""

    def __init__(self, n_source_words, n_target_words, width=256):
        super().__init__()
        self.encoder = RNNEncoder(n_source_words, width)
        self.embedding = nn.Embedding(n_target_words, width)
        self.rnn = nn.GRU(2 * width, width, batch_first=True)
        self.first_state = nn.Linear(width, width)
        self.output = nn.Linear(width, n_target_words)

    def encode(self, source_ids):
        """source_ids (B, S) -> the context (B, D)."""
        return self.encoder(source_ids)[1]

    def decode(self, target_ids, context, source_mask=None):
        """target_ids (B, T), context (B, D) -> logits (B, T, V)."""
        # The same context beside every word, so that the state need not remember it.
        repeated = context[:, None].expand(-1, target_ids.size(1), -1)
        x = torch.cat((self.embedding(target_ids), repeated), dim=-1)
        states, _ = self.rnn(x, self.first_state(context).tanh()[None])
        return self.output(states)

    def forward(self, source_ids, target_ids):
        """source_ids (B, S), target_ids (B, T) -> logits (B, T, V) of the words that follow."""
        return self.decode(target_ids, self.encode(source_ids))
