"""The cost of longer sentences, up to the longest that the model reads: in training, and one at a time.

    python benchmarks/lengths.py RUN        # a trained run

Pairs of random pieces, both sides of one length, for the run's own sizes and vocabulary. Training: batches of 4,096
tokens, all threads; the lengths take turns. Memory is that of a process which trains on batches of one length and does
nothing else. Translating: one sentence at a time, one thread, each translation as long as its source.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from measuring import in_turns, loaders, write
from threadpoolctl import threadpool_limits

from dragoman.bundle.bundle import load_bundle
from dragoman.data.batches import collate
from dragoman.decoding.search import search
from dragoman.machine.processes import Processes
from dragoman.machine.ram import peak_memory
from dragoman.model.transformer import Transformer
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.special_ids import SpecialIds
from dragoman.training.loss import batch_loss, n_target_tokens
from dragoman.training.optimizer import Optimizer

SPECIAL_IDS = SpecialIds()

SHORTEST, BATCH_TOKENS, N_BATCHES, N_ROUNDS = 16, 4096, 4, 5
PRECISIONS = ("float32", "bfloat16")


def main() -> None:
    """Measure, and write lengths.json; or, in a process of its own, train on one length and print its memory."""
    run = sys.argv[1]
    if len(sys.argv) > 2:
        length, precision = int(sys.argv[2]), sys.argv[3]
        training(run, length, precision)()
        print(round(peak_memory(torch.device("cpu")) or 0))
        return
    longest = load_bundle(run).config.max_length
    lengths = [SHORTEST * 2**n for n in range(longest.bit_length()) if SHORTEST * 2**n <= longest]
    columns: dict[int, dict[str, Any]] = {length: {"tokens a sentence": length} for length in lengths}
    for precision in PRECISIONS:
        speeds = in_turns({str(length): training(run, length, precision) for length in lengths}, N_ROUNDS)
        for length, column in columns.items():
            speed = statistics.median(speeds[str(length)])
            column[f"training in {precision}, target tokens/s"] = round(speed)
            command = [sys.executable, __file__, run, str(length), precision]
            column[f"training in {precision}, MiB"] = int(subprocess.check_output(command))
    with threadpool_limits(1):
        for name, load in loaders().items():
            scorer = load(run).scorer
            for beam_size in (1, 5):
                for length, column in columns.items():
                    column[f"one sentence, {name}, beam {beam_size}, ms"] = milliseconds(scorer, length, beam_size)
    write(__file__, {"lengths": list(columns.values())})


def training(run: str, length: int, precision: str) -> Callable[[], float]:
    """Return a function that trains a new model of the run's sizes and returns its number of target tokens."""
    config = load_bundle(run).config
    torch.manual_seed(1)
    model = Transformer(config).train()
    optimizer = Optimizer(model, TrainingConfig())
    rng, n_pairs = np.random.default_rng(1), BATCH_TOKENS // length
    shape = N_BATCHES, 2, n_pairs, length - 1  # without the end mark
    pairs = rng.integers(len(SPECIAL_IDS.names), config.target_vocab_size, shape)
    batches = [collate(list(source), list(target)) for source, target in pairs]

    def train() -> float:
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
                loss, _ = batch_loss(model, batch, 0.1)
            (loss / n_target_tokens(batch, SPECIAL_IDS.pad)).backward()
            optimizer.step(0.0, precision, Processes())
            model.zero_grad()
        return sum(n_target_tokens(batch, SPECIAL_IDS.pad) for batch in batches)

    return train


def milliseconds(scorer: Any, length: int, beam_size: int) -> float:
    """Return the median time to translate a sentence of `length` tokens by one of as many."""
    rng = np.random.default_rng(length)
    config = SearchConfig(beam_size=beam_size, min_length=length - 1, max_length=length)
    times = []
    for _ in range(1 + N_ROUNDS):
        source_ids = np.append(rng.integers(len(SPECIAL_IDS.names), scorer.vocab_size, length - 1), SPECIAL_IDS.end)[
            None
        ]
        started = time.perf_counter()
        (found,) = search(scorer, source_ids, config)
        times.append(time.perf_counter() - started)
        assert len(found[0].ids) == length - 1
    return round(1000 * statistics.median(times[1:]), 1)


if __name__ == "__main__":
    main()
