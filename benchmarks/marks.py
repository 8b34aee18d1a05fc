"""Judge which translations are marked as probably wrong, by grades:

    python benchmarks/marks.py           # some seconds
    python benchmarks/marks.py --apart   # needs DRAGOMAN_DATA; ten seconds
    python benchmarks/marks.py --terms   # the same

Each translation was read and graded: wrong if it says something else than the source, leaves a part of it out, or has a
mistake of grammar that a reader stumbles over.

`graded.tsv`, in the data of the book, has 150 translations of ordinary sentences (mail, travel, news, recipes,
notices), by the second edition of `everyday`. The least confidences of languages were chosen on these. The confidence
is that of `everyday` in the graded translation. Two or three of them, drawn at random, are texts of several sentences:
wrong if one of them is.

`graded_apart.tsv` is kept apart: nothing is chosen on it. It has 140 translations by the second edition, of
lines that were drawn before anybody saw a translation: from encyclopedias, software, games, orders by chat, medicine
(100), and everyday sentences. Their sources are named by file and line. A translation that `everyday` still gives has
the flags of today; of others the confidence alone is known.

`graded_terms.tsv` has 124 translations of everyday sentences with a term list. Those that have changed are left out,
because the confidence depends on their search.
"""

from __future__ import annotations

import csv
import gzip
import random
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from real_text_sets import data_folder

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.text.terms import Term, TermList
from dragoman.translator.confidence import Calibrations, least_confidence

HERE = Path(__file__).parent
GRADED = HERE.parent / "docs" / "book" / "data" / "graded.tsv"
APART, TERMS = HERE / "graded_apart.tsv", HERE / "graded_terms.tsv"
#: Beside the threshold itself, what a higher or a lower one would do.
FACTORS = (0.8, 0.9, 1.0, 1.1, 1.2)
#: Times that the translations of a direction are put together to texts.
DRAWS = 20
_SEGMENT, _TAGS = re.compile(r'<tuv[^>]*xml:lang="en[^"]*"[^>]*>\s*<seg>(.*?)</seg>', re.DOTALL), re.compile(r"<[^>]+>")


class Graded(NamedTuple):
    """A graded translation."""

    direction: str
    is_wrong: bool
    #: Of each token, and of the end.
    log_probs: Sequence[float]
    confidence: float


class Judge:
    """The model, with its calibrations."""

    def __init__(self) -> None:
        self.translator = Translator.load("everyday")
        calibrations = Calibrations.of_bundle(load_bundle("everyday").facts, "")
        assert calibrations is not None
        self._calibrations = calibrations

    def confidence(self, direction: str, log_probs: Sequence[float]) -> float:
        """Return the confidence in a translation whose tokens have these log-probabilities."""
        source_lang, target_lang = direction.split("-")
        calibration = self._calibrations.of(source_lang, target_lang)
        assert calibration is not None
        return calibration.confidence(sum(log_probs), len(log_probs))

    def graded(self, direction: str, grade: str, source: str, translation: str) -> Graded:
        """Return a graded translation with the confidence in it."""
        source_lang, target_lang = direction.split("-")
        score = self.translator.score(source, translation, source_lang=source_lang, target_lang=target_lang)
        log_probs = score.token_log_probs
        return Graded(direction, grade == "wrong", log_probs, self.confidence(direction, log_probs))


def main() -> None:
    """Print the share of marked translations among the wrong and among the right ones."""
    judge = Judge()
    if sys.argv[1:]:
        tell_flags(judge, {"--apart": APART, "--terms": TERMS}[sys.argv[1]])
        return
    graded = [
        judge.graded(row["direction"], row["grade"], row["source"], row["translation"]) for row in read_rows(GRADED)
    ]
    for factor in FACTORS:
        marked = [(each.is_wrong, each.confidence < factor * least(each.direction)) for each in graded]
        print(f"below {factor:.1f} times the least confidence: {shares(marked)}")
    for size in (2, 3):
        texts = list(joined(graded, size))
        pooled = [[log_prob for each in text for log_prob in each.log_probs] for text in texts]
        by_all = [judge.confidence(text[0].direction, found) for text, found in zip(texts, pooled, strict=True)]
        by_least = [min(each.confidence for each in text) for text in texts]
        for name, found in (("of its least sure sentence", by_least), ("of all its tokens", by_all)):
            marked = [
                (any(each.is_wrong for each in text), confidence < least(text[0].direction))
                for text, confidence in zip(texts, found, strict=True)
            ]
            print(f"texts of {size} sentences, confidence {name}: {shares(marked)}")


def tell_flags(judge: Judge, path: Path) -> None:
    """Print what the translations of a table that names its sources are marked with."""
    low, any_flag, n_known, rows = [], [], 0, list(read_rows(path))
    for row in rows:
        direction, translation, is_wrong = row["direction"], row["translation"], row["grade"] == "wrong"
        source, terms = source_of(row["file"], int(row["line"]), direction), terms_of(row.get("terms", ""))
        source_lang, target_lang = direction.split("-")
        found = judge.translator.translate(source, source_lang=source_lang, target_lang=target_lang, terms=terms)
        n_known += (is_known := found.text == translation)
        if is_known:
            is_low = "low_confidence" in found.flags
        elif terms:
            continue
        else:
            is_low = judge.graded(direction, row["grade"], source, translation).confidence < least(direction)
        low.append((is_wrong, is_low))
        any_flag.append((is_wrong, bool(found.flags) if is_known else is_low))
    print(f"low_confidence: {shares(low)}")
    print(f"any flag: {shares(any_flag)}")
    print(f"{n_known} of {len(rows)} translations are those of today")


def terms_of(text: str) -> TermList | None:
    """Return the terms of a cell such as "car=Wagen|dog=Hund"; None if there are none."""
    pairs = [term.split("=") for term in text.split("|") if term]
    return TermList(Term(source, (target,)) for source, target in pairs) if pairs else None


def least(direction: str) -> float:
    """Return the confidence below which a translation is marked."""
    return least_confidence(direction.split("-")[1])


def shares(marked: Sequence[tuple[bool, bool]]) -> str:
    """Return the share of marked translations among the wrong and the right ones, each as (wrong, marked)."""
    wrong, right = ([is_marked for is_wrong, is_marked in marked if is_wrong is own] for own in (True, False))
    return f"{sum(wrong) / len(wrong):.0%} of {len(wrong)} wrong, {sum(right) / len(right):.0%} of {len(right)} right"


def joined(graded: Sequence[Graded], size: int) -> Iterator[list[Graded]]:
    """Yield translations of one direction in texts of some sentences, drawn at random."""
    for seed in range(DRAWS):
        draw = random.Random(seed)
        for direction in sorted({each.direction for each in graded}):
            own = [each for each in graded if each.direction == direction]
            draw.shuffle(own)
            yield from (own[start : start + size] for start in range(0, len(own) - size + 1, size))


def read_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of grades."""
    with path.open(encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def source_of(file: str, line: int, direction: str) -> str:
    """Return a line of a file of the data, in the source language of a direction; of a TMX file, a unit."""
    text = _lines(file)[line - 1]
    if file.endswith(".tsv.gz"):
        text = text.split("\t")[0 if direction.startswith("en-") else 1]
    return text.strip()


@cache
def _lines(file: str) -> list[str]:
    if file.endswith(".gz"):
        return gzip.decompress((data_folder() / file).read_bytes()).decode().split("\n")
    if file.endswith(".zip"):
        with zipfile.ZipFile(data_folder() / file) as archive:
            units = _SEGMENT.findall(archive.read(archive.namelist()[0]).decode())
        return [_TAGS.sub("", unit) for unit in units]
    name, member = file.split(".tar.xz/")
    with tarfile.open(data_folder() / f"{name}.tar.xz") as opened:
        content = opened.extractfile(member)
        assert content is not None
        return content.read().decode().splitlines()


if __name__ == "__main__":
    main()
