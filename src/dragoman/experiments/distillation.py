"""Text that trained models write, for another model to learn from.

Sequence-level distillation (Kim and Rush 2016): a student learns from the translations of its teacher, an ensemble
say, beside those of people. Data diversification (Nguyen et al. 2020): several models, of both directions, each
translate the training text, and one model learns from all of it. Back-translation (Sennrich et al. 2016): a model of
the other direction writes sources for text of the target language, which the student reads with a tag of their own, if
they come with other text (Caswell et al. 2019).

    distill.json             what this is made from
    parts/<model>-<n>.json   translations of the n-th piece of the text; removed at the end
    train.<language>         two files, line by line: the text's own pairs, then those that are new

Each part appears whole or not at all, so a distillation that was stopped goes on after the last one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from dragoman.data.duplicates import find_duplicates
from dragoman.data.filtering import text_problem
from dragoman.data.hashed_pairs import HashedPairs, text_hash
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import ConfigError, DataError, RunFolderError, counted
from dragoman.experiments.parts import Parts, TeacherOptions
from dragoman.experiments.teachers import Teacher, common_languages
from dragoman.machine.files import temporary, write_chunks, write_file
from dragoman.machine.folders import remove_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import lock_folder
from dragoman.text.invisible import is_blank
from dragoman.text.tags import UNKNOWN

_log = logging.getLogger(__name__)

RECORD, PARTS = "distill.json", "parts"


class Pair(NamedTuple):
    """A pair of the new corpus."""

    source: str
    target: str
    is_new: bool  # written by a model


def distill(
    teachers: Sequence[Teacher], text: ParallelText, folder: Path, **options: Unpack[TeacherOptions]
) -> tuple[Path, Path]:
    """Translate `text` with every teacher, and write its pairs and the new ones to `folder`; or go on doing so.

    Pairs that a training would drop for their text are left out, and new ones that are there already.

    Args:
        teachers: all of one pair of languages.
        text: pairs; where there are only sources, or only targets, the other sides are empty.
        options: as for `Translator.translate`; with `n_best`, so many new pairs for each sentence.

    Returns:
        The files of sources and of targets.

    Raises:
        ConfigError: the teachers' languages differ, an option is wrong, or `folder` was made from something else.
        DataError: the text cannot be read, or is empty.
        RunFolderError, ResourceError: `folder` is in use, holds other files, or cannot be written.
    """
    files = _files(folder, common_languages(teachers))
    n_texts = _check(teachers, text, options)
    _refuse_other_files(folder)
    with lock_folder(folder) as lock:
        _claim(folder, _origin(teachers, text, options))
        if all(file.exists() for file in files):
            _log.info(f"{folder} is complete")
        else:
            lock.require()
            _write(files, teachers, text, _translate(teachers, text, n_texts, folder / PARTS, options))
        remove_folder(folder / PARTS)
    return files


def _translate(
    teachers: Sequence[Teacher], text: ParallelText, n_texts: int, folder: Path, options: TeacherOptions
) -> list[Parts]:
    """Let every teacher translate the text, as far as that is not done yet, and return the translations of each."""
    folder.mkdir(exist_ok=True)
    parts = [Parts(folder, number) for number in range(1, len(teachers) + 1)]
    try:
        for teacher, translations in zip(teachers, parts, strict=True):
            translations.translate(teacher, text, n_texts, options)
    except (KeyboardInterrupt, SystemExit):
        _log.info("stopped; the same command continues")
        raise
    return parts


def _files(folder: Path, languages: tuple[str, str]) -> tuple[Path, Path]:
    """Return the files of sources and of targets."""
    are_known = languages[0] != languages[1] and UNKNOWN not in languages
    source, target = languages if are_known else ("source", "target")
    return folder / f"train.{source}", folder / f"train.{target}"


def _check(teachers: Sequence[Teacher], text: ParallelText, options: TeacherOptions) -> int:
    """Return the number of pairs; refuse wrong options and unusable text before a folder is claimed for them."""
    for teacher in teachers:
        teacher.translator.translate([], **teacher.request, **options)
    n_texts = sum(1 for _ in text)
    if all(is_blank(teacher.side(pair)) for pair in text for teacher in teachers):
        raise DataError("there are no sentences to translate", text.name, advice="is it empty?")
    return n_texts


def _origin(teachers: Sequence[Teacher], text: ParallelText, options: TeacherOptions) -> dict[str, Any]:
    """Return everything that decides what is written."""
    search = {name: value for name, value in options.items() if value is not None and name != "batch_size"}
    sentences = {"sentences": search.pop("sentences")} if "sentences" in search else {}
    records = [teacher.record() for teacher in teachers]
    return {"text": text.fingerprints(), "search": search, "teachers": records, **sentences}


def _refuse_other_files(folder: Path) -> None:
    """Refuse a folder that this did not make: its text might be overwritten."""
    ours = ("lock", temporary(folder / RECORD).name)  # what is there before the record
    if folder.is_dir() and not (folder / RECORD).exists() and any(each.name not in ours for each in folder.iterdir()):
        raise RunFolderError("the folder holds other files", folder, advice="choose another --output")


def _claim(folder: Path, origin: dict[str, Any]) -> None:
    """Note what this is made from, or check that it is the same as before."""
    record = folder / RECORD
    if not record.exists():
        write_file(record, to_json(origin))
    elif read_json(record) != origin:
        what = "made from other text, models or options"
        raise ConfigError(what, folder, advice="choose another --output, or remove the folder")


def _write(files: tuple[Path, Path], teachers: Sequence[Teacher], text: ParallelText, parts: Sequence[Parts]) -> None:
    """Write both sides of the new corpus."""

    def pairs() -> Iterator[Pair]:
        return _all_pairs(teachers, text, parts)

    with HashedPairs("source") as hashed:
        for pair in pairs():
            hashed.add(text_hash(pair.source), text_hash(pair.target))
        repeated = find_duplicates(hashed).repeated
    if not len(repeated):
        raise DataError("no sentence of it could be translated", text.name, advice="is it empty?")
    for side, file in enumerate(files):
        write_chunks(file, (f"{pair[side]}\n".encode() for pair in _kept(pairs(), repeated)))
    new = np.fromiter((pair.is_new for pair in pairs()), bool, len(repeated))
    n_own, n_new, n_repeated = (int(kind.sum()) for kind in (~new, new & ~repeated, new & repeated))
    own = f"{counted(n_own, 'pair')} of the text, and " if n_own else ""
    left_out = f"; {n_repeated:,} that repeat a pair were left out" if n_repeated else ""
    _log.info(f"wrote {own}{n_new:,} new pairs{left_out}")


def _kept(pairs: Iterator[Pair], repeated: NDArray[np.bool_]) -> Iterator[Pair]:
    """Yield the text's own pairs, and the new ones that equal no pair before them."""
    return (pair for pair, is_repeated in zip(pairs, repeated, strict=True) if not (pair.is_new and is_repeated))


def _all_pairs(teachers: Sequence[Teacher], text: ParallelText, parts: Sequence[Parts]) -> Iterator[Pair]:
    """Yield the text's own pairs, then those of each teacher in turn, except those that cannot be trained on."""
    yield from (Pair(source, target, False) for source, target in text if text_problem(source, target) is None)
    for teacher, translated in zip(teachers, parts, strict=True):
        for pair, translations in zip(text, translated.read(), strict=True):
            for translation in translations:
                source, target = teacher.new_pair(pair, translation)
                if text_problem(source, target) is None:
                    yield Pair(source, target, True)
