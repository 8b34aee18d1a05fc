"""Translations of a long text, written in parts, so that a stopped distillation continues after the last one."""

from __future__ import annotations

import itertools
import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path

from dragoman.data.parallel_text import ParallelText
from dragoman.errors import counted
from dragoman.experiments.teachers import Teacher
from dragoman.machine.files import write_file
from dragoman.machine.json_files import to_json
from dragoman.translator import SearchOptions

_log = logging.getLogger(__name__)

#: Sentences in a part: what a kill costs, and what is sorted by length together.
PART_SIZE = 4_000


class TeacherOptions(SearchOptions, total=False):
    """Options of `Translator.translate` that all teachers have."""

    sentences: bool | None
    batch_size: int | None


class Parts:
    """The translations of one teacher: files `<number>-<index>.json` in a folder, each whole or not there."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number

    def _path(self, index: int) -> Path:
        return self._folder / f"{self._number}-{index:06d}.json"

    def translate(self, teacher: Teacher, text: ParallelText, n_texts: int, options: TeacherOptions) -> None:
        """Write the parts that are not there yet."""
        lines = map(teacher.side, text)
        started, n_done, n_translated = time.monotonic(), 0, 0
        for index in range(-(-n_texts // PART_SIZE)):
            texts = list(itertools.islice(lines, PART_SIZE))
            path = self._path(index)
            if path.exists():
                n_done += len(texts)
                continue
            if n_done and not n_translated:
                _log.info(f"{teacher.name}: goes on after {counted(n_done, 'sentence')} translated before")
            write_file(path, to_json(_translate(teacher, texts, options)))
            n_done, n_translated = n_done + len(texts), n_translated + len(texts)
            speed = n_translated / max(time.monotonic() - started, 1e-9)
            left = f", {(n_texts - n_done) / speed / 60:.0f} min left" if n_done < n_texts else ""
            _log.info(f"{teacher.name}: {n_done:,} of {counted(n_texts, 'sentence')}, {speed:.0f} a second{left}")

    def read(self) -> Iterator[list[str]]:
        """Yield the translations of each sentence, in order."""
        for index in itertools.count():
            path = self._path(index)
            if not path.exists():
                return
            yield from json.loads(path.read_bytes())


def _translate(teacher: Teacher, texts: list[str], options: TeacherOptions) -> list[list[str]]:
    """Return the translations of each text, the best first; none of an empty text."""
    translations = teacher.translator.translate(texts, **teacher.request, **options)
    return [[each.text for each in translation.alternatives] for translation in translations]
