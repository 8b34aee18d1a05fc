"""CTranslate2 as the system to measure against, with the weights and the pieces of our models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import sentencepiece

from dragoman.bundle.bundle import load_bundle
from dragoman.exchange.ctranslate2_folder import write_model


def save(bundle: str, folder: str) -> None:
    """Write a bundle for CTranslate2, in float32; it can load that as int8, too."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_model(load_bundle(bundle), "float32", Path(folder))


class Peer:
    """CTranslate2 from text to text, as its documentation has it: SentencePiece before and behind it.

    Args:
        folder: what `save` wrote.
        kind: float32 or int8.
        workers: of one thread each.
        tag: a piece that every source begins with, or none.
    """

    def __init__(self, folder: str, kind: str, workers: int, tag: str = "") -> None:
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=str(Path(folder) / f"{side}.spm"))
            for side in ("source", "target")
        )
        threads = {"inter_threads": workers, "intra_threads": 1}
        self._translator = ctranslate2.Translator(folder, device="cpu", compute_type=kind, **threads)
        self._n_threads, self._tag = workers, [tag] if tag else []

    def translate(self, lines: Sequence[str], **options: object) -> list[str]:
        """One translation of each line."""
        pieces = self._source.encode(list(lines), out_type=str, num_threads=self._n_threads)
        results = self._translator.translate_batch([self._tag + each for each in pieces], **options)
        texts: list[str] = self._target.decode(
            [result.hypotheses[0] for result in results], num_threads=self._n_threads
        )
        return texts
