"""A model in one file for browsers: "dragoman", the length of a description, the description in JSON, the parts.

The parts are the weights as the engine loads them, in 8-bit integers, and the SentencePiece models. `web/model_file.js`
reads the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.numpy import save

from dragoman.alignment.heads import AlignmentHeads
from dragoman.bundle.bundle import Bundle, load_bundle
from dragoman.bundle.finding import find_bundle
from dragoman.bundle.format import WEIGHTS, read_config
from dragoman.bundle.weights import stored_weights
from dragoman.errors import ConfigError
from dragoman.runtime.engine_config import engine_config
from dragoman.settings.search_config import SearchConfig
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.learned_text import LearnedText
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizer, Tokenizers

MAGIC = b"dragoman"
FORMAT_VERSION = 1
#: Parts begin at multiples of this.
_ALIGNMENT = 8


def model_file(name: str | Path) -> bytes:
    """Return the file of a bundle, found as by `find_bundle`.

    Raises:
        BundleError: it cannot be loaded.
        ConfigError: its text is cut by rules that JavaScript does not have.
    """
    folder = find_bundle(name)
    bundle = load_bundle(folder)
    if bundle.tokenizers.config.kind == "words":
        problem = "its words are cut by spaCy's rules, which no browser has"
        raise ConfigError(problem, name, advice="export a model of subwords (bpe, unigram) or characters")
    parts = {"weights": _weights(bundle, folder), **_piece_models(bundle.tokenizers)}
    description: dict[str, Any] = _description(bundle, name)
    places, end = {}, 0
    for part, content in parts.items():
        places[part] = end, len(content)
        end += -(-len(content) // _ALIGNMENT) * _ALIGNMENT
    return _joined(description, places, parts)


def _joined(description: dict[str, Any], places: dict[str, tuple[int, int]], parts: Mapping[str, bytes]) -> bytes:
    """Return the file; the offsets of `places` are counted from the first part."""
    width = 0
    while True:  # until the offsets are counted from the beginning of the file
        first = -(-(len(MAGIC) + 4 + width) // _ALIGNMENT) * _ALIGNMENT
        description["parts"] = {part: [first + offset, size] for part, (offset, size) in places.items()}
        text = json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) <= width:
            break
        width = len(text)
    content = bytearray(MAGIC + width.to_bytes(4, "little") + text.ljust(width)).ljust(first, b"\0")
    for part, (offset, _) in places.items():
        content = content.ljust(first + offset, b"\0") + parts[part]
    return bytes(content)


def _weights(bundle: Bundle, folder: Path) -> bytes:
    """Return the weights in 8-bit integers: those of the bundle as they are, if it has such."""
    if read_config(folder).get("precision") == "int8":
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
        "config": {field: int(getattr(config, field)) for field, *_ in config._fields_},
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
