"""dragoman: two text files in, a translator out.

    import dragoman

    translator = dragoman.Translator.load("everyday")
    print(translator.translate("Where is the station?", source_lang="en", target_lang="de").text)

Each public name is imported when it is first used, so that `import dragoman` does not wait for PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dragoman.bundle.averaging import average_bundles
    from dragoman.bundle.bundle import Bundle, load_bundle, save_bundle
    from dragoman.doctor import Examination, check
    from dragoman.errors import DragomanError
    from dragoman.evaluation.evaluation import Evaluation, evaluate
    from dragoman.memories import MemoryMatch, TranslationMemory
    from dragoman.model.attention import MultiHeadAttention
    from dragoman.model.transformer import Transformer
    from dragoman.settings.config import Config
    from dragoman.settings.model_config import ModelConfig
    from dragoman.settings.search_config import SearchConfig
    from dragoman.training.run import train
    from dragoman.translator import Translation, Translator

__version__ = "0.1.0"

__all__ = [
    "Bundle",
    "Config",
    "DragomanError",
    "Evaluation",
    "Examination",
    "MemoryMatch",
    "ModelConfig",
    "MultiHeadAttention",
    "SearchConfig",
    "Transformer",
    "Translation",
    "TranslationMemory",
    "Translator",
    "average_bundles",
    "check",
    "evaluate",
    "load_bundle",
    "save_bundle",
    "train",
]

_HOMES = {
    "bundle.averaging": ("average_bundles",),
    "bundle": ("Bundle", "load_bundle", "save_bundle"),
    "settings.config": ("Config",),
    "settings.model_config": ("ModelConfig",),
    "settings.search_config": ("SearchConfig",),
    "doctor": ("Examination", "check"),
    "errors": ("DragomanError",),
    "evaluation.evaluation": ("Evaluation", "evaluate"),
    "memories": ("MemoryMatch", "TranslationMemory"),
    "model.attention": ("MultiHeadAttention",),
    "model.transformer": ("Transformer",),
    "training.run": ("train",),
    "translator": ("Translation", "Translator"),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(importlib.import_module(f"dragoman.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'dragoman' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
