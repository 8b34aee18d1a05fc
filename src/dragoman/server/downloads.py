"""Translated files until somebody fetches them: in RAM, within a number of bytes, for a while. No file is written."""

from __future__ import annotations

import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from pathlib import PurePath
from urllib.parse import quote

from dragoman.text.cleaning import clean

#: Bytes of all files, and the seconds for which each is kept.
MAX_BYTES, MAX_SECONDS = 64 * 2**20, 30 * 60
_LONGEST_NAME = 100
#: Characters that no system has in the name of a file, or only some.
_FORBIDDEN = re.compile(r"[\x00-\x1f/\\:*?\"<>|\ud800-\udfff]")
#: Types of files that a browser hands to a program. Others are bytes to it, so that it shows no page of a stranger.
_MEDIA_TYPES = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".epub": "application/epub+zip",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class Downloads:
    """Files by their names, the oldest first. It belongs to the thread of the event loop."""

    def __init__(self, max_bytes: int = MAX_BYTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes = max_bytes
        self._clock = clock
        #: The own name, the content, and the end of each.
        self._files: OrderedDict[str, tuple[str, bytes, float]] = OrderedDict()
        self._n_bytes = 0

    def add(self, name: str, content: bytes) -> str:
        """Keep a file, and return the name to fetch it by: a random one, a dot, and the plain characters of `name`."""
        key = f"{uuid.uuid4()}.{_plain(name)}"
        self._files[key] = _own(name), content, self._clock() + MAX_SECONDS
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
        return self._files[key][:2]

    def _drop_old(self) -> None:
        now = self._clock()
        for key in [key for key, (_, _, end) in self._files.items() if end <= now]:
            self._drop(key)

    def _drop(self, key: str) -> None:
        _, content, _ = self._files.pop(key)
        self._n_bytes -= len(content)


def media_type(name: str) -> str:
    """Return the type of a file for the header of an answer, by its name."""
    return _MEDIA_TYPES.get(PurePath(name).suffix.lower(), "application/octet-stream")


def content_disposition(name: str) -> str:
    """Return the header that names a file to save, also with letters beyond ASCII (RFC 6266)."""
    plain = _plain(name)
    own = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{own}'


def _own(name: str) -> str:
    """Return a name without what systems forbid, with its ending."""
    path = PurePath(_FORBIDDEN.sub("_", PurePath(clean(name)).name))
    return f"{path.stem.strip('. ')[:_LONGEST_NAME] or 'file'}{path.suffix[:10]}"


def _plain(name: str) -> str:
    """Return a name that means a file in every system, with its ending."""
    path = PurePath(re.sub(r"[^A-Za-z0-9._-]+", "_", name))
    return f"{path.stem.strip('._')[:_LONGEST_NAME] or 'file'}{path.suffix[:10]}"
