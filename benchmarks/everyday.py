"""Measure translators of everyday sentences on validation text, on perturbed and on made-up sentences.

    python benchmarks/everyday.py runs/en-de --output results.json
    python benchmarks/everyday.py runs/everyday --directions en-de,de-en,fr-de --sample 1500 --brief

Prints a table for each direction, phrases and unusual sentences with their translations to be read and marked by hand,
and a summary. A direction's table has

- BLEU and chrF2 of each source against all its references, BLEU of all pairs with one reference each (as `train`
  reports it, but with the model's own search), and BLEU of sources of 12 words and more (Chinese: 17 characters);
- BLEU of perturbed sources: capitals, no final mark, one typo, lower case. These and the clean ones beside them are
  compared lower-cased and without final marks;
- made-up sentences (everyday_made_up.py) whose digits, URLs, addresses, placeholders and names are kept;
- words, greetings, questions and lines of two sentences whose translation everyday/phrases.tsv lists.

Nothing here is from a kept-back set. Needs DRAGOMAN_DATA with its folders tatoeba-*.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from everyday_made_up import KINDS, made_up
from everyday_sets import (
    LANGUAGES,
    Direction,
    Phrase,
    bleu,
    chrf,
    is_long,
    perturbations,
    phrases,
    plain,
    unusual,
    validation_set,
)
from everyday_tables import reading, summary, table

from dragoman.errors import DragomanError
from dragoman.machine.devices import all_cores
from dragoman.translator import Translator

PHRASE_KINDS = ("noun", "word", "greeting", "question", "statement", "pair")


@dataclass
class Model:
    """A translator in one direction, which translates each text once."""

    translator: Translator
    direction: Direction
    is_tagged: bool
    seconds: float = 0.0

    def translate(self, texts: Iterable[str]) -> dict[str, str]:
        """Return the translation of each text."""
        own = list(dict.fromkeys(texts))
        source, target = self.direction
        options: dict[str, Any] = {}
        if len(self.translator.tokenizers.directions) > 1 and not self.is_tagged:
            options = {"source_lang": source, "target_lang": target}
        begun = time.monotonic()
        found = self.translator.translate(
            [f">>{target}<< {each}" if self.is_tagged else each for each in own], **options
        )
        self.seconds += time.monotonic() - begun
        return {text: each.text for text, each in zip(own, found, strict=True)}


def measure(model: Model, n_sources: int | None) -> dict[str, Any]:
    """Return the scores of a direction, and all the sentences that were read or went wrong."""
    source, target = model.direction
    references = validation_set(model.direction, n_sources)
    changed = {name: {text: change(text) for text in references} for name, change in perturbations(source).items()}
    sentences, short, odd = made_up(source, target), phrases(model.direction), unusual(model.direction)
    texts = [*references, *(text for each in changed.values() for text in each.values())]
    written = model.translate([*texts, *(each.text for each in (*sentences, *short)), *(text for _, text, _ in odd)])
    faults = [(each, each.fault(written[each.text])) for each in sentences]
    return {
        "direction": f"{source}-{target}",
        "sources": len(references),
        "pairs": sum(map(len, references.values())),
        "beam": model.translator.search.beam_size,
        "sentences a second": round(len(written) / max(model.seconds, 1e-9), 1),
        **_validation(references, written, model.direction),
        "perturbed": _perturbed(references, changed, written, target),
        "made up": {kind: sum(not fault for each, fault in faults if each.kind == kind) for kind in KINDS},
        "phrases": _phrase_counts(short, written),
        "made-up failures": [
            {"kind": each.kind, "source": each.text, "translation": written[each.text], "fault": fault}
            for each, fault in faults
            if fault
        ],
        "phrases read": [_read(each, written[each.text]) for each in short],
        "unusual read": [
            {"kind": kind, "source": text, "translation": written[text], "by hand": own} for kind, text, own in odd
        ],
    }


def _phrase_counts(short: Sequence[Phrase], written: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Return how many phrases of each kind are right, and of how many."""
    by_kind = {
        kind: [each.is_right(written[each.text]) for each in short if each.kind == kind] for kind in PHRASE_KINDS
    }
    return {kind: (sum(right), len(right)) for kind, right in by_kind.items()}


def _read(phrase: Phrase, translation: str) -> dict[str, Any]:
    own = {"kind": phrase.kind, "source": phrase.text, "translation": translation}
    return {**own, "right": phrase.is_right(translation), "expected": phrase.answers[0]}


def _validation(
    references: Mapping[str, Sequence[str]], written: Mapping[str, str], direction: Direction
) -> dict[str, Any]:
    """Return the scores of clean text."""
    source, target = direction
    pairs = [(written[text], [each]) for text, own in references.items() for each in own]
    long = {text: own for text, own in references.items() if is_long(text, source)}

    def score(chosen: Mapping[str, Sequence[str]]) -> float:
        return round(bleu([written[text] for text in chosen], list(chosen.values()), target), 2)

    return {
        "BLEU": score(references),
        "chrF2": round(chrf([written[text] for text in references], list(references.values())), 2),
        "BLEU, one reference": round(bleu([text for text, _ in pairs], [own for _, own in pairs], target), 2),
        "BLEU, long": score(long) if long else None,
        "long sources": len(long),
    }


def _perturbed(
    references: Mapping[str, Sequence[str]],
    changed: Mapping[str, Mapping[str, str]],
    written: Mapping[str, str],
    target: str,
) -> dict[str, float]:
    """Return BLEU of clean and of perturbed sources, compared in the same way."""
    own = [list(map(plain, each)) for each in references.values()]
    sets = {"clean": {text: text for text in references}, **changed}
    return {
        name: round(bleu([plain(written[sources[text]]) for text in references], own, target), 2)
        for name, sources in sets.items()
    }


def directions_of(translator: Translator, named: str | None, is_tagged: bool) -> list[Direction]:
    """Return the directions to measure: those that are named, or all of the model."""
    known = list(translator.tokenizers.directions)
    if named is None:
        return known
    found = [(source, target) for source, _, target in (each.partition("-") for each in named.split(","))]
    if unknown := [each for pair in found for each in pair if each not in LANGUAGES]:
        raise SystemExit(f"no sentences in {unknown[0]!r}; directions are such as en-de, of {', '.join(LANGUAGES)}")
    if not is_tagged and len(known) == 1 and found != known:
        raise SystemExit(f"the model translates {'-'.join(known[0])}, not {named}; --tagged is for one with tags")
    return found


def main() -> None:
    """Measure a model and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a bundle, a run folder or a shipped model")
    parser.add_argument("--directions", help="such as en-de,de-en; by default all of the model")
    parser.add_argument("--tagged", action="store_true", help="write the target language's tag before each text")
    parser.add_argument("--sample", type=int, help="sources of each validation set, chosen by a hash; all by default")
    parser.add_argument("--brief", action="store_true", help="tables only, nothing to read")
    parser.add_argument("--precision", choices=("float32", "int8"), default="float32")
    parser.add_argument("--workers", type=int, default=all_cores())
    parser.add_argument("--output", type=Path, help="a JSON file with all scores, translations and failures")
    arguments = parser.parse_args()
    try:
        translator = Translator.load(arguments.model, workers=arguments.workers, precision=arguments.precision)
    except DragomanError as error:
        raise SystemExit(f"error: {error}") from None
    results = []
    for direction in directions_of(translator, arguments.directions, arguments.tagged):
        results.append(measure(Model(translator, direction, arguments.tagged), arguments.sample))
        print(*table(results[-1]), *([] if arguments.brief else reading(results[-1])), sep="\n", flush=True)
        if arguments.output:
            text = json.dumps({"model": arguments.model, "results": results}, ensure_ascii=False, indent=2)
            arguments.output.write_text(text + "\n", encoding="utf-8")
    print(*summary(results), sep="\n")


if __name__ == "__main__":
    main()
