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
from gpu_translation import SMALLEST, random_bundle

from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.doctor import check
from dragoman.machine.processes import Processes
from dragoman.runtime.tensor_search import TensorSearch
from dragoman.runtime.torch_model import TorchModel
from dragoman.settings.presets import PRESETS
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.training_config import TrainingConfig
from dragoman.training.gradient import Gradients
from dragoman.translator.padding import pad_sources

if TYPE_CHECKING:
    from gpu import Bench

#: Seconds for two programs that translate at once; both wait forever if they block each other.
PATIENCE_S = 90
#: Largest relative differences of logits and of gradients in float32; an H200 had 8e-7 and 3e-5.
MOST_OF_LOGITS, MOST_OF_GRADIENTS = 1e-5, 1e-3


def correctness(bench: Bench) -> Iterator[dict[str, Any]]:
    """Differences between the device and the CPU, equal outputs, and the doctor's findings, each when it is known."""
    bundle = random_bundle(SMALLEST if bench.is_tiny else PRESETS["tiny"])
    on_cpu = bundle.model.eval()
    there = copy.deepcopy(on_cpu).to(bench.device)
    torch.manual_seed(2)
    batch = made_up_batches(bundle.config.source_vocab_size, 400)[2]
    with torch.no_grad():
        logits = on_cpu(batch.source_ids, batch.target_ids)
        other = there(*(ids.to(bench.device) for ids in (batch.source_ids, batch.target_ids))).cpu()
    difference = float((logits - other).abs().max() / logits.abs().max())
    yield _judged({"largest difference of logits": difference}, difference <= MOST_OF_LOGITS)
    difference = _gradient_difference(on_cpu, there, batch)
    yield _judged({"largest difference of gradients": difference}, difference <= MOST_OF_GRADIENTS)
    draw, n_sources = np.random.default_rng(3), 4 if bench.is_tiny else 40
    sources = pad_sources(
        [draw.integers(10, 5_000, 12).tolist() for _ in range(n_sources)], bundle.tokenizers.special_ids.source
    )
    on_card = TensorSearch(_scorer(there), there)
    for beam_size in (1, 4):
        config = SearchConfig(beam_size=beam_size, max_length=8 if bench.is_tiny else 20)
        expected = [beam[0].ids for beam in search(_scorer(on_cpu), sources, config)]
        for index in range(2):  # the second time, all steps are replayed
            found = [beam[0].ids for beam in on_card.search(sources, config)]
            n_equal = sum(one == other for one, other in zip(expected, found, strict=True))
            row = {f"equal outputs of {n_sources}, beam {beam_size}": n_equal, "search": index + 1}
            yield _judged(row, n_equal == n_sources)
    examination = check(there)
    findings = {finding.name: finding.passed or finding.detail for finding in examination.findings}
    yield _judged({"doctor": findings}, examination.passed)
    outcome = _two_programs(bench)
    yield _judged({"two programs at once": outcome}, outcome == "equal")


def _judged(row: dict[str, Any], is_right: bool) -> dict[str, Any]:
    """Return a row, with an error unless it is as it should be."""
    return row if is_right else row | {"error": "not as it should be"}


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
