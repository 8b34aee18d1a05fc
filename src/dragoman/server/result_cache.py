"""Translations kept for the next time that somebody asks for the same text, within a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from dragoman.translator import Request, Translation

#: Bytes of the objects of a translation without its strings, of a token, of a part, and of a stretch
#: or string of a key; see `sys.getsizeof`.
_BYTES, _TOKEN_BYTES, _PART_BYTES, _STRETCH_BYTES = 1_000, 60, 160, 120


class ResultCache:
    """The translations that were used last. It belongs to the thread of the event loop.

    Args:
        max_bytes: estimated; 0 keeps nothing.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, tuple[Translation, int]] = OrderedDict()
        self.n_bytes = 0

    def get(self, key: Hashable) -> Translation | None:
        """Return a translation, or None if it is not kept."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def add(self, key: Hashable, request: Request, translation: Translation) -> None:
        """Keep the translation of a text, and drop those that were not used for the longest time.

        Args:
            request: all of it is in the key.
        """
        terms = [text for term in request.terms or () for text in (term.source, *term.targets)]
        strings = [request.text, request.prefix, *request.marked, *request.off, *request.context, *terms]
        size = _size("".join(strings), translation) + _STRETCH_BYTES * (len(strings) + len(request.verbatim))
        if size > self._max_bytes:
            return
        _, old = self._entries.pop(key, (None, 0))
        self._entries[key] = translation, size
        self.n_bytes += size - old
        while self.n_bytes > self._max_bytes:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.n_bytes -= dropped


def _size(text: str, translation: Translation) -> int:
    """Return the bytes that an entry takes, at four a character."""
    alternatives = translation.alternatives
    parts = [part for each in alternatives for part in each.parts]
    texts = [text, translation.text, *(each.text for each in alternatives), *(part.text for part in parts)]
    n_tokens = len(translation.tokens) + sum(len(each.tokens) + len(each.alignment or ()) for each in alternatives)
    return (
        _BYTES * (1 + len(alternatives)) + 4 * sum(map(len, texts)) + _TOKEN_BYTES * n_tokens + _PART_BYTES * len(parts)
    )
