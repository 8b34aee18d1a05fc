"""A SentencePiece model as `tokenizer.json`, for the tokenizers of Hugging Face in Python and JavaScript.

A byte-pair model has no list of merges. Any two pieces that together are a piece may be merged, in the order of the
results' scores, as in Hugging Face's own converter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sentencepiece import SentencePieceProcessor

from dragoman.exchange.hugging_face_config import names_of
from dragoman.exchange.piece_names import PieceNames
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers

#: The score of a piece that a unigram model does not have, such as a tag.
_NEVER = -1e6


def tokenizer_problem(tokenizers: Tokenizers) -> str | None:
    """Say why there can be no `tokenizer.json`; None if there can."""
    if not isinstance(tokenizers.source, Subword) or not isinstance(tokenizers.target, Subword):
        return f"its tokens are {tokenizers.config.kind}, not subwords"
    names = names_of(tokenizers)
    if names.source != names.target or tokenizers.source.segmenter.model != tokenizers.target.segmenter.model:
        return "each side has a vocabulary of its own"
    return None


def tokenizer_json(tokenizers: Tokenizers) -> dict[str, Any]:
    """Return the content of `tokenizer.json` for tokenizers without a problem."""
    source = tokenizers.source
    if not isinstance(source, Subword):
        raise TypeError("a tokenizer of subwords is needed")
    names, processor = names_of(tokenizers), source.segmenter.processor
    ids = {name: id for id, name in enumerate(names.source)}
    special = [names.pad, names.unknown, names.start, names.end, *sorted(source.tags)]
    added = [_added(name, ids[name], is_special=True) for name in dict.fromkeys(special)]
    added += [_added(name, ids[name], is_special=False) for name in tokenizers.reserved]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added, key=lambda each: int(each["id"])),
        "normalizer": _normalizer(lowercases=tokenizers.config.lowercases_source),
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
            ],
        },
        "post_processor": _end_mark(names.end, ids[names.end]),
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0},
            ],
        },
        "model": _model(processor, names, tokenizers.config.kind),
    }


def _added(name: str, id: int, *, is_special: bool) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": id, "content": name, **flags, "special": is_special}


def _normalizer(*, lowercases: bool) -> dict[str, Any]:
    composed = {"type": "NFC"}
    return {"type": "Sequence", "normalizers": [composed, {"type": "Lowercase"}]} if lowercases else composed


def _end_mark(name: str, id: int) -> dict[str, Any]:
    """Return the rule that a text is followed by the end mark."""
    text, end = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": name, "type_id": 0}}
    pair = [text, {"Sequence": {"id": "B", "type_id": 0}}, end]
    tokens = {name: {"id": name, "ids": [id], "tokens": [name]}}
    return {"type": "TemplateProcessing", "single": [text, end], "pair": pair, "special_tokens": tokens}


def _model(processor: SentencePieceProcessor, names: PieceNames, kind: str) -> dict[str, Any]:
    numbers = {processor.id_to_piece(number): number for number in range(processor.get_piece_size())}
    has_bytes = any(map(processor.is_byte, numbers.values()))
    if kind == "unigram":
        scores = [processor.get_score(numbers[name]) if name in numbers else _NEVER for name in names.source]
        vocabulary = list(map(list, zip(names.source, scores, strict=True)))
        unknown = names.source.index(names.unknown)
        return {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": has_bytes}
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": names.unknown,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": True,
        "byte_fallback": has_bytes,
        "ignore_merges": False,
        "vocab": {name: id for id, name in enumerate(names.source)},
        "merges": list(_merges(processor, names.source)),
    }


def _merges(processor: SentencePieceProcessor, names: Sequence[str]) -> Iterator[str]:
    """Yield the two parts of each piece, with a space between them, in the order of merging."""
    known, ranks = set(names), {}
    for number in range(processor.get_piece_size()):
        if not (processor.is_control(number) or processor.is_unknown(number) or processor.is_byte(number)):
            ranks[processor.id_to_piece(number)] = -processor.get_score(number), number
    for piece in sorted(ranks, key=ranks.__getitem__):
        if piece not in known:
            continue
        cuts = [(piece[:end], piece[end:]) for end in range(1, len(piece))]
        pairs = [(first, second) for first, second in cuts if first in ranks and second in ranks]
        for first, second in sorted(pairs, key=lambda pair: (ranks[pair[0]][1], ranks[pair[1]][1])):
            yield f"{first} {second}"
