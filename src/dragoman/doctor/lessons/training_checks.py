"""Checks of chapter 12: the loss, the learning rate, the loop and the translation; and of the whole file at work.

The functions are given models that note what they are asked, so that each is checked by itself.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from dragoman.doctor.lessons.known_faults import difference, is_equal

_N_WORDS = 9
_PAD, _START, _END = 0, 2, 3


class _Scores(nn.Module):
    """A model that notes what it reads; its scores of the next word depend on the word read, and on nothing else."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(_N_WORDS, _N_WORDS))
        self.scale = scale
        self.read: list[tuple[Tensor, Tensor]] = []
        self.was_training: list[bool] = []

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Return the logits (B, T, V)."""
        self.read.append((source_ids, target_ids))
        self.was_training.append(self.training)
        return self.scale * self.weight[target_ids]

    def encode(self, source_ids: Tensor) -> Tensor:
        """Return the ids as the memory, so that `decode` can note them."""
        return source_ids[..., None].float()

    def decode(self, target_ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return the logits (B, T, V)."""
        return self.forward(memory[..., 0].long(), target_ids)


def mean_loss(file: Any) -> str:
    """Return what is wrong with the loss."""
    source = torch.tensor([[5, 6, 3], [7, 3, 0]])
    target = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])
    model = _Scores()
    loss = file.mean_loss(model, source, target)
    if model.read and torch.equal(model.read[0][0], target[:, : model.read[0][0].size(1)]):
        return "the model gets the target where the source belongs"
    weight = model.weight.detach()
    before, after = target[:, :-1], target[:, 1:]

    def cross_entropy(read: Tensor, expected: Tensor, **options: Any) -> Tensor:
        return F.cross_entropy(weight[read].flatten(0, 1), expected.flatten(), **{"ignore_index": _PAD, **options})

    unshifted = (
        "the target is not shifted: the decoder reads the words that it is asked for "
        '(chapter 17: "The loss goes to zero, but nothing is learned: targets not shifted")'
    )
    surprise = -weight[before].log_softmax(dim=-1).gather(-1, after[..., None]).squeeze(-1)
    is_word = after != _PAD
    total = (surprise * is_word).sum()
    fault = difference(
        loss,
        cross_entropy(before, after),
        {
            unshifted: cross_entropy(target, target),
            f"{unshifted}: both slices are [:, :-1]": cross_entropy(before, before),
            f"{unshifted}: both slices are [:, 1:]": cross_entropy(after, after),
            "the shift is the wrong way round: it reads the later word and is asked for the earlier one": cross_entropy(
                after, before
            ),
            'padding is counted (chapter 17: "Padding is counted in the loss")': cross_entropy(
                before, after, ignore_index=-100
            ),
            "END is left out of the loss, so a model never learns to stop": cross_entropy(
                before, after, ignore_index=_END
            ),
            "the losses are summed up, and their mean should be taken": total,
            "the sum is divided by all positions, and should be divided by the words that are no padding": (
                total / after.numel()
            ),
            "the sum is divided by the number of sentences": total / len(after),
            "the mean is one of the sentences' means, and should be one of all words "
            '(chapter 17: "The loss changes with gradient accumulation")': (
                (surprise * is_word).sum(dim=1) / is_word.sum(dim=1)
            ).mean(),
            "there is a softmax before the cross_entropy, which takes it itself": F.cross_entropy(
                weight[before].softmax(-1).flatten(0, 1), after.flatten(), ignore_index=_PAD
            ),
            "this is the perplexity, the exponential of the loss": cross_entropy(before, after).exp(),
            "the sign is wrong: the loss is minus the logarithm": -cross_entropy(before, after),
            "the losses of the words are not put together": surprise,
        },
    )
    if not fault and not loss.requires_grad:
        return "the loss has no gradient: is there a detach, an item() or a no_grad?"
    return fault


def learning_rate(file: Any) -> str:
    """Return what is wrong with the learning rate of the steps."""
    n_steps, highest, n_warmup = 100, 0.3, 20
    yours = torch.tensor(
        [float(file.learning_rate(step, n_steps, highest, n_warmup)) for step in range(1, n_steps + 1)]
    )

    def curve(down: Callable[[float], float], up: Callable[[int], float] = lambda step: step / n_warmup) -> Tensor:
        """Return a curve that rises, and then falls by a function of the share of the fall that is done."""
        rest = n_steps - n_warmup
        steps = range(1, n_steps + 1)
        shares = [up(step) if step < n_warmup else down((step - n_warmup) / rest) for step in steps]
        return highest * torch.tensor(shares)

    def cosine(share: float) -> float:
        return (1 + math.cos(math.pi * share)) / 2

    return difference(
        yours,
        curve(cosine),
        {
            "there is no warm-up: the first steps have the highest rate": curve(cosine, lambda step: 1.0),
            "there is no warm-up: the cosine begins at the first step": highest
            * torch.tensor([cosine(step / n_steps) for step in range(1, n_steps + 1)]),
            "`highest` is not used": curve(cosine) / highest,
            "`highest` is not used in the warm-up": curve(cosine, lambda step: step / n_warmup / highest),
            "`highest` is not used after the warm-up": curve(lambda share: cosine(share) / highest),
            "the cosine begins in its middle: subtract n_warmup from the step": curve(
                lambda share: cosine(share + n_warmup / (n_steps - n_warmup))
            ),
            "π is missing in the cosine, so the rate does not fall to zero": curve(lambda x: (1 + math.cos(x)) / 2),
            "the rate stays at its highest after the warm-up, and should fall to zero": curve(lambda share: 1.0),
            "the rate jumps to twice the highest after the warm-up: a half is missing": curve(lambda x: 2 * cosine(x)),
            "the rate falls in a straight line, and should fall along a cosine": curve(lambda share: 1 - share),
            "the cosine begins at step 0: subtract n_warmup from the step and from n_steps": curve(
                lambda share: cosine((share * (n_steps - n_warmup) + n_warmup) / n_steps)
            ),
            "the cosine is too long: divide by n_steps - n_warmup, and not by n_steps": curve(
                lambda share: cosine(share * (n_steps - n_warmup) / n_steps)
            ),
            "the rate goes below zero: the 1 before the cosine is missing": curve(lambda x: math.cos(math.pi * x) / 2),
            "the rate rises again: the cosine goes round once, and should go half round": curve(
                lambda share: cosine(2 * share)
            ),
            "the cosine is the wrong way round: the rate falls to zero at once and then rises": curve(
                lambda share: (1 - math.cos(math.pi * share)) / 2
            ),
            "the warm-up is divided by n_steps, not by n_warmup": curve(cosine, lambda step: step / n_steps),
        },
    )


class _Steps:
    """The steps of `train`: learning rates, gradients before each step, and the raw ones."""

    def __init__(self, file: Any, model: _Scores, n_steps: int, n_rows: int) -> None:
        self.rates: list[float] = []
        self.applied: list[Tensor | None] = []
        self.raw: list[Tensor] = []
        self.optimizers: list[Any] = []
        self.pairs = [([id, _END], [_START, id, _END]) for id in range(4, _N_WORDS)]
        model.eval()  # as `translate` leaves it
        listener = model.weight.register_hook(lambda gradient: self.raw.append(gradient.clone()))
        handle = register_optimizer_step_pre_hook(self._note)
        self.weight = model.weight
        try:
            self.losses = list(file.train(model, self.pairs, n_steps, n_rows))
        finally:
            handle.remove()
            listener.remove()

    def _note(self, optimizer: Any, *_: Any) -> None:
        self.optimizers.append(optimizer)
        self.rates.append(float(optimizer.param_groups[0]["lr"]))
        self.applied.append(None if self.weight.grad is None else self.weight.grad.clone())


def _clipped(gradient: Tensor) -> Tensor:
    length: float = gradient.norm().item()
    return gradient / max(1.0, length)


def train(file: Any) -> str:
    """Return what is wrong with the steps of the optimizer."""
    model, n_steps = _Scores(scale=20.0), 6
    before = model.weight.detach().clone()
    steps = _Steps(file, model, n_steps, 3)
    if not steps.optimizers:
        return "the optimizer never steps, so nothing is learned"
    if len(steps.optimizers) != n_steps:
        return f"for {n_steps} steps the optimizer steps {len(steps.optimizers)} times"
    if len({id(each) for each in steps.optimizers}) > 1:
        return "each step makes an optimizer of its own: Adam forgets its means"
    if any(each is None for each in steps.applied) or len(steps.raw) < n_steps:
        return "the optimizer steps without a gradient: the order is zero_grad, backward, clip, step"
    if torch.equal(before, model.weight):
        return "the weights do not change"
    left = torch.zeros_like(before)
    for raw, applied in zip(steps.raw, steps.applied, strict=True):
        assert applied is not None
        fault = difference(
            applied,
            _clipped(raw),
            {
                "the gradients are not clipped before the step (clip_grad_norm_ stands between backward and step)": raw,
                "the gradients of the steps before are still there: zero_grad is missing": _clipped(left + raw),
                "the gradients of the steps before are still there, and are not clipped": left + raw,
                "each number of the gradient is clipped by itself, and their common length should be": raw.clamp(-1, 1),
            },
        )
        length = applied.norm().item()
        if fault.startswith("the numbers differ") and is_equal(applied, raw * (length / raw.norm().item())):
            return f"the gradient is shortened to a length of {length:.2g}, and should be to 1"
        if fault:
            return fault
        left = applied
    return ""


def train_rates(file: Any) -> str:
    """Return what is wrong with the learning rates that the steps take."""
    n_steps = 60
    rates = torch.tensor(_Steps(file, _Scores(), n_steps, 3).rates)
    planned = [
        torch.tensor([file.learning_rate(step + late, n_steps) for step in range(1, n_steps + 1)]) for late in (0, -1)
    ]
    if any(torch.allclose(rates, each, rtol=1e-3, atol=1e-7) for each in planned):
        return ""
    if rates.min() == rates.max():
        return f"every step has the rate {rates[0]:.3g}: learning_rate is not put into the optimizer"
    return "the steps have other rates than learning_rate(step, n_steps) gives"


def train_batches(file: Any) -> str:
    """Return what is wrong with the batches that the loop draws, and with what it yields."""
    model = _Scores()
    random.seed(1)
    steps = _Steps(file, model, 6, 3)
    if len(steps.losses) != 6:
        return f"for 6 steps it yields {len(steps.losses)} losses"
    if isinstance(steps.losses[0], Tensor) and steps.losses[0].requires_grad:
        return "it yields tensors, which keep every step's graph in RAM: yield loss.item()"
    if not all(model.was_training):
        return "the model is in eval mode, in which it was left by translate: call model.train() in each step"
    for source, target in model.read:
        if source.size(1) == target.size(1) + 1 or torch.equal(source[:, 0], torch.full_like(source[:, 0], _START)):
            return "source and target have changed places"
        if not (target == source[:, :1]).any(dim=1).all():
            return (
                "a source and its target are not in the same row "
                '(chapter 17: "Source and target are no longer in step")'
            )
        if len(source) != 3:
            return f"a batch of n_rows=3 has {len(source)} rows"
    if all(torch.equal(source, model.read[0][0]) for source, _ in model.read):
        return "every step has the same batch: draw other pairs for each"
    return ""


class _Words:
    """A vocabulary of words that name their side; it notes the ids which it should make a text of."""

    def __init__(self, side: str) -> None:
        self.words = ["<pad>", "<unk>", "<sos>", "<eos>", *(f"{side}{id}" for id in range(4, _N_WORDS))]
        self.id_of = {word: id for id, word in enumerate(self.words)}
        self.asked: list[int] = []

    def split(self, sentence: str) -> list[str]:
        """Cut a sentence into words."""
        return sentence.split()

    def ids(self, sentence: str) -> list[int]:
        """Return the ids of the words of a sentence, and that of its end."""
        return [*(self.id_of.get(word, 1) for word in self.split(sentence)), _END]

    def text(self, ids: Sequence[int]) -> str:
        """Note the ids, and return their words."""
        self.asked = [int(id) for id in ids]
        return " ".join(self.words[id] for id in self.asked if id not in (_PAD, _START, _END))


class _TooLongError(Exception):
    """The translation goes on and on."""


class _Writer(nn.Module):
    """A model that writes a given text, word by word, and notes what it is asked."""

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.script = script
        self.memory = torch.randn(1, 3, 4)
        self.sources: list[Tensor] = []
        self.targets: list[list[list[int]]] = []
        self.memories: list[Tensor] = []
        self.masks: list[Any] = []
        self.was_training = self.had_gradients = False

    def encode(self, source_ids: Tensor) -> Tensor:
        """Return the memory."""
        self.sources.append(source_ids)
        self.was_training |= self.training
        return self.memory * self.weight

    def decode(self, target_ids: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        """Return logits (1, T, V): at each position, those of the next word of the script."""
        self.targets.append(target_ids.tolist())
        self.memories.append(memory)
        self.masks.append(source_mask)
        self.was_training |= self.training
        self.had_gradients |= torch.is_grad_enabled()
        if len(self.targets) > 40:
            raise _TooLongError
        words = torch.tensor([self.script[min(t, len(self.script) - 1)] for t in range(target_ids.size(1))])
        return (F.one_hot(words, _N_WORDS).float() * self.weight)[None]

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Return logits (1, T, V)."""
        return self.decode(target_ids, self.encode(source_ids), (source_ids != _PAD)[:, None, None, :])


def translate(file: Any) -> str:
    """Return what is wrong with greedy translation."""
    model, source, target = _Writer([5, 7, 6, 8, _END]).train(), _Words("source"), _Words("target")
    try:
        text = file.translate(model, source, target, "source5 source6", 30)
    except _TooLongError:
        text = None
    if not model.targets:
        return "the decoder is never asked"
    if model.targets[0] != [[_START]]:
        return f"the decoder first reads {model.targets[0]}, and should read START alone"
    if len(model.targets) > 1 and model.targets[1] != [[_START, 5]]:
        if len(model.targets[1][0]) == 1:
            return "the decoder reads its last word only, and should read all that it has written"
        return f"after writing [5], the decoder reads {model.targets[1]}, and should read {[[_START, 5]]}"
    if len(model.targets) > 2 and model.targets[2] == [[_START, 5, 5]]:
        return "the word at the first position is written again and again: take the last one, logits[0, -1]"
    if text is None or len(model.targets) > 5:
        return "it does not stop when END is written"
    if not isinstance(text, str):
        return "what comes back is not the text of the words written"
    if source.asked or set(text.split()) & set(source.words[4:]):
        return "the source's vocabulary makes the text, and the target's should"
    if {"<sos>", "<eos>"} & set(text.split()):
        return f"the text is `{text}`, and should be without <sos> and <eos>"
    written = [target.id_of.get(word, 1) for word in text.split()]
    if written == [5, 7, 6] and _END not in target.asked:
        return 'the last word is lost (chapter 17: "The last word is missing: output cut by `[1:-1]`")'
    right = "target5 target7 target6 target8"
    return "" if text == right else f"the most probable words are `{right}`, and `{text}` comes back"


def translate_longest(file: Any) -> str:
    """Return what is wrong with a translation that has no end."""
    model = _Writer([5, 7, 6, 8, 5, 7, 6, 8])
    endless = "a translation without END never stops: `longest` is not used"
    try:
        text = file.translate(model, _Words("source"), _Words("target"), "source5 source6", 6)
    except _TooLongError:
        return endless
    n_written = len(text.split())
    if len(model.targets) > 7:
        return endless
    if n_written < len(model.targets):
        return 'the last word is lost (chapter 17: "The last word is missing: output cut by `[1:-1]`")'
    return "" if n_written >= 4 else f"with `longest` of 6, only {n_written} words are written"


def translate_mode(file: Any) -> str:
    """Return what is wrong with the mode of the model, its memory and its mask."""
    model = _Writer([5, _END]).train()
    file.translate(model, _Words("source"), _Words("target"), "source5 source6", 30)
    if model.was_training:
        return 'dropout stays on: call model.eval() first (chapter 17: "Another output each time")'
    if model.had_gradients:
        return "gradients are kept for nothing: use @torch.no_grad()"
    if model.sources[0].tolist() != [[5, 6, _END]]:
        return f"the encoder reads {model.sources[0].tolist()}, and should read the ids of the sentence"
    if not is_equal(model.memories[0], model.memory):
        return "the decoder does not get the memory that the encoder gave"
    fault = difference(model.masks[0], file.padding_mask(model.sources[0]))
    return f"the decoder's source mask is not padding_mask(source_ids): {fault}" if fault else ""


def learns(file: Any) -> str:
    """Return what is wrong if the reader's model does not learn nine sentences by heart and translate them."""
    nouns = {"dog": "der Hund", "cat": "die Katze", "child": "das Kind"}
    verbs = {"sleeps": "schläft", "eats": "isst", "sings": "singt"}
    sentences = {f"the {noun} {verb}": f"{nouns[noun]} {verbs[verb]}" for noun in nouns for verb in verbs}
    source, target = file.Vocabulary(sentences), file.Vocabulary(sentences.values())
    pairs = [(source.ids(one), [file.START, *target.ids(other)]) for one, other in sentences.items()]
    model = file.Transformer(len(source.words), len(target.words), 64, 128, 4, 1, 0.0)
    losses = list(file.train(model, pairs, 60, 9))
    right = sum(file.translate(model, source, target, one) == other for one, other in sentences.items())
    if not losses[-1] < 0.2:
        return f"after 60 steps on nine sentences the loss is {losses[-1]:.2f}, and should be near 0"
    return "" if right == 9 else f"the loss is {losses[-1]:.2f}, but only {right} of the nine sentences come out right"
