"""Speed with a short-list and without one, ours and CTranslate2's, with the same weights and the same list.

    python benchmarks/short_list.py MODEL SOURCE en de

MODEL was packaged with a short-list; SOURCE is a text file in the first language. One thread and batches of 512 tokens
for all. CTranslate2 takes the list as its `vmap`, which holds for all sentences of a batch together. Each gets text and
gives text. BLEU is that of our translations, if a file of references follows.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ctranslate2_peer import Peer, save
from measuring import in_turns, summary, write
from threadpoolctl import threadpool_limits

from dragoman import Translator
from dragoman.bundle.bundle import load_bundle
from dragoman.data.text_files.lines import read_lines
from dragoman.evaluation.metrics import bleu_metric
from dragoman.exchange.ctranslate2_spec import names_of
from dragoman.machine.devices import Precision

N_SENTENCES, N_ROUNDS, N_ALONE = 200, 2, 40
BATCH_TOKENS = 512
KINDS: tuple[Precision, ...] = ("float32", "int8")


def main() -> None:
    """Measure, and write short_list.json."""
    model, source, *languages = sys.argv[1:5]
    lines = [str(line) for line in islice(read_lines(Path(source)), N_SENTENCES)]
    threadpool_limits(1)
    with TemporaryDirectory() as folder:
        save(model, folder)
        write_vmap(model, languages[1], Path(folder) / "vmap.txt")
        systems = dict(all_systems(model, folder, languages))
    result: dict[str, Any] = {}
    for beam_size in (1, 5):
        together = {name: partial(count, translate, lines, beam_size) for name, translate in systems.items()}
        result[f"batches, beam {beam_size}"] = summary(in_turns(together, N_ROUNDS), "CTranslate2 int8")
        result[f"one sentence, beam {beam_size}, ms"] = alone(systems, lines[:N_ALONE], beam_size)
    if len(sys.argv) > 5:
        references = [str(line) for line in islice(read_lines(Path(sys.argv[5])), N_SENTENCES)]
        result["BLEU, beam 5"] = {
            name: round(bleu_metric(languages[1]).corpus_score(translate(lines, 5), [references]).score, 2)
            for name, translate in systems.items()
        }
    write(__file__, {"sentences": len(lines), "speeds": result})


def all_systems(
    model: str, folder: str, languages: Sequence[str]
) -> dict[str, Callable[[Sequence[str], int], list[str]]]:
    """Each system translates lines with a beam."""
    codes: Any = {"source_lang": languages[0], "target_lang": languages[1]}
    systems = {}
    tokenizers = load_bundle(model).tokenizers
    for kind in KINDS:
        peer = Peer(folder, kind, workers=1, tag=tokenizers.tag(languages[1]))
        for has_list in (False, True):
            ours = Translator.load(model, device="cpu", precision=kind, short_list=has_list)
            note = f"{kind}, short-list" if has_list else kind
            systems[f"dragoman {note}"] = partial(we, ours, codes)
            systems[f"CTranslate2 {note}"] = partial(they, peer, has_list)
    return systems


def we(translator: Translator, codes: Mapping[str, str], lines: Sequence[str], beam_size: int) -> list[str]:
    options: Any = {**codes, "beam_size": beam_size, "batch_size": BATCH_TOKENS}
    return [each.text for each in translator.translate(list(lines), **options)]


def they(peer: Peer, has_list: bool, lines: Sequence[str], beam_size: int) -> list[str]:
    options = {"max_batch_size": BATCH_TOKENS, "batch_type": "tokens", "beam_size": beam_size, "use_vmap": has_list}
    return peer.translate(lines, length_penalty=1.0, **options)


def count(translate: Callable[[Sequence[str], int], list[str]], lines: Sequence[str], beam_size: int) -> int:
    return len(translate(lines, beam_size))


def alone(
    systems: Mapping[str, Callable[[Sequence[str], int], list[str]]], lines: Sequence[str], beam_size: int
) -> dict[str, float]:
    """The median time of a sentence, in milliseconds; the systems take turns at every sentence."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    for line in lines:
        for name, translate in systems.items():
            started = time.perf_counter()
            translate([line], beam_size)
            times[name].append(time.perf_counter() - started)
    return {name: round(1000 * statistics.median(values), 2) for name, values in times.items()}


def write_vmap(model: str, language: str, path: Path) -> None:
    """Write our short-list in CTranslate2's form: a source piece, a tabulator, and target pieces between spaces."""
    bundle = load_bundle(model)
    assert bundle.short_list is not None, "package the model with --short-list"
    likely = bundle.short_list.languages[language]

    known = names_of(bundle.tokenizers)

    def names(ids: Sequence[int]) -> str:
        return " ".join(known.target[id] for id in ids)

    rows = (
        (piece, likely.likely[likely.starts[id] : likely.starts[id + 1]].tolist())
        for id, piece in enumerate(known.source)
    )
    with path.open("w", encoding="utf-8") as file:
        file.write(f"\t{names(likely.frequent.tolist())}\n")
        file.writelines(f"{piece}\t{names(ids)}\n" for piece, ids in rows if ids)


if __name__ == "__main__":
    main()
