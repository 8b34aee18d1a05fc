"""What to train when nobody said: sizes and rates fit for the corpus, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

#: Pairs looked at to judge whether two languages share a script.
SAMPLE_PAIRS = 2000


def plan(
    settings: Mapping[str, Any], n_pairs: int, pairs: Iterable[tuple[str, str]], *, fine_tuning: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Fill what `settings` (a recipe, not yet checked) leaves open.

    Args:
        settings: what the person asked for; it always wins.
        n_pairs: size of the training corpus.
        pairs: the corpus itself, of which the beginning is read.
        fine_tuning: the model's shape and tokenizer are given, and its weights need a gentle rate.

    Returns:
        The filled settings, and a line for each choice with its reason.
    """
    chosen: dict[str, dict[str, Any]] = {"tokenizer": {}, "model": {}, "training": {}}
    reasons = []
    asked = settings.get("training") or {}
    if fine_tuning:
        gentle = {"lr": 5e-4, "warmup_steps": 100}
        chosen["training"] = gentle
        told = ", ".join(f"training.{key}={value}" for key, value in gentle.items() if key not in asked)
        if told:
            reasons.append(f"{told}: gentle, since the model is trained already")
    else:
        tokenizer = settings.get("tokenizer") or {}
        joint = tokenizer.get("joint")
        if joint is None and tokenizer.get("kind", "bpe") in ("words", "characters"):
            joint = False
        if joint is None and not _share_script(pairs):
            joint = False
            chosen["tokenizer"] = {"joint": False}
            reasons.append("tokenizer.joint=false: the two languages hardly share a script, so each has its own")
        if not settings.get("model"):
            shape, training, why = _sizes(n_pairs)
            chosen["model"] = {**shape, "tie": "decoder"} if joint is False else shape
            chosen["training"] = training
            reasons.append(why)
    if asked.get("max_steps") is None and asked.get("max_epochs") is None:
        epochs = _epochs(n_pairs, fine_tuning)
        asked = {**asked, "max_epochs": epochs}
        reasons.append(f"training.max_epochs={epochs}: about what {n_pairs:,} pairs need; the best is kept on the way")
    filled = {**settings, "training": asked}
    for section, values in chosen.items():
        filled[section] = {**values, **(filled.get(section) or {})}
    return filled, reasons


def _sizes(n_pairs: int) -> tuple[dict[str, Any], dict[str, Any], str]:
    if n_pairs < 200_000:
        return (
            {"preset": "tiny", "dropout": 0.2, "norm": "pre"},
            {"batch_tokens": 1024, "lr": 0.002, "warmup_steps": 500, "schedule": "cosine", "ema": 0.999},
            f"model.preset=tiny (d_model 128, 4+4 layers, pre-norm), dropout 0.2: {n_pairs:,} pairs are few, and a "
            "larger model would learn them by heart; small batches, since few passes should make many steps",
        )
    if n_pairs < 2_000_000:
        return (
            {"preset": "small"},
            {"lr": 0.002, "warmup_steps": 2000, "ema": 0.999, "batch_tokens": 8192},
            f"model.preset=small (d_model 256, 3+3 layers): fit for {n_pairs:,} pairs",
        )
    return (
        {"preset": "base"},
        {"warmup_steps": 4000, "batch_tokens": 25_000, "micro_batch_tokens": 4096, "ema": 0.999},
        f"model.preset=base (the paper's): {n_pairs:,} pairs are enough for it",
    )


def _epochs(n_pairs: int, fine_tuning: bool) -> int:
    """Passes over the corpus: about a million pairs seen, at most 60 and at least 5 times."""
    passes = min(60, max(5, 1_000_000 // max(1, n_pairs)))
    return max(1, passes // 4) if fine_tuning else passes


def _share_script(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether most letters of a sample's target side also occur on its source side."""
    sample = list(islice(pairs, SAMPLE_PAIRS))
    source_letters = {letter for source, _ in sample for letter in source}
    target_letters = [letter for _, target in sample for letter in target if letter.isalpha()]
    return 2 * sum(letter in source_letters for letter in target_letters) >= len(target_letters)
