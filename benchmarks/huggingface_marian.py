"""Train a plain Hugging Face Marian model for some minutes, and score it as benchmarks/everyday.py scores ours.

    make .venv/bench
    .venv/bin/python benchmarks/huggingface_marian.py --like runs/en-de --minutes 60 --output runs/marian-en-de

The yardstick for "a model of the same size, trained for the same time on the same machine". `--like` names a run or a
bundle of ours: width, heads, layers, dropout and the size of the vocabulary are the same, and the feed-forward layers
get the width that makes the number of trained parameters equal, to a thousandth or so.

MarianMTModel has random weights, post-norm, swish and one tied embedding, as Marian's own recipes do. The vocabulary is
SentencePiece's, learned from both sides. AdamW, inverse square root after a warm-up, label smoothing 0.1 and clipping
at 1 are the usual settings (Ott et al. 2019). Batches hold sentences of similar length and as many tokens of the longer
side, padding included, as `training.batch_tokens` says for ours. The minutes are those of training alone.

Needs DRAGOMAN_DATA with its folder tatoeba-en-de, and the extra `bench`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import torch.nn.functional as F
from everyday_sets import Direction, bleu, chrf, is_long, text_pairs, validation_set
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from dragoman.bundle.bundle import Bundle, load_bundle

PAD, END = 0, 2
#: Pieces of the longest side that is trained on.
MAX_LENGTH = 128
#: Sentences among which lengths are sorted, and which one call translates.
POOL, TRANSLATED = 20_000, 128
Pair = tuple[list[int], list[int]]


def learn_pieces(texts: Sequence[str], size: int, folder: Path) -> sentencepiece.SentencePieceProcessor:
    """Learn a vocabulary from both sides of the corpus."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=str(folder / "pieces"), vocab_size=size, character_coverage=1.0,
        pad_id=PAD, unk_id=1, eos_id=END, bos_id=-1, minloglevel=2, num_threads=torch.get_num_threads(),
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "pieces.model"))


def n_pieces(bundle: Bundle) -> int:
    """Return the size of one vocabulary for both sides that holds as many pieces as ours."""
    tokenizers = bundle.tokenizers
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    return sizes[0] if bundle.config.tie == "all" else sum(sizes)


def build(bundle: Bundle, vocab_size: int) -> MarianMTModel:
    """Make a model with as many parameters as ours, by the width of its feed-forward layers."""
    wanted = sum(weight.size for weight in bundle.weights.values())
    models = [marian(bundle, vocab_size, d_ff) for d_ff in (8, 16)]
    few, more = map(n_parameters, models)
    d_ff = 8 * round(1 + (wanted - few) / (more - few))
    if d_ff < 8:
        raise SystemExit(f"{wanted:,} parameters are too few for Marian with these layers and {vocab_size:,} pieces")
    return marian(bundle, vocab_size, d_ff)


def marian(bundle: Bundle, vocab_size: int, d_ff: int) -> MarianMTModel:
    """Make a Marian model of our width and depth with random weights."""
    ours = bundle.config
    config = MarianConfig(
        vocab_size=vocab_size, d_model=ours.d_model, encoder_layers=ours.n_encoder_layers,
        decoder_layers=ours.n_decoder_layers, encoder_attention_heads=ours.n_heads,
        decoder_attention_heads=ours.n_heads, encoder_ffn_dim=d_ff, decoder_ffn_dim=d_ff, dropout=ours.dropout,
        max_position_embeddings=512, activation_function="swish", scale_embedding=True, pad_token_id=PAD,
        eos_token_id=END, forced_eos_token_id=None, decoder_start_token_id=PAD,
    )  # fmt: skip
    torch.manual_seed(1)
    return MarianMTModel(config)


def n_parameters(model: MarianMTModel) -> int:
    """Return the number of trained parameters; a tied one counts once."""
    return sum(each.numel() for each in model.parameters() if each.requires_grad)


def batches(pairs: Sequence[Pair], batch_tokens: int, draw: random.Random) -> list[list[Pair]]:
    """Return the batches of an epoch: similar lengths together, all in random order."""
    order = draw.sample(pairs, len(pairs))
    epoch: list[list[Pair]] = []
    for start in range(0, len(order), POOL):
        batch: list[Pair] = []
        for pair in sorted(order[start : start + POOL], key=lambda pair: (longer(pair), len(pair[0]))):
            if (len(batch) + 1) * longer(pair) > batch_tokens and batch:
                epoch.append(batch)
                batch = []
            batch.append(pair)
        epoch.append(batch)
    draw.shuffle(epoch)
    return epoch


def longer(pair: Pair) -> int:
    """Return the length of the longer side."""
    return max(map(len, pair))


def padded(rows: Sequence[list[int]]) -> Tensor:
    """Return the rows as one tensor (rows, longest)."""
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def train(model: MarianMTModel, pairs: Sequence[Pair], arguments: argparse.Namespace) -> dict[str, Any]:
    """Train until the minutes are over, and return what was done."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.lr, betas=(0.9, 0.98), eps=1e-9, weight_decay=1e-4)
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, partial(relative_rate, arguments.warmup))
    begun, draw, total = time.monotonic(), random.Random(1), 0.0
    done = {"steps": 0, "epochs": 0.0, "target tokens": 0, "seconds": 0.0}
    model.train()
    for epoch in itertools.count():
        own = batches(pairs, arguments.batch_tokens, draw)
        for number, batch in enumerate(own):
            seconds = time.monotonic() - begun
            if seconds >= 60 * arguments.minutes:
                return {**done, "epochs": round(epoch + number / len(own), 2), "seconds": round(seconds, 1)}
            source, target = (padded(side) for side in zip(*batch, strict=True))
            loss = loss_of(model, source, target)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rates.step()
            done["steps"] += 1
            done["target tokens"] += int((target != PAD).sum())
            total += loss.item()
            if done["steps"] % arguments.log_every == 0:
                speed = done["target tokens"] / (time.monotonic() - begun)
                mean = total / arguments.log_every
                so_far = f"step {done['steps']:,}: epoch {epoch + number / len(own):.1f}"
                print(f"{so_far}  loss {mean:.3f}  {speed:,.0f} target tokens/s", flush=True)
                total = 0.0
    raise AssertionError("the loop ends by its time")


def relative_rate(warmup: int, step: int) -> float:
    """Return the learning rate as a part of its peak: a linear warm-up, then the inverse square root."""
    return min((step + 1) / warmup, (warmup / (step + 1)) ** 0.5)


def loss_of(model: MarianMTModel, source: Tensor, target: Tensor) -> Tensor:
    """Return the mean loss of a batch's target tokens, with label smoothing."""
    read = F.pad(target[:, :-1], (1, 0), value=PAD)
    logits = model(
        input_ids=source, attention_mask=(source != PAD).long(), decoder_input_ids=read, use_cache=False
    ).logits
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=0.1)


@torch.inference_mode()
def translate(
    model: MarianMTModel, pieces: sentencepiece.SentencePieceProcessor, texts: Sequence[str], beam: int
) -> list[str]:
    """Translate with the library's own search, sentences of similar length together."""
    model.eval()
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    written = [""] * len(texts)
    for start in range(0, len(order), TRANSLATED):
        chosen = order[start : start + TRANSLATED]
        source = padded([[*pieces.encode(texts[index])[:MAX_LENGTH], END] for index in chosen])
        found = model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            num_beams=beam,
            do_sample=False,
            max_new_tokens=2 * source.size(1) + 10,
        )
        for index, ids in zip(chosen, found.tolist(), strict=True):
            written[index] = pieces.decode([each for each in ids if each not in (PAD, END)])
    return written


def scores(translations: Sequence[str], references: dict[str, list[str]], direction: Direction) -> dict[str, float]:
    """Return the figures that benchmarks/everyday.py reports of clean validation text."""
    source, target = direction
    written = dict(zip(references, translations, strict=True))
    pairs = [(written[text], [each]) for text, own in references.items() for each in own]
    long = [text for text in references if is_long(text, source)]
    found = {
        "BLEU": bleu(translations, list(references.values()), target),
        "chrF2": chrf(translations, list(references.values())),
        "BLEU, one reference": bleu([text for text, _ in pairs], [own for _, own in pairs], target),
        "BLEU, long": bleu([written[text] for text in long], [references[text] for text in long], target)
        if long
        else 0.0,
    }
    return {name: round(score, 2) for name, score in found.items()}


def main() -> None:
    """Train and score a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--like", required=True, help="a bundle or run folder of ours, whose size is taken")
    parser.add_argument("--direction", default="en-de")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch-tokens", type=int, default=1024)
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument("--warmup", type=int, default=4000)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--sample", type=int, help="sources of the validation set, chosen as in everyday.py")
    parser.add_argument("--log-every", type=int, default=500)
    parser.add_argument("--output", type=Path, required=True, help="a new folder: model, pieces, results.json")
    arguments = parser.parse_args()
    source, _, target = arguments.direction.partition("-")
    arguments.output.mkdir(parents=True)
    bundle, sides = (
        load_bundle(arguments.like),
        list(map(list, zip(*text_pairs((source, target), "train"), strict=True))),
    )
    pieces = learn_pieces([*sides[0], *sides[1]], n_pieces(bundle), arguments.output)
    ids = [[[*each, END] for each in pieces.encode(side)] for side in sides]
    pairs = [pair for pair in zip(*ids, strict=True) if longer(pair) <= MAX_LENGTH]
    model = build(bundle, pieces.vocab_size())
    size = {"parameters": n_parameters(model), "of ours": sum(each.size for each in bundle.weights.values())}
    print(size, f"d_ff {model.config.encoder_ffn_dim}, {len(pairs):,} pairs", flush=True)
    result = {**size, **train(model, pairs, arguments)}
    model.save_pretrained(arguments.output)
    references = validation_set((source, target), arguments.sample)
    for name, beam in (("greedy", 1), (f"beam {arguments.beam}", arguments.beam)):
        result[name] = scores(translate(model, pieces, list(references), beam), references, (source, target))
        print(name, result[name], flush=True)
    settings = {name: str(value) for name, value in vars(arguments).items()}
    text = json.dumps({"settings": settings, "results": result}, indent=2)
    (arguments.output / "results.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
