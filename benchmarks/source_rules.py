"""How often each rule changes real sentences before the model reads them, and whether the translation gets better.

    python benchmarks/source_rules.py --show

For English, German and French it takes 10,000 sentences and titles of flores-dev and `world` (the shipped model has
learned from neither), and as many of customers' chats (`bcontrast`). Prints a table: sentences that a rule changes, in
all and of 10,000; the chrF of the changed ones (500 at most) with and without the rule, translated by everyday,
greedily, with 8-bit integers; how many get a better or a worse chrF. With `--show` also each changed sentence. Needs
DRAGOMAN_DATA; takes ten minutes on two cores. `source_rules.md` has what it printed when there were more rules.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from unittest.mock import patch

import sacrebleu
from real_text_sets import Direction, Pair, chosen, data_folder, read_set, split_lines, split_pair

from dragoman import Translator
from dragoman.text.shouting import calm, is_shouted

DIRECTIONS: Sequence[Direction] = (("en", "de"), ("en", "fr"), ("de", "en"), ("fr", "en"))
#: A dictionary has no sentences.
LEFT_OUT = ("freedict", "freedict-r")
MOST_TRANSLATED = 500


def world(direction: Direction, only: str = "") -> Iterator[Pair]:
    """Yield the pairs of `world` in a direction, of all its sources or one."""
    (other,) = set(direction) - {"en"}
    for path in sorted((data_folder() / "world" / f"en-{other}").glob("*.tsv.gz")):
        source = path.name.split(".")[0]
        if source not in LEFT_OUT and (source == only or not only):
            for line in split_lines(gzip.decompress(path.read_bytes()).decode()):
                english, foreign = split_pair(line)
                yield (english, foreign) if direction[0] == "en" else (foreign, english)


def sentences(kind: str, direction: Direction) -> list[Pair]:
    """Return at most 10,000 different sentences of a kind with their translations."""
    if kind == "chat":
        pairs = list(world(direction, "bcontrast"))
    else:
        pairs = list(world(direction))
        if (flores := read_set("encyclopedic", direction)) is not None:
            pairs += [
                (source, references[0]) for source, references in zip(flores.sources, flores.references, strict=True)
            ]
    pairs = list(dict(pairs).items())
    return [pairs[line] for line in chosen([source for source, _ in pairs], 10_000)]


def rules(
    translator: Translator,
) -> dict[str, tuple[Callable[[str, str], str], Callable[[], AbstractContextManager[object]]]]:
    """Return each rule by its name, with what turns it off."""
    n_pieces = translator.pipeline.planner._n_pieces

    def capitals(text: str, language: str) -> str:
        return calm(text, language, n_pieces) if is_shouted(text) else text

    return {"capitals": (capitals, lambda: patch("dragoman.translator.reading.is_shouted", lambda text: False))}


def main() -> None:
    """Measure the rules and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print each changed sentence with both translations")
    parser.add_argument("--rules", nargs="+", help="only these")
    parser.add_argument("--kinds", nargs="+", default=("mixed", "chat"))
    arguments = parser.parse_args()
    translator = Translator.load("everyday", device="cpu", precision="int8")
    print("| text | direction | rule | sentences | changed | of 10,000 | chrF with | chrF without | better | worse |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in arguments.kinds:
        for direction in DIRECTIONS:
            pairs = sentences(kind, direction)
            for name, (rule, off) in rules(translator).items():
                if arguments.rules and name not in arguments.rules:
                    continue
                changed = [pair for pair in pairs if rule(pair[0], direction[0]) != pair[0]]
                report(
                    f"{kind} | {'-'.join(direction)} | {name}",
                    len(pairs),
                    changed,
                    translator,
                    direction,
                    off,
                    rule,
                    show=arguments.show,
                )


def report(
    name: str,
    n_all: int,
    changed: Sequence[Pair],
    translator: Translator,
    direction: Direction,
    off: Callable[[], AbstractContextManager[object]],
    rule: Callable[[str, str], str],
    *,
    show: bool,
) -> None:
    """Print the row of one rule in one direction."""
    if not n_all:
        return
    row = f"| {name} | {n_all:,} | {len(changed):,} | {len(changed) * 10_000 / n_all:.1f}"
    if not changed:
        print(f"{row} | | | | |", flush=True)
        return
    pairs = [changed[line] for line in chosen([source for source, _ in changed], MOST_TRANSLATED)]
    sources, references = zip(*pairs, strict=True)

    def translated() -> list[str]:
        found = translator.translate(list(sources), source_lang=direction[0], target_lang=direction[1], beam_size=1)
        return [each.text for each in found]

    with_rule = translated()
    with off():
        without = translated()
    scores = [
        [sacrebleu.sentence_chrf(text, [right]).score for text, right in zip(texts, references, strict=True)]
        for texts in (with_rule, without)
    ]
    better = sum(one > other for one, other in zip(*scores, strict=True))
    worse = sum(one < other for one, other in zip(*scores, strict=True))
    on, left_out = (sacrebleu.corpus_chrf(texts, [list(references)]).score for texts in (with_rule, without))
    print(f"{row} | {on:.1f} | {left_out:.1f} | {better} | {worse} |", flush=True)
    if show:
        for source, right, one, other in zip(sources, references, with_rule, without, strict=True):
            print(f"  source:  {source}\n  changed: {rule(source, direction[0])}\n  with:    {one}")
            print(f"  without: {other}\n  human:   {right}\n")


if __name__ == "__main__":
    main()
