"""A Transformer that translates: chapters 2 to 12 of the book in one file of plain PyTorch.

    python transformer.py train.en train.de

reads two files with a sentence a line, line by line the same meaning. It trains for a minute or two, and then
translates each line that you type. Modules have the toolkit's names, so that each can load the weights of the other.

B sentences in a batch, S source and T target positions, D model width, H heads, K width of a head, F inner width,
V words of a vocabulary. Masks are True where a query may attend.
"""

import math
import random
import sys
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

# -- Chapter 2: tokens and embeddings --------------------------------------------------------------------------------

PAD, UNKNOWN, START, END = range(4)
SPECIAL_WORDS = ("<pad>", "<unk>", "<sos>", "<eos>")


class Vocabulary:
    """The words of one language, each with a number, its id."""

    def __init__(self, sentences):
        counts = Counter(word for sentence in sentences for word in self.split(sentence))
        self.words = [*SPECIAL_WORDS, *(word for word, _ in counts.most_common())]
        self.id_of = {word: id for id, word in enumerate(self.words)}

    def split(self, sentence):
        """Cut a sentence into words; a full stop is one."""
        return sentence.replace(".", " .").split()

    def ids(self, sentence):
        """Return the ids of the words of a sentence, and that of its end."""
        return [self.id_of.get(word, UNKNOWN) for word in self.split(sentence)] + [END]

    def text(self, ids):
        """Return the sentence that ids stand for."""
        words = [self.words[id] for id in ids if id not in (PAD, START, END)]
        return " ".join(words).replace(" .", ".")


def rectangle(rows):
    """Fill up lists of ids with padding: B lists -> (B, longest)."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


class Embedding(nn.Module):
    """A learned vector for each id, times the root of D."""

    def __init__(self, n_words, d_model):
        super().__init__()
        self.tokens = nn.Embedding(n_words, d_model)
        self.scale = math.sqrt(d_model)

    def forward(self, ids):
        """ids (B, T) -> (B, T, D)."""
        return self.tokens(ids) * self.scale


# -- Chapter 3: positions --------------------------------------------------------------------------------------------


def sinusoidal_table(n_positions, d_model):
    """Return a row of sines and cosines for each position: (T, D)."""
    position = torch.arange(n_positions, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position * 10000.0 ** (-even / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


class Positions(nn.Module):
    """The table, added to embeddings."""

    def __init__(self, d_model, max_length=512):
        super().__init__()
        table = sinusoidal_table(max_length, d_model)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x):
        """x (B, T, D) -> (B, T, D)."""
        return x + self.table[: x.size(1)]


# -- Chapter 4: attention --------------------------------------------------------------------------------------------


def attend(queries, keys, values, mask):
    """queries (B, H, T, K), keys and values (B, H, S, K) -> a mean of the values for each query."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-1)  # the mask is chapter 6
    return weights @ values


# -- Chapter 5: heads ------------------------------------------------------------------------------------------------


class MultiHeadAttention(nn.Module):
    """Attention in H small spaces side by side, each with projections of its own."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query_projection = nn.Linear(d_model, d_model)
        self.key_projection = nn.Linear(d_model, d_model)
        self.value_projection = nn.Linear(d_model, d_model)
        self.output_projection = nn.Linear(d_model, d_model)

    def split(self, x):
        """Give each head its slice: (B, T, D) -> (B, H, T, K)."""
        return x.view(x.size(0), x.size(1), self.n_heads, -1).transpose(1, 2)

    def forward(self, queries, keys, values, mask):
        """queries (B, T, D), keys and values (B, S, D) -> (B, T, D)."""
        queries = self.split(self.query_projection(queries))
        keys = self.split(self.key_projection(keys))
        values = self.split(self.value_projection(values))
        heads = attend(queries, keys, values, mask)
        return self.output_projection(heads.transpose(1, 2).flatten(2))


# -- Chapter 6: masks ------------------------------------------------------------------------------------------------


def padding_mask(ids):
    """Hide padding from every query: ids (B, S) -> (B, 1, 1, S)."""
    return (ids != PAD)[:, None, None, :]


def causal_mask(n_positions):
    """Hide the future: (T, T), query t may attend to keys up to itself."""
    return torch.ones(n_positions, n_positions, dtype=torch.bool).tril()


# -- Chapter 7: the feed-forward layer -------------------------------------------------------------------------------


class FeedForward(nn.Module):
    """Two linear maps with a relu between them, the same for every position."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """x (B, T, D) -> (B, T, D), through (B, T, F)."""
        return self.outer(self.inner(x).relu())


# -- Chapter 8: residuals --------------------------------------------------------------------------------------------


class Residual(nn.Module):
    """x + sublayer(norm(x)), with dropout: pre-norm."""

    def __init__(self, d_model, dropout):
        super().__init__()
        self.norm = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        """x (B, T, D) -> (B, T, D)."""
        return x + self.dropout(sublayer(self.norm(x)))


# -- Chapter 9: layer norm -------------------------------------------------------------------------------------------


class LayerNorm(nn.Module):
    """Mean 0 and variance 1 for the vector of each position, then a learned gain and bias."""

    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        """x (B, T, D) -> (B, T, D)."""
        centred = x - x.mean(dim=-1, keepdim=True)
        variance = centred.square().mean(dim=-1, keepdim=True)
        return self.weight * centred / torch.sqrt(variance + 1e-5) + self.bias


# -- Chapter 10: encoder and decoder ---------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Self-attention over the source, then feed-forward."""

    def __init__(self, d_model, d_ff, n_heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.attention_residual = Residual(d_model, dropout)
        self.feed_forward_residual = Residual(d_model, dropout)

    def forward(self, x, source_mask):
        """x (B, S, D) -> (B, S, D)."""
        x = self.attention_residual(x, lambda x: self.self_attention(x, x, x, source_mask))
        return self.feed_forward_residual(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention over the target so far, attention over the memory, then feed-forward."""

    def __init__(self, d_model, d_ff, n_heads, dropout):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.self_residual = Residual(d_model, dropout)
        self.cross_residual = Residual(d_model, dropout)
        self.feed_forward_residual = Residual(d_model, dropout)

    def forward(self, x, memory, target_mask, source_mask):
        """x (B, T, D), memory (B, S, D) -> (B, T, D)."""
        x = self.self_residual(x, lambda x: self.self_attention(x, x, x, target_mask))
        x = self.cross_residual(x, lambda x: self.cross_attention(x, memory, memory, source_mask))
        return self.feed_forward_residual(x, self.feed_forward)


# -- Chapter 11: the assembled model ---------------------------------------------------------------------------------


class Transformer(nn.Module):
    """From source ids and the target so far to a score for each word that may come next."""

    def __init__(self, n_source_words, n_target_words, d_model=64, d_ff=128, n_heads=4, n_layers=1, dropout=0.0):
        super().__init__()
        sizes = (d_model, d_ff, n_heads, dropout)
        self.source_embedding = Embedding(n_source_words, d_model)
        self.target_embedding = Embedding(n_target_words, d_model)
        self.positions = Positions(d_model)
        self.dropout = nn.Dropout(dropout)
        self.encoder_layers = nn.ModuleList(EncoderLayer(*sizes) for _ in range(n_layers))
        self.decoder_layers = nn.ModuleList(DecoderLayer(*sizes) for _ in range(n_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.output_projection = nn.Linear(d_model, n_target_words)
        self.output_projection.weight = self.target_embedding.tokens.weight  # tied: one matrix reads and writes
        self.initialise()

    def initialise(self):
        """Draw first weights of such a size that every layer hands on numbers of about the size it got."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.tokens.weight, std=1 / embedding.scale)

    def encode(self, source_ids):
        """source_ids (B, S) -> memory (B, S, D)."""
        x = self.dropout(self.positions(self.source_embedding(source_ids)))
        for layer in self.encoder_layers:
            x = layer(x, padding_mask(source_ids))
        return self.encoder_norm(x)

    def decode(self, target_ids, memory, source_mask):
        """target_ids (B, T), memory (B, S, D), source_mask (B, 1, 1, S) -> logits (B, T, V)."""
        x = self.dropout(self.positions(self.target_embedding(target_ids)))
        target_mask = padding_mask(target_ids) & causal_mask(target_ids.size(1))
        for layer in self.decoder_layers:
            x = layer(x, memory, target_mask, source_mask)
        return self.output_projection(self.decoder_norm(x))

    def forward(self, source_ids, target_ids):
        """source_ids (B, S), target_ids (B, T) -> logits (B, T, V) of the words that follow."""
        return self.decode(target_ids, self.encode(source_ids), padding_mask(source_ids))


# -- Chapter 12: training --------------------------------------------------------------------------------------------


def mean_loss(model, source_ids, target_ids):
    """Return the loss in nats a word: the decoder reads all but the last word, and is scored on all but the first."""
    logits = model(source_ids, target_ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), target_ids[:, 1:].flatten(), ignore_index=PAD)


def learning_rate(step, n_steps, highest=0.004, n_warmup=50):
    """Return the rate of a step: up in a straight line, then down along a cosine."""
    if step < n_warmup:
        return highest * step / n_warmup
    return highest * (1 + math.cos(math.pi * (step - n_warmup) / (n_steps - n_warmup))) / 2


def train(model, pairs, n_steps, n_rows=64):
    """Take steps on random pairs of source ids and target ids; yield the loss of each."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    for step in range(1, n_steps + 1):
        model.train()
        source_rows, target_rows = zip(*random.sample(pairs, n_rows), strict=True)
        loss = mean_loss(model, rectangle(source_rows), rectangle(target_rows))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, n_steps)
        optimizer.step()
        yield loss.item()


@torch.no_grad()
def translate(model, source_words, target_words, sentence, longest=50):
    """Write the most probable next word, again and again, until that is the end."""
    model.eval()
    source_ids = rectangle([source_words.ids(sentence)])
    memory = model.encode(source_ids)
    written = [START]
    while written[-1] != END and len(written) < longest:
        logits = model.decode(rectangle([written]), memory, padding_mask(source_ids))
        written.append(int(logits[0, -1].argmax()))
    return target_words.text(written)


# -- As a program ----------------------------------------------------------------------------------------------------


def main(source_file, target_file, n_steps=600):
    """Train on two files with a sentence a line, then translate each line that is typed."""
    torch.manual_seed(1)
    random.seed(1)
    sources, targets = (Path(name).read_text(encoding="utf-8").splitlines() for name in (source_file, target_file))
    source_words, target_words = Vocabulary(sources), Vocabulary(targets)
    pairs = [
        (source_words.ids(source), [START, *target_words.ids(target)])
        for source, target in zip(sources, targets, strict=True)
    ]
    model = Transformer(len(source_words.words), len(target_words.words), n_layers=2)
    for step, loss in enumerate(train(model, pairs, n_steps), start=1):
        if step % 100 == 0:
            print(f"step {step:>5,}: loss {loss:.3f}   {translate(model, source_words, target_words, sources[0])}")
    print("Type a sentence; Ctrl-D ends (on Windows Ctrl-Z and Enter).", file=sys.stderr)
    for line in sys.stdin:
        print(translate(model, source_words, target_words, line))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python transformer.py train.en train.de")
    main(*sys.argv[1:])
