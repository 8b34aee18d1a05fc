"""Pairs of languages, such as "en-de", by which published models go."""

from __future__ import annotations

from collections.abc import Iterable

from dragoman.errors import ConfigError
from dragoman.settings.text_origin import LANGUAGE_CODE


def read_pair(pair: str, source: str) -> tuple[str, str]:
    """Return the two codes of a pair.

    Args:
        source: of models, for the message.

    Raises:
        ConfigError: it is no pair of languages.
    """
    first, _, second = pair.partition("-")
    if not (LANGUAGE_CODE.fullmatch(first) and LANGUAGE_CODE.fullmatch(second)):
        raise ConfigError(f"{pair!r} is not a pair of languages", advice=f"name two codes, such as {source}:en-de")
    return first, second


def nearby_pairs(pairs: Iterable[str], source: str, target: str) -> str:
    """Return advice that names the pairs with one of two languages; English, which most have, does not count."""
    near = sorted({pair for pair in pairs if {*pair.split("-")} & {source, target} - {"en"}})
    return f"with one of the two it has {', '.join(near)}" if near else "it has none with these languages"
