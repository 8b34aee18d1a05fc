"""BLEU of a model with its short-list and without, in each of its directions, on Tatoeba's validation sets.

    python benchmarks/short_list_loss.py MODEL

MODEL was packaged with a short-list. Each direction has 1,500 sources with all references. Needs DRAGOMAN_DATA, as
benchmarks/everyday.py does.
"""

from __future__ import annotations

import sys

from everyday_sets import bleu, validation_set

from dragoman import Translator
from dragoman.machine.devices import all_cores

N_SOURCES = 1500


def main() -> None:
    """Print a table."""
    whole, listed = (Translator.load(sys.argv[1], workers=all_cores(), short_list=each) for each in (False, True))
    print("|  | all tokens | short-list | translations that differ |\n|---|---|---|---|")
    for source_lang, target_lang in whole.directions:
        chosen = validation_set((source_lang, target_lang), N_SOURCES)
        found = [
            [one.text for one in each.translate(list(chosen), source_lang=source_lang, target_lang=target_lang)]
            for each in (whole, listed)
        ]
        scores = (f"{bleu(texts, list(chosen.values()), target_lang):.2f}" for texts in found)
        differing = sum(one != other for one, other in zip(*found, strict=True))
        print(f"| {source_lang}-{target_lang} | {' | '.join(scores)} | {differing / len(chosen):.0%} |", flush=True)


if __name__ == "__main__":
    main()
