"""Measure what `data.context` gains: pronouns, BLEU and chrF of models trained with and without it.

    python benchmarks/context.py made-up FOLDER                # trains two very small models; minutes
    python benchmarks/context.py chat FOLDER train.json        # writes the text and recipes of dialogues, BConTrasT's
    dragoman train FOLDER/context.yaml --init-from everyday -o FOLDER/context     # and the same with alone.yaml
    python benchmarks/context.py score FOLDER context alone    # translates the dialogues that were held out

The made-up documents name a thing and then say "it": only the sentence before tells the German gender. Of the
dialogues (`train.json` of github.com/Unbabel/BConTrasT, CC BY-SA 4.0) 70 of 550 are held out. The first run is
translated (greedily) with the context of each line, without, and with that of another dialogue; the second one line by
line.

Pronouns: of the lines whose English has "it" or "they", the F1 of the German words for them (er, sie, es, ihn, ihm,
ihnen, das) against the reference, each counted at most as often as there; of lines with "you", those of Sie, Ihnen,
Ihr..., du, dich, dir, dein... p is the probability of the distance from the first row by chance: a paired bootstrap of
1,000 samples: of lines for BLEU and chrF, of documents for pronouns.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dragoman import Translator
from dragoman.evaluation.metrics import paired_test
from dragoman.translator import Request

N_HELD_OUT, N_SAMPLES = 70, 1000
_WORD = re.compile(r"\w+")
#: English words, and German ones that translate them.
KINDS = {
    "it, they": (re.compile(r"\b(it|its|they|them)\b", re.I), re.compile(r"er|sie|es|ihn|ihm|ihnen|das", re.I)),
    "you": (re.compile(r"\byou(r|rs)?\b", re.I), re.compile(r"Sie|Ihnen|Ihr\w*|[Dd](u|ich|ir|ein\w*)")),
}
THINGS = {
    "Der": "table:Tisch chair:Stuhl spoon:Löffel key:Schlüssel coat:Mantel letter:Brief hat:Hut",
    "Die": "lamp:Lampe door:Tür cup:Tasse bag:Tasche clock:Uhr bottle:Flasche bridge:Brücke map:Karte",
    "Das": "book:Buch house:Haus boat:Boot picture:Bild shirt:Hemd window:Fenster knife:Messer glass:Glas",
}
IT = {"Der": "Er", "Die": "Sie", "Das": "Es"}
IS = {"new": "neu", "old": "alt", "red": "rot", "big": "groß", "small": "klein", "blue": "blau", "good": "gut"}

Lines = Sequence[tuple[str, str]]


def made_up(seed: int, n_documents: int) -> Iterator[tuple[str, str]]:
    """Yield the pairs of documents of two sentences, with an empty pair after each."""
    draw = random.Random(seed)
    things = [(*pair.split(":"), article) for article, pairs in THINGS.items() for pair in pairs.split()]
    for _ in range(n_documents):
        english, german, article = draw.choice(things)
        first, second = draw.sample(sorted(IS), 2)
        yield f"The {english} is {first}.", f"{article} {german} ist {IS[first]}."
        yield f"It is {second}.", f"{IT[article]} ist {IS[second]}."
        yield "", ""


def dialogues(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the key and the English-German pairs of each dialogue; German customers are turned round."""
    for key, turns in json.loads(path.read_text(encoding="utf-8")).items():
        pairs = []
        for turn in sorted(turns, key=lambda turn: turn["utteranceID"]):
            source, target = (" ".join(turn[side].split()) for side in ("source", "target"))
            pairs.append((source, target) if turn["speaker"] == "agent" else (target, source))
        yield key, pairs


def write(folder: Path, name: str, pairs: Lines) -> None:
    """Write both sides of some pairs."""
    for side, code in enumerate(("en", "de")):
        (folder / f"{name}.{code}").write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")


def recipes(folder: Path, settings: str, tokens: tuple[int, int]) -> None:
    """Write the recipes with context and without, whose batches have about as many pairs."""
    files = ", ".join(
        f"{split}{side}: {folder / name}.{code}"
        for split, name in (("", "train"), ("validation_", "validation"))
        for side, code in (("source", "en"), ("target", "de"))
    )
    for name, context, n_tokens in (("context", ", context: 1", tokens[0]), ("alone", "", tokens[1])):
        data = f"data: {{{files}, source_lang: en, target_lang: de{context}}}\n"
        (folder / f"{name}.yaml").write_text(f"{data}{settings.format(n_tokens)}", encoding="utf-8")


def prepare_made_up(folder: Path) -> None:
    """Write made-up documents, train both models, and score them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed, size in (("train", 1, 2000), ("validation", 2, 100), ("test", 3, 200)):
        write(folder, name, list(made_up(seed, size)))
    shape = "{{d_model: 64, d_ff: 128, n_heads: 4, n_encoder_layers: 2, n_decoder_layers: 2, max_length: 64}}"
    training = "{{max_steps: 400, warmup_steps: 100, lr: 0.003, batch_tokens: {}, validate_every: 400}}"
    rest = f"model: {shape}\ntraining: {training}\ntokenizer: {{{{kind: words}}}}\n"
    recipes(folder, rest, (1000, 700))
    for name in ("context", "alone"):
        command = ["dragoman", "train", str(folder / f"{name}.yaml"), "-o", str(folder / name)]
        subprocess.run(command, check=True)
    score(folder, "context", "alone")


def prepare_chat(folder: Path, path: Path) -> None:
    """Write dialogues: those whose hash is among the smallest are held out."""
    folder.mkdir(parents=True, exist_ok=True)
    known = dict(dialogues(path))
    held_out = sorted(known, key=lambda key: hashlib.sha256(key.encode()).hexdigest())[:N_HELD_OUT]
    end = [("", "")]
    write(folder, "train", [pair for key in known if key not in held_out for pair in known[key] + end])
    write(folder, "validation", [pair for key in known if key in held_out[:5] for pair in known[key] + end])
    write(folder, "test", [pair for key in known if key in held_out[5:] for pair in known[key] + end])
    recipes(folder, "training: {{max_steps: 68, validate_every: 100, batch_tokens: {}}}\n", (4096, 2150))


def documents(source: Path, target: Path) -> list[list[tuple[str, str]]]:
    """Return the documents of two files, which empty lines end."""
    sides = (path.read_text(encoding="utf-8").split("\n") for path in (source, target))
    found: list[list[tuple[str, str]]] = [[]]
    for pair in zip(*sides, strict=True):
        if all(pair):
            found[-1].append(pair)
        elif found[-1]:
            found.append([])
    return [one for one in found if one]


def rows(texts: Sequence[Lines], reader: Translator, alone: Translator) -> Iterator[tuple[str, list[str]]]:
    """Yield each way to translate some documents, with the translations."""
    contexts = [[(one[number - 1][0],) if number else () for number in range(len(one))] for one in texts]
    ways: dict[str, tuple[Translator, Callable[[int, int], tuple[str, ...]]]] = {
        "alone": (alone, lambda text, line: ()),
        "context": (reader, lambda text, line: contexts[text][line]),
        "context, not given": (reader, lambda text, line: ()),
        "context of another document": (reader, lambda text, line: _other(texts, text, line)),
    }
    for name, (translator, context) in ways.items():
        requests = [
            Request(source, context=context(text, line), source_lang="en", target_lang="de")
            for text, one in enumerate(texts)
            for line, (source, _) in enumerate(one)
        ]
        yield name, [found.text for found in translator.answering(beam_size=1)(requests)]


def _other(texts: Sequence[Lines], text: int, line: int) -> tuple[str, ...]:
    other = texts[(text + 1) % len(texts)]
    return (other[line % len(other)][0],) if line else ()


def counts(pairs: Lines, written: Sequence[str], kind: str) -> NDArray[np.int64]:
    """Return the pronouns of each line that are right, those written and those of the reference: (n_lines, 3)."""
    english, german = KINDS[kind]

    def pronouns(text: str) -> Counter[str]:
        words = [word for word in _WORD.findall(text) if german.fullmatch(word)]
        return Counter(words if kind == "you" else map(str.lower, words))

    found = np.zeros((len(pairs), 3), np.int64)
    for row, (source, reference), translation in zip(found, pairs, written, strict=True):
        if english.search(source):
            own, right = pronouns(translation), pronouns(reference)
            row[:] = (own & right).total(), own.total(), right.total()
    return found


def f1(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return F1 in percent of numbers (..., 3)."""
    total: NDArray[np.float64] = 200 * numbers[..., 0] / np.maximum(numbers[..., 1] + numbers[..., 2], 1)
    return total


def compare(texts: Sequence[Lines], found: Sequence[tuple[str, list[str]]]) -> None:
    """Print a table of the ways to translate: each beside the first, and the context beside none in the same model."""
    _table(texts, found)
    _table(texts, [found[2], found[1]])


def _table(texts: Sequence[Lines], found: Sequence[tuple[str, list[str]]]) -> None:
    pairs = [pair for one in texts for pair in one]
    units = np.repeat(np.arange(len(texts)), list(map(len, texts)))
    kinds = [kind for kind, (english, _) in KINDS.items() if any(english.search(source) for source, _ in pairs)]
    draws = np.random.default_rng(1).integers(units[-1] + 1, size=(N_SAMPLES, units[-1] + 1))
    print(f"{len(pairs):,} lines in {len(texts)} documents")
    print("| | BLEU | p | chrF2 | p |" + "".join(f" {kind} F1 | p |" for kind in kinds))
    first: dict[str, NDArray[np.int64]] = {}
    for name, written in found:
        line = f"| {name} |"
        for own in paired_test(found[0][1], written, [target for _, target in pairs], "de", n_samples=N_SAMPLES)[:2]:
            line += f" {own.system:.2f} | {'' if written is found[0][1] else _p(own.p_value)} |"
        for kind in kinds:
            by_unit = np.zeros((units[-1] + 1, 3), np.int64)
            np.add.at(by_unit, units, counts(pairs, written, kind))
            before = first.setdefault(kind, by_unit)
            gains = f1(by_unit[draws].sum(1)) - f1(before[draws].sum(1))
            p = 2 * min((gains <= 0).mean(), (gains >= 0).mean())
            line += f" {f1(by_unit.sum(0)):.1f} | {'' if before is by_unit else _p(min(p, 1))} |"
        print(line, flush=True)


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 1 / N_SAMPLES else f"< {1 / N_SAMPLES}"


def score(folder: Path, reader: str, alone: str) -> None:
    """Score both models on held-out documents."""
    texts = documents(folder / "test.en", folder / "test.de")
    found = rows(texts, Translator.load(folder / reader), Translator.load(folder / alone))
    compare(texts, list(found))


def main() -> None:
    """Do what the arguments say."""
    what, *rest = sys.argv[1:]
    if what == "made-up":
        prepare_made_up(Path(rest[0]))
    elif what == "chat":
        prepare_chat(Path(rest[0]), Path(rest[1]))
    else:
        score(Path(rest[0]), *rest[1:])


if __name__ == "__main__":
    main()
