"""Translated files until somebody fetches them: in RAM, within a number of bytes, for a while. No file is written."""

from __future__ import annotations

import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PurePath

#: Bytes of all files, and the seconds for which each is kept.
MAX_BYTES, MAX_SECONDS = 64 * 2**20, 30 * 60
_LONGEST_NAME = 100
#: Types of files that a browser hands to a program. Others are bytes to it, so that it shows no page of a stranger.
_MEDIA_TYPES = {".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}


class Downloads:
    """Files by their names, the oldest first. It belongs to the thread of the event loop."""

    def __init__(self, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        self._files: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._n_bytes = 0

    def add(self, name: str, content: bytes) -> str:
        """Keep a file, and return the name to fetch it by: a random one, a dot, and the plain characters of `name`."""
        key = f"{uuid.uuid4()}.{_plain(name)}"
        self._files[key] = content, self._clock() + MAX_SECONDS
        self._n_bytes += len(content)
        self._drop_old()
        while self._n_bytes > self._max_bytes and len(self._files) > 1:
            self._drop(next(iter(self._files)))
        return key

    def get(self, key: str) -> tuple[str, bytes] | None:
        """Return a file's own name and its content, or None if it is not there (any more)."""
        self._drop_old()
        if key not in self._files:
            return None
        return key.partition(".")[2], self._files[key][0]

    def _drop_old(self) -> None:
        now = self._clock()
        for key in [key for key, (_, end) in self._files.items() if end <= now]:
            self._drop(key)

    def _drop(self, key: str) -> None:
        content, _ = self._files.pop(key)
        self._n_bytes -= len(content)


def media_type(name: str) -> str:
    """Return the type of a file for the header of an answer, by its name."""
    return _MEDIA_TYPES.get(PurePath(name).suffix.lower(), "application/octet-stream")


def _plain(name: str) -> str:
    """Return a name that means a file in every system, with its ending."""
    path = PurePath(re.sub(r"[^A-Za-z0-9._-]+", "_", name))
    return f"{path.stem.strip('._')[:_LONGEST_NAME] or 'file'}{path.suffix[:10]}"
