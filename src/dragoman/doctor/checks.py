"""Checks of a model, what they find, and the examination by all of them.

A check compares outputs that must be equal, or that must differ.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.doctor.model_under_test import ModelUnderTest, both_sides
from dragoman.model.transformer import Transformer


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    name: str
    passed: bool | None  # None: the check does not apply to this model
    detail: str  # the observation, in one sentence; after a failure, also its meaning


@dataclass(frozen=True)
class Examination:
    """All findings about one model."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True if no check failed."""
        return all(finding.passed is not False for finding in self.findings)

    def __str__(self) -> str:
        words = {True: "ok", False: "FAIL", None: "-"}
        return "\n".join(f"{words[finding.passed]:<5} {finding.name:<16} {finding.detail}" for finding in self.findings)


#: Most sound models learn four sentences by heart in the first number of steps. A small one, whose loss still falls,
#: gets more, up to the second.
OVERFIT_STEPS, MOST_STEPS = 400, 4000
#: Two outputs are equal if they differ by less than this, relative to the largest logit.
TOLERANCE = 1e-4


def _difference(one: Tensor, other: Tensor) -> float:
    """Return the largest difference relative to the largest logit, or infinity if a logit is not finite."""
    if not (one.isfinite().all() and other.isfinite().all()):
        return float("inf")
    return float((one - other).abs().max() / max(1.0, float(one.abs().max())))


def _require_equal(name: str, difference: float, meaning: str) -> Finding:
    passed = difference < TOLERANCE
    detail = f"largest difference {difference:.1e}"
    return Finding(name, passed, detail if passed else f"{detail}: {meaning}")


def check_finite(subject: ModelUnderTest) -> Finding:
    """Demand finite logits for ordinary sentences, the shortest ones, and a row that is only padding."""
    source, target = subject.source.clone(), subject.target.clone()
    whole, short = subject.logits(source, target), subject.logits(source[:, :1], target[:, :1])
    source[1], target[1] = subject.source_side.pad_id, subject.target_side.pad_id
    with_padding = subject.logits(source, target)
    bad = [
        name
        for name, logits in (
            ("ordinary sentences", whole),
            ("sentences of one token", short),
            ("a row of padding", with_padding),
        )
        if not logits.isfinite().all()
    ]
    if bad:
        meaning = "one such row makes the gradient of its whole batch NaN; mask with a finite number, not -inf"
        return Finding("finite", False, f"NaN or infinity for {' and '.join(bad)}: {meaning}")
    return Finding("finite", True, "no NaN or infinity, not for a row of padding either")


def check_causality(subject: ModelUnderTest) -> Finding:
    """Demand that target tokens after t do not change the logits at t."""
    plain, worst = subject.logits(subject.source, subject.target), 0.0
    for t in range(subject.n_target - 1):
        changed = subject.target.clone()
        changed[:, t + 1 :] = subject.other(changed[:, t + 1 :], subject.target_side)
        logits = subject.logits(subject.source, changed)
        worst = max(worst, _difference(plain[:, : t + 1], logits[:, : t + 1]))
    meaning = "a position sees later target tokens; it learns to copy its answer, and cannot translate without it"
    return _require_equal("causality", worst, meaning)


def check_last_token(subject: ModelUnderTest) -> Finding:
    """Demand that the logits at t depend on the target token read at t."""
    plain = subject.logits(subject.source, subject.target)
    for t in range(subject.n_target):
        changed = subject.target.clone()
        changed[:, t] = subject.other(changed[:, t], subject.target_side)
        if _difference(plain[:, t], subject.logits(subject.source, changed)[:, t]) < TOLERANCE:
            meaning = "the target is shifted once too often; the model writes without knowing its last word"
            return Finding("reads its output", False, f"target token {t} does not matter at position {t}: {meaning}")
    return Finding("reads its output", True, "each position depends on the token just read")


def check_source(subject: ModelUnderTest) -> Finding:
    """Demand that every source token changes the logits."""
    plain = subject.logits(subject.source, subject.target)
    for s in range(subject.n_source):
        changed = subject.source.clone()
        changed[:, s] = subject.other(changed[:, s], subject.source_side)
        if _difference(plain, subject.logits(changed, subject.target)) < TOLERANCE / 10:
            meaning = "it is hidden from the decoder; look at the source mask and the cross-attention"
            return Finding("reads its source", False, f"source token {s} does not matter: {meaning}")
    return Finding("reads its source", True, "every source token matters")


def check_source_padding(subject: ModelUnderTest) -> Finding:
    """Demand that padding after the source changes nothing."""
    if subject.n_source < 3:
        return Finding("source padding", None, "the model reads too few tokens for it")
    plain = subject.logits(subject.source[:, :-2], subject.target)
    padded = subject.logits(subject.source_side.padded(subject.source[:, :-2], 2), subject.target)
    meaning = "padding is attended to, or the mask hides queries instead of keys; results depend on batch-mates"
    return _require_equal("source padding", _difference(plain, padded), meaning)


def check_target_padding(subject: ModelUnderTest) -> Finding:
    """Demand that padding after the target changes nothing before it."""
    if subject.n_target < 3:
        return Finding("target padding", None, "the model writes too few tokens for it")
    plain = subject.logits(subject.source, subject.target[:, :-2])
    padded = subject.logits(subject.source, subject.target_side.padded(subject.target[:, :-2], 2))[:, :-2]
    return _require_equal("target padding", _difference(plain, padded), "target padding is attended to")


def check_neighbours(subject: ModelUnderTest) -> Finding:
    """Demand that a sentence alone has the same logits as in any row of a batch."""
    whole = subject.logits(subject.source, subject.target)
    worst = max(
        _difference(whole[row : row + 1], subject.logits(subject.source[row : row + 1], subject.target[row : row + 1]))
        for row in range(len(subject.source))
    )
    meaning = "rows of a batch touch each other; positions or a norm run along the batch axis"
    return _require_equal("neighbours", worst, meaning)


def check_order(subject: ModelUnderTest) -> Finding:
    """Demand that word order changes the logits, on both sides."""
    if min(subject.n_source, subject.n_target) < 3:
        return Finding("order", None, "the model reads or writes too few tokens for it")
    plain = subject.logits(subject.source, subject.target)
    source, target = subject.source.clone(), subject.target.clone()
    source[:, :2], target[:, :2] = subject.source[:, [1, 0]], subject.target[:, [1, 0]]
    swapped = (
        ("source", _difference(plain, subject.logits(source, subject.target))),
        ("target", _difference(plain[:, 2:], subject.logits(subject.source, target)[:, 2:])),
    )
    blind = [side for side, difference in swapped if difference < TOLERANCE / 10]
    if blind:
        meaning = "positions are missing, or added along the wrong axis"
        return Finding("order", False, f"swapping two {' and '.join(blind)} tokens changes nothing: {meaning}")
    return Finding("order", True, "swapped tokens change the result, on both sides")


def check_cache(subject: ModelUnderTest) -> Finding:
    """Demand the same logits token by token with a cache as for all tokens at once."""
    model = subject.model
    if not isinstance(model, Transformer):
        return Finding("cache", None, "not a dragoman.Transformer; its cache is not known")
    with torch.no_grad():
        mask = (subject.source != subject.source_side.pad_id)[:, None, None, :]
        cache = model.start_cache(model.encode(subject.source), mask)
        steps = [model.project(model.step(ids, cache)) for ids in subject.target.split(1, dim=1)]
    difference = _difference(subject.logits(subject.source, subject.target), torch.cat(steps, dim=1))
    return _require_equal(
        "cache", difference, "translation computes something else than training; look at positions and order"
    )


def check_tying(subject: ModelUnderTest) -> Finding:
    """Demand that tied matrices are one tensor, also after saving and loading."""
    tie = getattr(getattr(subject.model, "config", None), "tie", None)
    if tie not in (None, "none") and isinstance(subject.model, Transformer):
        modules = [subject.model.target_embedding.tokens, subject.model.output_projection]
        modules += [subject.model.source_embedding.tokens] if tie == "all" else []
        if len({id(module.weight) for module in modules}) > 1:
            return Finding("tying", False, f"tie is {tie!r}, but the matrices are separate: training moves them apart")
    matrices = [(name, weight) for name, weight in subject.model.named_parameters() if weight.ndim > 1]
    for i, (name, weight) in enumerate(matrices):
        for other_name, other in matrices[:i]:
            if torch.equal(weight, other) and weight.unique().numel() > 1:
                twins = f"{other_name} and {name} hold the same numbers in two tensors"
                return Finding("tying", False, f"{twins}: tied weights came apart, perhaps when they were loaded")
    before = subject.logits(subject.source, subject.target)
    state = {name: weight.clone() for name, weight in subject.model.state_dict().items()}
    subject.model.load_state_dict(state)
    after = subject.logits(subject.source, subject.target)
    return _require_equal("tying", _difference(before, after), "loading the saved weights gives another model")


def check_overfitting(subject: ModelUnderTest) -> Finding:
    """Demand that the model learns four pairs by heart, and then writes them without help."""
    model = copy.deepcopy(subject.model)  # stays in eval mode: no dropout
    start = torch.full_like(subject.target[:, :1], subject.start_id)
    read, expected = torch.cat((start, subject.target[:, :-1]), dim=1), subject.target
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss, n_steps, before, right = float("inf"), 0, float("inf"), False
    while not (loss <= 0.05 and right) and n_steps < MOST_STEPS:
        if n_steps % OVERFIT_STEPS == 0:
            if n_steps and not loss < 0.9 * before:  # it has stopped falling
                break
            before = loss
        logits = model(subject.source, read).float()
        right = bool((logits.argmax(dim=-1) == expected).all())  # one token can still cause such a small loss
        value = F.cross_entropy(logits.flatten(0, 1), expected.flatten())
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        loss, n_steps = value.item(), n_steps + 1
    if not loss < 0.1:
        meaning = "gradients do not reach the weights, or the output does not depend on the input"
        return Finding("learns", False, f"loss {loss:.2f} after {n_steps} steps on four sentences: {meaning}")
    written = start
    with torch.no_grad():
        for _ in range(subject.n_target):
            written = torch.cat((written, model(subject.source, written)[:, -1:].argmax(dim=-1)), dim=1)
    share = float((written[:, 1:] == expected).float().mean())
    if share < 1:
        meaning = "in training it sees what it cannot see in translation"
        return Finding("learns", False, f"loss {loss:.2f}, but it writes {share:.0%} of what it learned: {meaning}")
    return Finding("learns", True, f"learned four sentences by heart in {n_steps} steps and reproduced them")


def check_next_token(subject: ModelUnderTest) -> Finding:
    """Demand that a trained model does not repeat the token that it just read."""
    guesses = subject.logits(subject.source, subject.target).argmax(dim=-1)
    share = float((guesses == subject.target).float().mean())
    if share > 0.5:
        meaning = "it was trained with targets that were not shifted"
        return Finding("next token", False, f"repeats the token it just read {share:.0%} of the time: {meaning}")
    return Finding("next token", True, f"repeats the token it just read {share:.0%} of the time")


CHECKS: tuple[Callable[[ModelUnderTest], Finding], ...] = (
    check_finite,
    check_causality,
    check_last_token,
    check_source,
    check_source_padding,
    check_target_padding,
    check_neighbours,
    check_order,
    check_cache,
    check_tying,
    check_overfitting,
)


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
