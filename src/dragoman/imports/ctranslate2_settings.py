"""The attributes of a CTranslate2 model, which are variables too, as settings of ours."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from dragoman.imports.ctranslate2_variables import Specification
from dragoman.imports.marian_settings import MAX_LENGTH

SIDES = ("encoder", "decoder")
#: Names of the encoder-decoder that is read, and the number of heads of the two that had no attribute for it.
NAMES = {"TransformerSpec": 8, "TransformerBase": 8, "TransformerBig": 16}
REVISIONS = range(2, 8)
#: Activations by CTranslate2's numbers, and what those that we have are called here.
_ACTIVATIONS = ("relu", "tanh-gelu", "silu", "gelu", "sigmoid-gelu", "tanh", "sigmoid")
_OURS = ("relu", "silu", "gelu")
#: Attributes that change nothing here, or are settings of a search or a tokenizer.
_LEFT_OUT = (
    *("alibi_use_positive_positions", "scale_alibi", "alignment_layer", "alignment_heads", "embeddings_merge"),
    *("unk_token", "bos_token", "eos_token", "with_source_bos", "with_source_eos", "with_target_bos"),
)
#: Attributes that must be this number, if they are there.
_FIXED = {"alibi": 0, "multi_query_attention": 0, "scale_outputs": 1, "rotary_interleave": 1, "rotary_base": 10_000}
_READ = (
    *("num_heads", "pre_norm", "activation", "scale_embeddings", "multiply_by_sqrt_depth"),
    *("start_from_zero_embedding", "rotary_dim", "head_dim"),
)
ATTRIBUTES = frozenset((*_LEFT_OUT, *_FIXED, *_READ))
#: The largest relative error of a number in bfloat16.
_ROUNDED = 2**-8
_LAYER = re.compile(r"(encoder|decoder)/layer_(\d{1,4})/")


class Attributes:
    """The attributes of a model, and what follows from its shapes.

    Args:
        epsilon: of the norms, where `config.json` has it.
    """

    def __init__(self, model: Specification, epsilon: object) -> None:
        self.model = model
        self._epsilon = epsilon

    @cached_property
    def depths(self) -> tuple[int, int]:
        """The number of layers of the encoder and of the decoder."""
        layers = {match[0] for name in self.model.variables if (match := _LAYER.match(name))}
        encoder, decoder = (sum(layer.startswith(side) for layer in layers) for side in SIDES)
        return encoder, decoder

    @cached_property
    def tables(self) -> tuple[str, str, str]:
        """The names of the vectors of source tokens, of those of target tokens, and of the output matrix."""
        names = (f"encoder/embeddings{end}/weight" for end in ("_0", ""))
        source = next((name for name in names if name in self.model.variables), "encoder/embeddings_0/weight")
        return source, "decoder/embeddings/weight", "decoder/projection/weight"

    @property
    def starts_from_zeros(self) -> bool:
        """True if a translation starts from a vector of zeros, as in Marian."""
        return bool(self._of_side("decoder", "start_from_zero_embedding", 0))

    @property
    def has_positions(self) -> bool:
        """True if positions are vectors that are added; False for rotary ones."""
        return self._of_all("rotary_dim") is None

    @property
    def has_final_norm(self) -> bool:
        """True if a norm follows the last layers."""
        return "decoder/layer_norm/gamma" in self.model.variables

    def model_settings(self) -> dict[str, Any]:
        """Return the settings of our model, except sizes of vocabularies, `tie`, `positions` and `bias`."""
        variables, ffn = self.model.variables, "encoder/layer_0/ffn"
        heads, width = self._heads(), self._width()
        inner = variables.get(f"{ffn}/linear_0/weight")
        has_gate = f"{ffn}/linear_0_noact/weight" in variables
        head_width = self._of_all("head_dim")
        return {
            "d_model": width,
            "d_ff": inner.shape[0] if inner is not None and inner.shape else 0,
            "n_heads": heads,
            "d_k": None if head_width is None else int(head_width),
            "d_v": None if head_width is None else int(head_width),
            "n_encoder_layers": self.depths[0],
            "n_decoder_layers": self.depths[1],
            "norm": "pre" if self._both("pre_norm", 1) else "post",
            "norm_kind": self._norm_kind,
            **({} if self._epsilon is None or self._norm_kind == "rms" else {"norm_epsilon": self._epsilon}),
            "final_norm": self.has_final_norm,
            "activation": "swiglu" if has_gate else self._activation(),
            "scale_embeddings": not math.isclose(self._scale(SIDES[0]), 1, rel_tol=_ROUNDED),
            "max_length": MAX_LENGTH,
        }

    def obstacles(self) -> Iterator[str]:
        """Yield what our model cannot have, each in a few words."""
        width, has_gate = self._width(), any("linear_0_noact" in name for name in self.model.variables)
        for name, usual in (("num_heads", None), ("pre_norm", 1), ("activation", None)):
            if len({self._of_side(side, name, usual) for side in SIDES}) > 1:
                yield f"{name} differs between encoder and decoder"
        if (activation := self._activation()) not in _OURS or (has_gate and activation != "silu"):
            yield f"the activation {activation}{' with a gate' if has_gate else ''}"
        scales = {self._scale(side) for side in SIDES}
        roots = math.sqrt(width), 1.0
        if len(scales) > 1 or not any(math.isclose(max(scales), root, rel_tol=_ROUNDED) for root in roots):
            yield f"embeddings times {' and '.join(f'{scale:g}' for scale in sorted(scales))}"
        for name, usual in _FIXED.items():
            if (value := self._of_all(name)) is not None and not math.isclose(value, usual):
                yield f"{name} {value:g}"
        if math.isnan(self._of_all("head_dim") or 0):
            yield "head_dim differs between layers"
        if not self.has_positions:
            head = self._of_all("head_dim") or width / max(self._heads(), 1)
            if self._of_all("rotary_dim") not in (0, head) or len(self._ends["rotary_dim"]) != sum(self.depths):
                yield f"rotary_dim {self._of_all('rotary_dim'):g}"
        if self._norm_kind == "rms" and self._epsilon not in (None, 1e-6):
            yield f"layer_norm_epsilon {self._epsilon!r} in RMS norms"

    @property
    def _norm_kind(self) -> str:
        return "layer" if "encoder/layer_0/ffn/layer_norm/beta" in self.model.variables else "rms"

    def _width(self) -> int:
        table = self.model.variables.get(self.tables[1])
        return table.shape[1] if table is not None and len(table.shape) == 2 else 0

    def _heads(self) -> int:
        return int(self._both("num_heads", NAMES[self.model.name]))

    def _activation(self) -> str:
        number = int(self._both("activation", 0))
        return _ACTIVATIONS[number] if 0 <= number < len(_ACTIVATIONS) else f"number {number}"

    def _scale(self, side: str) -> float:
        """Return the number by which embeddings are multiplied: an attribute says it, or yes or no."""
        root = math.sqrt(self._width())
        names = [f"{side}/scale_embeddings", *(f"{side}/embeddings{end}/multiply_by_sqrt_depth" for end in ("", "_0"))]
        name = next((name for name in names if self.model.number(name) is not None), None)
        value = 1.0 if name is None else self.model.number(name) or 0.0
        is_flag = name is None or self.model.variables[name].kind == "int8"
        return (root if value else 1.0) if is_flag else value

    def _both(self, name: str, usual: float) -> float:
        return self._of_side(SIDES[0], name, usual) or 0

    def _of_side(self, side: str, name: str, usual: float | None) -> float | None:
        """Return an attribute of a side; older models have one for both."""
        value = self.model.number(f"{side}/{name}")
        value = self.model.number(name) if value is None else value
        return usual if value is None else value

    def _of_all(self, name: str) -> float | None:
        """Return an attribute that all parts share that have it; NaN if they differ."""
        found = self._ends.get(name, [])
        values = {self.model.number(full) for full in found}
        return None if not values else values.pop() if len(values) == 1 else math.nan

    @cached_property
    def _ends(self) -> Mapping[str, list[str]]:
        """The full names of attributes by their last parts."""
        ends: dict[str, list[str]] = {}
        for name in self.model.variables:
            if (end := name.rpartition("/")[2]) in ATTRIBUTES:
                ends.setdefault(end, []).append(name)
        return ends
