"""A translator of random weights, small enough to be made anew in milliseconds: what it says is nonsense."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dragoman.bundle.bundle import Bundle, write_bundle
from dragoman.bundle.layout import Layout
from dragoman.machine.arrays import Floats
from dragoman.settings.model_config import ModelConfig
from dragoman.settings.search_config import SearchConfig
from dragoman.settings.tokenizer_config import TokenizerConfig
from dragoman.text.language_sampling import LanguagePairs
from dragoman.text.learned_text import LearnedText
from dragoman.text.learning import learn_many_tokenizers, learn_tokenizers
from dragoman.text.special_ids import SpecialIdPair
from dragoman.text.tokenizer import Tokenizers

if TYPE_CHECKING:
    from dragoman.model.transformer import Transformer

PAIRS = [
    ("A man is riding a horse.", "Ein Mann reitet auf einem Pferd."),
    ("She is reading a book.", "Sie liest ein Buch."),
    ("The cat is sitting on the mat.", "Die Katze sitzt auf der Matte."),
    ("Two dogs run over the green grass.", "Zwei Hunde laufen über das grüne Gras."),
]
CHINESE = [
    ("A man is riding a horse.", "一个男人在骑马。"),
    ("She is reading a book.", "她在看书。"),
    ("She rides a horse. Two dogs run.", "她在骑马。两只狗在跑。"),
]
#: Single sentences of at most 20 tokens.
LEARNED = LearnedText(
    n_lines=100,
    several_sentences=(),
    median_tokens=8,
    usual_tokens=12,
    long_tokens=16,
    longest_tokens=20,
    target_ratio=1.0,
)


def tiny_tokenizers(kind: str = "bpe", target_lang: str = "de") -> Tokenizers:
    settings = {"kind": kind, "byte_fallback": True} | ({"vocab_size": 320} if kind == "bpe" else {"joint": True})
    return learn_tokenizers(lambda: iter(PAIRS), TokenizerConfig.model_validate(settings), "en", target_lang)


def many_tokenizers(**settings: object) -> Tokenizers:
    """Tokenizers of a model that translates English to German and Chinese, and German to English."""
    texts = [
        LanguagePairs(lambda: iter(PAIRS), "en", "de", both_ways=True),
        LanguagePairs(lambda: iter(CHINESE), "en", "zh"),
    ]
    return learn_many_tokenizers(texts, TokenizerConfig.model_validate({"vocab_size": 400, **settings}))


def tiny_model(
    tokenizers: Tokenizers, seed: int = 1, special_ids: SpecialIdPair | None = None, **settings: object
) -> Transformer:
    import torch

    from dragoman.model.transformer import Transformer

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Transformer(tiny_config(tokenizers, **settings), special_ids or tokenizers.special_ids).eval()


def tiny_config(tokenizers: Tokenizers, **settings: object) -> ModelConfig:
    shape = {"d_model": 16, "d_ff": 32, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "max_length": 24}
    sizes = {
        "source_vocab_size": tokenizers.source.vocab_size,
        "target_vocab_size": tokenizers.target.vocab_size,
    }
    return ModelConfig.model_validate({**shape, **sizes, "tie": "all", **settings})


def tiny_bundle(tokenizers: Tokenizers, seed: int = 1, **settings: object) -> Bundle:
    """The same without PyTorch, with other weights."""
    config = tiny_config(tokenizers, **settings)
    weights = random_weights(config, seed)
    return Bundle(config, weights, tokenizers, SearchConfig(beam_size=2), facts={"step": seed})


def random_weights(config: ModelConfig, seed: int) -> dict[str, Floats]:
    draw = np.random.default_rng(seed)

    def weight(name: str, shape: tuple[int, ...]) -> Floats:
        if len(shape) == 1:
            return np.full(shape, name.endswith("norm.weight"), dtype=np.float32)
        return draw.normal(0, shape[1] ** -0.5, shape).astype(np.float32)

    return {name: weight(name, shape) for name, shape in Layout(config).shapes().items()}


def with_calibration(bundle: Bundle, key: str, **changes: object) -> Bundle:
    """The same, calibrated in a direction such as en-de."""
    values = {"log_probs": (-4.0, -1.0), "chrf": (0.2, 0.8), "doubtful_below": -3.0}
    of_text = {"n_sentences": 100, "error": 0.02, "correlation": 0.5}
    facts = {"directions": {key: {**values, **of_text, **changes}}}
    return replace(bundle, facts={**bundle.facts, "confidence": facts})


def without_flags(told: str) -> str:
    """Leave out of standard error what is wrong with the translations of random models: they repeat themselves, have no
    end, and mix scripts."""
    for words in (
        "the translation repeats itself",
        "the translation is far longer or shorter than usual",
        "it has letters of another script",
    ):
        told = re.sub(rf"{words}[^;\n]*(; )?", "", told)
    return re.sub(r"(?m)^warning: (line \d+|[\d,]+ more lines): \n", "", told)


def write_tiny_bundle(folder: Path, seed: int = 1, *, kind: str = "bpe", **settings: object) -> Path:
    write_bundle(folder, tiny_bundle(tiny_tokenizers(kind), seed, **settings))
    return folder
