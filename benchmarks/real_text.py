"""Measure translators on real text of nine kinds, beside other systems' stored translations of the same lines.

    python benchmarks/real_text.py everyday --out measured
    python benchmarks/real_text.py runs/new everyday --directions en-de,de-en --mode default
    python benchmarks/real_text.py ct2-folder --directions en-de --kinds encyclopedic,news --sample 1000

A model is one of dragoman (a bundle, a run folder, an imported model, a shipped one's name), or a folder of CTranslate2
with its SentencePiece models (extra `ctranslate2`). Each direction gets a table. For each kind of text and each system:

- BLEU and chrF2 by sacreBLEU, with all references. p is the probability of the distance in chrF2 from the first system
  by chance: sacreBLEU's paired bootstrap, 1,000 samples. Chinese is cut by sacreBLEU's `zh`, Japanese and Korean into
  characters. --json has the signatures, and p of BLEU.
- unk: words that the target's dictionary lacks and that do not stand in the source, in percent of all words.
- left: words left in the source's language, in percent of all words. Both need Hunspell and its dictionaries
  (Debian: hunspell hunspell-en-us hunspell-en-gb hunspell-de-de hunspell-fr).
- bad: empty translations, and those that repeat a stretch and whose source does not, in percent of lines.
- num: numbers of the source whose digits are missing, in percent of numbers.
- neg: negated sources whose translation has no negation, in percent of them.

The row "people" has the faults of the first references. They are right, so a system's own faults are what it has more.

The kinds: encyclopedic (FLORES dev), news (WMT 2013), health (TICO-19), documentation (Python's, held-out files),
interface (Debian's programs), mail (Thunderbird), dialogue (Wesnoth), chat (customers, BContrast), everyday (Tatoeba).
None of these files is for training.

Needs DRAGOMAN_DATA. A larger set is cut to --sample lines by a hash.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from real_text_faults import faults
from real_text_scores import by_length, compared, scores, signatures
from real_text_sets import KINDS, Direction, TextSet, data_folder, read_set
from real_text_systems import MODES, System, directions, load
from real_text_tables import PEOPLE, markdown, terminal, to_be_read
from real_text_words import dictionary

from dragoman.errors import ConfigError, DataError, DragomanError
from dragoman.text.languages import WITHOUT_SPACES

Outputs = Mapping[str, Sequence[str]]


def measure(
    systems: Sequence[System], sets: Sequence[TextSet], direction: Direction
) -> tuple[dict[str, Any], list[Outputs]]:
    """Return the figures of a direction, and what each system wrote for each set."""
    written = [{system.name: system.translate(own.sources, direction) for system in systems} for own in sets]
    result = {
        "direction": "-".join(direction),
        "sets": [figures(own, {**texts, **own.stored}) for own, texts in zip(sets, written, strict=True)],
        "lengths": lengths(sets, written, direction),
    }
    return result, [{**texts, **own.stored} for own, texts in zip(sets, written, strict=True)]


def figures(own: TextSet, outputs: Outputs) -> dict[str, Any]:
    """Return the scores and faults of each system on a set, and the faults of people."""
    found: dict[str, dict[str, Any]] = {**compared(outputs, own.references, own.direction[1]), PEOPLE: {}}
    texts = {**outputs, PEOPLE: [each[0] for each in own.references]}
    for name, system in found.items():
        system["faults"] = faults(own.sources, texts[name], own.direction)
    signed = signatures(own.references, own.direction[1])
    return {"kind": own.kind, "lines": len(own.sources), "of": own.of, "signatures": signed, "systems": found}


def lengths(sets: Sequence[TextSet], written: Sequence[Outputs], direction: Direction) -> dict[str, dict[str, Any]]:
    """Return the scores of each system by the length of the source, all sets together."""
    sources = [text for own in sets for text in own.sources]
    references = [each for own in sets for each in own.references]
    classes = by_length(sources, direction[0])
    found: dict[str, dict[str, Any]] = {}
    for system in written[0]:
        outputs = [text for each in written for text in each[system]]
        found[system] = {
            name: {"lines": len(lines)}
            | (scores([outputs[i] for i in lines], [references[i] for i in lines], direction[1]) if lines else {})
            for name, lines in classes.items()
        }
    return found


def text_sets(direction: Direction, kinds: Sequence[str], size: int) -> list[TextSet]:
    """Return the samples of the kinds that have text in a direction."""
    found = [own.sample(size) for kind in kinds if (own := read_set(kind, direction)) is not None]
    if not found:
        raise DataError(f"no text of kind {' or '.join(kinds)} for {'-'.join(direction)}", data_folder())
    return found


def missing_dictionaries(pairs: Sequence[Direction]) -> list[str]:
    """Return the languages without a dictionary of words."""
    languages = {language for pair in pairs for language in pair} - WITHOUT_SPACES
    return sorted(language for language in languages if dictionary(language) is None)


def run(arguments: argparse.Namespace) -> None:
    """Measure, and write all that was asked for after each direction."""
    data_folder()
    if arguments.sample < 1:
        raise ConfigError(f"--sample must be 1 or more, not {arguments.sample}")
    kinds = arguments.kinds.split(",") if arguments.kinds else list(KINDS)
    if unknown := [each for each in kinds if each not in KINDS]:
        raise ConfigError(f"no kind of text: {unknown[0]!r}", advice=f"there are {', '.join(KINDS)}")
    modes = MODES if arguments.mode == "both" else (arguments.mode,)
    systems = [system for model in arguments.models for system in load(model, arguments.precision, modes)]
    names = [system.name for system in systems]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"two models with the name {repeated[0]!r}", advice="rename the folder of one")
    pairs = directions(systems, arguments.directions)
    samples = {pair: text_sets(pair, kinds, arguments.sample) for pair in pairs}
    if missing := missing_dictionaries(pairs):
        print(f"no Hunspell with a dictionary for {', '.join(missing)}: its words are not checked")
    report: dict[str, Any] = {"systems": names, "precision": arguments.precision, "sample": arguments.sample}
    report["results"] = []
    for pair, sets in samples.items():
        result, written = measure(systems, sets, pair)
        report["results"].append(result)
        print(*terminal(result), sep="\n", flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        if arguments.out:
            lines = [*to_be_read(sets, written)]
            (arguments.out / f"read.{'-'.join(pair)}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (arguments.out / "tables.md").write_text("\n".join(markdown(report)) + "\n", encoding="utf-8")


def main() -> None:
    """Measure models and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="models; the first is the one that others are compared with")
    parser.add_argument("--directions", help="such as en-de,de-en; by default all that the models have in common")
    parser.add_argument("--kinds", help=f"of {','.join(KINDS)}; by default all")
    parser.add_argument("--mode", choices=("both", *MODES), default="both", help="of dragoman: with checks, plain")
    parser.add_argument("--sample", type=int, default=200, help="lines of each set at most (default: 200)")
    parser.add_argument("--precision", choices=("int8", "float32"), default="int8")
    parser.add_argument("--out", type=Path, help="a folder for tables.md and 60 sentences a direction to be read")
    parser.add_argument("--json", type=Path, help="a file for all figures")
    arguments = parser.parse_args()
    try:
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
        run(arguments)
    except (DragomanError, OSError) as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
