"""Test sets of benchmarks/everyday.py: validation text with all its references, its perturbations, and phrases.

Tatoeba has several translations of many sentences. A source is translated once and compared with all of them.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from everyday_made_up import read_table, simplified
from sacrebleu.metrics.chrf import CHRF

from dragoman.evaluation.metrics import bleu_metric
from dragoman.text.cleaning import clean

Direction = tuple[str, str]
#: The columns of phrases.tsv and unusual.tsv.
LANGUAGES = ("en", "de", "fr", "zh")
#: A long sentence has so many words. Chinese: characters; our text has 1.4 of them for an English word.
LONG_WORDS, LONG_CHARACTERS = 12, 17
_HAN = re.compile(r"[\u3400-\u9fff]")
_FINAL_MARKS = re.compile(r"[\s.!?…。！？．｡]+$")
_ARTICLE = re.compile(r"^(?:(?:the|an?|der|die|das|eine?|les?|la|une?) |l')(?=\w)")


def validation_set(direction: Direction, n_sources: int | None = None) -> dict[str, list[str]]:
    """Return each source with all its references, one for each pair.

    Two languages without a set of their own, such as French and German, get the pairs with an equal English side.

    Args:
        n_sources: as many sources are chosen, by a hash, so they are the same each time.
    """
    references: dict[str, list[str]] = {}
    for source, target in text_pairs(direction):
        references.setdefault(source, []).append(target)
    if n_sources is None:
        return references
    chosen = set(sorted(references, key=lambda text: hashlib.sha256(text.encode()).digest())[:n_sources])
    return {source: texts for source, texts in references.items() if source in chosen}


def text_pairs(direction: Direction, split: str = "val") -> Iterator[tuple[str, str]]:
    """Yield the pairs of a split, "train" or "val", in a direction."""
    source, target = direction
    if not (root := Path(os.environ.get("DRAGOMAN_DATA", ""))).is_absolute():
        raise SystemExit("DRAGOMAN_DATA names no folder; give the absolute path of the one with tatoeba-en-de")
    names = (f"tatoeba-{source}-{target}", f"tatoeba-{target}-{source}")
    folder = next((root / name for name in names if (root / name).is_dir()), None)
    if folder is not None:
        yield from zip(*(_lines(folder / f"{split}.{language}.gz") for language in direction), strict=True)
    elif "en" in direction:
        raise SystemExit(f"no {split} text for {source}-{target} in {root}: there is no {' or '.join(names)}")
    else:
        targets: dict[str, list[str]] = {}
        for english, text in text_pairs(("en", target), split):
            targets.setdefault(english, []).append(text)
        for text, english in text_pairs((source, "en"), split):
            yield from ((text, each) for each in targets.get(english, ()))


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def is_long(text: str, language: str) -> bool:
    """Return True for about as long a sentence as an English one of twelve words."""
    return len(_HAN.findall(text)) >= LONG_CHARACTERS if language == "zh" else len(text.split()) >= LONG_WORDS


def without_final_mark(text: str) -> str:
    """Remove full stops, exclamation and question marks at the end."""
    return _FINAL_MARKS.sub("", text) or text


def typo(text: str) -> str:
    """Swap two neighbouring letters of a word of four letters or more, if there is one. The text decides which.

    Capitals stay where they are: "Hte". Chinese has no such words; two neighbouring characters are swapped.
    """
    places = [i for i in range(len(text) - 1) if _is_swap(text[i : i + 2])]
    long_words = [range(*word.span()) for word in re.finditer(r"[^\W\d_]{4,}", text)]
    places = [i for i in places if any(i in word and i + 1 in word for word in long_words)] or places
    if not places:
        return text
    place = random.Random(f"typo {text}").choice(places)
    one, other = text[place : place + 2]
    if one.isupper() and other.islower():
        one, other = one.lower(), other.upper()
    return text[:place] + other + one + text[place + 2 :]


def _is_swap(letters: str) -> bool:
    return letters.isalpha() and letters[0].lower() != letters[1].lower()


def perturbations(language: str) -> dict[str, Callable[[str], str]]:
    """Return what is done to sources of a language; Chinese has neither capitals nor small letters."""
    common = {"no final mark": without_final_mark, "typo": typo}
    return common if language == "zh" else {"CAPS": str.upper, **common, "lower case": str.lower}


def plain(text: str) -> str:
    """Return a text as perturbed sets are compared: lower-cased and without final marks."""
    return without_final_mark(clean(text).lower())


def bleu(translations: Sequence[str], references: Sequence[Sequence[str]], language: str) -> float:
    """BLEU with all references of each translation, with the tokenization of the language."""
    return float(bleu_metric(language).corpus_score([clean(each) for each in translations], streams(references)).score)


def chrf(translations: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """chrF2 with all references of each translation, of which the best counts."""
    return float(CHRF().corpus_score([clean(each) for each in translations], streams(references)).score)


def streams(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """Return the first reference of each sentence, then the second, and so on; None where there is none."""
    texts = [list(dict.fromkeys(map(clean, each))) for each in references]
    longest = max(map(len, texts), default=0)
    return [[each[place] if place < len(each) else None for each in texts] for place in range(longest)]


@dataclass(frozen=True)
class Phrase:
    """A word, greeting, question or line of two sentences, and all its right translations, compared by `key`."""

    kind: str
    text: str
    answers: tuple[str, ...]

    def is_right(self, translation: str) -> bool:
        """Return True for one of the right translations."""
        texts = (key(each) for each in (translation, *self.answers))
        found, *right = (_ARTICLE.sub("", each) for each in texts) if self.kind == "noun" else texts
        return found in right


def key(text: str) -> str:
    """Return the words of a text without capitals and marks; Chinese without spaces."""
    text = simplified(unicodedata.normalize("NFKC", clean(text))).casefold().replace("’", "'")
    words = " ".join(re.sub(r"[^\w']+", " ", text).split())
    return re.sub(rf"(?<={_HAN.pattern}) | (?={_HAN.pattern})", "", words)


def phrases(direction: Direction) -> list[Phrase]:
    """Read phrases.tsv for a direction. The pairs at its end join a statement and a question, by their numbers."""
    columns = [1 + LANGUAGES.index(language) for language in direction]
    found: list[Phrase] = []
    for kind, *cells in read_table("phrases.tsv"):
        if kind == "pair":
            one, other = _joined(found, *map(int, cells[0].split("+")))
            between = "" if direction[0] == "zh" else " "
            answers = tuple(" ".join(each) for each in product(one.answers, other.answers))
            found.append(Phrase(kind, one.text + between + other.text, answers))
        else:
            source, target = (("", *cells)[column] for column in columns)
            found.append(Phrase(kind, source.split("|")[0], tuple(target.split("|"))))
    return found


def _joined(found: Sequence[Phrase], statement: int, question: int) -> tuple[Phrase, Phrase]:
    by_kind: Mapping[str, list[Phrase]] = {
        kind: [each for each in found if each.kind == kind] for kind in ("statement", "question")
    }
    return by_kind["statement"][statement - 1], by_kind["question"][question - 1]


def unusual(direction: Direction) -> list[tuple[str, str, str]]:
    """Read unusual.tsv: kind, source, and a translation by hand."""
    source, target = (1 + LANGUAGES.index(language) for language in direction)
    return [(row[0], row[source], row[target]) for row in read_table("unusual.tsv")]
