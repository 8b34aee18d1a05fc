"""A model in one file for browsers: MAGIC, the length of a description (4 bytes), the description in JSON, the parts.

The parts are the weights in 8-bit integers, as the engine loads them, the SentencePiece models, and the words by which
typing errors are read.
`web/dragoman/model_file.js` reads the file.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from safetensors.numpy import save

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle
from dragoman.bundle.finding import find_bundle
from dragoman.bundle.format import WEIGHTS, read_config
from dragoman.bundle.weights import stored_weights
from dragoman.exchange.obstacles import WEB, load_without
from dragoman.runtime.engine_config import engine_config
from dragoman.settings.search_config import SearchConfig
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.learned_text import LearnedText
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizer, Tokenizers

MAGIC = b"dragoman"
FORMAT_VERSION = 1
_LENGTH_BYTES = 4

_log = logging.getLogger(__name__)


def model_file(name: str | Path) -> bytes:
    """Return the file of a bundle, found as by `find_bundle`.

    Raises:
        BundleError: it cannot be loaded.
        ConfigError: its tokenizers follow rules that JavaScript does not have.
    """
    folder = find_bundle(name)
    bundle = load_without(name, *WEB)
    parts = {"weights": _weights(bundle, folder), **_piece_models(bundle.tokenizers)}
    if bundle.short_list is not None:
        _log.warning(f"{name}: its short-list is left out; the page scores the whole vocabulary at each step")
    sizes = {part: len(content) for part, content in parts.items()}
    description = json.dumps(_description(bundle, name) | {"parts": sizes}, ensure_ascii=False, separators=(",", ":"))
    text = description.encode()
    return b"".join([MAGIC, len(text).to_bytes(_LENGTH_BYTES, "little"), text, *parts.values()])


def read_model_file(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the description and the parts of a file that `model_file` made."""
    start = len(MAGIC) + _LENGTH_BYTES
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    description, parts = json.loads(content[start:end]), {}
    for part, size in description["parts"].items():
        parts[part] = content[end : end + size]
        end += size
    return description, parts


def _weights(bundle: Bundle, folder: Path) -> bytes:
    """Return the weights in 8-bit integers: the file of the bundle as it is, if it has them."""
    if read_config(folder)["precision"] == "int8":
        return (folder / WEIGHTS).read_bytes()
    return save(stored_weights(bundle.weights, "int8"))


def _piece_models(tokenizers: Tokenizers) -> dict[str, bytes]:
    if not isinstance(tokenizers.source, Subword) or not isinstance(tokenizers.target, Subword):
        return {}
    source, target = tokenizers.source.segmenter.model, tokenizers.target.segmenter.model
    return {"pieces": source} if source == target else {"source_pieces": source, "target_pieces": target}


def _description(bundle: Bundle, name: str | Path) -> dict[str, Any]:
    tokenizers = bundle.tokenizers
    config = engine_config(bundle.config, tokenizers.special_ids)
    heads = AlignmentHeads.of_bundle(bundle.facts, bundle.config, name)
    languages = {language for direction in tokenizers.directions for language in direction}
    return {
        "format_version": FORMAT_VERSION,
        "name": Path(name).name or str(name),
        "config": {field: getattr(config, field) for field, *_ in config._fields_},
        "search": _search(bundle.search),
        "directions": tokenizers.directions,
        "targets": tokenizers.targets,
        "reserved": tokenizers.reserved,
        "alignment": heads.model_dump(mode="json"),
        "learned": _learned(LearnedText.of_bundle(bundle.facts, name)),
        "bases": {language: base_language(language) for language in sorted(languages)},
        "without_spaces": sorted(WITHOUT_SPACES),
        "tokenizers": {
            "source": _tokenizer(tokenizers.source, tokenizers, lowercase=tokenizers.config.lowercases_source),
            "target": _tokenizer(tokenizers.target, tokenizers, lowercase=tokenizers.config.lowercase),
        },
    }


def _search(search: SearchConfig) -> dict[str, float]:
    """Return the defaults of a search, by their names in JavaScript. There is no sampling."""
    return {
        "beamSize": search.beam_size,
        "nBest": min(search.n_best, search.beam_size),
        "lengthPenalty": search.length_penalty,
        "minLength": search.min_length,
        "maxLength": search.max_length or 0,
        "noRepeatNgram": search.no_repeat_ngram,
        "repetitionPenalty": search.repetition_penalty,
    }


def _learned(learned: LearnedText | None) -> dict[str, Any] | None:
    if learned is None:
        return None
    return {
        "sentences": learned.known_sentences,
        "long_tokens": learned.long_tokens,
        "usual_tokens": learned.usual_tokens,
        "knows_marks": learned.knows_marks,
    }


def _tokenizer(tokenizer: Tokenizer, tokenizers: Tokenizers, *, lowercase: bool) -> dict[str, Any]:
    ids = tokenizer.special_ids
    has_own_list = not isinstance(tokenizer, Subword) or tokenizer.has_piece_list
    return {
        "kind": tokenizers.config.kind,
        "lowercase": lowercase,
        "specialIds": {"pad": ids.pad, "unknown": ids.unknown, "start": ids.start, "end": ids.end},
        "tags": sorted(tokenizer.tags),
        "cutsWords": isinstance(tokenizer, Subword) and tokenizer.segmenter.cuts_words,
        "words": list(tokenizer.vocabulary.words) if has_own_list else None,
    }
