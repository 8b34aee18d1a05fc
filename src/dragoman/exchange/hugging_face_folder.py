"""A folder that transformers loads by its stock classes: weights, descriptions, and a tokenizer of Marian's kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from safetensors.numpy import save

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.agreement import Agreement, compare, until_end
from dragoman.exchange.export_folder import sentencepiece_files, write_files
from dragoman.exchange.hugging_face_config import (
    generation_config,
    model_config,
    names_of,
    tokenizer_config,
    warn_of_tags,
)
from dragoman.exchange.hugging_face_weights import stock_obstacles, stock_weights
from dragoman.exchange.obstacles import load_without
from dragoman.machine.folders import save_folder
from dragoman.machine.json_files import to_json
from dragoman.translator.padding import pad_sources

#: Sentences that are translated at once when they are compared.
_BATCH = 20


def export_hugging_face(name: str | Path, folder: Path, sentences: Sequence[str] = ()) -> Agreement | None:
    """Write a bundle, found as by `find_bundle`, for transformers, and compare translations if that is installed.

    Args:
        sentences: to compare; without any, made-up ones.

    Raises:
        BundleError: it cannot be loaded.
        ConfigError: no stock class can express its settings.
        RunFolderError: the folder exists, or cannot be written.
    """
    bundle = load_without(name, stock_obstacles, "Hugging Face's Marian or Pegasus")
    warn_of_tags(bundle.tokenizers, name)
    save_folder(folder, partial(write_files, contents=folder_files(bundle)))
    if find_spec("transformers") is None or find_spec("torch") is None:
        return None
    return compare(bundle, partial(translate_ids, folder, bundle), sentences)


def folder_files(bundle: Bundle) -> Mapping[str, bytes]:
    """Return the content of each file."""
    names = names_of(bundle.tokenizers)
    is_shared = names.source == names.target
    tokenizer = {"tokenizer_class": "MarianTokenizer", "separate_vocabs": not is_shared}
    files = {
        "config.json": to_json(model_config(bundle)),
        "generation_config.json": to_json(generation_config(bundle)),
        "tokenizer_config.json": to_json(tokenizer | tokenizer_config(bundle)),
        "vocab.json": _vocabulary(names.source),
        "model.safetensors": save(stock_weights(bundle), {"format": "pt"}),
    }
    if not is_shared:
        files["target_vocab.json"] = _vocabulary(names.target)
    return files | sentencepiece_files(bundle.tokenizers)


def translate_ids(folder: Path, bundle: Bundle, sources: Sequence[Sequence[int]], max_length: int) -> list[list[int]]:
    """Translate by transformers, greedily: source ids, without special ones -> target ids."""
    import torch
    from transformers import AutoModelForSeq2SeqLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    ids = bundle.tokenizers.special_ids
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True).eval()
    translations = []
    for first in range(0, len(sources), _BATCH):
        padded = torch.from_numpy(pad_sources(sources[first : first + _BATCH], ids.source))
        with torch.no_grad():
            options = {"num_beams": 1, "do_sample": False, "max_length": max_length}
            mask = (padded != ids.source.pad).long()
            written = model.generate(input_ids=padded, attention_mask=mask, **options)
        translations += [until_end(row[1:], ids.target.end) for row in written.tolist()]
    return translations


def _vocabulary(names: Sequence[str]) -> bytes:
    return to_json({name: id for id, name in enumerate(names)})
