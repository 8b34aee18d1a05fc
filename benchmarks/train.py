"""Training speed on Multi30k, in target tokens a second: ours, torch.nn.Transformer by the book, Hugging Face's Marian.

    make bench-train        # or: python benchmarks/train.py RUN, with a run folder that `dragoman prepare` made

The same batches, bucketed by length, of about 4,096 tokens; the same sizes (2 + 2 layers, d_model 256, 4 heads, d_ff
512, tied embeddings), dropout 0.1, label smoothing 0.1, Adam; float32, and bfloat16 by PyTorch's autocast. Products of
matrices of 2,048 say what the machine has.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from measuring import in_turns, summary, write
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

from dragoman.config import ModelConfig, TrainingConfig
from dragoman.data.batches import Batch, Batches
from dragoman.data.store import PairStore
from dragoman.model.transformer import Transformer
from dragoman.text.tokenizer import Tokenizers
from dragoman.training.loss import batch_loss
from dragoman.training.optimizer import build_optimizer

SIZES = {"d_model": 256, "n_heads": 4, "d_ff": 512, "n_encoder_layers": 2, "n_decoder_layers": 2}
N_BATCHES, N_ROUNDS = 8, 3


class ByTheBook(nn.Module):
    """torch.nn.Transformer between tied embeddings."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, SIZES["d_model"], padding_idx=0)
        self.positions = nn.Parameter(torch.zeros(256, SIZES["d_model"]))
        self.dropout = nn.Dropout(0.1)
        sizes = (
            SIZES["d_model"],
            SIZES["n_heads"],
            SIZES["n_encoder_layers"],
            SIZES["n_decoder_layers"],
            SIZES["d_ff"],
        )
        self.transformer = nn.Transformer(*sizes, dropout=0.1, batch_first=True, norm_first=True)

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * SIZES["d_model"] ** 0.5 + self.positions[: ids.size(1)])

    def loss(self, batch: Batch) -> Tensor:
        read, expected = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
        padding = batch.source_ids == 0
        hidden = self.transformer(
            self.embed(batch.source_ids),
            self.embed(read),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(read.size(1)),
            src_key_padding_mask=torch.zeros(padding.shape).masked_fill(padding, float("-inf")),
            memory_key_padding_mask=torch.zeros(padding.shape).masked_fill(padding, float("-inf")),
            tgt_is_causal=True,
        )
        logits = hidden @ self.embedding.weight.T
        return F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=0, label_smoothing=0.1)


def marian(vocab_size: int) -> MarianMTModel:
    config = MarianConfig(
        vocab_size=vocab_size,
        d_model=SIZES["d_model"],
        encoder_layers=SIZES["n_encoder_layers"],
        decoder_layers=SIZES["n_decoder_layers"],
        encoder_attention_heads=SIZES["n_heads"],
        decoder_attention_heads=SIZES["n_heads"],
        encoder_ffn_dim=SIZES["d_ff"],
        decoder_ffn_dim=SIZES["d_ff"],
        max_position_embeddings=256,
        activation_function="relu",
        dropout=0.1,
        pad_token_id=0,
        eos_token_id=3,
        decoder_start_token_id=2,
    )
    return MarianMTModel(config).train()


def systems(run: Path, precision: str) -> dict[str, Callable[[], float]]:
    """For each system, what trains on all batches once and returns how many target tokens they have."""
    tokenizers, store = Tokenizers.load(run / "tokenizer"), PairStore(run / "data" / "train")
    order = Batches(store, tokenizers, batch_tokens=4096, seed=1, sampling=False)
    batches = [order.micro_batches(position)[0] for position in range(N_BATCHES)]
    n_tokens = sum(int((batch.target_ids[:, 1:] != 0).sum()) for batch in batches)
    size = tokenizers.source.vocab_size
    torch.manual_seed(1)
    ours = Transformer(ModelConfig(source_vocab_size=size, target_vocab_size=size, tie="all", norm="pre", **SIZES))
    book, theirs = ByTheBook(size).train(), marian(size)

    def our_loss(batch: Batch) -> Tensor:
        loss, _ = batch_loss(ours, batch, 0.1)
        return loss / int((batch.target_ids[:, 1:] != 0).sum())

    def their_loss(batch: Batch) -> Tensor:
        read, expected = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
        logits = theirs(
            input_ids=batch.source_ids, attention_mask=batch.source_ids != 0, decoder_input_ids=read, use_cache=False
        ).logits
        return F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=0, label_smoothing=0.1)

    def trainer(model: nn.Module, loss: Callable[[Batch], Tensor]) -> Callable[[], float]:
        optimizer = build_optimizer(model, TrainingConfig())

        def train() -> float:
            for batch in batches:
                with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
                    value = loss(batch)
                value.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            return n_tokens

        return train

    return {
        "dragoman": trainer(ours.train(), our_loss),
        "torch.nn.Transformer": trainer(book, book.loss),
        "Hugging Face Marian": trainer(theirs, their_loss),
    }


def products() -> dict[str, float]:
    """GFLOP/s of matrix products of 2,048."""
    rates = {}
    for kind in (torch.float32, torch.bfloat16):
        one, other = torch.randn(2, 2048, 2048).to(kind).unbind()

        def run(one: Tensor = one, other: Tensor = other) -> float:
            for _ in range(3):
                one @ other
            return 3 * 2 * 2048**3 / 1e9

        rates[str(kind)[6:]] = round(max(*in_turns({"": run}, 3)[""]), 1)
    return rates


def main() -> None:
    """Measure, and write train.json."""
    speeds = {}
    for precision in ("float32", "bfloat16"):
        found = in_turns(systems(Path(sys.argv[1]), precision), N_ROUNDS)
        best = max(itertools.islice(found, 1, None), key=lambda name: max(found[name]))
        speeds[precision] = summary(found, best)
    write(__file__, {"unit": "target tokens a second", "speeds": speeds, "gflops": products()})


if __name__ == "__main__":
    main()
