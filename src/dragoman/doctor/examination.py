"""Run all checks on one model."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from dragoman.doctor.checks import CHECKS, check_next_token
from dragoman.doctor.findings import Examination, Finding
from dragoman.doctor.model_under_test import ModelUnderTest, both_sides


def check(
    model: nn.Module,
    *,
    source_vocab_size: int | None = None,
    target_vocab_size: int | None = None,
    pad_id: int | None = None,
    trained: bool = False,
    seed: int = 1,
) -> Examination:
    """Examine a model whose `forward(source_ids (B, S), target_ids (B, T))` returns logits (B, T, V).

    The model itself is not changed. For a `dragoman.Transformer` the sizes come from its configuration.

    Args:
        source_vocab_size, target_vocab_size, pad_id: needed for a model that is no `dragoman.Transformer`.
        trained: also run the check that only a trained model can pass or fail.

    Raises:
        ConfigError: a size or the padding is neither given nor named by the model.
    """
    sides = both_sides(model, source_vocab_size, target_vocab_size, pad_id)
    subject = ModelUnderTest(model, *sides, seed=seed)
    checks: list[Callable[[ModelUnderTest], Finding]] = [*CHECKS, *([check_next_token] if trained else [])]
    findings = []
    with torch.random.fork_rng():
        for run_check in checks:
            torch.manual_seed(seed)
            findings.append(run_check(subject))
    return Examination(findings)
