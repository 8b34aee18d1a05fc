"""Folders as those of OPUS-MT, with random weights, made by transformers' own classes, for English and German."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
import transformers
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

Texts = tuple[list[str], list[str]]

_NOUNS = [("a man", "ein Mann"), ("the woman", "die Frau"), ("two dogs", "zwei Hunde"), ("a horse", "ein Pferd")]
_VERBS = [("rides", "reitet"), ("sees", "sieht"), ("holds", "hält"), ("finds", "findet"), ("follows", "folgt")]
_PLACES = [("", ""), ("in the street", "auf der Straße"), ("by the water", "am Wasser"), ("at night", "in der Nacht")]


def captions(count: int) -> Texts:
    """Sentences of a few words in English and German, in the order of a fixed draw."""
    draw = random.Random(1)
    texts: Texts = ([], [])
    for _ in range(count):
        parts = [draw.choice(choices) for choices in (_NOUNS, _VERBS, _NOUNS, _PLACES)]
        for side, lines in enumerate(texts):
            text = " ".join(part[side] for part in parts if part[side])
            lines.append(f"{text[0].upper()}{text[1:]}.")
    return texts


def write_tokenizer(folder: Path, texts: Texts, *, separate: bool = False, **settings: Any) -> tuple[int, int]:
    """Write two SentencePiece models and the table of ids, and return the sizes of both vocabularies.

    As in OPUS-MT, the models normalise, the table lacks a few of their pieces, and it has tags; padding is last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pieces = []
    for side, lines in zip(("source", "target"), texts, strict=True):
        options = {"vocab_size": 60, "model_type": "unigram", "minloglevel": 2, "hard_vocab_limit": False}
        SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=str(folder / side), **options)
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        (folder / f"{side}.vocab").unlink()
        model = SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        pieces.append({model.id_to_piece(id) for id in range(3, model.get_piece_size())})
    joint = sorted(pieces[0] | pieces[1])
    dropped = {*sorted(pieces[0] - pieces[1])[3::9]}
    names = [sorted(each) for each in pieces] if separate else [joint]
    tables = [_table([piece for piece in each if piece not in dropped], separate=separate) for each in names]
    for name, table in zip(("vocab.json", "target_vocab.json"), tables, strict=False):
        (folder / name).write_text(json.dumps(table))
    settings = {"source_lang": "en", "target_lang": "de", "separate_vocabs": separate, **settings}
    settings |= {"tokenizer_class": "MarianTokenizer", "model_max_length": 512}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return len(tables[0]), len(tables[-1])


def _table(pieces: list[str], *, separate: bool) -> dict[str, int]:
    """Padding has the same id on both sides, so it is last in a shared table only."""
    first, last = (["<pad>"], []) if separate else ([], ["<pad>"])
    names = ["</s>", "<unk>", *first, *pieces, ">>deu<<", *last]
    return {name: id for id, name in enumerate(names)}


def write_model(folder: Path, sizes: tuple[int, int], dtype: torch.dtype = torch.float32, **settings: Any) -> Any:
    """Write a model of random weights beside its tokenizer, and return it as it is loaded in float32."""
    random_model(sizes, **settings).to(dtype).save_pretrained(folder)
    return transformers.MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()


def random_model(sizes: tuple[int, int], **settings: Any) -> Any:
    """A model of random weights, whose gains are not 1, whose biases are not 0, and whose padding is a row of zeros."""
    is_shared = settings.get("share_encoder_decoder_embeddings", True)
    size, pad = (sizes[0], sizes[0] - 1) if is_shared else (sizes[1], 2)
    shape = {
        "vocab_size": sizes[0],
        "decoder_vocab_size": size,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "activation_function": "swish",
        "max_position_embeddings": 128,
        "scale_embedding": True,
        "init_std": 0.1,
        "pad_token_id": pad,
        "eos_token_id": 0,
        "decoder_start_token_id": pad,
        "forced_eos_token_id": 0,
    }
    torch.manual_seed(3)
    model = transformers.MarianMTModel(transformers.MarianConfig(**{**shape, **settings})).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() == 1:
                weight += 0.2 * torch.randn_like(weight)
        for embedding in {model.get_input_embeddings(), model.model.decoder.embed_tokens}:
            embedding.weight[pad] = 0
        model.final_logits_bias.normal_(std=0.3)
    padding = {"bad_words_ids": [[pad]], "decoder_start_token_id": pad, "pad_token_id": pad}
    ends = {"eos_token_id": 0, "forced_eos_token_id": 0}
    model.generation_config.update(num_beams=4, length_penalty=1.0, max_length=128, **padding, **ends)
    return model


def teach(model: Any, pairs: list[tuple[list[int], list[int]]], n_steps: int) -> None:
    """Train a model until it translates different texts differently, and ends its translations."""
    pad, optimizer = model.config.pad_token_id, torch.optim.Adam(model.parameters(), lr=3e-3)
    model.train()
    for step in range(n_steps):
        chosen = [pairs[(step * 32 + number) % len(pairs)] for number in range(32)]
        sources, targets = (_padded([pair[side] for pair in chosen], pad) for side in (0, 1))
        inputs = torch.nn.functional.pad(targets, (1, -1), value=pad)
        logits = model(input_ids=sources, attention_mask=sources != pad, decoder_input_ids=inputs).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


def _padded(rows: list[list[int]], pad: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])
