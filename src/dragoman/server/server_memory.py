"""Translations by people in a server: read when it starts, and suggested by its clients.

A suggestion is on the disk before its client gets an answer, and every later request for that text gets it.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from dragoman.errors import ConfigError
from dragoman.memories import MemoryMatch, TranslationMemory, Unit, append_units, open_units
from dragoman.memories.memory_files import LOG_SUFFIX, is_log
from dragoman.settings.server_config import ServerConfig
from dragoman.text.tags import Direction
from dragoman.translator import Request
from dragoman.translator.recalling import Recalled, RecalledPart, fitting_translation, recalled_parts

#: The largest file of suggestions, in bytes.
_MOST_BYTES = 2**28


class FullError(Exception):
    """The file of suggestions has no room for more."""


class ServerMemory:
    """The memory of one server. Any thread may use it."""

    def __init__(self, config: ServerConfig) -> None:
        self._memory = TranslationMemory()
        self._path = Path(config.suggestions) if config.suggestions else None
        self._files = [Path(name) for name in config.memory]
        self._lock = threading.Lock()

    @property
    def takes_suggestions(self) -> bool:
        """True if clients may suggest translations."""
        return self._path is not None

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to look up."""
        return len(self._memory) == 0

    def load(self, directions: Collection[Direction]) -> None:
        """Read the files.

        Args:
            directions: those of the models.

        Raises:
            ConfigError: a file does not say its languages, has none of these, or cannot take suggestions.
            DataError: a file cannot be read.
        """
        if self._path is not None and (self._path.suffix.lower() != LOG_SUFFIX or not self._path.parent.is_dir()):
            problem = "this file cannot take suggestions"
            raise ConfigError(
                problem, self._path, advice=f"name a file that ends in {LOG_SUFFIX}, in a folder that is there"
            )
        for path in self._files:
            for unit in _units(path, directions):
                self._memory.add(*unit)
        if self._path is not None:
            append_units(self._path, [])  # told now if it cannot be written
            for unit in open_units(self._path):
                self._memory.add(*unit)

    def suggest(self, units: Sequence[Unit]) -> None:
        """Keep suggestions: on the disk, then for requests.

        Raises:
            FullError: there are too many.
            ResourceError, RunFolderError: they cannot be written.
        """
        assert self._path is not None
        with self._lock:
            if self._path.exists() and self._path.stat().st_size > _MOST_BYTES:
                raise FullError
            append_units(self._path, units)
            for unit in units:
                self._memory.add(*unit)

    def recall(self, request: Request) -> Recalled:
        """Return what the memory has for a request: the translation of an equal text, else those of its sentences."""
        match = self._memory.exact(request.text, request.source_lang, request.target_lang)
        whole = None if match is None else fitting_translation(request, (match,))
        if whole is not None:
            return Recalled(request, (RecalledPart(request, whole),), whole.memory)
        return Recalled(request, recalled_parts(request, self._memory) or (RecalledPart(request),))

    def matches(self, text: str, source: str, target: str) -> list[MemoryMatch]:
        """Return the equal and similar texts, the best first."""
        return self._memory.lookup(text, source, target)


def _units(path: Path, directions: Collection[Direction]) -> list[Unit]:
    """Return the units of a file in the directions of the models.

    Raises:
        ConfigError: it has none of these, or does not say its languages, and there are several directions.
    """
    if is_log(path):
        return list(open_units(path))
    found: list[Unit] = []
    refused: ConfigError | None = None
    for direction in directions:
        try:
            found += open_units(path, direction)
        except ConfigError as error:
            refused = error
    if refused is not None and not found:
        raise refused
    if len(directions) > 1 and refused is None and path.suffix.lower() != ".tmx":
        problem = "this memory does not say its languages, and the models have several directions"
        raise ConfigError(problem, path, advice="give it a first line with the two codes, such as en<tab>fr")
    return found
