"""Training speed and memory on Multi30k: ours, torch.nn.Transformer by the book, Hugging Face's Marian.

    make bench-train        # or: python benchmarks/train.py RUN, with a run folder that `dragoman prepare` made

The same batches, bucketed by length, of about 4,096 tokens; the same sizes (2 + 2 layers, d_model 256, 4 heads, d_ff
512, tied embeddings), dropout 0.1, label smoothing 0.1, Adam; float32, and bfloat16 by PyTorch's autocast. Memory is
that of a process which does nothing else. Products of matrices of 2,048 say what the machine has.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from measuring import in_turns, summary, write
from torch import Tensor, nn

from dragoman.data.batches import Batch, Batches, Cut
from dragoman.data.store import PairStore
from dragoman.machine.devices import COMPILED_SHAPES, SHAPE_CACHES
from dragoman.machine.processes import Processes
from dragoman.machine.ram import peak_memory
from dragoman.model.transformer import Transformer
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.tokenizer_files import load_tokenizers
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.training.optimizer import Optimizer

SIZES = {"d_model": 256, "n_heads": 4, "d_ff": 512, "n_encoder_layers": 2, "n_decoder_layers": 2}
N_BATCHES, N_ROUNDS, N_BATCHES_FOR_MEMORY = 8, 3, 60


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


Loss = Callable[[Batch], Tensor]


def ours(vocab_size: int) -> tuple[nn.Module, Loss]:
    sizes = {"source_vocab_size": vocab_size, "target_vocab_size": vocab_size, **SIZES}
    model = Transformer(ModelConfig(tie="all", norm="pre", **sizes))

    def loss(batch: Batch) -> Tensor:
        total, _ = batch_loss(model, batch, 0.1)
        return total / n_target_tokens(batch, 0)

    return model, loss


def by_the_book(vocab_size: int) -> tuple[nn.Module, Loss]:
    model = ByTheBook(vocab_size)
    return model, model.loss


def marian(vocab_size: int) -> tuple[nn.Module, Loss]:
    from transformers import MarianConfig, MarianMTModel  # here, since it takes memory

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
    model = MarianMTModel(config)

    def loss(batch: Batch) -> Tensor:
        read, expected = batch.target_ids[:, :-1], batch.target_ids[:, 1:]
        logits = model(
            input_ids=batch.source_ids, attention_mask=batch.source_ids != 0, decoder_input_ids=read, use_cache=False
        ).logits
        return F.cross_entropy(logits.flatten(0, 1), expected.flatten(), ignore_index=0, label_smoothing=0.1)

    return model, loss


SYSTEMS = {"dragoman": ours, "torch.nn.Transformer": by_the_book, "Hugging Face Marian": marian}


def training(name: str, run: Path, precision: str, n_batches: int) -> Callable[[], float]:
    """Return a function that trains a system on the next `n_batches` and returns their number of target tokens.

    No two batches have the same shape, or hardly any: as in a training.
    """
    tokenizers, store = load_tokenizers(run / "tokenizer"), PairStore(run / "data" / "train")
    order = Batches(store, tokenizers, batch_tokens=4096, seed=1)
    torch.manual_seed(1)
    model, loss = SYSTEMS[name](tokenizers.source.vocab_size)
    optimizer = Optimizer(model.train(), TrainingConfig())
    positions = itertools.count()
    one_length = name == "dragoman" and precision == "bfloat16"  # as our trainer does: the same pairs, more padding

    def train() -> float:
        n_tokens = 0
        for batch in (order.micro_batches(next(positions), Cut(one_length=one_length))[0] for _ in range(n_batches)):
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
                value = loss(batch)
            value.backward()
            optimizer.step(0.0, precision, Processes())
            model.zero_grad()
            n_tokens += n_target_tokens(batch, 0)
        return n_tokens

    return train


def peak_mib(name: str, run: Path, precision: str) -> int:
    """The most memory that a process had resident which trained a system on half an epoch."""
    environment = dict(os.environ)
    if name == "dragoman":
        environment |= dict.fromkeys(SHAPE_CACHES, COMPILED_SHAPES)  # as the program does
    command = [sys.executable, __file__, str(run), name, precision]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout)


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
    """Measure, and write train.json; or, in a process of its own, train one system and print its memory."""
    run = Path(sys.argv[1])
    if len(sys.argv) > 2:
        training(sys.argv[2], run, sys.argv[3], N_BATCHES_FOR_MEMORY)()
        print(round(peak_memory(torch.device("cpu")) or 0))
        return
    speeds, memory = {}, {}
    for precision in ("float32", "bfloat16"):
        memory[precision] = {name: peak_mib(name, run, precision) for name in SYSTEMS}
        found = in_turns({name: training(name, run, precision, N_BATCHES) for name in SYSTEMS}, N_ROUNDS)
        best = max(itertools.islice(found, 1, None), key=lambda name: max(found[name]))
        speeds[precision] = summary(found, best)
    write(
        __file__,
        {"unit": "target tokens a second", "speeds": speeds, "memory, MiB": memory, "gflops": products()},
    )


if __name__ == "__main__":
    main()
