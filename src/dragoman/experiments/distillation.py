"""Text that trained models write, for another model to learn from.

Sequence-level distillation (Kim and Rush 2016): a student learns from the translations of its teacher, an ensemble
say, beside those of people. Data diversification (Nguyen et al. 2020): several models, of both directions, each
translate the training text, and one model learns from all of it.

    distill.json             what this is made from
    parts/<model>-<n>.json   translations of the n-th piece of the text; removed at the end
    train.<language>         two files, line by line: the text's own pairs, then those that are new

Each part appears whole or not at all, so a distillation that was stopped goes on after the last one.
"""

from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dragoman.bundle.finding import find_bundle
from dragoman.data.corpus import UNKNOWN_LANGUAGE
from dragoman.data.duplicates import DuplicateFinder, text_hash
from dragoman.data.filtering import text_problem
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import ConfigError, DataError, RunFolderError
from dragoman.machine.devices import Precision
from dragoman.machine.files import sha256, temporary, write_file, write_pieces
from dragoman.machine.folders import MANIFEST, remove_folder
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import lock_folder
from dragoman.text.invisible import is_blank
from dragoman.translator import SearchOptions, Translator

_log = logging.getLogger(__name__)

RECORD, PARTS = "distill.json", "parts"
#: Sentences in a part: what a kill costs, and what is sorted by length together.
PART_SIZE = 4_000


@dataclass(frozen=True)
class Teacher:
    """One model, or an ensemble, that translates the text's sources; or, backward, its targets into new sources."""

    name: str
    translator: Translator
    backward: bool
    #: SHA-256 of each model's manifest.
    fingerprints: tuple[str, ...]
    precision: Precision = "float32"

    @classmethod
    def load(
        cls,
        names: Sequence[str],
        *,
        backward: bool = False,
        device: str = "auto",
        workers: int = 1,
        precision: Precision = "float32",
    ) -> Teacher:
        """Load models, several as an ensemble; arguments are those of `Translator.load`."""
        translator = Translator.load(*names, device=device, workers=workers, precision=precision)
        fingerprints = tuple(sha256(find_bundle(name) / MANIFEST) for name in names)
        return cls(" + ".join(names), translator, backward, fingerprints, precision)

    @property
    def languages(self) -> tuple[str, str]:
        """(source, target) of the text that it adds to."""
        tokenizers = self.translator.tokenizers
        found = tokenizers.source_lang, tokenizers.target_lang
        return found[::-1] if self.backward else found

    def side(self, pair: tuple[str, str]) -> str:
        """What it translates of a pair."""
        return pair[self.backward]

    def record(self) -> dict[str, Any]:
        """What its text depends on. Of float32 nothing is said, as before there was a choice."""
        coarser = {} if self.precision == "float32" else {"precision": self.precision}
        return {"models": list(self.fingerprints), "backward": self.backward, **coarser}


class Pair(NamedTuple):
    """A pair of the new corpus."""

    source: str
    target: str
    is_new: bool  # written by a model


def distill(
    teachers: Sequence[Teacher],
    text: ParallelText,
    folder: Path,
    *,
    options: SearchOptions | None = None,
    sentences: bool | None = None,
    batch_size: int | None = None,
) -> tuple[Path, Path]:
    """Translate `text` with every teacher, and write its pairs and the new ones to `folder`; or go on doing so.

    Pairs that a training would drop for their text are left out, and new ones that are there already.

    Args:
        teachers: all of one pair of languages.
        text: pairs; where there are only sources, the targets are empty.
        options, sentences, batch_size: as for `Translator.translate`; with `n_best`, so many new pairs for each
            sentence.

    Returns:
        The files of sources and of targets.

    Raises:
        ConfigError: the teachers' languages differ, an option is wrong, or `folder` holds what was made from something
            else.
        DataError: the text cannot be read, or is empty.
        RunFolderError, ResourceError: `folder` is in use, holds other files, or cannot be written.
    """
    languages = _languages(teachers)
    told_apart = languages[0] != languages[1] and UNKNOWN_LANGUAGE not in languages
    suffixes = languages if told_apart else ("source", "target")
    files = folder / f"train.{suffixes[0]}", folder / f"train.{suffixes[1]}"
    options = options or SearchOptions()
    n_texts = _check(teachers, text, options)
    made_from = {
        "text": text.fingerprints(),
        "search": {name: value for name, value in options.items() if value is not None},
        "teachers": [each.record() for each in teachers],
    }
    if sentences is not None:
        made_from["sentences"] = sentences
    _refuse_other_files(folder)
    with lock_folder(folder) as lock:
        _claim(folder, made_from)
        if all(file.exists() for file in files):
            _log.info(f"{folder} is complete")
        else:
            lock.require()
            (folder / PARTS).mkdir(exist_ok=True)
            try:
                for number, teacher in enumerate(teachers, 1):
                    run = _Run(teacher, folder / PARTS, number, n_texts, options, sentences, batch_size)
                    run.translate(text)
            except (KeyboardInterrupt, SystemExit):
                _log.info("stopped; the same command continues")
                raise
            _write(files, teachers, text, folder / PARTS)
        remove_folder(folder / PARTS)
    return files


def _languages(teachers: Sequence[Teacher]) -> tuple[str, str]:
    """The languages of the new corpus, which all teachers must agree on."""
    first = teachers[0]
    for each in teachers[1:]:
        if each.languages != first.languages:
            what = f"it gives text of {'-'.join(each.languages)}, and {first.name} of {'-'.join(first.languages)}"
            advice = "give models of one pair of languages"
            if each.languages[::-1] == first.languages:
                other = "a model of the other direction is a --backward one"
                advice = "a model of the same direction is no --backward one" if each.backward else other
            raise ConfigError(what, each.name, advice=advice)
    return first.languages


def _check(teachers: Sequence[Teacher], text: ParallelText, options: SearchOptions) -> int:
    """Refuse wrong options and unusable text before a folder is claimed for them; returns the number of pairs."""
    for each in teachers:
        each.translator.translate([], **options)
    n_texts = sum(1 for _ in text)
    if all(is_blank(each.side(pair)) for pair in text for each in teachers):
        raise DataError("there are no sentences to translate", text.name, advice="is it empty?")
    return n_texts


def _refuse_other_files(folder: Path) -> None:
    """A folder that this did not make is left alone: its text might be overwritten."""
    ours = ("lock", temporary(folder / RECORD).name)  # what is there before the record
    if folder.is_dir() and not (folder / RECORD).exists() and any(each.name not in ours for each in folder.iterdir()):
        raise RunFolderError("the folder holds other files", folder, advice="choose another --output")


def _claim(folder: Path, made_from: dict[str, Any]) -> None:
    """Note what this is made from, or see that it is the same as before."""
    record = folder / RECORD
    if not record.exists():
        write_file(record, to_json(made_from))
    elif read_json(record) != made_from:
        what = "made from other text, models or options"
        raise ConfigError(what, folder, advice="choose another --output, or remove the folder")


@dataclass(frozen=True)
class _Run:
    """One teacher's way through the text."""

    teacher: Teacher
    parts: Path
    number: int
    n_texts: int
    options: SearchOptions
    sentences: bool | None
    batch_size: int | None

    def translate(self, text: ParallelText) -> None:
        """Write the parts that are not there yet."""
        lines = map(self.teacher.side, text)
        started, n_done, n_translated = time.monotonic(), 0, 0
        for piece in range(_n_parts(self.n_texts)):
            texts = list(itertools.islice(lines, PART_SIZE))
            path = _part(self.parts, self.number, piece)
            if path.exists():
                n_done += len(texts)
                continue
            if n_done and not n_translated:
                _log.info(f"{self.teacher.name}: goes on after the {n_done:,} sentences translated before")
            translate = self.teacher.translator.translate
            found = translate(texts, sentences=self.sentences, batch_size=self.batch_size, **self.options)
            # Of an empty text there are no alternatives.
            write_file(path, to_json([[each.text for each in translation.alternatives] for translation in found]))
            n_done, n_translated = n_done + len(texts), n_translated + len(texts)
            speed = n_translated / max(time.monotonic() - started, 1e-9)
            left = f", {(self.n_texts - n_done) / speed / 60:.0f} min left" if n_done < self.n_texts else ""
            _log.info(f"{self.teacher.name}: {n_done:,} of {self.n_texts:,} sentences, {speed:.0f} a second{left}")


def _n_parts(n_texts: int) -> int:
    return -(-n_texts // PART_SIZE)


def _part(parts: Path, number: int, piece: int) -> Path:
    return parts / f"{number}-{piece:06d}.json"


def _write(
    files: tuple[Path, Path],
    teachers: Sequence[Teacher],
    text: ParallelText,
    parts: Path,
) -> None:
    """Write both sides of the new corpus."""

    def pairs() -> Iterator[Pair]:
        return _all_pairs(teachers, text, parts)

    with DuplicateFinder() as finder:
        for pair in pairs():
            finder.add(text_hash(pair.source), pair.target)
        repeated = finder.find().repeated
    if not len(repeated):
        raise DataError("no sentence of it could be translated", text.name, advice="is it empty?")
    for side, file in enumerate(files):
        write_pieces(file, (f"{pair[side]}\n".encode() for pair in _kept(pairs(), repeated)))
    new = np.fromiter((pair.is_new for pair in pairs()), bool, len(repeated))
    n_new, n_repeated = int((new & ~repeated).sum()), int((new & repeated).sum())
    _log.info(
        f"{int((~new).sum()):,} pairs of the text, and {n_new:,} new ones; {n_repeated:,} more were there already"
    )


def _kept(pairs: Iterator[Pair], repeated: NDArray[np.bool_]) -> Iterator[Pair]:
    """The text's own pairs as they are, and the new ones that nothing before them equals."""
    return (pair for pair, again in zip(pairs, repeated, strict=True) if not (pair.is_new and again))


def _all_pairs(teachers: Sequence[Teacher], text: ParallelText, parts: Path) -> Iterator[Pair]:
    """The text's own pairs, then those of each teacher in turn, as far as they can be trained on."""
    yield from (Pair(source, target, False) for source, target in text if text_problem(source, target) is None)
    for number, teacher in enumerate(teachers, 1):
        for (source, target), written in zip(text, _written(parts, number), strict=True):
            for each in written:
                pair = Pair(each, target, True) if teacher.backward else Pair(source, each, True)
                if text_problem(pair.source, pair.target) is None:
                    yield pair


def _written(parts: Path, number: int) -> Iterator[list[str]]:
    """What one teacher wrote for each sentence of the text, in order."""
    for piece in itertools.count():
        path = _part(parts, number, piece)
        if not path.exists():
            return
        yield from json.loads(path.read_bytes())
