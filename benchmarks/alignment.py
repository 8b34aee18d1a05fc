"""Word alignments of a model against 30 pairs of Multi30k (English-German) whose words were linked by reading them.

    python benchmarks/alignment.py MODEL        # needs DRAGOMAN_DATA; about a minute

`alignment.tsv` has, for the pairs of the validation set with these numbers (from 0), links as source-target for sure
ones and source?target for possible ones. The heads are chosen as `dragoman inspect alignment` does, on the pairs with
even numbers, and measured on these, which are odd. Alignment error rate (Och and Ney 2003):
1 - (|found and sure| + |found and possible|) / (|found| + |sure|), where sure links are possible too.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from dragoman.alignment.heads import AlignmentHeads
from dragoman.alignment.word_spans import words
from dragoman.data.corpus import read_pairs
from dragoman.inspection.head_choice import Links, choose_heads, diagonal, head_weights, links_of, silver_links
from dragoman.settings.data_config import DataConfig
from dragoman.translator import Translator


def read_links(text: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Sure links, and possible ones with the sure among them."""
    found = [(int(source), mark, int(target)) for source, mark, target in re.findall(r"(\d+)([-?])(\d+)", text)]
    return {(i, j) for i, mark, j in found if mark == "-"}, {(i, j) for i, _, j in found}


def figures(found: Links, gold: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]) -> str:
    """Precision, recall and error rate."""
    n_found, n_sure = sum(map(len, found)), sum(len(sure) for sure, _ in gold)
    n_right = sum(len(ours & possible) for ours, (_, possible) in zip(found, gold, strict=True))
    n_got = sum(len(ours & sure) for ours, (sure, _) in zip(found, gold, strict=True))
    rate = 1 - (n_got + n_right) / (n_found + n_sure)
    return f"{n_right / n_found:10.1%} {n_got / n_sure:8.1%} {rate:11.3f}"


def main(name: str) -> None:
    """Print a line for each way to align."""
    rows = [line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text().strip().split("\n")]
    gold = [read_links(links) for _, links in rows]
    data = DataConfig(corpus="multi30k", source_lang="en", target_lang="de")
    training, validation = list(read_pairs(data, "train")), list(read_pairs(data, "validation"))[:1000]
    translator = Translator.load(name)
    pairs = [validation[int(number)] for number, _ in rows]
    chosen = choose_heads(translator, training, validation).heads
    in_words = [[(words(source), words(target)) for source, target in text] for text in (training, validation)]
    ibm1 = silver_links(*in_words)
    maps = head_weights(translator, pairs)
    config = translator.models[0].config
    ways = {"diagonal": [diagonal(pair) for pair in pairs]}
    ways["IBM model 1, both ways"] = [ibm1[int(number)] for number, _ in rows]
    for layer in range(config.n_decoder_layers):
        heads = tuple((layer, head) for head in range(config.n_heads))
        ways[f"all heads of layer {layer + 1}"] = links_of(maps, AlignmentHeads(heads=heads, shifted=False))
    ways["heads by default"] = links_of(maps, AlignmentHeads.default(config))
    ways["heads chosen"] = links_of(maps, chosen)
    print(f"{'':24} {'precision':>10} {'recall':>8} {'error rate':>11}")
    for way, found in ways.items():
        print(f"{way:24} {figures(found, gold)}")
    print("chosen:", chosen.model_dump_json())


if __name__ == "__main__":
    main(sys.argv[1])
