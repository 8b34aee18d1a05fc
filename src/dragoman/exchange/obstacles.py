"""The settings of a model that another program cannot express, told all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.errors import ConfigError
from dragoman.exchange.export_folder import sentencepiece_files
from dragoman.settings.model_config import ModelConfig
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers


class Obstacle(NamedTuple):
    """One setting that another program cannot express."""

    #: As in a recipe: "model.memory".
    setting: str
    value: object
    reason: str
    #: A value that the program can express; None if there is none.
    instead: object = None


def memory_obstacles(config: ModelConfig) -> Iterator[Obstacle]:
    """Yield the setting of a model with a memory for each decoder layer."""
    if config.memory == "layerwise" and config.n_decoder_layers > 1:
        yield Obstacle("model.memory", "layerwise", "all decoder layers read the same memory", "last")


def decoder_obstacles(config: ModelConfig) -> Iterator[Obstacle]:
    """Yield the setting of a model whose decoder has no self-attention."""
    if config.decoder_layer != "attention":
        reason = "a decoder layer attends to the tokens that are written already"
        yield Obstacle("model.decoder_layer", config.decoder_layer, reason, "attention")


def tokenizer_obstacles(tokenizers: Tokenizers) -> Iterator[Obstacle]:
    """Yield the settings of tokenizers that have no SentencePiece model, or change the text before it."""
    config = tokenizers.config
    if not isinstance(tokenizers.source, Subword) or not isinstance(tokenizers.target, Subword):
        yield Obstacle("tokenizer.kind", config.kind, "text is cut by a SentencePiece model", "bpe")
    elif config.lowercases_source:
        setting = "tokenizer.lowercase" if config.lowercase else "tokenizer.lowercase_source"
        yield Obstacle(setting, True, "nothing lower-cases the text", False)


def tag_obstacles(tokenizers: Tokenizers) -> Iterator[Obstacle]:
    """Yield the tags of models whose sources and targets both begin with the tag of their language."""
    if tokenizers.has_both_tags:
        yield Obstacle("tokenizer.tags", "both", "only sources begin with tags")


def end_obstacles(tokenizers: Tokenizers) -> Iterator[Obstacle]:
    """Yield the missing end mark of sources, as those of models of OpenNMT-py have none."""
    if not tokenizers.source.special_ids.has_end:
        yield Obstacle("special_ids.source.end", "none", "an end mark follows each source")


def ctranslate2_obstacles(bundle: Bundle) -> Iterator[Obstacle]:
    """Yield the settings that CTranslate2 cannot express."""
    config = bundle.config
    yield from memory_obstacles(config)
    yield from decoder_obstacles(config)
    yield from tag_obstacles(bundle.tokenizers)
    if config.norm_kind == "std":
        yield Obstacle("model.norm_kind", "std", "it divides by the standard deviation otherwise", "layer")
    keys, values = config.head_widths
    if keys != values:
        yield Obstacle("model.d_v", values, f"a head's keys and values have one width, here {keys} and {values}", keys)


def argos_obstacles(bundle: Bundle) -> Iterator[Obstacle]:
    """Yield the settings that a package of Argos Translate cannot express."""
    yield from ctranslate2_obstacles(bundle)
    yield from tokenizer_obstacles(bundle.tokenizers)
    if len({*sentencepiece_files(bundle.tokenizers).values()}) > 1:
        yield Obstacle("tokenizer.joint", False, "both sides have the same SentencePiece model", True)


def onnx_obstacles(bundle: Bundle) -> Iterator[Obstacle]:
    """Yield the settings that our graphs of ONNX do not have."""
    yield from decoder_obstacles(bundle.config)
    yield from tag_obstacles(bundle.tokenizers)
    yield from end_obstacles(bundle.tokenizers)


def web_obstacles(bundle: Bundle) -> Iterator[Obstacle]:
    """Yield the settings that our JavaScript does not have."""
    if bundle.tokenizers.config.kind == "words":
        yield Obstacle("tokenizer.kind", "words", "no browser has spaCy's rules, by which words are cut", "bpe")
    yield from tag_obstacles(bundle.tokenizers)


def load_without(name: str | Path, obstacles: Callable[[Bundle], Iterable[Obstacle]], program: str) -> Bundle:
    """Load a bundle, found as by `find_bundle`, for a program, whose package is not needed yet.

    Raises:
        BundleError: it cannot be loaded.
        ConfigError: the program cannot express its settings; the message has all of them, with values that it can
            express, and how to train a model that fits.
    """
    bundle = load_bundle(name)
    found = list(obstacles(bundle))
    if found:
        advice = "export another model"
        if any(each.instead is not None for each in found):
            portable = "dragoman train --portable, or from this one with dragoman distill --portable"
            advice = f"train one that fits with {portable}"
        raise ConfigError(f"{program} cannot hold this model", name, advice=advice, details=list(map(_line, found)))
    return bundle


#: The arguments of `load_without` for each program, after the name.
CTRANSLATE2, ARGOS = (ctranslate2_obstacles, "CTranslate2"), (argos_obstacles, "Argos Translate")
ONNX, WEB = (onnx_obstacles, "ONNX"), (web_obstacles, "a web page")


def _line(obstacle: Obstacle) -> str:
    """Return an obstacle for a person, and the smallest change that removes it."""
    way_out = f" (--set {obstacle.setting}={_spelled(obstacle.instead)})" if obstacle.instead is not None else ""
    return f"{obstacle.setting}={_spelled(obstacle.value)}: {obstacle.reason}{way_out}"


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | None) else str(value)
