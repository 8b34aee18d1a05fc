"""Success rate, BLEU and time with and without a term list.

    python benchmarks/terms.py tico-19 --target fr [--sentences 300] [--output terms.json]

The folder has what TICO-19 publishes: `all.en-fr.tmx.zip` and `f_en-fr_XX.csv`. The sentences are drawn among those
with a term of the list, where the reference has the targets of all terms, so that both do not contradict
each other (Dinu et al. 2019). A term succeeds if its target is in the translation, as words, in any case. Seconds are
CPU time of one process with one thread (`OMP_NUM_THREADS=1`) for all sentences as one list.
"""

import argparse
import csv
import json
import random
import tempfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import sacrebleu

import dragoman
from dragoman.data.formats import open_pairs
from dragoman.evaluation.metrics import bleu_metric
from dragoman.text.terms import Term, TermList
from dragoman.translator import Translation


def term_list(folder: Path, target: str) -> TermList:
    (path,) = folder.glob(f"f_en-{target}_*.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return TermList(Term(row["sourceString"], (row["targetString"],)) for row in csv.DictReader(file))


def pairs(folder: Path, target: str) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(folder / f"all.en-{target}.tmx.zip") as archive:
        (name,) = archive.namelist()
        file = open_pairs(Path(archive.extract(name, scratch)), ("en", target), None, "error")
        return [(str(source), str(translation)) for _, source, translation in file.read()]


def terms_of(terms: TermList, text: str) -> list[Term]:
    return list(dict.fromkeys(term for _, _, term in terms.find(text)))


def sample(folder: Path, target: str, terms: TermList, n: int) -> list[tuple[str, str]]:
    usable = [
        (source, reference)
        for source, reference in dict.fromkeys(pairs(folder, target))
        if (found := terms_of(terms, source)) and all(term.n_in(reference) for term in found)
    ]
    return random.Random(7).sample(usable, min(n, len(usable)))


def timed(translate: Callable[[], list[Translation]], n_times: int) -> tuple[list[Translation], float]:
    translations: list[Translation] = []
    seconds = []
    for _ in range(n_times):
        start = time.process_time()
        translations = translate()
        seconds.append(time.process_time() - start)
    return translations, min(seconds)


def row(
    name: str, lines: Sequence[tuple[str, str]], found: Sequence[str], terms: TermList, target: str
) -> dict[str, object]:
    references = [[reference for _, reference in lines]]
    demanded = [
        (term, text) for (source, _), text in zip(lines, found, strict=True) for term in terms_of(terms, source)
    ]
    return {
        "name": name,
        "terms": len(demanded),
        "success": round(100 * sum(term.n_in(text) > 0 for term, text in demanded) / len(demanded), 1),
        "bleu": round(bleu_metric(target).corpus_score(list(found), references).score, 1),
        "chrf": round(sacrebleu.corpus_chrf(list(found), references).score, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="fr")
    parser.add_argument("--model", default="everyday")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    terms = term_list(given.folder, given.target)
    lines = sample(given.folder, given.target, terms, given.sentences)
    sources = [source for source, _ in lines]
    translator = dragoman.Translator.load(given.model, device="cpu")
    results = []

    def add(name: str, terms_given: TermList | None) -> None:
        found, seconds = timed(
            lambda: translator.translate(sources, source_lang="en", target_lang=given.target, terms=terms_given),
            given.times,
        )
        result = row(name, lines, [one.text for one in found], terms, given.target)
        results.append(result | {"seconds": round(seconds, 2)})
        print(results[-1], flush=True)

    add("without terms", None)
    add("with terms", terms)
    facts = {"target": given.target, "model": given.model, "sentences": len(lines), "results": results}
    if given.output:
        known = json.loads(given.output.read_text(encoding="utf-8")) if given.output.exists() else {}
        text = json.dumps(known | {f"{given.model} en-{given.target}": facts}, indent=1)
        given.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
