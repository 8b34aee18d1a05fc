"""The variables of a CTranslate2 model as weights of ours."""

from __future__ import annotations

import numpy as np

from dragoman.bundle.layout import Layout
from dragoman.errors import BundleError
from dragoman.exchange.ctranslate2_names import stacked_variables
from dragoman.imports.ctranslate2_settings import ATTRIBUTES, SIDES, Attributes
from dragoman.imports.ctranslate2_variables import Specification
from dragoman.imports.marian_weights import NEVER, marian_positions
from dragoman.imports.model_checks import are_sines, tensor_problems, tie_of
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig

#: Rows of a learned table that are read; CTranslate2 cuts longer sources by itself.
_MOST_POSITIONS = 1_024
_MOST_LISTED = 3
_OUTPUT_BIAS = "decoder/projection/bias"


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
    decided: dict[str, object] = {"tie": tie_of(is_tied=is_tied, is_shared=is_shared), "bias": has_bias}
    if not attributes.has_positions:
        return {**decided, "positions": "rotary"}
    tables = [positions for side in SIDES if (positions := _positions(model, side, width)) is not None]
    for name, halves in (("sinusoidal", False), ("halves", True)):
        if len(tables) == len(SIDES) and all(are_sines(table, halves=halves) for table in tables):
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
