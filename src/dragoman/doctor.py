"""Self-tests for any sequence-to-sequence model: the field's silent bugs, found by what they do to the numbers.

A model with one of these bugs trains, and its loss falls; only its translations are worse, or too good to be true.
Every check compares outputs that must be equal, or that must differ, so it needs no knowledge of the model's inside.
B batch, S source, T target, V target vocabulary.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.errors import ConfigError
from dragoman.model.transformer import Transformer

#: Steps in which most healthy models learn four sentences by heart; a small one needs more, in which its loss falls.
OVERFIT_STEPS, MOST_STEPS = 400, 4000
#: Two outputs are the same when they differ by less than this, relative to the largest logit.
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Finding:
    """One check and how it went."""

    name: str
    passed: bool | None  # None: the check does not apply to this model
    detail: str  # what was seen, in one sentence; after a failure, also what it means


@dataclass(frozen=True)
class Examination:
    """All findings about one model."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return all(finding.passed is not False for finding in self.findings)

    def __str__(self) -> str:
        words = {True: "ok", False: "FAIL", None: "-"}
        return "\n".join(f"{words[each.passed]:<5} {each.name:<16} {each.detail}" for each in self.findings)


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
        trained: also check what only a trained model can show.

    Raises:
        ConfigError: a size or the padding is neither given nor said by the model.
    """
    sides = _sides(model, source_vocab_size, target_vocab_size, pad_id)
    patient = _Patient(model, *sides, seed=seed)
    checks: list[Callable[[_Patient], Finding]] = [*CHECKS, *([_check_next_token] if trained else [])]
    findings = []
    with torch.random.fork_rng():
        for each in checks:
            torch.manual_seed(seed)
            findings.append(each(patient))
    return Examination(findings)


@dataclass(frozen=True)
class _Side:
    """The ids of one side."""

    vocab_size: int
    pad_id: int
    special_ids: frozenset[int]

    @property
    def ids(self) -> list[int]:
        """All ids but padding; without special ones if the vocabulary has more than a few others."""
        without = self.special_ids if self.vocab_size > 8 else {self.pad_id}
        return [id for id in range(self.vocab_size) if id not in without]

    def padded(self, ids: Tensor, n_pads: int) -> Tensor:
        """Return ids (B, T) with padding after each row, (B, T + n_pads)."""
        return F.pad(ids, (0, n_pads), value=self.pad_id)


def _sides(
    model: nn.Module, source_vocab_size: int | None, target_vocab_size: int | None, pad_id: int | None
) -> tuple[_Side, _Side]:
    """Return both sides: as they are given, else as the model says."""
    config, special_ids = getattr(model, "config", None), getattr(model, "special_ids", None)
    pair = (None, None) if special_ids is None else (special_ids.source, special_ids.target)
    sizes = {"source_vocab_size": source_vocab_size, "target_vocab_size": target_vocab_size}
    sides = []
    for (name, given), ids in zip(sizes.items(), pair, strict=True):
        size = _known(name, given, getattr(config, name, None))
        pad = _known("pad_id", pad_id, None if ids is None else ids.pad)
        sides.append(_Side(size, pad, frozenset((0, 1, 2, 3, pad) if ids is None else ids.names)))
    return sides[0], sides[1]


def _known(name: str, given: int | None, of_model: int | None) -> int:
    value = of_model if given is None else given
    if value is None:
        raise ConfigError(f"the model does not say its {name}", advice=f"give check(..., {name}=...)")
    return value


class _Patient:
    """A copy of the model without dropout, and made-up sentences for it."""

    def __init__(self, model: nn.Module, source: _Side, target: _Side, *, seed: int) -> None:
        self.model = copy.deepcopy(model).float().eval()
        self.device = next(self.model.parameters()).device
        self.source_side, self.target_side = source, target
        longest = getattr(getattr(model, "config", None), "max_length", 12)
        self.n_source, self.n_target = min(9, longest), min(7, longest)
        generator = torch.Generator().manual_seed(seed)
        # What a translation starts with does not occur in one: with rotary positions, "a a" cannot be told from "a".
        self.start_id = min({0, 1} - {target.pad_id})
        self.source = self._sentences(self.n_source, source.ids, generator)
        self.target = self._sentences(self.n_target, [id for id in target.ids if id != self.start_id], generator)

    def _sentences(self, length: int, ids: list[int], generator: torch.Generator) -> Tensor:
        """Return random sentences (4, length), none like another."""
        allowed = torch.tensor(ids)
        drawn = torch.randint(len(allowed), (4, length), generator=generator)
        drawn[:, 0] = torch.randperm(max(4, len(allowed)), generator=generator)[:4] % len(allowed)
        return allowed[drawn].to(self.device)

    @torch.no_grad()
    def logits(self, source: Tensor, target: Tensor) -> Tensor:
        """What the model says, in float32."""
        logits: Tensor = self.model(source, target)
        return logits.float()

    def other(self, ids: Tensor, side: _Side) -> Tensor:
        """Return the next id of a side in place of each."""
        allowed = torch.tensor(side.ids, device=ids.device)
        return allowed[(torch.searchsorted(allowed, ids.contiguous()) + 1) % len(allowed)]


def _difference(one: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest logit; infinite where one is not a number."""
    if not (one.isfinite().all() and other.isfinite().all()):
        return float("inf")
    return float((one - other).abs().max() / max(1.0, float(one.abs().max())))


def _same(name: str, difference: float, meaning: str) -> Finding:
    passed = difference < TOLERANCE
    detail = f"largest difference {difference:.1e}"
    return Finding(name, passed, detail if passed else f"{detail}: {meaning}")


def _check_finite(patient: _Patient) -> Finding:
    """Ordinary sentences, the shortest ones, and a row that is padding throughout."""
    source, target = patient.source.clone(), patient.target.clone()
    whole, short = patient.logits(source, target), patient.logits(source[:, :1], target[:, :1])
    source[1], target[1] = patient.source_side.pad_id, patient.target_side.pad_id
    with_padding = patient.logits(source, target)
    bad = [
        what
        for what, logits in (
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


def _check_causality(patient: _Patient) -> Finding:
    """Target tokens after t must not change what is said at t."""
    plain, worst = patient.logits(patient.source, patient.target), 0.0
    for t in range(patient.n_target - 1):
        changed = patient.target.clone()
        changed[:, t + 1 :] = patient.other(changed[:, t + 1 :], patient.target_side)
        logits = patient.logits(patient.source, changed)
        worst = max(worst, _difference(plain[:, : t + 1], logits[:, : t + 1]))
    meaning = "a position sees later target tokens; it learns to copy its answer, and cannot translate without it"
    return _same("causality", worst, meaning)


def _check_last_token(patient: _Patient) -> Finding:
    """What is said at t must depend on the target token read at t."""
    plain = patient.logits(patient.source, patient.target)
    for t in range(patient.n_target):
        changed = patient.target.clone()
        changed[:, t] = patient.other(changed[:, t], patient.target_side)
        if _difference(plain[:, t], patient.logits(patient.source, changed)[:, t]) < TOLERANCE:
            meaning = "the target is shifted once too often; the model writes without knowing its last word"
            return Finding("reads its output", False, f"target token {t} does not matter at position {t}: {meaning}")
    return Finding("reads its output", True, "each position depends on the token just read")


def _check_source(patient: _Patient) -> Finding:
    """Every source token must matter to the translation."""
    plain = patient.logits(patient.source, patient.target)
    for s in range(patient.n_source):
        changed = patient.source.clone()
        changed[:, s] = patient.other(changed[:, s], patient.source_side)
        if _difference(plain, patient.logits(changed, patient.target)) < TOLERANCE / 10:
            meaning = "it is hidden from the decoder; look at the source mask and the cross-attention"
            return Finding("reads its source", False, f"source token {s} does not matter: {meaning}")
    return Finding("reads its source", True, "every source token matters")


def _check_source_padding(patient: _Patient) -> Finding:
    """Padding after the source must not matter."""
    if patient.n_source < 3:
        return Finding("source padding", None, "the model reads too few tokens for it")
    plain = patient.logits(patient.source[:, :-2], patient.target)
    padded = patient.logits(patient.source_side.padded(patient.source[:, :-2], 2), patient.target)
    meaning = "padding is attended to, or the mask hides queries instead of keys; results depend on batch-mates"
    return _same("source padding", _difference(plain, padded), meaning)


def _check_target_padding(patient: _Patient) -> Finding:
    """Padding after the target must not matter before it."""
    if patient.n_target < 3:
        return Finding("target padding", None, "the model writes too few tokens for it")
    plain = patient.logits(patient.source, patient.target[:, :-2])
    padded = patient.logits(patient.source, patient.target_side.padded(patient.target[:, :-2], 2))[:, :-2]
    return _same("target padding", _difference(plain, padded), "target padding is attended to")


def _check_neighbours(patient: _Patient) -> Finding:
    """A sentence alone must fare as it does in a batch, in whatever row."""
    whole = patient.logits(patient.source, patient.target)
    worst = max(
        _difference(whole[row : row + 1], patient.logits(patient.source[row : row + 1], patient.target[row : row + 1]))
        for row in range(len(patient.source))
    )
    meaning = "rows of a batch touch each other; positions or a norm run along the batch axis"
    return _same("neighbours", worst, meaning)


def _check_order(patient: _Patient) -> Finding:
    """Word order must matter, on both sides."""
    if min(patient.n_source, patient.n_target) < 3:
        return Finding("order", None, "the model reads or writes too few tokens for it")
    plain = patient.logits(patient.source, patient.target)
    source, target = patient.source.clone(), patient.target.clone()
    source[:, :2], target[:, :2] = patient.source[:, [1, 0]], patient.target[:, [1, 0]]
    swapped = (
        ("source", _difference(plain, patient.logits(source, patient.target))),
        ("target", _difference(plain[:, 2:], patient.logits(patient.source, target)[:, 2:])),
    )
    blind = [side for side, difference in swapped if difference < TOLERANCE / 10]
    if blind:
        meaning = "positions are missing, or added along the wrong axis"
        return Finding("order", False, f"swapping two {' and '.join(blind)} tokens changes nothing: {meaning}")
    return Finding("order", True, "swapped tokens change the result, on both sides")


def _check_cache(patient: _Patient) -> Finding:
    """Token by token with a cache must give what all tokens at once give."""
    model = patient.model
    if not isinstance(model, Transformer):
        return Finding("cache", None, "not a dragoman.Transformer; its cache is not known")
    with torch.no_grad():
        mask = (patient.source != patient.source_side.pad_id)[:, None, None, :]
        cache = model.start_cache(model.encode(patient.source), mask)
        steps = [model.project(model.step(ids, cache)) for ids in patient.target.split(1, dim=1)]
    difference = _difference(patient.logits(patient.source, patient.target), torch.cat(steps, dim=1))
    return _same("cache", difference, "translation computes something else than training; look at positions and order")


def _check_tying(patient: _Patient) -> Finding:
    """Matrices that are meant to be one must be one tensor, also after saving and loading."""
    tie = getattr(getattr(patient.model, "config", None), "tie", None)
    if tie not in (None, "none") and isinstance(patient.model, Transformer):
        modules = [patient.model.target_embedding.tokens, patient.model.output_projection]
        modules += [patient.model.source_embedding.tokens] if tie == "all" else []
        if len({id(module.weight) for module in modules}) > 1:
            return Finding("tying", False, f"tie is {tie!r}, but the matrices are separate: training moves them apart")
    matrices = [(name, weight) for name, weight in patient.model.named_parameters() if weight.ndim > 1]
    for i, (name, weight) in enumerate(matrices):
        for other_name, other in matrices[:i]:
            if torch.equal(weight, other) and weight.unique().numel() > 1:
                twins = f"{other_name} and {name} hold the same numbers in two tensors"
                return Finding("tying", False, f"{twins}: tied weights came apart, perhaps when they were loaded")
    before = patient.logits(patient.source, patient.target)
    state = {name: weight.clone() for name, weight in patient.model.state_dict().items()}
    patient.model.load_state_dict(state)
    after = patient.logits(patient.source, patient.target)
    return _same("tying", _difference(before, after), "loading the saved weights gives another model")


def _check_overfitting(patient: _Patient) -> Finding:
    """Four pairs must be learned by heart, and then be written without help."""
    model = copy.deepcopy(patient.model)  # stays in eval mode: no dropout
    start = torch.full_like(patient.target[:, :1], patient.start_id)
    read, expected = torch.cat((start, patient.target[:, :-1]), dim=1), patient.target
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss, n_steps, before, right = float("inf"), 0, float("inf"), False
    while not (loss <= 0.05 and right) and n_steps < MOST_STEPS:
        if n_steps % OVERFIT_STEPS == 0:
            if n_steps and not loss < 0.9 * before:  # it has stopped falling
                break
            before = loss
        logits = model(patient.source, read).float()
        right = bool((logits.argmax(dim=-1) == expected).all())  # a loss so small can still be one token's
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
        for _ in range(patient.n_target):
            written = torch.cat((written, model(patient.source, written)[:, -1:].argmax(dim=-1)), dim=1)
    share = float((written[:, 1:] == expected).float().mean())
    if share < 1:
        meaning = "in training it sees what it cannot see in translation"
        return Finding("learns", False, f"loss {loss:.2f}, but it writes {share:.0%} of what it learned: {meaning}")
    return Finding("learns", True, f"four sentences by heart in {n_steps} steps, and written without help")


def _check_next_token(patient: _Patient) -> Finding:
    """A trained model must not repeat the token it just read."""
    guesses = patient.logits(patient.source, patient.target).argmax(dim=-1)
    share = float((guesses == patient.target).float().mean())
    if share > 0.5:
        meaning = "it was trained with targets that were not shifted"
        return Finding("next token", False, f"repeats the token it just read {share:.0%} of the time: {meaning}")
    return Finding("next token", True, f"repeats the token it just read {share:.0%} of the time")


CHECKS: tuple[Callable[[_Patient], Finding], ...] = (
    _check_finite,
    _check_causality,
    _check_last_token,
    _check_source,
    _check_source_padding,
    _check_target_padding,
    _check_neighbours,
    _check_order,
    _check_cache,
    _check_tying,
    _check_overfitting,
)
