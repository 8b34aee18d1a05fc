"""The output folder of a bulk translation: translated files, and what a stopped run needs to go on.

Beside the translations it holds `.dragoman-bulk/`: the lock, the settings that all translations have in common, a line
for each finished file, and the translated parts of files that are not finished.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.bulk.input_files import InputFile, Part
from dragoman.data.text_files.compression import BLOCK_BYTES, packed_file
from dragoman.errors import ConfigError, DataError, RunFolderError, disk_errors, reading_problem
from dragoman.machine.files import TEMPORARY, append_file, whole_file, write_file
from dragoman.machine.json_files import read_json, to_json
from dragoman.machine.locks import lock_folder

_STATE = f"{TEMPORARY}bulk"
_SETTINGS, _FINISHED = "settings.json", "finished.jsonl"


@dataclass
class OutputFolder:
    """The folder that this process holds, and the state of each finished input: size and time of its last change."""

    path: Path
    overwrite: bool
    finished: dict[str, list[int]] = field(default_factory=dict)

    @property
    def _state(self) -> Path:
        return self.path / _STATE

    def _part(self, part: Part) -> Path:
        """Return the file of a part. The name of its folder is short, whatever that of the input."""
        return self._parts(part.file) / part.key

    def _parts(self, file: InputFile) -> Path:
        return self._state / "parts" / hashlib.sha256(file.name.encode()).hexdigest()[:32]

    def is_finished(self, file: InputFile) -> bool:
        """Return True if the translation is there, made by these settings, and its input has not changed since.

        Raises:
            DataError: there is a translation that another run made, and may not be replaced; or no place for one.
        """
        output, known = self.path / file.name, self.finished.get(file.name)
        if output.is_dir() or not _is_below(output, self.path):
            raise DataError("no place for the translation", output, advice="choose another --output")
        if not output.exists():
            return False
        if output.samefile(file.path):
            raise DataError("the output is an input too", output, advice="choose another --output")
        if known is None and not self.overwrite:
            raise DataError("the output exists", output, advice="use --overwrite, or another --output")
        return known == _signature(file.path)

    def has(self, part: Part) -> bool:
        """Return True if the translation of a part is kept."""
        return self._part(part).exists()

    def keep(self, part: Part, content: bytes) -> None:
        """Keep the translation of a part.

        Raises:
            ResourceError, RunFolderError: it cannot be written.
        """
        path = self._part(part)
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)

    def finish(self, file: InputFile, parts: Sequence[str]) -> None:
        """Join the parts, named by their keys, into the translation of a file.

        Raises:
            ConfigError: the file's suffix is that of a compression that is only read.
            ResourceError, RunFolderError: it cannot be written.
        """
        output, folder = self.path / file.name, self._parts(file)
        signature = _signature(file.path)
        with disk_errors(output):
            output.parent.mkdir(parents=True, exist_ok=True)
            _join([folder / key for key in parts], output)
        self.finished[file.name] = signature
        append_file(self._state / _FINISHED, f"{json.dumps([file.name, *signature])}\n".encode())
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def open_output(path: Path, settings: Mapping[str, Any], *, overwrite: bool) -> Iterator[OutputFolder]:
    """Make an output folder, or go on in one, and hold it for this process.

    Args:
        settings: all that the bytes of the translations depend on.
        overwrite: replace files that other runs made, and translations that other settings made.

    Raises:
        ConfigError: it holds translations that other settings made.
        RunFolderError: another process works there, or it cannot be written.
        DataError: it is a file.
    """
    if path.exists() and not path.is_dir():
        raise DataError("the output is a file, and must be a folder", path, advice="choose another --output")
    state, settings = path / _STATE, json.loads(to_json(settings))
    with lock_folder(state):
        if (state / _SETTINGS).exists() and (before := read_json(state / _SETTINGS)) != settings:
            if not overwrite:
                names = [name for name in {**before, **settings} if before.get(name) != settings.get(name)]
                problem = f"the translations here were made with other settings ({', '.join(sorted(names))})"
                raise ConfigError(problem, path, advice="choose another --output, or --overwrite all of them")
            (state / _FINISHED).unlink(missing_ok=True)
            shutil.rmtree(state / "parts", ignore_errors=True)
        write_file(state / _SETTINGS, to_json(settings))
        yield OutputFolder(path, overwrite, _read_finished(state / _FINISHED))


def _join(parts: Sequence[Path], output: Path) -> None:
    """Write the content of the parts into a file, compressed if its suffix says so; it appears when it is complete."""
    with whole_file(output) as raw, packed_file(raw, output.suffix) or contextlib.nullcontext(raw) as out:
        for path in parts:
            with open(path, "rb") as part:
                shutil.copyfileobj(part, out, BLOCK_BYTES)


def _read_finished(path: Path) -> dict[str, list[int]]:
    """Return the state of each finished input by its name. A last line that a power loss cut off is not counted."""
    finished: dict[str, list[int]] = {}
    content = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    for line in content.split("\n"):
        with contextlib.suppress(ValueError, TypeError):
            name, *signature = json.loads(line)
            finished[name] = signature
    return finished


def _signature(path: Path) -> list[int]:
    try:
        state = path.stat()
    except OSError as error:
        raise RunFolderError(reading_problem(error), path, advice="check the path") from None
    return [state.st_size, state.st_mtime_ns]


def _is_below(path: Path, folder: Path) -> bool:
    """Return True if a path leads into a folder, and no link in between leads out of it."""
    return path.parent.resolve().is_relative_to(folder.resolve())
