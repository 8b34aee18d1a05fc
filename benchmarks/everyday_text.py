"""Write the text that recipes/everyday.yaml, everyday-spans.yaml and everyday-world.yaml read.

    python benchmarks/everyday_text.py everyday-text
    python benchmarks/everyday_text.py everyday-text --all      (also what not everyone may use: everyday/sources.tsv)

- docs-fr, docs-zh: messages of Python's documentation and their translations, 300 of each for validation;
- fr-de: French and German translations of the same English sentence;
- <pair>-days, -numbers, -names, -short: the pairs of Tatoeba that have days or months, numbers, names, or at most two
  words (Chinese: four characters). A training that weighs them more sees more of what must be copied;
- <pair>-world-<kind>: text of all these and of the sources in everyday/sources.tsv, cleaned (everyday_world.py), with
  simplified characters, and without the sentences of the measuring sets;
- <pair>-held-out and <pair>-wikipedia: written sentences, and ones of mlqe-pe's part for tests, by which models are
  compared (everyday_compare.py).

Run it in the folder that has the Tatoeba sets. Needs DRAGOMAN_DATA, and the extra `bench`.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import polib
from everyday_sets import text_pairs
from everyday_world import ADDED, compared, kept, read_source, sources, without_measured, written
from real_text_sets import data_folder

from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.data.augmentation.shared_spans import find_shared

#: Longer messages are whole paragraphs; shorter ones with few letters are code.
LONGEST, LONGEST_TRANSLATION, MOST_WORDS, LETTERS = 350, 450, 55, 0.6
VALIDATION_SIZE = 300
DOCUMENTATION = {"fr": "fr.tar.xz", "zh": "zh-cn.tar.xz"}
TATOEBA: Sequence[Languages] = (("en", "de"), ("en", "fr"), ("zh", "en"), ("fr", "de"))


def documentation(language: str) -> Path:
    """Return the archive of the translations of Python's documentation into a language."""
    return Path(os.environ["DRAGOMAN_DATA"]) / "python-docs" / DOCUMENTATION[language]


def messages(archive: Path) -> list[Pair]:
    """Return the translated messages of PO files that are sentences, each once, in a fixed random order."""
    pairs: list[Pair] = []
    with tarfile.open(archive) as files:
        members = (each for each in files.getmembers() if each.isfile() and each.name.endswith(".po"))
        for member in sorted(members, key=lambda each: each.name):
            file = files.extractfile(member)
            assert file is not None
            entries = polib.pofile(file.read().decode())
            pairs += [
                (each.msgid, each.msgstr) for each in entries if each.msgstr and not each.fuzzy and not each.obsolete
            ]
    joined = (tuple(" ".join(side.split()) for side in pair) for pair in pairs)
    kept = [(source, target) for source, target in dict.fromkeys(joined) if is_sentence(source, target)]
    random.Random(1).shuffle(kept)
    return kept


def is_sentence(source: str, target: str) -> bool:
    """Return True for a message to learn from."""
    n_letters = sum(character.isalpha() or character == " " for character in source)
    is_short = len(source) <= LONGEST and len(target) <= LONGEST_TRANSLATION and len(source.split()) <= MOST_WORDS
    return source != target and is_short and n_letters >= LETTERS * len(source)


def by_english(languages: Languages, split: str) -> list[Pair]:
    """Return Tatoeba's translations of each English sentence in pairs."""
    return through_english(*(text_pairs(("en", language), split) for language in languages))


def translations_of(names: Sequence[str], languages: Languages) -> list[Pair]:
    """Return two languages' translations of each English sentence of some sources in pairs."""
    return through_english(*([pair for name in names for pair in read_source(name, each)] for each in languages))


def through_english(*translations: Iterable[Pair]) -> list[Pair]:
    """Return two languages' translations of each English sentence in pairs: the first with the first, and so on."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for side, pairs_of_language in zip(sides, translations, strict=True):
        for english, text in pairs_of_language:
            side.setdefault(english, []).append(text)
    pairs = []
    for english in sides[0]:
        sources, targets = sides[0][english], sides[1].get(english, [])
        for place in range(max(len(sources), len(targets)) if targets else 0):
            pairs.append((sources[place % len(sources)], targets[place % len(targets)]))
    return list(dict.fromkeys(pairs))


def kind_of(pair: Pair, languages: Languages) -> str | None:
    """Return the kind of what both sides of a pair share; None if it is nothing."""
    kinds = {shared.kind for shared in find_shared(pair, languages)}
    if kinds & {"day", "month"}:
        return "days"
    if kinds & {"number", "hour", "count"}:
        return "numbers"
    return "names" if kinds else None


def is_short(pair: Pair, languages: Languages) -> bool:
    """Return True for a pair of at most two words, or four Chinese characters."""
    return len(pair[0]) <= 4 if languages[0] == "zh" else len(pair[0].split()) <= 2


def write(folder: Path, name: str, languages: Languages, pairs: Sequence[Pair]) -> None:
    """Write both sides of pairs."""
    for side, language in enumerate(languages):
        with gzip.open(folder / f"{name}.{language}.gz", "wt", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{pair[side]}\n" for pair in pairs)
    print(f"{name}: {len(pairs):,} pairs")


def write_kinds(folder: Path, languages: Languages, pairs: Iterable[Pair]) -> None:
    """Write the pairs of each kind."""
    kinds: dict[str, list[Pair]] = {kind: [] for kind in ("days", "numbers", "names", "short")}
    for pair in pairs:
        if kind := kind_of(pair, languages):
            kinds[kind].append(pair)
        if is_short(pair, languages):
            kinds["short"].append(pair)
    for kind, found in kinds.items():
        write(folder, f"{'-'.join(languages)}-{kind}", languages, found)


def write_world(folder: Path, *, everything: bool) -> None:
    """Write the text of the third part, by kind, and its French and German translations of the same English."""
    for language in ("de", "fr", "zh"):
        languages = ("en", language)
        texts = {
            kind: [pair for name in names for pair in read_source(name, language)]
            for kind, names in sources(everything=everything).items()
        }
        texts["everyday"] = list(text_pairs(languages, "train"))
        if language in DOCUMENTATION:
            texts["python"] = messages(documentation(language))[:-VALIDATION_SIZE]
        for kind, pairs in texts.items():
            write(folder, f"en-{language}-world-{kind}", languages, without_measured(kept(pairs, languages)))
        write(folder, f"en-{language}-world-validation", languages, validation(languages, everything=everything))
        write(folder, f"en-{language}-held-out", languages, list(written(language, held_out=True)))
        if pairs := list(compared(language)):
            write(folder, f"en-{language}-wikipedia", languages, pairs)
    texts = {
        "": by_english(("fr", "de"), "train"),
        "-encyclopedia": translations_of(("paws-x", "pud"), ("fr", "de")),
        "-written": translations_of(("written",), ("fr", "de")),
    }
    for kind, pairs in texts.items():
        write(folder, f"fr-de-world{kind}", ("fr", "de"), without_measured(kept(pairs, ("fr", "de"))))
    held_out = through_english(*(written(language, held_out=True) for language in ("fr", "de")))
    write(folder, "fr-de-held-out", ("fr", "de"), held_out)
    write(folder, "fr-de-world-validation", ("fr", "de"), sample(by_english(("fr", "de"), "val"), VALIDATION_SIZE))


def validation(languages: Languages, *, everything: bool) -> list[Pair]:
    """Return pairs of the validation texts: half of Tatoeba, half of the world's."""
    names = [name for own in sources(everything=everything).values() for name in own]
    world = [pair for name in names for pair in read_source(name, languages[1], "val")]
    texts = (list(text_pairs(languages)), kept(world, languages))
    return [pair for own in texts for pair in sample(own, VALIDATION_SIZE // 2)]


def sample(pairs: Sequence[Pair], size: int) -> list[Pair]:
    """Return some of the pairs, each time the same."""
    return random.Random(1).sample(pairs, min(size, len(pairs)))


def main() -> None:
    """Write all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="also the sources that not everyone may use")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    if missing := [name for name in ADDED if not (data_folder() / name).exists()]:
        parser.error(f"{missing[0]} is missing in $DRAGOMAN_DATA; recipes/everyday-world.yaml tells where to get it")
    folder.mkdir(parents=True, exist_ok=True)
    for language in DOCUMENTATION:
        pairs = messages(documentation(language))
        write(folder, f"docs-{language}", ("en", language), pairs[:-VALIDATION_SIZE])
        write(folder, f"docs-{language}-validation", ("en", language), pairs[-VALIDATION_SIZE:])
    write(folder, "fr-de", ("fr", "de"), by_english(("fr", "de"), "train"))
    write(folder, "fr-de-validation", ("fr", "de"), by_english(("fr", "de"), "val"))
    for languages in TATOEBA:
        pairs = by_english(languages, "train") if "en" not in languages else list(text_pairs(languages, "train"))
        write_kinds(folder, languages, pairs)
    write_world(folder, everything=arguments.all)


if __name__ == "__main__":
    main()
