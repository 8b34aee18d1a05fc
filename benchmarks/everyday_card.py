"""Write the card of `everyday`, with its own figures and translations, in two steps:

    python benchmarks/everyday_card.py read MODEL > read.tsv   # then mark each: right, partly, wrong
    python benchmarks/everyday_card.py card everyday-text --scores scores.json --real real.json --read read.tsv >card.md

The sentences to be read are those of everyday/unusual.tsv and everyday/ordinary.tsv, twenty of each a direction. The
text of the card is everyday/card.md, in which names between ‹ and › stand for figures and tables. The JSON files are
those of `benchmarks/everyday.py MODEL --sample 300 --output scores.json` and of `benchmarks/real_text.py MODEL --json
real.json`. everyday-text is what benchmarks/everyday_text.py has written: it tells the pairs of each source.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from everyday_made_up import FOLDER, read_table
from everyday_sets import LANGUAGES
from everyday_tables import n_made_up
from everyday_world import read_source, simplified
from real_text_sets import KINDS, digest, split_lines

from dragoman.data.augmentation.shared import Pair
from dragoman.text.cleaning import clean
from dragoman.translator import Translator

#: Tables of sentences, and the directions in the order of the card.
TABLES = ("unusual", "ordinary")
DIRECTIONS = ("en-de", "de-en", "en-fr", "fr-en", "zh-en", "en-zh", "fr-de", "de-fr")
MARKS = ("right", "partly", "wrong")
#: Pairs of each source that the card shows, chosen by their hashes.
N_SHOWN = 5
_BLANK = re.compile("‹([^›]+)›")


def translations(model: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield table, direction, source, translation and an empty mark of each sentence to be read."""
    translator = Translator.load(model)
    for table in TABLES:
        rows = read_table(f"{table}.tsv")
        for direction in DIRECTIONS:
            source_lang, target_lang = direction.split("-")
            sources = [row[1 + LANGUAGES.index(source_lang)] for row in rows]
            found = translator.translate(sources, source_lang=source_lang, target_lang=target_lang)
            yield from ((table, direction, text, each.text, "") for text, each in zip(sources, found, strict=True))


def scores(results: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the rows of the table of everyday sentences."""
    yield "| | BLEU | one | chrF2 | CAPS | mark | typo | lower | kept | phrases |"
    yield "|---" * 10 + "|"
    for result in results:
        clean = result["perturbed"]["clean"]
        lost = [
            f"{result['perturbed'][name] - clean:+.1f}" if name in result["perturbed"] else "–"
            for name in ("CAPS", "no final mark", "typo", "lower case")
        ]
        right, of = (sum(column) for column in zip(*result["phrases"].values(), strict=True))
        cells = [f"{result[name]:.1f}" for name in ("BLEU", "BLEU, one reference", "chrF2")]
        cells += [*lost, f"{n_made_up(result):g} %", f"{right} of {of}"]
        yield f"| {result['direction']} | " + " | ".join(cells) + " |"


def real(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of BLEU of each kind of text and direction, of the first system of a report."""
    own = report["systems"][0]
    by_kind: dict[str, dict[str, str]] = {}
    for result in report["results"]:
        for text in result["sets"]:
            by_kind.setdefault(text["kind"], {})[result["direction"]] = f"{text['systems'][own]['BLEU']:.1f}"
    directions = [each for each in DIRECTIONS if any(each in cells for cells in by_kind.values())]
    yield "| BLEU | " + " | ".join(directions) + " |"
    yield "|---" * (1 + len(directions)) + "|"
    for kind in (each for each in KINDS if each in by_kind):
        yield f"| {kind} | " + " | ".join(by_kind[kind].get(each, "–") for each in directions) + " |"


def read_written(folder: Path, kind: str, language: str) -> set[Pair]:
    """Return the pairs of a kind of text that everyday_text.py has written; none if there is no such text."""
    name = folder / f"en-{language}-world-{kind}"
    if not Path(f"{name}.en.gz").exists():
        return set()
    sides = [gzip.decompress(Path(f"{name}.{each}.gz").read_bytes()).decode() for each in ("en", language)]
    return set(zip(*map(split_lines, sides), strict=True))


def sources(folder: Path) -> tuple[list[str], list[str]]:
    """Return the rows of the table of sources, and those of the pairs that are shown of each."""
    languages = LANGUAGES[1:]
    written: dict[tuple[str, str], set[Pair]] = {}
    rows, shown = (
        [f"| source | kind | terms | {' | '.join(f'en-{each}' for each in languages)} |", "|---" * 6 + "|"],
        [],
    )
    for name, kind, terms, is_free in read_table("sources.tsv"):
        if is_free != "yes":
            continue
        numbers: list[str] = []
        pairs: list[Pair] = []
        for language in languages:
            if (key := (kind, language)) not in written:
                written[key] = read_written(folder, kind, language)
            write = simplified if language == "zh" else clean
            own = {(clean(source), write(target)) for source, target in read_source(name, language)} & written[key]
            numbers.append(f"{len(own):,}" if own else "–")
            pairs += own
        rows.append(f"| {name} | {kind} | {terms} | {' | '.join(numbers)} |")
        first = sorted(pairs, key=lambda pair: digest(f"shown {pair}"))[:N_SHOWN]
        shown += [f"| {name} | {source} | {target} |" for source, target in first]
    return rows, ["| source | English | translation |", "|---|---|---|", *shown]


def counts(rows: Sequence[Sequence[str]]) -> str:
    """Return the number of each mark, such as "3 right, 5 partly, 12 wrong"."""
    marks = [row[-1] for row in rows]
    if unknown := set(marks) - {*MARKS}:
        raise SystemExit(f"a sentence without a mark, or with another one: {sorted(unknown)[0]!r}; {', '.join(MARKS)}")
    return ", ".join(f"{marks.count(mark)} {mark}" for mark in MARKS)


def sentences(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the tables of sentences, one a direction, with their marks."""
    for direction in DIRECTIONS:
        own = [row for row in rows if row[1] == direction]
        yield f"### {direction}: {counts(own)}"
        yield from ("", "| source | translation | |", "|---|---|---|")
        yield from ("| " + " | ".join(cell.replace("|", "\\|") for cell in row[2:]) + " |" for row in own)
        yield ""


def card(arguments: argparse.Namespace) -> str:
    """Return the card."""
    results = json.loads(arguments.scores.read_text(encoding="utf-8"))["results"]
    report = json.loads(arguments.real.read_text(encoding="utf-8"))
    with arguments.read.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    blanks = {"scores": "\n".join(scores(results)), "sample": str(report["sample"]), "real": "\n".join(real(report))}
    blanks["sources"], blanks["pairs"] = ("\n".join(each) for each in sources(arguments.text))
    for table in TABLES:
        own = [row for row in rows if row[0] == table]
        blanks |= {table: "\n".join(sentences(own)).rstrip(), f"{table} counts": counts(own)}
    text = (FOLDER / "card.md").read_text(encoding="utf-8")
    if missing := sorted({name for name in _BLANK.findall(text) if name not in blanks}):
        print(f"to be filled by hand: {', '.join(missing)}", file=sys.stderr)
    return _BLANK.sub(lambda found: blanks.get(found[1], found[0]), text)


def main() -> None:
    """Write the sentences to be read, or the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("read").add_argument("model")
    own = commands.add_parser("card")
    own.add_argument("text", type=Path, help="the folder of benchmarks/everyday_text.py")
    for name in ("scores", "real", "read"):
        own.add_argument(f"--{name}", type=Path, required=True)
    arguments = parser.parse_args()
    if arguments.command == "read":
        for row in translations(arguments.model):
            print(*row, sep="\t", flush=True)
    else:
        print(card(arguments), end="")


if __name__ == "__main__":
    main()
