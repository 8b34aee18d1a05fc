"""Speed of translating 1,000 sentences, greedy and with beam 5: ours and CTranslate2, with the same weights.

    make bench-translate        # or: python benchmarks/translate.py RUN SOURCE, with a trained run and a text file
    make bench-translate-avx2   # both as on a processor that has no AVX-512

Both have as many workers of one thread as there are threads, and batches of 512 tokens, nearly the best of both;
CTranslate2 in float32 and in int8, ours also in bfloat16 and int8 where the processor multiplies them, and without its
compiled kernels. Each gets text and gives text, CTranslate2 by SentencePiece. Equal translations are counted.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from ctranslate2_peer import Peer, save
from measuring import in_turns, loaders, summary, write

from dragoman.data.text_files.lines import read_lines

N_SENTENCES, N_ROUNDS = 1000, 7
BATCH_TOKENS, LONGEST = 512, 100
KINDS = ("float32", "int8")


def main() -> None:
    """Measure, and write translate.json."""
    run, source = sys.argv[1], Path(sys.argv[2])
    lines = [str(line) for line in islice(read_lines(source), N_SENTENCES)]
    n_threads = torch.get_num_threads()
    ours = {name: load(run, workers=n_threads) for name, load in loaders().items()}
    alpha = ours["dragoman"].search.length_penalty
    with TemporaryDirectory() as folder:
        save(run, folder)
        theirs = {kind: Peer(folder, kind, workers=n_threads) for kind in KINDS}

    def we(name: str, beam_size: int) -> list[str]:
        translations = ours[name].translate(lines, beam_size=beam_size, max_length=LONGEST, batch_size=BATCH_TOKENS)
        return [each.text for each in translations]

    def they(kind: str, beam_size: int) -> list[str]:
        options = {"max_batch_size": BATCH_TOKENS, "batch_type": "tokens", "max_decoding_length": LONGEST}
        return theirs[kind].translate(lines, beam_size=beam_size, length_penalty=alpha, **options)

    def worker(translate: Callable[..., object], *arguments: object) -> Callable[[], float]:
        def work() -> float:
            translate(*arguments)
            return len(lines)

        return work

    result = {}
    for beam_size in (1, 5):
        systems = {name: worker(we, name, beam_size) for name in ours}
        systems |= {f"CTranslate2 {kind}": worker(they, kind, beam_size) for kind in KINDS}
        speeds = summary(in_turns(systems, N_ROUNDS), "CTranslate2 float32")
        pairs = zip(we("dragoman", beam_size), they("float32", beam_size), strict=True)
        equal = sum(one == other for one, other in pairs)
        result[f"beam {beam_size}"] = {**speeds, "equal_to_ctranslate2_float32": equal}
    facts = {"unit": "sentences a second", "sentences": len(lines), "workers of one thread": n_threads}
    write(__file__, {**facts, "speeds": result})


if __name__ == "__main__":
    main()
