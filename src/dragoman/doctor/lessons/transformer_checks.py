"""Checks of chapters 10 and 11: the layers, and the whole model.

B sentences, S source positions, T target positions, D model width, V words of a vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from dragoman.doctor import checks
from dragoman.doctor.lessons.known_faults import difference, is_equal, unused_weights
from dragoman.doctor.lessons.listening import Call, listening
from dragoman.doctor.model_under_test import ModelUnderTest, both_sides

_D, _INNER, _HEADS = 16, 24, 4
_SOURCE_WORDS, _TARGET_WORDS = 13, 17
#: The mask of an attention, and the memory (B, S, D) that it reads; None if it reads its own queries.
Attended = tuple[Tensor, Tensor | None]
_ATTENTIONS = {"self": "self-attention", "cross": "cross-attention"}


def _norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (x.size(-1),))


def _is_same_mask(yours: Any, right: Tensor) -> bool:
    """Return True if two masks hide the same, whatever axes of length 1 stand in front."""
    if not isinstance(yours, Tensor):
        return False
    try:
        shapes = torch.broadcast_shapes(yours.shape, right.shape)
    except RuntimeError:
        return False
    return torch.equal(yours.expand(shapes).bool(), right.expand(shapes))


def _inputs() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return x (B, T, D), a memory (B, S, D), and the masks of both; S equals T, so that mistakes compute."""
    target_mask = torch.ones(5, 5, dtype=torch.bool).tril()[None, None].repeat(2, 1, 1, 1)
    target_mask[1, ..., 2] = False
    source_mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, None, :]
    return 1 + 2 * torch.randn(2, 5, _D), torch.randn(2, 5, _D), target_mask, source_mask


def encoder_layer(file: Any) -> str:
    """Return what is wrong with the way through an encoder layer."""
    x, _, mask, _ = _inputs()
    layer = file.EncoderLayer(_D, _INNER, _HEADS, 0.5).eval()
    with listening(layer, file.MultiHeadAttention, file.FeedForward) as calls:
        result = layer(x, mask)
    return _layer_fault(file, calls, x, result, {"self": (mask, None), "feed-forward": None})


def decoder_layer(file: Any) -> str:
    """Return what is wrong with the way through a decoder layer."""
    x, memory, target_mask, source_mask = _inputs()
    layer = file.DecoderLayer(_D, _INNER, _HEADS, 0.5).eval()
    with listening(layer, file.MultiHeadAttention, file.FeedForward) as calls:
        result = layer(x, memory, target_mask, source_mask)
    steps = {"self": (target_mask, None), "cross": (source_mask, memory), "feed-forward": None}
    return _layer_fault(file, calls, x, result, steps)


def _layer_fault(
    file: Any, calls: Sequence[Call], x: Tensor, result: Tensor, steps: Mapping[str, Attended | None]
) -> str:
    """Return what is wrong with a layer, in which each step should read a norm of the sum and add its result.

    Args:
        x: (B, T, D), what the layer reads.
        result: (B, T, D), what it gives.
        steps: the right steps in order; of an attention, its mask and the memory (B, S, D), None in self-attention.
    """
    attended = {step: each for step, each in steps.items() if each}
    masks = {step: mask for step, (mask, _) in attended.items()}
    memory = next((memory for _, memory in attended.values() if memory is not None), None)
    kinds = [isinstance(call.part, file.FeedForward) for call in calls]
    if kinds != [step == "feed-forward" for step in steps]:
        called = ", ".join("feed-forward" if is_last else "attention" for is_last in kinds) or "nothing"
        wanted = ", ".join("feed-forward" if step == "feed-forward" else "attention" for step in steps)
        return f"the parts are called in the order: {called}; the right order is: {wanted}"
    if len({id(call.part) for call in calls}) < len(calls):
        return "self-attention and cross-attention are one module, and should have weights of their own"
    start = x
    for step, call in zip(steps, calls, strict=True):
        name = _ATTENTIONS.get(step, "the feed-forward layer")
        if fault := _reading(name, call.inputs[0], x, start, memory):
            return fault
        if step in attended and (fault := _keys_and_mask(name, call, attended[step][1], masks, step)):
            return fault
        x = x + call.output
    without = {
        f"{_ATTENTIONS.get(step, step)} is not added to x": x - call.output
        for step, call in zip(steps, calls, strict=True)
    }
    return difference(
        result,
        x,
        {**without, "the layer ends with a norm: that belongs after the last layer": _norm(x), "x comes back": start},
    )


def _reading(name: str, read: Tensor, x: Tensor, start: Tensor, memory: Tensor | None) -> str:
    """Return what is wrong with what a part reads: it should be the norm of x."""
    faults = {
        f"{name} reads x itself, and should read its norm: the norm is missing, or stands behind (post-norm)": x,
        f"{name} reads what the layer began with, and should read the sum so far": _norm(start),
    }
    if memory is not None:
        faults[f"{name} takes its queries from the memory, and should take them from x"] = memory
    fault = difference(read, _norm(x), faults)
    return fault if fault in faults or not fault else f"what {name} reads: {fault}"


def _keys_and_mask(name: str, call: Call, memory: Tensor | None, masks: dict[str, Tensor], step: str) -> str:
    """Return what is wrong with the keys, the values and the mask of an attention."""
    if len(call.inputs) < 4:
        return f"{name} gets {len(call.inputs)} arguments, and should get queries, keys, values and a mask"
    queries, keys, values, mask = call.inputs[:4]
    source = queries if memory is None else memory
    for kind, given in (("keys", keys), ("values", values)):
        faults = {f"{name} makes its {kind} of x, and should make them of the memory": queries}
        if memory is not None:
            faults[f"{name} gets a norm of the memory: the encoder has normed it already"] = _norm(memory)
        if fault := difference(given, source, faults):
            return fault if fault in faults else f"the {kind} of {name}: {fault}"
    if not _is_same_mask(mask, masks[step]):
        others = [other for key, other in masks.items() if key != step]
        if any(_is_same_mask(mask, other) for other in others):
            return f"{name} gets the mask of the other attention: source and target mask have changed places"
        if isinstance(mask, Tensor) and mask.dtype == torch.bool and mask.all():
            return f"{name} gets a mask that hides nothing"
        if _is_same_mask(mask, ~masks[step]):
            return f"{name} gets the mask the wrong way round"
        return f"{name} gets another mask than the layer was given"
    return ""


def layer_norms(file: Any) -> str:
    """Return what is wrong if a layer does not have one norm for each of its parts."""
    for kind, n_parts in (("EncoderLayer", 2), ("DecoderLayer", 3)):
        layer = getattr(file, kind)(_D, _INNER, _HEADS, 0.0)
        found = [part for part in layer.modules() if isinstance(part, file.LayerNorm | nn.LayerNorm)]
        if len(found) != n_parts:
            return f"{kind} has {len(found)} norms for its {n_parts} parts: each needs one of its own"
    return ""


def layer_weights(file: Any) -> str:
    """Return which weights of the layers learn nothing."""
    x, memory, target_mask, source_mask = _inputs()
    encoder = file.EncoderLayer(_D, _INNER, _HEADS, 0.0)
    decoder = file.DecoderLayer(_D, _INNER, _HEADS, 0.0)
    return unused_weights(encoder, encoder(x, target_mask)) or unused_weights(
        decoder, decoder(x, memory, target_mask, source_mask)
    )


_SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
_TARGET = torch.tensor([[2, 9, 5, 6, 8], [2, 7, 4, 0, 0]])


def _model(file: Any, n_layers: int = 2, dropout: float = 0.0) -> Any:
    """Return a model of the reader's, in eval mode."""
    model = file.Transformer(_SOURCE_WORDS, _TARGET_WORDS, _D, _INNER, _HEADS, n_layers, dropout)
    return model.eval()


def _calls(file: Any, model: nn.Module) -> tuple[list[Call], list[Call], Tensor]:
    """Return the calls of the encoder's and the decoder's layers for a batch, and the logits."""
    with listening(model, file.EncoderLayer) as encoder, listening(model, file.DecoderLayer) as decoder:
        logits = model(_SOURCE, _TARGET)
    return encoder, decoder, logits


def _tables(model: nn.Module, n_words: int) -> list[Tensor]:
    """Return the embeddings and output matrices of a vocabulary, each once."""
    return [weight.detach() for weight in model.parameters() if weight.shape == (n_words, _D)]


def shapes(file: Any) -> str:
    """Return what is wrong with the shapes of memory and logits."""
    model, target = _model(file), _TARGET[:, :4]
    memory, logits = model.encode(_SOURCE), model(_SOURCE, target)
    for name, tensor, right in (("memory", memory, (2, 5, _D)), ("logits", logits, (2, 4, _TARGET_WORDS))):
        if tuple(tensor.shape) != right:
            return f"the shape of the {name} is {tuple(tensor.shape)}, and should be {right}"
    if not is_equal(model.decode(target, memory, (_SOURCE != 0)[:, None, None, :]), logits):
        return "forward does not give what encode and then decode give"
    return ""


def tied(file: Any) -> str:
    """Return what is wrong with the matrices of the vocabularies."""
    model = _model(file)
    found = len(_tables(model, _TARGET_WORDS))
    if len(_tables(model, _SOURCE_WORDS)) != 1:
        return "the source embedding should have one row for each source word, and be the only matrix of that size"
    if found == 2:
        return "the output projection has a matrix of its own: tie it, so that one matrix reads and writes"
    return "" if found == 1 else f"{found} matrices have a row for each target word, and one should"


def inputs_of_stacks(file: Any) -> str:
    """Return what is wrong with what the first layers read."""
    model = _model(file)
    encoder, decoder, _ = _calls(file, model)
    if fault := _layers_are_there(encoder, decoder):
        return fault
    sides = (("encoder", encoder, _SOURCE, _SOURCE_WORDS), ("decoder", decoder, _TARGET, _TARGET_WORDS))
    for side, calls, ids, n_words in sides:
        tables = _tables(model, n_words)
        if not tables:
            return f"no embedding has a row for each word of the {side}'s side"
        embedded = math.sqrt(_D) * tables[0][ids]
        rows = file.sinusoidal_table(20, _D)
        fault = difference(
            calls[0].inputs[0],
            embedded + rows[: ids.size(1)],
            {
                f"the positions are not added in the {side}: it is blind to order": embedded,
                f"the positions are added twice in the {side}": embedded + 2 * rows[: ids.size(1)],
                f"the {side}'s embeddings are not multiplied by the root of D": tables[0][ids] + rows[: ids.size(1)],
                f"the {side}'s embeddings are multiplied by the root of D twice": (
                    math.sqrt(_D) * embedded + rows[: ids.size(1)]
                ),
                f"the {side}'s positions are multiplied by the root of D, too": (
                    math.sqrt(_D) * (tables[0][ids] + rows[: ids.size(1)])
                ),
                f"the {side} reads its target shifted: the shift is the loss's, in chapter 12": (
                    embedded.roll(1, dims=1) + rows[: ids.size(1)]
                ),
            },
        )
        if fault:
            return fault if side in fault else f"what the first layer of the {side} reads: {fault}"
    return ""


def _layers_are_there(encoder: list[Call], decoder: list[Call]) -> str:
    """Return what is wrong with the number of layers that are called; there should be two on each side."""
    for side, calls in (("encoder", encoder), ("decoder", decoder)):
        if not calls:
            return (
                f"the model has registered none of the layers that its {side} calls: a plain list hides layers, "
                "and their weights are not trained; put them into an nn.ModuleList"
            )
        if len(calls) != 2:
            return f"of 2 layers of the {side}, {len(calls)} are called"
        if calls[0].part is calls[1].part:
            return f'the {side} calls one layer again and again (chapter 17: "The same layer N times")'
    return ""


def stacks(file: Any) -> str:
    """Return what is wrong with the way from layer to layer, masks and memory included."""
    model = _model(file)
    encoder, decoder, _ = _calls(file, model)
    if fault := _layers_are_there(encoder, decoder):
        return fault
    for side, calls in (("encoder", encoder), ("decoder", decoder)):
        reads_same = f"each layer of the {side} reads what the first one reads, and not what the one before gives"
        if fault := difference(calls[1].inputs[0], calls[0].output, {reads_same: calls[0].inputs[0]}):
            return fault if fault == reads_same else f"what the second layer of the {side} reads: {fault}"
    last = encoder[-1].output
    memories = {
        "the encoder's last norm is missing: the memory is what the last layer gives": last,
        "the decoder reads the source's embeddings, and should read the memory": encoder[0].inputs[0],
        "the decoder reads the memory of the first encoder layer, and should read that of the last": _norm(
            encoder[0].output
        ),
    }
    for call in decoder:
        if fault := difference(call.inputs[1], _norm(last), memories):
            return fault if fault in memories else f"the memory that the decoder reads: {fault}"
    is_source, is_target = ((ids != 0)[:, None, None, :] for ids in (_SOURCE, _TARGET))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    for call in encoder:
        if fault := _mask_fault("the encoder", call.inputs[1], is_source, {}):
            return fault
    wrong = {
        'the decoder sees the future (chapter 17: "The loss is too good: no causal mask")': is_target,
        "the decoder attends to the padding of its target": causal,
        "the decoder's two masks are joined by `|`, and should be joined by `&`": is_target | causal,
    }
    for call in decoder:
        if fault := _mask_fault("the decoder", call.inputs[2], is_target & causal, wrong):
            return fault
        if fault := _mask_fault("the attention over the memory", call.inputs[3], is_source, {}):
            return fault
    return ""


def _mask_fault(name: str, mask: Any, right: Tensor, faults: dict[str, Tensor]) -> str:
    if _is_same_mask(mask, right):
        return ""
    for message, wrong in faults.items():
        if _is_same_mask(mask, wrong):
            return message
    if isinstance(mask, Tensor) and mask.bool().all():
        return f'{name} attends to padding (chapter 17: "Another batch, another translation: padding is attended to")'
    if _is_same_mask(mask, ~right):
        return f"{name} gets its mask the wrong way round"
    return f"{name} gets a wrong mask"


def end(file: Any) -> str:
    """Return what is wrong with the way from the last layer to the logits."""
    model = _model(file)
    _, decoder, logits = _calls(file, model)
    tables = _tables(model, _TARGET_WORDS)
    if not decoder or not tables:
        return "no layer of the decoder is called, or no matrix has a row for each target word"
    last, table = decoder[-1].output, tables[-1]
    bias = sum(weight.detach() for weight in model.parameters() if weight.shape == (_TARGET_WORDS,))
    right = _norm(last) @ table.T + bias
    return difference(
        logits,
        right,
        {
            "the decoder's last norm is missing": last @ table.T + bias,
            "forward gives probabilities, and should give logits: the loss takes the softmax": right.softmax(-1),
            "forward gives logarithms of probabilities, and should give logits": right.log_softmax(-1),
            "the logits are multiplied by the root of D": math.sqrt(_D) * right,
        },
    )


def first_weights(file: Any) -> str:
    """Return what is wrong with the weights before training."""
    model = file.Transformer(300, 200, 64, 128, 4, 2, 0.0)
    weights = dict(model.named_parameters())
    for n_words in (300, 200):
        for name, weight in weights.items():
            if weight.shape == (n_words, 64) and not 0.8 < weight.std().item() * 8 < 1.2:
                return (
                    f"the standard deviation of {name} is {weight.std().item():.2f}, and should be 1 / root of D: is "
                    "`initialise` called, and does it draw the embeddings last?"
                )
    matrices = [(name, weight) for name, weight in weights.items() if weight.shape == (64, 64)]
    for i, (name, weight) in enumerate(matrices):
        if weight.std() == 0:
            return f"{name} has the same number everywhere, so that all parts learn the same"
        for other, twin in matrices[:i]:
            if torch.equal(weight, twin):
                return (
                    f"{other} and {name} begin with the same numbers "
                    '(chapter 17: "All layers begin with the same weights")'
                )
    return ""


def model_weights(file: Any) -> str:
    """Return which weights of the model learn nothing."""
    model = _model(file)
    return unused_weights(model, model(_SOURCE, _TARGET))


def dropout(file: Any) -> str:
    """Return what is wrong with dropout."""
    model = _model(file, dropout=0.5)
    if not is_equal(model(_SOURCE, _TARGET), model(_SOURCE, _TARGET)):
        return 'in eval mode each call gives something else (chapter 17: "Another output each time")'
    model.train()
    if is_equal(model(_SOURCE, _TARGET), model(_SOURCE, _TARGET)):
        return "in training nothing is dropped: the dropout is not passed on to the parts"
    with listening(model, file.EncoderLayer) as calls:
        model(_SOURCE, _TARGET)
    if calls and not (calls[0].inputs[0] == 0).any():
        return "there is no dropout on the sum of embedding and position"
    if (model(_SOURCE, _TARGET) == 0).float().mean() > 0.3:
        title = "Training loss stays above validation loss: dropout on the logits"
        return f'dropout acts on the logits (chapter 17: "{title}")'
    return ""


def examination(file: Any) -> str:
    """Return what the doctor of chapter 17 finds, without its checks of overfitting, of tying and of the KV cache."""
    model = _model(file)
    sides = both_sides(model, _SOURCE_WORDS, _TARGET_WORDS, 0)
    subject = ModelUnderTest(model, *sides, seed=1)
    for check in checks.CHECKS:
        if check not in (checks.check_overfitting, checks.check_tying, checks.check_cache):
            finding = check(subject)
            if finding.passed is False:
                return f"{finding.name}: {finding.detail}"
    return ""
