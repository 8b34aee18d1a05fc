"""Count how often the words before a demanded term agree with it in gender and elision.

    python benchmarks/term_agreement.py [--target de fr] [--every 1] [--output agreement.json] [--show]

`term_agreement.tsv` has 200 terms of rentals, invoices, software and medicine with the gender of both targets; an
apostrophe beside it means that French words before the term elide. Each term stands in three frames: with an article, a
possessive, and an adjective. The article, possessive and adjective right before the target are compared with its
gender, in any case that the form has. A sentence counts as unjudged if there are none of them.
"""

import argparse
import csv
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import dragoman
from dragoman.text.terms import Term, TermList

FRAMES = {
    "article": ["The {} is very expensive.", "We looked at the {} yesterday.", "Where is the {}?"],
    "possessive": ["My {} is not here.", "I have lost my {}.", "He is talking about his {}."],
    "adjective": ["This is a new {}.", "We need a small {}.", "It was a good {}."],
}
#: The genders that a German determiner has; those of "der" and "einer" depend on the preposition before them.
_GERMAN_ENDINGS = {"": "mn", "e": "f", "en": "m", "em": "mn", "es": "mn", "er": "f"}
_GERMAN = {
    **{"der": "m", "die": "f", "das": "n", "den": "m", "dem": "mn", "des": "mn"},
    **dict.fromkeys(("im", "am", "zum", "vom", "beim"), "mn"),
    "zur": "f",
    **{
        stem + ending: genders
        for stem in ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
        for ending, genders in _GERMAN_ENDINGS.items()
    },
    **{
        stem + ending: genders
        for stem in ("dies", "jed", "welch")
        for ending, genders in {"er": "m", "e": "f", "es": "n", "en": "m", "em": "mn"}.items()
    },
}
_PREPOSITIONS = {
    "mit",
    "von",
    "zu",
    "aus",
    "bei",
    "nach",
    "seit",
    "in",
    "an",
    "auf",
    "über",
    "unter",
    "vor",
    "hinter",
    "neben",
    "zwischen",
    "gegenüber",
}
#: The genders that an adjective's ending has after a word without an ending ("ein"), and after none at all.
_ADJECTIVE = {"er": "m", "es": "n", "e": "f"}
#: The French words before a term: the genders that they have, and whether they stand before a vowel only (True), before
#: a consonant only (False), or before both (None).
_FRENCH: dict[str, tuple[str, bool | None]] = {
    **dict.fromkeys(["le", "du", "au", "ce", "nouveau", "vieux", "beau"], ("m", False)),
    **dict.fromkeys(["un", "aucun", "petit", "grand", "bon", "mauvais", "gros", "cher", "joli"], ("m", None)),
    **dict.fromkeys(["cet", "nouvel", "vieil", "bel"], ("m", True)),
    **dict.fromkeys(["la", "ma", "ta", "sa"], ("f", False)),
    **dict.fromkeys(
        ["une", "cette", "aucune", "petite", "grande", "bonne", "mauvaise", "grosse", "chère", "jolie"], ("f", None)
    ),
    **dict.fromkeys(["nouvelle", "vieille", "belle"], ("f", None)),
    **dict.fromkeys(["l'", "d'", "qu'", "j'", "n'", "s'"], ("mf", True)),
    **dict.fromkeys(["de", "que", "je", "ne", "se"], ("mf", False)),
    **dict.fromkeys(["notre", "votre", "leur", "chaque", "quelle", "autre"], ("mf", None)),
}
_WORD = re.compile(r"[^\W\d_]+['’]?")


class Row(NamedTuple):
    """A term of the list."""

    term: Term
    gender: str
    #: Whether French words before it elide.
    elides: bool


def rows(target: str) -> Iterator[Row]:
    with (Path(__file__).parent / "term_agreement.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            gender = row[f"{target}_gender"]
            yield Row(Term(row["source"], (row[target],)), gender.rstrip("'"), gender.endswith("'"))


def words_before(text: str, target: str) -> list[str] | None:
    """Return the words before a target, the last first; None if it is not there."""
    place = re.search(rf"(?<!\w){re.escape(target)}(?!\w)", text.replace("’", "'"), re.IGNORECASE)
    if place is None:
        return None
    clause = re.split(r"[.,;:!?]", text[: place.start()])[-1]
    return [word.lower().replace("’", "'") for word in _WORD.findall(clause)][::-1]


def german(before: list[str], gender: str) -> str:
    """Return "right", "wrong" or "unjudged" for the words before a German noun."""
    adjectives = [word for word in before[:1] if word not in _GERMAN and word.endswith(("e", "en", "er", "es", "em"))]
    rest = before[len(adjectives) :]
    determiner = rest[0] if rest and rest[0] in _GERMAN else ""
    if not determiner:
        ending = next((each for each in ("er", "es", "e") if adjectives and adjectives[0].endswith(each)), "")
        return ("right" if gender in _ADJECTIVE[ending] else "wrong") if ending and not rest[:1] else "unjudged"
    genders = _GERMAN[determiner]
    if determiner in ("der", "dieser", "jeder", "welcher") and rest[1:2] and rest[1] in _PREPOSITIONS:
        genders = "f"
    if determiner in ("unser", "ihr"):
        genders = "mn"
    is_right = gender in genders
    if adjectives and is_right:
        ending = re.sub(r".*?(e[nrsm]?)\Z", r"\1", adjectives[0])
        is_bare = determiner in ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
        fits = {"er": "m", "es": "n"} if is_bare else {"e": gender, "en": "" if determiner == "eine" else gender}
        is_right = gender in (fits.get(ending) or "-")
    return "right" if is_right else "wrong"


def french(before: list[str], gender: str, elides: bool) -> tuple[str, str]:
    """Return the judgements of gender and of elision for the words before a French noun."""
    known = [before[0]] if before[:1] and before[0] in _FRENCH else []
    elision, judged = "unjudged", set()
    if before[:1] and before[0] in ("mon", "ton", "son"):
        judged.add(gender == "m" or elides)
        elision = "unjudged"
    for word in known:
        genders, is_before_vowel = _FRENCH[word]
        if is_before_vowel is not None:
            elision = "right" if is_before_vowel == elides else "wrong"
        if genders != "mf":
            judged.add(gender in genders)
    if known and len(before) > 1:  # a determiner before an adjective
        genders, _ = _FRENCH.get(before[1], ("mf", None))
        if genders != "mf":
            judged.add(gender in genders)
    return "unjudged" if not judged else "wrong" if False in judged else "right", elision


def judge(target: str, row: Row, text: str) -> dict[str, str] | None:
    """Return the judgements of a translation; None if it lacks the term."""
    before = words_before(text, row.term.targets[0])
    if before is None:
        return None
    if target == "de":
        return {"gender": german(before, row.gender)}
    gender, elision = french(before, row.gender, row.elides)
    return {"gender": gender, "elision": elision}


def sentences(every: int, target: str) -> list[tuple[Row, str, str]]:
    found = []
    for number, row in enumerate(rows(target)):
        if number % every == 0:
            for kind, frames in FRAMES.items():
                found.append((row, kind, frames[number // every % len(frames)].format(row.term.source)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", nargs="+", default=["de", "fr"], choices=["de", "fr"])
    parser.add_argument("--model", default="everyday")
    parser.add_argument("--every", type=int, default=1, help="take one term of so many")
    parser.add_argument("--show", action="store_true", help="print each translation that is not right")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    translator = dragoman.Translator.load(given.model, device="cpu")
    results = {}
    for target in given.target:
        cases = sentences(given.every, target)
        terms = TermList(row.term for row, _, _ in cases)
        start = time.process_time()
        found = translator.translate([text for *_, text in cases], source_lang="en", target_lang=target, terms=terms)
        counts: Counter[str] = Counter()
        for (row, kind, text), one in zip(cases, found, strict=True):
            judged = judge(target, row, one.text)
            counts["sentences"] += 1
            counts["term there"] += judged is not None
            counts.update(f"{name} {value}" for name, value in (judged or {}).items())
            counts.update(f"{kind} {value}" for name, value in (judged or {}).items() if name == "gender")
            if given.show and (judged is None or "wrong" in judged.values() or judged["gender"] == "unjudged"):
                print(judged, text, "->", one.text, sep="\t")
        seconds = round(time.process_time() - start, 1)
        results[f"en-{target}"] = dict(sorted(counts.items())) | {"seconds": seconds}
        print(f"en-{target}", results[f"en-{target}"], flush=True)
    if given.output:
        given.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
