"""The description of a model of transformers (`config.json`), as settings of ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from dragoman.errors import BundleError
from dragoman.imports.model_checks import parsed
from dragoman.machine.json_files import JSON_LIMIT, read_json
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.ranges import Count, Positive
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.sections import Section

CONFIG, GENERATION = "config.json", "generation_config.json"
READ = (
    "these are read: MarianMTModel (OPUS-MT), M2M100ForConditionalGeneration (NLLB-200 too), and "
    "PegasusForConditionalGeneration with Marian's tokenizer"
)
#: transformers' names of activation functions.
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu"}
#: Vectors of positions that a folder has not, and that are computed: M2M-100 and NLLB-200 have 1,024.
_MOST_POSITIONS = 8_192
#: Settings of a search that are not taken over, and their values where they change nothing.
_LEFT_OUT = {"no_repeat_ngram_size": 0, "repetition_penalty": 1.0, "do_sample": False, "min_length": 0}

_log = logging.getLogger(__name__)


class StockConfig(Section):
    """The part of `config.json` that decides what a model computes, by transformers' names and with its defaults.

    That of `scale_embedding` depends on the kind.
    """

    model_type: Literal["marian", "pegasus", "m2m_100"]
    d_model: Positive
    encoder_layers: Positive
    decoder_layers: Positive
    encoder_attention_heads: Positive
    decoder_attention_heads: Positive
    encoder_ffn_dim: Positive
    decoder_ffn_dim: Positive
    vocab_size: Positive
    decoder_vocab_size: Positive | None = None
    max_position_embeddings: Positive
    activation_function: str
    scale_embedding: bool
    share_encoder_decoder_embeddings: bool = True
    tie_word_embeddings: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    pad_token_id: Count
    eos_token_id: Count
    decoder_start_token_id: Count

    @property
    def is_shared(self) -> bool:
        """True if one vocabulary has the ids of both sides."""
        return self.model_type != "marian" or self.share_encoder_decoder_embeddings

    @property
    def target_vocab_size(self) -> int:
        """The number of target ids."""
        return self.vocab_size if self.is_shared else self.decoder_vocab_size or self.vocab_size

    def model_settings(self) -> dict[str, Any]:
        """Return the settings of our model, except `tie`, `positions` and `bias`, which the weights decide."""
        return {
            "source_vocab_size": self.vocab_size,
            "target_vocab_size": self.target_vocab_size,
            "d_model": self.d_model,
            "d_ff": self.encoder_ffn_dim,
            "n_heads": self.encoder_attention_heads,
            "n_encoder_layers": self.encoder_layers,
            "n_decoder_layers": self.decoder_layers,
            "dropout": self.dropout,
            "attention_dropout": self.attention_dropout,
            "activation_dropout": self.activation_dropout,
            "norm": "post" if self.model_type == "marian" else "pre",
            "activation": ACTIVATIONS[self.activation_function],
            "scale_embeddings": self.scale_embedding,
            "positions": "halves",
            "max_length": self.max_position_embeddings,
        }

    def obstacles(self) -> Iterator[str]:
        """Yield a line for each setting that our model cannot have."""
        for name in ("attention_heads", "ffn_dim"):
            sides = getattr(self, f"encoder_{name}"), getattr(self, f"decoder_{name}")
            if len({*sides}) > 1:
                yield f"encoder_{name} {sides[0]} and decoder_{name} {sides[1]}: both sides must be equal"
        if self.model_type == "m2m_100" and self.max_position_embeddings > _MOST_POSITIONS:
            yield f"max_position_embeddings {self.max_position_embeddings:,}: at most {_MOST_POSITIONS:,} are made"
        if self.activation_function not in ACTIVATIONS:
            yield f"activation_function {self.activation_function!r}: it must be {', '.join(ACTIVATIONS)}"


#: The setting that both files may have; that of `generation_config.json` counts.
_START = "decoder_start_token_id"


def read_stock_config(folder: Path) -> StockConfig:
    """Read `config.json` of a folder.

    Raises:
        BundleError: it is missing, damaged, or describes another kind of model, or one that ours cannot be.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise BundleError(f"no {CONFIG} in this folder", folder, advice=f"give a folder of transformers; {READ}")
    content = read_json(path.resolve(), JSON_LIMIT)
    kind = content.get("model_type")
    if kind not in ("marian", "pegasus", "m2m_100"):
        raise BundleError(_kind(content), folder, advice=READ)
    known = {name: content[name] for name in StockConfig.model_fields if name in content}
    known.setdefault("scale_embedding", kind == "m2m_100")  # as transformers does
    if known.get(_START, 0) is None:
        del known[_START]
    config = parsed(StockConfig, {_START: 0} | known, path)
    if (start := _generation(folder).get(_START)) is not None:
        config = parsed(StockConfig, known | {_START: start}, folder / GENERATION)
    elif _START not in known:
        raise BundleError(f"{CONFIG} has no {_START}", folder, advice="use another copy")
    if obstacles := [*config.obstacles()]:
        raise BundleError("dragoman has no such model", path, advice="take another", details=obstacles)
    return config


def our_config(stock: StockConfig, folder: Path, **decided: Any) -> ModelConfig:
    """Return the settings of our model, with those that the weights decide.

    Raises:
        BundleError: a number is out of range, or heads do not divide the width.
    """
    return parsed(ModelConfig, stock.model_settings() | decided, folder / CONFIG)


def read_search(folder: Path, stock: StockConfig) -> tuple[SearchConfig, bool]:
    """Return the search of `generation_config.json`, and True if probabilities do not count padding.

    transformers counts the start of a translation as one of its `max_length` tokens.
    """
    content, path = _generation(folder), folder / GENERATION
    for name, value in _LEFT_OUT.items():
        if content.get(name, value) not in (value, None):
            _log.warning(f"{path}: {name} {content[name]} is left out; dragoman translate has an option")
    longest = content.get("max_length")
    settings = {"beam_size": content.get("num_beams", 1), "length_penalty": content.get("length_penalty", 1.0)}
    if isinstance(longest, int) and 1 < longest < stock.max_position_embeddings:
        settings["max_length"] = longest - 1
    search = parsed(SearchConfig, {name: value for name, value in settings.items() if value is not None}, path)
    return search, content.get("renormalize_logits") is True


def _generation(folder: Path) -> Mapping[str, Any]:
    """Return `generation_config.json`; older folders have its settings in `config.json`."""
    name = GENERATION if (folder / GENERATION).is_file() else CONFIG
    return read_json((folder / name).resolve(), JSON_LIMIT)


def _kind(content: Mapping[str, Any]) -> str:
    """Say what a folder has whose kind is not read."""
    if "format_version" in content:
        return "a bundle of dragoman, which needs no import"
    kind, classes = content.get("model_type"), content.get("architectures")
    if not isinstance(kind, str):
        return f"{CONFIG} has no model_type, which says what model this is"
    return f"a model of the kind {classes[0] if isinstance(classes, list) and classes else kind}"
