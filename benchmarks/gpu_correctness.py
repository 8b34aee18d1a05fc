"""The same numbers on a GPU as on the CPU; a part of gpu.py."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gpu_training import made_up_batches
from gpu_translation import random_bundle

from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.doctor import check
from dragoman.machine.processes import Processes
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.gradient import Gradients
from dragoman.translator.padding import pad_sources

if TYPE_CHECKING:
    from gpu import Bench

#: Seconds for two programs that translate at once; both wait forever if they block each other.
PATIENCE_S = 90


def correctness(bench: Bench) -> Iterator[dict[str, Any]]:
    """Differences between the device and the CPU, equal outputs, and the doctor's findings, each when it is known."""
    bundle = random_bundle("tiny")
    on_cpu = bundle.model.eval()
    there = copy.deepcopy(on_cpu).to(bench.device)
    torch.manual_seed(2)
    batch = made_up_batches(bundle.config.source_vocab_size, 400)[2]
    with torch.no_grad():
        logits = on_cpu(batch.source_ids, batch.target_ids)
        other = there(*(ids.to(bench.device) for ids in (batch.source_ids, batch.target_ids))).cpu()
    yield {"largest difference of logits": float((logits - other).abs().max() / logits.abs().max())}
    yield {"largest difference of gradients": _gradient_difference(on_cpu, there, batch)}
    draw, n_sources = np.random.default_rng(3), 6 if bench.is_tiny else 40
    sources = pad_sources(
        [draw.integers(10, 5_000, 12).tolist() for _ in range(n_sources)], bundle.tokenizers.special_ids.source
    )
    for beam_size in (1, 4):
        config = SearchConfig(beam_size=beam_size, max_length=8 if bench.is_tiny else 20)
        one, two = (
            [list(beam[0].ids) for beam in search(_scorer(model), sources, config)] for model in (on_cpu, there)
        )
        yield {f"equal outputs of {n_sources}, beam {beam_size}": sum(a == b for a, b in zip(one, two, strict=True))}
    examination = check(there)
    yield {"doctor": {finding.name: finding.passed or finding.detail for finding in examination.findings}}
    yield {"two programs at once": _two_programs(bench)}


def _scorer(model: Any) -> TransformerScorer:
    return TransformerScorer([TorchModel(model)])


def _gradient_difference(on_cpu: Any, there: Any, batch: Any) -> float:
    """The largest difference of a gradient, relative to the largest number of its tensor."""
    settings = TrainingConfig()
    for model in (on_cpu, there):  # in evaluation mode, so without dropout
        Gradients(model, settings, Processes()).of_batch([batch], "float32")
    worst = 0.0
    for one, other in zip(on_cpu.parameters(), there.parameters(), strict=True):
        size = float(one.grad.abs().max())
        if size > 1e-6:  # the bias of keys has a gradient of rounding only
            worst = max(worst, float((one.grad - other.grad.cpu()).abs().max()) / size)
    on_cpu.zero_grad()
    there.zero_grad()
    return worst


def _two_programs(bench: Bench) -> str:
    """Two commands that translate on the same card."""
    command = [sys.executable, "-m", "dragoman", "translate", "-m", "multi30k-en-de", "--device", str(bench.device)]
    programs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    text = b"A man is riding a horse.\n" * (2 if bench.is_tiny else 200)
    try:
        outputs = [program.communicate(text, timeout=PATIENCE_S)[0] for program in programs]
    except subprocess.TimeoutExpired:
        for program in programs:
            program.kill()
        return f"not done after {PATIENCE_S} seconds"
    return "equal" if outputs[0] == outputs[1] and outputs[0] else "different"
