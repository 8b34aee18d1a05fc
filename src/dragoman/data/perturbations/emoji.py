"""Emoji at the end of a text."""

from __future__ import annotations

import re

from numpy.random import Generator

from dragoman.data.perturbations.picking import pick
from dragoman.text.languages import UNSPACED

#: Frequent ones of all kinds, some made of several characters.
EMOJI: tuple[str, ...] = (
    *"😀😂🤣😊😍😘😎😢😭😡😱🤔🙄😴😉😅🥰🥳🤷🙏👍👎👏🙌💪👋✨🔥🎉💯🎂🎁🌞🌈☕🍕🍺🚗🏠🐶🐱⚽💔💕✅❌⭐🚀💡📷",
    "❤️",
    "☀️",
    "✌️",
    "👍🏽",
    "🙏🏻",
    "🤷‍♀️",
    "👨‍👩‍👧",
    "🇩🇪",
    "🇫🇷",
)
_ENDS_UNSPACED = re.compile(rf"[{UNSPACED}][\W_]*\Z")


def draw_emoji(generator: Generator) -> str:
    """Return one emoji, or two or three in a row."""
    emoji = pick(EMOJI, generator)
    chance = generator.random()
    if chance < 0.7:
        return emoji
    return emoji * 2 if chance < 0.85 else emoji + pick(EMOJI, generator)


def append(text: str, addition: str) -> str:
    """Return the text and an addition, with a space between them in scripts that have spaces."""
    return text + ("" if _ENDS_UNSPACED.search(text) else " ") + addition


def add_emoji(text: str, generator: Generator) -> str:
    """Return the text with emoji at its end."""
    return append(text, draw_emoji(generator)) if text.strip() else text
