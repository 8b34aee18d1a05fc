"""Settings that fit the corpus, each with its reason, where nobody gave them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from dragoman.settings.model_config import ModelShape
from dragoman.settings.open_settings import fill_open
from dragoman.settings.presets import PRESETS, has_sizes
from dragoman.settings.training_config import TrainingConfig
from dragoman.text.cleaning import clean
from dragoman.text.languages import scripts
from dragoman.training.schedule import peak_rate
from dragoman.training.sizes import QUICK_LEARNING, Size, sizes_for

#: Pairs looked at to judge whether two languages share a script.
SAMPLE_PAIRS = 2000
#: Sections of a recipe in which something is chosen.
SECTIONS = ("tokenizer", "model", "training", "search")
#: The paper's training.
USUAL = TrainingConfig()


def plan(
    settings: Mapping[str, Any], n_pairs: int, pairs: Iterable[tuple[str, str]], size: Size | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Fill what `settings` (a recipe, not yet checked) leaves open.

    Args:
        settings: what the person asked for; they always win.
        n_pairs: size of the training corpus.
        pairs: the corpus itself, of which the beginning is read.
        size: the row of the table to follow; None is the usual one for the corpus.

    Returns:
        The filled settings, and a line for a person about each choice, with its reason.
    """
    asked: dict[str, dict[str, Any]] = {key: settings.get(key) or {} for key in SECTIONS}
    filled: dict[str, Any] = {**settings, **asked}
    lines = []
    size = size or sizes_for(n_pairs)[-1]
    for choices, reason in _choices(asked, n_pairs, pairs, size):
        filled, new = fill_open(filled, choices)
        if new:
            lines.append(f"chose {', '.join(new)}: {reason}")
    if has_sizes(asked["model"]) and size.preset is not None:
        usual = (key.split(".") for key in (*QUICK_LEARNING, *size.choices()))
        if any(asked[section].get(name) is None for section, name in usual if name != "preset"):
            lines.append("you set sizes of the model, so its other settings and those of the training are the paper's")
    return filled, lines


def _choices(
    asked: Mapping[str, Mapping[str, Any]], n_pairs: int, pairs: Iterable[tuple[str, str]], size: Size
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield settings by their full names, a few at a time, with their reason."""
    tokenizer, training = asked["tokenizer"], asked["training"]
    choices: dict[str, Any] = size.choices()
    reason = size.reason.format(n_pairs=f"{n_pairs:,}")
    epochs, n_steps = training.get("max_epochs"), training.get("max_steps")
    if epochs is None and n_steps is None:
        epochs = size.passes(n_pairs)
        yield {"training.max_epochs": epochs}, f"about what {n_pairs:,} pairs need; the best model on the way is kept"
    if size.preset is not None:
        of_pieces = tokenizer.get("kind") not in ("words", "characters")
        is_open = tokenizer.get("joint") is None and asked["model"].get("tie") != "all"  # which needs one vocabulary
        if of_pieces and is_open and not _share_script(pairs):
            yield {"tokenizer.joint": False}, "the two languages hardly share a script, so each has its own vocabulary"
        if has_sizes(asked["model"]):
            choices, reason = {}, f"a quarter of all steps; the paper's {USUAL.warmup_steps:,} are more than that"
        else:
            if size.variants:
                fitting = _fitting(
                    size.variants, {**ModelShape().model_dump(), **PRESETS[size.preset], **asked["model"]}
                )
                yield fitting, "these learn more from a small corpus in the same number of steps (docs/choices.md)"
            if size.optimizer is not None:
                optimizer = {"training.optimizer": size.optimizer}
                yield optimizer, "it learns more than Adam from few steps (docs/quality.md)"
    batch_tokens = training.get("batch_tokens") or choices.get("training.batch_tokens", USUAL.batch_tokens)
    limits = [n_steps or math.inf, epochs * _tokens(n_pairs, pairs, tokenizer) // batch_tokens if epochs else math.inf]
    longest, usual = max(1, int(min(limits)) // 4), choices.get("training.warmup_steps", USUAL.warmup_steps)
    if longest < usual:
        choices["training.warmup_steps"] = longest
    yield choices, reason
    if longest < usual and training.get("warmup_steps") is None and "training.lr" not in choices:
        shape = {**PRESETS.get(asked["model"].get("preset") or choices.get("model.preset", ""), {}), **asked["model"]}
        peak = peak_rate(USUAL, shape.get("d_model", ModelShape().d_model))
        reason = "the paper's highest rate, which its formula would raise for a shorter warm-up"
        yield {"training.lr": float(f"{peak:.2g}")}, reason


def _fitting(choices: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices that a shape allows: a memory for each layer, and rotary positions in heads of even width."""
    fitting = dict(choices)
    if shape["n_encoder_layers"] != shape["n_decoder_layers"]:
        del fitting["model.memory"]
    if (shape.get("d_k") or shape["d_model"] // shape["n_heads"]) % 2:
        del fitting["model.positions"]
    return fitting


def _tokens(n_pairs: int, pairs: Iterable[tuple[str, str]], tokenizer: Mapping[str, Any]) -> int:
    """Return about how many tokens an epoch has. A token is about four bytes in all languages, or one character."""
    of_characters = tokenizer.get("kind") == "characters"
    sizes = [
        max(len(text) if of_characters else len(text.encode()) / 4 for text in map(clean, pair))
        for pair in islice(pairs, SAMPLE_PAIRS)
    ]
    return int(n_pairs * (sum(sizes) / max(1, len(sizes)) + 1))


def _share_script(pairs: Iterable[tuple[str, str]]) -> bool:
    """Return True if, letter by letter, at least half of the two sides of a sample is in the same scripts.

    Comparing the letters themselves would fail: two languages of one script may share little more than half of them.
    """
    sample = list(islice(pairs, SAMPLE_PAIRS))
    source, target = (scripts(pair[side] for pair in sample) for side in (0, 1))
    n_source, n_target = source.total(), target.total()
    in_common = sum(min(source[script] * n_target, target[script] * n_source) for script in source)
    return 2 * in_common >= n_source * n_target
