"""The rules of `data.drop`, measured: pairs of real text that they flag, and pairs spoiled on purpose that they find.

    python benchmarks/pair_faults.py --source train.en --target train.de
    python benchmarks/pair_faults.py --corpus multi30k --target-lang fr

Prints two tables. The first has the number of pairs that each rule flags in the text as it is; `--samples 30` prints so
many of them, to be read. The second has the share that each rule finds after one fault is put into a pair: another
number, the source as the target, both sides swapped, UTF-8 read as Windows-1252 (also the share that is repaired
exactly), or one line as the target of every 200th pair. It takes about a minute for 150,000 pairs.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Sequence

from dragoman.data.checks.mojibake import has_mojibake, mend_mojibake
from dragoman.data.checks.pair_faults import FaultCounter
from dragoman.data.corpus import languages, read_pairs
from dragoman.data.hashed_pairs import HashedPairs, text_hash
from dragoman.data.repeats import find_repeats
from dragoman.settings.data_config import DataConfig, Fault
from dragoman.text.languages import own_letters

Pair = tuple[str, str]
RULES: tuple[Fault, ...] = ("numbers", "copied", "script", "language", "mojibake", "wordless")
#: Pairs that are spoiled.
N_SPOILED = 4_000
BOILERPLATE = "All rights reserved, 2024."
BOILERPLATE_STEP = 200
_NOT_IN_CP1252 = (0x81, 0x8D, 0x8F, 0x90, 0x9D)


def flagged(pairs: Sequence[Pair], langs: tuple[str, str], rule: Fault) -> list[Pair]:
    """Return the pairs that one rule flags."""
    counter = FaultCounter(*langs, (rule,))
    return [pair for line, pair in enumerate(pairs, start=1) if counter.problem(line, *pair)]


def other_number(text: str, draw: random.Random) -> str:
    """Return the text with one number replaced by another of as many digits."""
    match = draw.choice(list(re.finditer(r"\d+", text)))
    new, size = match.group(), len(match.group())
    while new == match.group():
        new = str(draw.randrange(10 ** (size - 1) if size > 1 else 1, 10**size))
    return text[: match.start()] + new + text[match.end() :]


def misread(text: str) -> str:
    """Return the UTF-8 of a text read as Windows-1252."""
    return "".join(bytes([byte]).decode("latin-1" if byte in _NOT_IN_CP1252 else "cp1252") for byte in text.encode())


def n_repeated(pairs: Sequence[Pair]) -> int:
    """Return the number of pairs of repeated lines."""
    with HashedPairs("target") as hashed:
        for source, target in pairs:
            hashed.add(text_hash(source), text_hash(target), len(target.encode()))
        return int(find_repeats(hashed).is_repeat.sum())


def report_spoiled(pairs: Sequence[Pair], langs: tuple[str, str], draw: random.Random) -> None:
    """Print the share of spoiled pairs that are found."""

    def sample(is_wanted: Callable[[Pair], bool]) -> list[Pair]:
        wanted = [pair for pair in pairs if is_wanted(pair)]
        return draw.sample(wanted, min(N_SPOILED, len(wanted)))

    def show(name: str, n_found: int, n_pairs: int) -> None:
        if n_pairs:
            print(f"| {name} | {n_pairs:,} | {n_found / n_pairs:.1%} |")

    print("\n| spoiled | pairs | found |\n|---|---|---|")
    with_numbers = sample(lambda pair: bool(re.search(r"\d", pair[1])))
    good = set(with_numbers) - set(flagged(with_numbers, langs, "numbers"))
    changed = [(source, other_number(target, draw)) for source, target in with_numbers if (source, target) in good]
    show("numbers: another number", len(flagged(changed, langs, "numbers")), len(changed))
    copies = [(source, source) for source, _ in sample(lambda pair: True)]
    show("copied: the source as the target", len(flagged(copies, langs, "copied")), len(copies))
    if own_letters(langs[0]) != own_letters(langs[1]):
        show("script: the source as the target", len(flagged(copies, langs, "script")), len(copies))
    swapped = [(target, source) for source, target in sample(lambda pair: True)]
    show("language: both sides swapped", len(flagged(swapped, langs, "language")), len(swapped))
    texts = [side for pair in sample(lambda pair: not "".join(pair).isascii()) for side in pair if not side.isascii()]
    show("mojibake", sum(has_mojibake(misread(text)) for text in texts), len(texts))
    show("mojibake, repaired exactly", sum(mend_mojibake(misread(text)) == text for text in texts), len(texts))
    mixed = [(s, t if i % BOILERPLATE_STEP else BOILERPLATE) for i, (s, t) in enumerate(pairs)]
    n_injected = len(pairs[::BOILERPLATE_STEP])
    show("repeated: one target for many", n_repeated(mixed) - n_repeated(pairs), n_injected)


def main() -> None:
    """Measure the rules and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("corpus", "source", "target", "pairs", "source-lang", "target-lang"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--samples", type=int, default=0, help="flagged pairs to print for each rule")
    arguments = vars(parser.parse_args())
    n_samples = arguments.pop("samples")
    data = DataConfig(**arguments)
    pairs, langs, draw = list(read_pairs(data, "train")), languages(data), random.Random(1)
    print(f"{len(pairs):,} pairs, {langs[0]} to {langs[1]}\n\n| rule | flagged |\n|---|---|")
    shown = []
    for rule in RULES:
        found = flagged(pairs, langs, rule)
        print(f"| {rule} | {len(found):,} |")
        shown += [(rule, *pair) for pair in draw.sample(found, min(n_samples, len(found)))]
    print(f"| repeated | {n_repeated(pairs):,} |")
    report_spoiled(pairs, langs, draw)
    for rule, source, target in shown:
        print(f"{rule}: {source} | {target}")


if __name__ == "__main__":
    main()
