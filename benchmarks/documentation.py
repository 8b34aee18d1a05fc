"""Write the text that recipes/documentation.yaml reads: messages of documentation, as a document's reader reads them.

    python benchmarks/documentation.py fr zh

For each language, the files of DRAGOMAN_DATA/python-docs whose name has a hash of 0 modulo 10 are held out, whole.
Marks of reStructuredText are left out of the messages of the others, and what must stay stands there as a reserved
piece: the model learns to copy it. A pair whose sides do not keep the same is left out. Writes documentation/, with
60 everyday sentences of each Tatoeba validation set, which show how much a model forgets.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import random
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polib
from everyday_sets import text_pairs

from dragoman.text.rst_marks import marked_rst

ARCHIVES = {"fr": "fr.tar.xz", "zh": "zh-cn.tar.xz"}
LONGEST, MOST_PIECES, LETTERS = 600, 12, 0.4
VALIDATION_SIZE, EVERYDAY_SIZE = 80, 60


def po_files(language: str) -> dict[str, bytes]:
    """Return the content of each file, by its name."""
    archive = Path(os.environ["DRAGOMAN_DATA"]) / "python-docs" / ARCHIVES[language]
    with tarfile.open(archive) as files:
        names = sorted(each.name for each in files.getmembers() if each.isfile() and each.name.endswith(".po"))
        return {name: opened.read() for name in names if (opened := files.extractfile(name))}


def is_held_out(name: str) -> bool:
    """Return True for a file that no training reads."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 10 == 0


def translated(content: bytes) -> Iterator[polib.POEntry]:
    """Yield the messages of a file that people have translated."""
    for entry in polib.pofile(content.decode()):
        if entry.msgid and entry.msgstr and not entry.fuzzy and not entry.obsolete:
            yield entry


def learned(message: str, translation: str) -> tuple[str, str] | None:
    """Return a pair to learn from; None if there is nothing to learn, or people have changed what must stay."""
    source, target = (marked_rst(" ".join(side.split())) for side in (message, translation))
    kept = [Counter(each.text[slice(*stretch)] for stretch in each.verbatim) for each in (source, target)]
    if kept[0] != kept[1] or len(kept[0]) > MOST_PIECES or max(kept[0].values(), default=1) > 1:
        return None
    names = {source.text[slice(*stretch)]: f"⟨{number}⟩" for number, stretch in enumerate(source.verbatim, 1)}
    texts = []
    for side in (source, target):
        text = side.text
        for start, end in reversed(side.verbatim):
            text = text[:start] + names[text[start:end]] + text[end:]
        texts.append(text)
    n_letters = sum(character.isalpha() or character == " " for character in texts[0])
    is_text = texts[0] != texts[1] and max(map(len, texts)) <= LONGEST and n_letters >= LETTERS * len(texts[0])
    return (texts[0], texts[1]) if is_text else None


def write(name: str, language: str, pairs: list[tuple[str, str]]) -> None:
    """Write both sides of pairs."""
    for side, code in enumerate(("en", language)):
        with gzip.open(f"documentation/{name}.{code}.gz", "wt", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{pair[side]}\n" for pair in pairs)
    print(f"{name}: {len(pairs):,} pairs")


def everyday_sample(source: str, target: str) -> list[tuple[str, str]]:
    """Return a few pairs of a validation set of Tatoeba."""
    pairs = list(text_pairs((source, target), "val"))
    return random.Random(1).sample(pairs, EVERYDAY_SIZE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", choices=tuple(ARCHIVES))
    Path("documentation").mkdir(exist_ok=True)
    for language in parser.parse_args().languages:
        files = po_files(language)
        entries = [each for name, content in files.items() if not is_held_out(name) for each in translated(content)]
        found = [learned(each.msgid, each.msgstr) for each in entries]
        pairs = [*dict.fromkeys(pair for pair in found if pair)]
        random.Random(1).shuffle(pairs)
        held_out = sum(map(is_held_out, files))
        print(f"{language}: {len(files)} files, {held_out} held out; {len(entries):,} messages, {len(pairs):,} learned")
        write(f"docs-{language}", language, pairs[:-VALIDATION_SIZE])
        write(f"docs-{language}-validation", language, pairs[-VALIDATION_SIZE:])
    for language in ("de", "fr", "zh"):
        write(f"everyday-{language}-validation", language, everyday_sample("en", language))


if __name__ == "__main__":
    main()
