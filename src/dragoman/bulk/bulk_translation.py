"""The course of a bulk translation: read parts, have them translated, and write each file when its parts are there."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from dragoman.bulk.input_files import PART_LINES, InputFile, Part, read_parts
from dragoman.bulk.output_folder import OutputFolder
from dragoman.bulk.worker import Failure, Outcome, Pool
from dragoman.errors import ConfigError, DataError, RunFolderError, counted
from dragoman.settings.duration import PROGRESS_EVERY, speed_text
from dragoman.translator import Translation

_log = logging.getLogger(__name__)


@dataclass
class Summary:
    """Counts of what a bulk translation did."""

    n_translated: int = 0
    n_finished_before: int = 0
    #: The message of each file that failed.
    failures: dict[Path, str] = field(default_factory=dict)
    n_translations: int = 0
    flags: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def describe(self) -> str:
        """Return a line for a person."""
        n_files = self.n_translated + self.n_finished_before + len(self.failures)
        parts = [f"{counted(n_files, 'file')}: {self.n_translated:,} translated"]
        parts += [f"{self.n_finished_before:,} finished before"] if self.n_finished_before else []
        parts += [f"{len(self.failures):,} failed"] if self.failures else []
        texts = counted(self.n_translations, "line or segment", "lines or segments")
        return f"{', '.join(parts)}; {texts} in {self.seconds:,.1f} s{speed_text(self.n_translations, self.seconds)}"


@dataclass
class _OpenFile:
    """A file whose parts are being translated."""

    file: InputFile
    keys: list[str] = field(default_factory=list)
    n_missing: int = 0
    is_read: bool = False
    has_failed: bool = False


class BulkTranslation:
    """One run over many files. An error of one file is told, and the others go on.

    Args:
        tell: called with flagged translations, each with its file, the number of its line or segment, from 1,
            and the text of the segment.
    """

    def __init__(
        self,
        files: Sequence[InputFile],
        folder: OutputFolder,
        invalid_utf8: Literal["error", "replace"] = "error",
        part_lines: int = PART_LINES,
        tell: Callable[[InputFile, int, Translation, str], None] = lambda *_: None,
    ) -> None:
        self._tell = tell
        self._files, self._folder = files, folder
        self._invalid_utf8, self._part_lines = invalid_utf8, part_lines
        self._open: dict[str, _OpenFile] = {}
        self._last_said = self._began = time.monotonic()
        self.summary = Summary()

    def run(self, pool: Pool) -> Summary:
        """Translate what is missing.

        Raises:
            DragomanError: the model, the options or the disk fail, which concerns all files.
        """
        for part, outcome in pool.outcomes(self._parts()):
            self._take(part, outcome)
            self._say_progress()
        self.summary.seconds = time.monotonic() - self._began
        return self.summary

    def _parts(self) -> Iterator[Part]:
        """Yield the parts that are missing, file by file."""
        for file in self._files:
            opened = _OpenFile(file)
            try:
                if self._folder.is_finished(file):
                    self.summary.n_finished_before += 1
                    continue
                self._open[file.name] = opened
                for part in read_parts(file, self._invalid_utf8, self._part_lines):
                    opened.keys.append(part.key)
                    if not self._folder.has(part):
                        opened.n_missing += 1
                        yield part
                    if opened.has_failed:
                        break
            except (DataError, RunFolderError) as error:
                self._fail(opened, error.message)
            opened.is_read = True
            self._finish_if_whole(opened)

    def _take(self, part: Part, outcome: Outcome) -> None:
        opened = self._open[part.file.name]
        opened.n_missing -= 1
        if isinstance(outcome, Failure):
            self._fail(opened, outcome.message)
        else:
            self._folder.keep(part, outcome.content)
            self.summary.n_translations += outcome.n_translations
            self.summary.flags.update(outcome.flags)
            for note in outcome.notes:
                _log.warning(f"{part.file.path}: {note}")
            for number, translation, text in outcome.flagged:
                self._tell(part.file, number, translation, text)
        self._finish_if_whole(opened)

    def _finish_if_whole(self, opened: _OpenFile) -> None:
        if opened.n_missing or not opened.is_read:
            return
        self._open.pop(opened.file.name, None)
        if opened.has_failed:
            return
        try:
            self._folder.finish(opened.file, opened.keys)
        except (ConfigError, RunFolderError) as error:  # of this file's name alone
            self._fail(opened, error.message)
        else:
            self.summary.n_translated += 1

    def _fail(self, opened: _OpenFile, message: str) -> None:
        """Tell the first error of a file."""
        if not opened.has_failed:
            opened.has_failed = True
            self.summary.failures[opened.file.path] = message
            _log.error(message)

    def _say_progress(self) -> None:
        now = time.monotonic()
        if now - self._last_said < PROGRESS_EVERY:
            return
        self._last_said = now
        done, seconds = self.summary, now - self._began
        n_files = done.n_translated + done.n_finished_before + len(done.failures)
        files, lines = counted(len(self._files), "file"), counted(done.n_translations, "line")
        _log.info(f"{n_files:,} of {files}; {lines}{speed_text(done.n_translations, seconds)}")
