"""Compare models, before one becomes an edition of `everyday`, by text that is held out of what they learn from.

    python benchmarks/everyday_compare.py everyday-text everyday runs/everyday-world/last

everyday-text is what benchmarks/everyday_text.py has written. For each model, the means of BLEU over all directions of
a set (their number is in the head), with weights in int8 and beam 5:

- tatoeba, other: the first and the last 150 pairs of each *-world-validation (fr-de: Tatoeba only);
- wikipedia: the first 200 pairs of each *-wikipedia (the fourth edition read some English sides, in another language);
- written: every second pair of each *-held-out.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean

from everyday_text import VALIDATION_SIZE
from real_text_scores import scores
from real_text_sets import split_lines

from dragoman.data.augmentation.shared import Languages, Pair
from dragoman.translator import Translator

PAIRS: Sequence[Languages] = (("en", "de"), ("en", "fr"), ("en", "zh"), ("fr", "de"))
HALF = VALIDATION_SIZE // 2
#: The file of each set, and which of its pairs are in it.
SETS: Mapping[str, tuple[str, slice]] = {
    "tatoeba": ("world-validation", slice(HALF)),
    "other": ("world-validation", slice(HALF, None)),
    "wikipedia": ("wikipedia", slice(200)),
    "written": ("held-out", slice(None, None, 2)),
}
BEAM_SIZE = 5


def read_pairs(folder: Path, name: str, languages: Languages) -> list[Pair]:
    """Return the pairs of a set; none if there is no such set in two languages."""
    file, some = SETS[name]
    if name == "other" and "en" not in languages:
        return []  # both halves are Tatoeba's
    start = folder / f"{'-'.join(languages)}-{file}"
    paths = [Path(f"{start}.{language}.gz") for language in languages]
    if not paths[0].exists():
        return []
    sides = (split_lines(gzip.decompress(path.read_bytes()).decode()) for path in paths)
    return list(zip(*sides, strict=True))[some]


def directed(folder: Path, name: str) -> Iterator[tuple[Languages, list[Pair]]]:
    """Yield each direction of a set with its pairs, the source first."""
    for source_lang, target_lang in PAIRS:
        if pairs := read_pairs(folder, name, (source_lang, target_lang)):
            yield (source_lang, target_lang), pairs
            yield (target_lang, source_lang), [(target, source) for source, target in pairs]


def compare(model: str, folder: Path, length_penalty: float) -> dict[str, list[float]]:
    """Return the BLEU of a model in each direction of each set."""
    translator = Translator.load(model, precision="int8")
    found: dict[str, list[float]] = {}
    for name in SETS:
        for (source_lang, target_lang), pairs in directed(folder, name):
            sources, references = ([pair[side] for pair in pairs] for side in (0, 1))
            outputs = translator.translate(
                sources,
                source_lang=source_lang,
                target_lang=target_lang,
                beam_size=BEAM_SIZE,
                length_penalty=length_penalty,
            )
            made = scores([each.text for each in outputs], [[each] for each in references], target_lang)
            found.setdefault(name, []).append(made["BLEU"])
    return found


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path, help="the folder of benchmarks/everyday_text.py")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--length-penalty", type=float, default=1.5, help="default: 1.5, that of everyday")
    arguments = parser.parse_args()
    counts = {name: sum(1 for _ in directed(arguments.text, name)) for name in SETS}
    print("| mean BLEU | " + " | ".join(f"{name} ({number})" for name, number in counts.items()) + " | of all sets |")
    print("|---" * (2 + len(SETS)) + "|")
    for model in arguments.models:
        means = [mean(numbers) for numbers in compare(model, arguments.text, arguments.length_penalty).values()]
        print(f"| {model} | " + " | ".join(f"{each:.1f}" for each in (*means, mean(means))) + " |", flush=True)


if __name__ == "__main__":
    main()
