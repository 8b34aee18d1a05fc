"""The settings of a Marian model (`special:model.yml`), as settings of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dragoman.errors import BundleError
from dragoman.imports.model_checks import parsed
from dragoman.settings.ranges import Count, Positive
from dragoman.settings.sections import Section
from dragoman.settings.yaml_loader import MAX_BYTES, UNREADABLE, load_yaml

#: The longest sequence that a model reads here, in tokens; Marian's table of sines has no end.
MAX_LENGTH = 512
#: Marian's names of activation functions.
_ACTIVATIONS = {"relu": "relu", "swish": "silu", "gelu": "gelu"}
#: What is done before and after a sublayer, and at the top, without dropout -> our norm and final norm.
_NORMS = {
    ("", "an", ""): ("post", False),
    ("", "an", "n"): ("post", True),
    ("n", "a", "n"): ("pre", True),
    ("n", "a", ""): ("pre", False),
}
#: Settings that change what a model computes, and their values where they change nothing.
_NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "type": ("transformer",),
    "input-types": ((), None),
    "layer-normalization": (False,),
    "lemma-dim-emb": (0,),
    "lemma-dependency": ("",),
    "factors-combine": ("sum",),
    "factors-dim-emb": (0,),
    "right-left": (False,),
    "transformer-alibi-shift": (False,),
    "transformer-alibi-trainable": (False,),
    "transformer-attention-mask": ("default",),
    "transformer-disable-position-embeddings": (False,),
    "transformer-no-affine": (False,),
    "transformer-no-bias": (False,),
    "transformer-no-projection": (False,),
    "transformer-pool": (False,),
    "transformer-rnn-projection": (False,),
    "transformer-train-positions": (False,),
    "transformer-train-position-embeddings": (False,),
    "ulr": (False,),
}


class MarianSettings(Section):
    """The part of `special:model.yml` that decides what a model computes, by Marian's names and with its defaults."""

    dim_emb: Positive
    enc_depth: Positive
    dec_depth: Positive
    dec_cell: str = "gru"
    dim_vocabs: tuple[Count, ...] = (0, 0)
    tied_embeddings: bool = False
    tied_embeddings_src: bool = False
    tied_embeddings_all: bool = False
    output_omit_bias: bool = False
    transformer_heads: Positive = 8
    transformer_dim_ffn: Positive = 2048
    transformer_decoder_dim_ffn: Count = 0
    transformer_ffn_depth: Positive = 2
    transformer_decoder_ffn_depth: Count = 0
    transformer_ffn_activation: str = "swish"
    transformer_preprocess: str = ""
    transformer_postprocess: str = "dan"
    transformer_postprocess_emb: str = "d"
    transformer_postprocess_top: str = ""
    transformer_decoder_autoreg: str = "self-attention"
    transformer_tied_layers: tuple[Positive, ...] = ()

    @property
    def has_ssru(self) -> bool:
        """True for a decoder with a recurrent unit in place of self-attention."""
        return self.transformer_decoder_autoreg == "rnn"

    @property
    def decoder_names(self) -> tuple[int, ...]:
        """The number in the names of each decoder layer's tensors; layers with the same one are the same."""
        return self.transformer_tied_layers or tuple(range(1, self.dec_depth + 1))

    @property
    def _steps(self) -> tuple[str, str, str]:
        """The steps before and after a sublayer and at the top, without dropout."""
        steps = self.transformer_preprocess, self.transformer_postprocess, self.transformer_postprocess_top
        before, after, top = (step.replace("d", "") for step in steps)
        return before, after, top

    def obstacles(self) -> Iterator[str]:
        """Yield a line for each setting that our model cannot have."""
        if len(self.dim_vocabs) != 2:
            yield f"dim-vocabs has {len(self.dim_vocabs)} vocabularies: one source and one target are read"
        if self._steps not in _NORMS:
            names = "transformer-preprocess, -postprocess and -postprocess-top"
            known = "; ".join(", ".join(map(repr, steps)) for steps in _NORMS)
            yield f"{names} are {', '.join(map(repr, self._steps))}: without d, they must be {known}"
        if self.transformer_postprocess_emb.replace("d", ""):
            yield f"transformer-postprocess-emb {self.transformer_postprocess_emb!r}: embeddings may have dropout only"
        if (activation := self.transformer_ffn_activation) not in _ACTIVATIONS:
            yield f"transformer-ffn-activation {activation!r}: it must be {', '.join(_ACTIVATIONS)}"
        for side, depth in (("", self.transformer_ffn_depth), ("decoder-", self.transformer_decoder_ffn_depth or 2)):
            if depth != 2:
                yield f"transformer-{side}ffn-depth {depth}: a feed-forward layer has two maps"
        if self.transformer_decoder_dim_ffn not in (0, self.transformer_dim_ffn):
            widths = f"{self.transformer_dim_ffn} and {self.transformer_decoder_dim_ffn}"
            yield f"transformer-dim-ffn and transformer-decoder-dim-ffn are {widths}: both sides must be equal"
        kinds = self.transformer_decoder_autoreg, self.dec_cell if self.has_ssru else "ssru"
        if kinds not in (("self-attention", "ssru"), ("rnn", "ssru")):
            yield f"transformer-decoder-autoreg {kinds[0]!r}, dec-cell {self.dec_cell!r}: only rnn with ssru is read"
        if self.transformer_tied_layers and len(self.transformer_tied_layers) != self.dec_depth:
            yield f"transformer-tied-layers names {len(self.transformer_tied_layers)} of {self.dec_depth} layers"

    def model_settings(self, vocab_sizes: tuple[int, int], tie: str) -> dict[str, Any]:
        """Return the settings of our model.

        Its positions are learned ones, because the wavelengths of Marian's sines are not the paper's.
        """
        norm, has_final = _NORMS[self._steps]
        return {
            "decoder_layer": "ssru" if self.has_ssru else "attention",
            "source_vocab_size": vocab_sizes[0],
            "target_vocab_size": vocab_sizes[1],
            "d_model": self.dim_emb,
            "d_ff": self.transformer_dim_ffn,
            "n_heads": self.transformer_heads,
            "n_encoder_layers": self.enc_depth,
            "n_decoder_layers": self.dec_depth,
            "norm": norm,
            "norm_epsilon": 1e-9,
            "final_norm": has_final,
            "activation": _ACTIVATIONS[self.transformer_ffn_activation],
            "positions": "learned",
            "tie": tie,
            "max_length": MAX_LENGTH,
        }


def read_marian_settings(text: str, path: Path) -> MarianSettings:
    """Read the settings that a model file has.

    Raises:
        BundleError: they are damaged, or of a model that ours cannot be; it lists every obstacle.
    """
    content = yaml_mapping(text, path)
    given = {name: _frozen(content[name]) for name in _NEUTRAL if name in content}
    obstacles = [
        f"{name} {value!r}: dragoman has no such models" for name, value in given.items() if value not in _NEUTRAL[name]
    ]
    known = {name: name.replace("_", "-") for name in MarianSettings.model_fields}
    values = {name: content[key] for name, key in known.items() if content.get(key) is not None}
    if given.get("type") != "transformer":  # the settings of another kind may be others
        raise BundleError(f"a Marian model of the type {given.get('type')!r}", path, advice="transformer is read")
    settings = parsed(MarianSettings, values, path, "-")
    if obstacles := [*obstacles, *settings.obstacles()]:
        raise BundleError("dragoman has no such model", path, advice="take another", details=obstacles)
    return settings


def yaml_mapping(text: str | bytes, path: Path) -> dict[str, Any]:
    """Return a mapping in YAML that has no references, types or deep levels.

    Raises:
        BundleError: it is no such YAML.
    """
    try:
        if len(text) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES:,} bytes")
        content = load_yaml(text)
        if not isinstance(content, dict):
            raise ValueError("no settings with names")
    except UNREADABLE as error:
        problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
        raise BundleError(f"settings that are not readable ({problem})", path, advice="use another copy") from None
    return content


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
