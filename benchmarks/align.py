"""Measure how well sentences of two documents are paired: `python benchmarks/align.py OUTPUT.json`.

A document is texts of documentation whose translations are known, in order, one after the other. On each side some
are left out, some are joined with the next. Strict F1 counts a group if its sentences are exactly those of a true
one; lax F1 counts it if it shares a sentence on both sides with a true one.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from dragoman.alignment.sentence_pairs import Alignment, Sentence, align_sentences

DATA = Path(os.environ["DRAGOMAN_DATA"])
#: Files of pairs, in the folder `world` of the data.
FILES = [
    *(f"en-{language}/{name}" for language in ("de", "fr", "es", "ru", "ja", "zh") for name in
      ("libreoffice-help", "debian-handbook", "debian-reference", "gimp-help", "gnome-docs")),
]  # fmt: skip
N_PAIRS = 1000
#: Shares of texts that are left out of a side, and that are joined with the next.
DROPPED, JOINED = 0.05, 0.05

Group = tuple[tuple[int, ...], tuple[int, ...]]


def make_documents(pairs: Sequence[tuple[str, str]], seed: int) -> tuple[list[str], list[str], set[Group]]:
    """Return the sentences of two documents, and the true groups."""
    chance = random.Random(seed)
    sides: tuple[list[str], list[str]] = [], []
    groups, index = set(), 0
    while index < len(pairs):
        draw = chance.random()
        left, right = ([pair[side] for pair in pairs[index : index + 2]] for side in (0, 1))
        index += 1
        if draw < 2 * DROPPED:
            side = int(draw < DROPPED)
            sides[side].append((left, right)[side][0])
            continue
        texts = [left[:1], right[:1]]
        if draw < 2 * (DROPPED + JOINED) and len(left) == 2:
            index += 1
            joined = int(draw < 2 * DROPPED + JOINED)
            texts = [left, right]
            texts[joined] = [" ".join(texts[joined])]
        first = [len(side) for side in sides]
        for side, own in zip(sides, texts, strict=True):
            side.extend(own)
        groups.add(tuple(tuple(range(start, len(side))) for start, side in zip(first, sides, strict=True)))
    return *sides, groups


def f1(found: Iterable[Group], true: Iterable[Group], *, is_strict: bool) -> float:
    """Return the F1 of groups without empty sides."""
    found, true = ([group for group in groups if group[0] and group[1]] for groups in (found, true))
    shares = []
    for ours, others in ((found, true), (true, found)):
        links = {(left, right) for group in others for left in group[0] for right in group[1]}
        known = set(others)
        hits = sum(
            group in known if is_strict else any((left, right) in links for left in group[0] for right in group[1])
            for group in ours
        )
        shares.append(hits / max(1, len(ours)))
    return 2 * shares[0] * shares[1] / max(1e-9, sum(shares))


def as_groups(alignment: Alignment) -> list[Group]:
    """Return the groups of an alignment as tuples."""
    return [(tuple(group.sources), tuple(group.targets)) for group in alignment.groups]


def main() -> None:
    """Measure, and write the figures."""
    figures = {}
    for seed, name in enumerate(FILES):
        path = DATA / "world" / f"{name}.train.tsv.gz"
        if not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = (line.rstrip("\n").split("\t")[:2] for line in file)
            pairs = [
                (line[0], line[1])
                for line, _ in zip((one for one in lines if len(one) == 2), range(N_PAIRS), strict=False)
            ]
        left, right, true = make_documents(pairs, seed)
        start = time.process_time()
        alignment = align_sentences([Sentence(text) for text in left], [Sentence(text) for text in right])
        seconds = time.process_time() - start
        found = as_groups(alignment)
        figures[name] = {
            "strict_f1": round(f1(found, true, is_strict=True), 4),
            "lax_f1": round(f1(found, true, is_strict=False), 4),
            "sentences": [len(left), len(right)],
            "relation": round(alignment.relation, 1),
            "cpu_seconds": round(seconds, 1),
        }
        print(name, figures[name], flush=True)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
