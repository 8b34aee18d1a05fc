"""Measure how a shipped model's rule for typing errors changes edited text, and how many swapped letters it mends.

    python benchmarks/typing_errors.py

Prints, for each language, how many words of validation text (Tatoeba), of Multi30k and of TICO-19 it changes, which
ones, and of how many sentences with two letters swapped it finds the original. Needs DRAGOMAN_DATA.
"""

from __future__ import annotations

import gzip
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from everyday_sets import typo

from dragoman.bundle.format import WORDS
from dragoman.bundle.named_models import PRETRAINED
from dragoman.bundle.words_file import read_words

TATOEBA = {
    "en": ("tatoeba-en-de/val.en.gz", "tatoeba-en-fr/val.en.gz", "tatoeba-zh-en/val.en.gz"),
    "de": ("tatoeba-en-de/val.de.gz",),
    "fr": ("tatoeba-en-fr/val.fr.gz",),
}
_WORD = re.compile(r"[^\W\d_]+")


def corpora(language: str, root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the different sentences of each corpus."""
    yield "Tatoeba", _lines([root / name for name in TATOEBA[language]])
    yield "Multi30k", _lines([root / "multi30k" / f"{split}.{language}.gz" for split in ("train", "val")])
    if language != "de":
        with zipfile.ZipFile(root / "tico-19" / "all.en-fr.tmx.zip") as archive:
            text = archive.read(archive.namelist()[0]).decode()
        units = re.findall(rf'<tuv xml:lang="{language}"[^>]*>\s*<seg>(.*?)</seg>', text, re.DOTALL)
        yield "TICO-19", list(dict.fromkeys(units))


def _lines(paths: Sequence[Path]) -> list[str]:
    texts = (gzip.decompress(path.read_bytes()).decode() for path in paths)
    return list(dict.fromkeys(line.strip() for text in texts for line in text.removesuffix("\n").split("\n")))


def main() -> None:
    """Print the figures."""
    root, spelling = Path(os.environ["DRAGOMAN_DATA"]), read_words(PRETRAINED / "everyday" / WORDS)
    for language in TATOEBA:
        for name, texts in corpora(language, root):
            changed: Counter[str] = Counter()
            for text in texts:
                both = zip(_WORD.findall(text), _WORD.findall(spelling.repaired(text, language)), strict=True)
                changed.update(f"{one} > {other}" for one, other in both if one != other)
            n_words = sum(len(_WORD.findall(text)) for text in texts)
            words = ", ".join(f"{word} ({count})" for word, count in changed.most_common())
            print(f"{language} {name}: {changed.total()} of {n_words:,} words in {len(texts):,} sentences: {words}")
            if name == "Tatoeba":
                typed = [(text, swapped) for text in texts if (swapped := typo(text)) != text]
                mended = sum(spelling.repaired(swapped, language) == text for text, swapped in typed)
                print(f"{language} {name}: {mended:,} of {len(typed):,} sentences with two letters swapped are mended")


if __name__ == "__main__":
    main()
