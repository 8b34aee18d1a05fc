"""Cues of subtitles (SRT and WebVTT): their times, their texts, and the cues that a sentence is over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from dragoman.data.formats.subtitle_speeches import MARKUP, TAG, Cue, find_speeches
from dragoman.errors import DataError

__all__ = ["MARKUP", "TAG", "Cue", "find_cues", "goes_on", "require_cues"]

_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}"
#: A line of times, with its end.
_TIMES = re.compile(rf"(?<![^\r\n])[ \t]*({_TIME})[ \t]*-->[ \t]*({_TIME})[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_LINE_END = re.compile(r"\r\n|\n|\r")
#: The first line of a block of WebVTT that is not shown.
_HIDDEN = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|[\r\n]|\Z)")
_SENTENCE_END = re.compile(r"[.!?…。！？♪:][\"'”’»)\]]*\Z")
#: A word in the middle of a sentence: it begins with a small letter, or is the English pronoun.
_MIDDLE = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f]|I\b")
#: Most cues that a sentence is over.
_MOST_CUES = 6


class _Block(NamedTuple):
    """Lines between two empty lines, or the empty lines between two blocks."""

    lines: list[str]
    is_empty: bool


def require_cues(text: str, name: Path) -> None:
    """Refuse a text that has no cue.

    Raises:
        DataError: it is empty, or has no times and does not begin as WebVTT.
    """
    if not text.strip():
        raise DataError("the file is empty", name, advice="give SRT or WebVTT")
    if not text.startswith("WEBVTT") and not _TIMES.search(text):
        raise DataError("no cue with times such as 00:00:01,000 --> 00:00:02,500", name, advice="give SRT or WebVTT")


def find_cues(text: str) -> Iterator[str | Cue]:
    """Yield the cues that have words, and what is between them."""
    all_times = list(_TIMES.finditer(text))
    is_web = text.startswith("WEBVTT")
    yield text[: all_times[0].start()] if all_times else text
    line, at = 1, 0
    for times, following in zip(all_times, [*all_times[1:], None], strict=False):
        line, at = line + len(_LINE_END.findall(text, at, times.start())), times.start()
        yield times[0]
        place = _seconds(times[1]), _seconds(times[2]), line
        body = text[times.end() : following.start() if following else len(text)]
        is_shown = True
        for number, (block, is_text) in enumerate(_blocks(body, has_next=following is not None)):
            is_shown = is_shown and not (number and is_web and _HIDDEN.match(block))
            if is_shown and is_text:
                yield from find_speeches(block, place)
            else:
                yield block


def goes_on(cues: Sequence[Cue], following: Cue) -> bool:
    """Return True if the sentence of some cues goes on in the next one."""
    last = cues[-1].text
    if len(cues) >= _MOST_CUES or _SENTENCE_END.search(last):
        return False
    if TAG.sub("", cues[-1].after + following.before).strip():  # a song, a sound, or another speaker
        return False
    if MARKUP.search(last + following.text):
        return False
    return _MIDDLE.match(following.text) is not None or last.endswith((",", "，", "、"))


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _blocks(body: str, *, has_next: bool) -> Iterator[tuple[str, bool]]:
    """Yield what stands between two lines of times, each part with True if it is text of a cue.

    The text of a cue may have empty lines in it. The last line is the number of the next cue, or its name.

    Args:
        has_next: there are times after it.
    """
    lines = _LINE.findall(body)
    blocks = [_Block(list(group), empty) for empty, group in groupby(lines, lambda line: not line.strip())]
    head = ""
    if has_next and blocks and not blocks[-1].is_empty:
        last = blocks[-1].lines
        if last[-1].strip().isdecimal() or (len(last) == 1 and len(blocks) > 1):
            head = last.pop()
    for block in blocks:
        text = "".join(block.lines)
        end = len(text.rstrip("\r\n"))
        yield text[:end], not block.is_empty
        yield text[end:], False
    yield head, False
