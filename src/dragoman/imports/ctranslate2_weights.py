"""The variables of a CTranslate2 model, by their names there, and as weights of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dragoman.bundle.layout import (
    AttentionLayout,
    DecoderLayerLayout,
    EncoderLayerLayout,
    Layout,
    LinearLayout,
    NormLayout,
    Weight,
)
from dragoman.errors import BundleError
from dragoman.imports.ctranslate2_settings import ATTRIBUTES, SIDES, Attributes
from dragoman.imports.ctranslate2_variables import Specification
from dragoman.imports.marian_weights import NEVER, marian_positions
from dragoman.imports.model_checks import tensor_problems
from dragoman.machine.arrays import Floats
from dragoman.runtime.position_table import sinusoidal_table
from dragoman.settings.model_config import ModelConfig

#: The largest difference of a table of sines that was stored in 16 bits.
_SINES_TOLERANCE = 5e-3
#: Rows of a learned table that are read; CTranslate2 cuts longer sources by itself.
_MOST_POSITIONS = 1_024
_MOST_LISTED = 3
_OUTPUT_BIAS = "decoder/projection/bias"


class Stacked(NamedTuple):
    """A variable, and the weights of ours that are its rows, one after the other."""

    name: str
    weights: tuple[Weight, ...]
    is_optional: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the variable."""
        first = self.weights[0].shape
        return len(self.weights) * first[0], *first[1:]


def stacked_variables(layout: Layout) -> Iterator[Stacked]:
    """Yield the variables of all layers and of the norms after the last ones."""
    for number, encoder_layer in enumerate(layout.encoder_layers):
        name = f"encoder/layer_{number}"
        yield from _attention(f"{name}/self_attention", encoder_layer.self_attention, encoder_layer.self_norm, 3)
        yield from _feed_forward(f"{name}/ffn", encoder_layer)
    for number, layer in enumerate(layout.decoder_layers):
        name = f"decoder/layer_{number}"
        if layer.self_attention is not None:
            yield from _attention(f"{name}/self_attention", layer.self_attention, layer.self_norm, 3)
        yield from _attention(f"{name}/attention", layer.cross_attention, layer.cross_norm, 2)
        yield from _feed_forward(f"{name}/ffn", layer)
    for side, norm in zip(SIDES, (layout.encoder_norm, layout.decoder_norm), strict=True):
        if norm is not None:
            yield from _norm(f"{side}/layer_norm", norm)


def _attention(name: str, attention: AttentionLayout, norm: NormLayout, n_joined: int) -> Iterator[Stacked]:
    """Yield attention to itself, whose three maps of the input are one, or to the memory, of which two are."""
    yield from _norm(f"{name}/layer_norm", norm)
    maps = attention.query, attention.key, attention.value
    joined = [maps] if n_joined == len(maps) else [maps[:1], maps[1:]]
    for number, linears in enumerate([*joined, (attention.output,)]):
        yield from _linear(f"{name}/linear_{number}", *linears)


def _feed_forward(name: str, layer: EncoderLayerLayout | DecoderLayerLayout) -> Iterator[Stacked]:
    yield from _norm(f"{name}/layer_norm", layer.feed_forward_norm)
    yield from _linear(f"{name}/linear_0", layer.feed_forward.inner)
    yield from _linear(f"{name}/linear_1", layer.feed_forward.outer)
    if layer.feed_forward.gate is not None:
        yield from _linear(f"{name}/linear_0_noact", layer.feed_forward.gate)


def _linear(name: str, *linears: LinearLayout) -> Iterator[Stacked]:
    yield Stacked(f"{name}/weight", tuple(linear.weight for linear in linears))
    biases = tuple(linear.bias for linear in linears if linear.bias is not None)
    if biases:
        yield Stacked(f"{name}/bias", biases, is_optional=True)


def _norm(name: str, norm: NormLayout) -> Iterator[Stacked]:
    yield Stacked(f"{name}/gamma", (norm.weight,))
    if norm.bias is not None:
        yield Stacked(f"{name}/beta", (norm.bias,))


def check_variables(attributes: Attributes, config: ModelConfig, sizes: tuple[int, int]) -> None:
    """Compare names and shapes with those that a model needs.

    Args:
        sizes: of the vocabularies in the file.

    Raises:
        BundleError: variables are missing, have another shape, or are of a kind of models that is not read.
    """
    variables = attributes.model.variables
    needed = {stacked.name: stacked.shape for stacked in stacked_variables(Layout(config)) if not stacked.is_optional}
    rows = (sizes[0], sizes[1], sizes[1])
    needed |= {name: (n_rows, config.d_model) for name, n_rows in zip(attributes.tables, rows, strict=True)}
    optional = {stacked.name: stacked.shape for stacked in stacked_variables(Layout(config)) if stacked.is_optional}
    optional[_OUTPUT_BIAS] = (sizes[1],)
    if attributes.has_positions:
        found = (variables.get(_table(side)) for side in SIDES)
        optional |= {
            _table(side): (one.shape[0], config.d_model)
            for side, one in zip(SIDES, found, strict=True)
            if one is not None and len(one.shape) == 2
        }
    if config.norm_kind != "rms":  # the norms of a model without biases have betas that are zeros
        optional |= {
            f"{name.removesuffix('gamma')}beta": (config.d_model,) for name in needed if name.endswith("gamma")
        }
    known = needed | optional
    there = {name: shape for name, shape in optional.items() if name in variables}
    problems = [*tensor_problems(variables, needed | there)]
    for name in variables:
        is_attribute = name.rpartition("/")[2] in ATTRIBUTES
        if name not in known and not is_attribute and name.removesuffix("_scale") not in known:
            problems.append(f"{name} is not known here")
    if problems:
        rest = f" and {len(problems) - _MOST_LISTED:,} more" if len(problems) > _MOST_LISTED else ""
        problem = f"dragoman has no such model: {'; '.join(problems[:_MOST_LISTED])}{rest}"
        raise BundleError(problem, attributes.model.path, advice="take another, or another copy of the whole folder")


def _table(side: str) -> str:
    return f"{side}/position_encodings/encodings"


def decided_settings(attributes: Attributes, width: int) -> dict[str, object]:
    """Return the settings that variables decide: `tie`, `positions`, `max_length` and `bias`."""
    model, (source, target, output) = attributes.model, attributes.tables
    variables = model.variables
    is_tied, is_shared = (
        one in variables and other in variables and _are_equal(model, one, other)
        for one, other in ((target, output), (source, target))
    )
    has_bias = any(name.endswith("/bias") for name in variables) or any(
        model.floats(name).any() for name in variables if name.endswith("/beta")
    )
    decided: dict[str, object] = {"tie": ("all" if is_shared else "decoder") if is_tied else "none", "bias": has_bias}
    if not attributes.has_positions:
        return {**decided, "positions": "rotary"}
    tables = [positions for side in SIDES if (positions := _positions(model, side, width)) is not None]
    for name, halves in (("sinusoidal", False), ("halves", True)):
        if len(tables) == len(SIDES) and all(_are_sines(table, halves) for table in tables):
            return {**decided, "positions": name}
    rows = min((len(table) for table in tables), default=_MOST_POSITIONS)
    return {**decided, "positions": "learned", "max_length": min(rows, _MOST_POSITIONS)}


def _are_equal(model: Specification, name: str, other: str) -> bool:
    """Return True if two matrices have the same numbers; one that is an alias is not read."""
    one, two = model.variables[name], model.variables[other]
    return one == two or (one.shape == two.shape and np.array_equal(model.floats(name), model.floats(other)))


def _positions(model: Specification, side: str, width: int) -> Floats | None:
    """Return a stored table of positions (L, D), as far as it is read."""
    variable = model.variables.get(_table(side))
    if variable is None or len(variable.shape) != 2 or variable.shape[1] != width:
        return None
    return model.floats(_table(side))[:_MOST_POSITIONS]


def _are_sines(table: Floats, halves: bool) -> bool:
    expected = sinusoidal_table(range(len(table)), table.shape[1], halves=halves)
    return np.allclose(table, expected, 0, _SINES_TOLERANCE)


def our_weights(attributes: Attributes, config: ModelConfig) -> dict[str, Floats]:
    """Return the weights by our names. Padding that the file's vocabularies lack follows their last piece."""
    layout, model = Layout(config), attributes.model
    weights: dict[str, Floats] = {}
    for stacked in stacked_variables(layout):
        if stacked.name in model.variables:
            parts = np.split(model.floats(stacked.name), len(stacked.weights))
        else:
            parts = [np.zeros(weight.shape, np.float32) for weight in stacked.weights]
        weights |= {weight.name: part for weight, part in zip(stacked.weights, parts, strict=True)}
    embeddings = layout.source_embedding, layout.target_embedding
    matrices = embeddings[0].tokens, embeddings[1].tokens, layout.output.weight
    for ours, name in zip(matrices, attributes.tables, strict=True):
        if ours.name not in layout.ties:
            weights[ours.name] = _with_rows(model.floats(name), ours.shape[0], 0)
    if layout.output.bias is not None:
        size = model.variables[attributes.tables[2]].shape[:1]
        bias = model.floats(_OUTPUT_BIAS) if _OUTPUT_BIAS in model.variables else np.zeros(size, np.float32)
        weights[layout.output.bias.name] = _with_rows(bias, config.target_vocab_size, NEVER)
    for side, embedding in zip(SIDES, embeddings, strict=True):
        if embedding.positions is not None:
            table = _positions(model, side, config.d_model)
            if table is None:  # CTranslate2 makes one, whose first position is 1
                table = marian_positions(config.max_length + 1, config.d_model)[1:]
            weights[embedding.positions.name] = table[: config.max_length]
    return {name: weights[name] for name in layout.shapes()}


def _with_rows(values: Floats, count: int, value: float) -> Floats:
    """Return values with rows that are `value` after them: padding, which is never written."""
    rest = np.full((count - len(values), *values.shape[1:]), value, np.float32)
    return np.concatenate((values, rest)) if len(rest) else values
