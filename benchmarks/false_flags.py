"""Human translations that the checks of `content` flag: false alarms, in per cent of the pairs.

    python benchmarks/false_flags.py --show money

Reads flores-dev (English and each of 15 other languages, both ways), news-2013, and the validation text of `world`;
`--texts` chooses among them. Prints a table for each text: the pairs of a direction, and for each check the share that
it flags. `--show` with the names of checks prints the flagged pairs. Needs DRAGOMAN_DATA; no model is loaded.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator, Sequence

from real_text_sets import Direction, Pair, data_folder, read_set, split_lines, split_pair

from dragoman.content.comparing import faults

LANGUAGES = ("de", "fr", "zh", "es", "it", "nl", "pt", "ru", "pl", "ja", "ar", "sv", "cs", "tr", "ko")
TEXTS = {"flores-dev": "encyclopedic", "news-2013": "news"}
ALL_TEXTS = (*TEXTS, "world")


def pairs_of(text: str, direction: Direction) -> list[Pair]:
    """Return the pairs of a text in a direction; none if it has not both languages."""
    if text == "world":
        return list(_world(direction))
    found = read_set(TEXTS[text], direction)
    return [] if found is None else [(s, r[0]) for s, r in zip(found.sources, found.references, strict=True)]


def _world(direction: Direction) -> Iterator[Pair]:
    (other,) = set(direction) - {"en"}
    for path in sorted((data_folder() / "world" / f"en-{other}").glob("*.val.tsv.gz")):
        for line in split_lines(gzip.decompress(path.read_bytes()).decode()):
            english, foreign = split_pair(line)
            yield (english, foreign) if direction[0] == "en" else (foreign, english)


def flagged(pairs: Sequence[Pair], direction: Direction, show: Sequence[str]) -> Counter[str]:
    """Return how many pairs each check flags, and print those of the checks to show."""
    counts: Counter[str] = Counter()
    for source, target in pairs:
        found = faults(source, target, direction)
        counts.update({each.check for each in found})
        for each in found:
            if each.check in show:
                print(f"{'-'.join(direction)} {each}\n  {source}\n  {target}\n")
    return counts


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", nargs="*", default=(), metavar="CHECK", help="print the pairs that a check flags")
    parser.add_argument("--languages", nargs="*", default=LANGUAGES, metavar="CODE")
    parser.add_argument("--texts", nargs="*", default=ALL_TEXTS, choices=ALL_TEXTS, metavar="TEXT")
    arguments = parser.parse_args()
    for text in arguments.texts:
        rows: dict[Direction, tuple[int, Counter[str]]] = {}
        for language in arguments.languages:
            for direction in (("en", language), (language, "en")):
                if pairs := pairs_of(text, direction):
                    rows[direction] = len(pairs), flagged(pairs, direction, arguments.show)
        checks = sorted({check for _, counts in rows.values() for check in counts})
        print(f"\n| {text} | pairs | {' | '.join(checks)} |\n|{'---|' * (2 + len(checks))}")
        for direction, (n_pairs, counts) in rows.items():
            shares = " | ".join(f"{counts[check] / n_pairs:.2%}" for check in checks)
            print(f"| {'-'.join(direction)} | {n_pairs:,} | {shares} |")


if __name__ == "__main__":
    main()
