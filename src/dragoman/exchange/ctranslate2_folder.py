"""A folder that CTranslate2 loads: its model, the vocabularies, and the SentencePiece models beside them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ctranslate2

from dragoman.bundle.bundle import Bundle
from dragoman.exchange.agreement import Agreement, compare
from dragoman.exchange.ctranslate2_spec import names_of, specification
from dragoman.exchange.export_folder import Precision, sentencepiece_files, write_files
from dragoman.machine.folders import save_folder
from dragoman.text.subword import Subword
from dragoman.text.tokenizer import Tokenizers

_log = logging.getLogger(__name__)


def export_ctranslate2(
    name: str | Path, folder: Path, precision: Precision, sentences: Sequence[str], bundle: Bundle
) -> Agreement:
    """Write a bundle for CTranslate2; load that, and compare translations with ours.

    Args:
        name: for messages.
        sentences: to compare; without any, made-up ones.
        bundle: as `load_without` has loaded it.

    Raises:
        RunFolderError: the folder exists, or cannot be written.
    """
    if bundle.short_list is not None:
        _log.warning(f"{name}: its short-list is left out; CTranslate2 scores the whole vocabulary at each step")
    _warn_of_text(bundle.tokenizers, name)
    save_folder(folder, partial(write_model, bundle, precision))
    return compare(bundle, partial(translate_ids, folder, bundle.tokenizers), sentences)


def write_model(bundle: Bundle, precision: Precision, folder: Path, first_piece: str = "") -> None:
    """Write the files into an existing folder.

    Args:
        first_piece: CTranslate2 puts this piece before each source.
    """
    spec = specification(bundle)
    if first_piece:
        spec.config.bos_token, spec.config.add_source_bos = first_piece, True
    spec.optimize(quantization=None if precision == "float32" else precision)
    spec.save(str(folder))
    write_files(folder, sentencepiece_files(bundle.tokenizers))


def translate_ids(
    folder: Path, tokenizers: Tokenizers, sources: Sequence[Sequence[int]], max_length: int
) -> list[list[int]]:
    """Translate by CTranslate2, greedily, on one thread: source ids, without special ones -> target ids."""
    names = names_of(tokenizers)
    ids = {piece: id for id, piece in enumerate(names.target)}
    translator: Any = ctranslate2.Translator(str(folder), device="cpu", intra_threads=1)
    options = {"beam_size": 1, "max_decoding_length": max_length, "max_batch_size": 512, "batch_type": "tokens"}
    results: Iterable[Any] = translator.translate_batch(
        [[names.source[id] for id in source] for source in sources], **options
    )
    return [[ids[piece] for piece in result.hypotheses[0]] for result in results]


def _warn_of_text(tokenizers: Tokenizers, name: str | Path) -> None:
    """Say what a caller of CTranslate2 must do to text, beside cutting it by SentencePiece."""
    if not isinstance(tokenizers.source, Subword):
        _log.warning(f"{name}: its tokens are {tokenizers.config.kind}: cut text as dragoman does, by Tokenizers")
    elif tokenizers.config.lowercases_source:
        _log.warning(f"{name}: it reads small letters: lower-case text before you cut it")
    if tokenizers.is_tagged:
        tags = " ".join(map(tokenizers.tag, tokenizers.targets))
        _log.warning(f"{name}: give the language to translate into as the first piece of a source: {tags}")
