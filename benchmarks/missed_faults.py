"""Faults that the checks of `content` find, of faults that are put into human translations.

    python benchmarks/missed_faults.py de fr es ru

Changes one thing in a translation of flores-dev or news-2013 from English: a digit, a month, a weekday, a sign of
money, a unit or a word for a number becomes another one, or a percent sign goes. Prints for each language how many of
each kind are found. Needs DRAGOMAN_DATA; no model is loaded.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from false_flags import TEXTS, pairs_of

from dragoman.content.comparing import faults
from dragoman.content.language import language_of

#: At most as many faults of a kind.
MOST = 200


def changes(target: str, language: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield kinds of faults, each with a translation that has one."""
    known = language_of(language)
    assert known is not None
    names = {kind: [forms[0] for forms in known.cldr[kind]] for kind in ("months", "weekdays")}
    tens = [known.cldr["number_words"][str(number)][0] for number in range(20, 100, 10)]
    kinds: dict[str, tuple[str, Sequence[str]]] = {
        "digit": (r"\d", "0123456789"),
        "percent": (r"\s?%", [""]),
        "money": (r"[$€£¥]", "$€£¥"),
        "unit": (r"(?<=\d[ \u00a0])(?:km|cm|mm|kg|м|км|кг|см|m)\b", ["km", "cm", "kg"]),
        "month": (rf"\b(?:{'|'.join(names['months'])})\b", names["months"]),
        "weekday": (rf"\b(?:{'|'.join(names['weekdays'])})\b", names["weekdays"]),
        "tens in words": (rf"\b(?:{'|'.join(tens)})\b", tens),
    }
    for kind, (pattern, others) in kinds.items():
        if places := [*re.finditer(pattern, target)]:
            place = rng.choice(places)
            other = rng.choice([each for each in others if each != place[0]])
            yield kind, target[: place.start()] + other + target[place.end() :]


def main(languages: Sequence[str]) -> None:
    """Print a table with a row for each language and kind."""
    print("| direction | kind | faults | found |\n|---|---|---|---|")
    for language in languages:
        rng, made, found = random.Random(1), Counter[str](), Counter[str]()
        pairs = [pair for text in TEXTS for pair in pairs_of(text, ("en", language))]
        for source, target in pairs:
            for kind, broken in changes(target, language, rng):
                if made[kind] < MOST:
                    made[kind] += 1
                    found[kind] += bool(faults(source, broken, ("en", language)))
        for kind in [*made, "all"]:
            n_made, n_found = (made[kind], found[kind]) if kind in made else (made.total(), found.total())
            print(f"| en-{language} | {kind} | {n_made} | {n_found / n_made:.0%} |")


if __name__ == "__main__":
    main(sys.argv[1:] or ("de", "fr", "es", "ru"))
