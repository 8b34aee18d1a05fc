"""Old text that a model reads again while it learns new text, so that it does not forget, and pairs to hold out."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import chain
from typing import Any

from dragoman.errors import DataError, counted
from dragoman.settings.duration import PROGRESS_EVERY, speed_text
from dragoman.text.cleaning import comparable

Pair = tuple[str, str]
Translate = Callable[[Sequence[str]], list[str]]

#: Held-out sources of old text.
_OLD_HELD = 400
#: Replayed pairs for each new one, and at least; and at most as many as the model translates itself without a time:
#: the longest training then reads about so many.
_REPLAYED, _LEAST_REPLAYED, _MOST_TRANSLATED = 4, 1_000, 20_000
#: Texts between looks at the clock.
_PART_SIZE = 200

_log = logging.getLogger(__name__)


def replay(
    old: Sequence[Pair | str],
    learned: Sequence[str],
    memory: Container[str],
    load: Callable[[], Translate],
    limit: float | None = None,
) -> tuple[list[Pair], list[Pair]]:
    """Return old pairs to hold out, and pairs to replay.

    Args:
        old: pairs, or sources only.
        learned: new sources to train on, which are replayed if there is no old text.
        memory: all new sources, comparable. Old text with one of them is left out: it may be held out.
        load: returns a function that translates as the model does; called for sources only.
        limit: seconds for the model's own translations, which may then be fewer; None for no limit.

    Raises:
        DataError: there are pairs, but none can be held out.
    """
    n_replayed = max(_LEAST_REPLAYED, _REPLAYED * len(learned))
    if any(not isinstance(one, str) for one in old):
        pairs = [one for one in old if not isinstance(one, str) and comparable(one[0]) not in memory]
        n_sources = len({comparable(source) for source, _ in pairs})
        if n_sources < 2:
            problem = f"{counted(n_sources, 'old source is', 'old sources are')} not in the memory"
            raise DataError(problem, advice="an update needs old pairs with 2 other sources or more")
        held, replayed = hold_out(pairs, min(_OLD_HELD, n_sources // 2))
        return held, replayed[:n_replayed]
    texts = _shuffled({one for one in old if isinstance(one, str) and one.strip() and comparable(one) not in memory})
    texts = texts[:n_replayed] or list(dict.fromkeys(learned))
    return [], _translated(texts if limit is not None else texts[:_MOST_TRANSLATED], load(), limit)


def _translated(texts: Sequence[str], translate: Translate, limit: float | None) -> list[Pair]:
    """Return texts with the model's translations: all, or as many as the speed of the first allows."""
    _log.info(f"the model translates {counted(len(texts), 'text')}, to be replayed")
    pairs: list[Pair] = []
    began = last_logged = time.monotonic()
    while part := texts[len(pairs) : len(pairs) + _PART_SIZE]:
        pairs += zip(part, translate(part), strict=True)
        now = time.monotonic()
        rest = min(_PART_SIZE, len(texts) - len(pairs))
        if rest and limit is not None and (now - began) * (1 + rest / len(pairs)) > limit:
            _log.info(f"{len(pairs):,} of them are translated, as many as --time allows")
            break
        if now - last_logged >= PROGRESS_EVERY:
            last_logged = now
            _log.info(f"{len(pairs):,} of {counted(len(texts), 'text')}{speed_text(len(pairs), now - began)}")
    return pairs


def hold_out(pairs: Iterable[Pair], n_sources: int) -> tuple[list[Pair], list[Pair]]:
    """Return the different pairs of so many sources, and all others. Pairs of comparable sources stay together."""
    by_source: dict[str, list[Pair]] = {}
    for pair in _shuffled(set(pairs)):
        by_source.setdefault(comparable(pair[0]), []).append(pair)
    groups = list(by_source.values())
    return list(chain(*groups[:n_sources])), list(chain(*groups[n_sources:]))


def _shuffled(items: Iterable[Any]) -> list[Any]:
    """Return items in an order that depends on nothing but themselves."""
    return sorted(items, key=lambda item: hashlib.sha256(repr(item).encode(errors="replace")).digest())
