"""Cues of subtitles (SRT and WebVTT): their times, their texts, and the cues that a sentence is over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from dragoman.errors import DataError
from dragoman.text.sentences import has_words

_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}"
_TIMES = re.compile(rf"(?m)^[ \t]*({_TIME})[ \t]*-->[ \t]*({_TIME})[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z]*+)[^<>]*+>|\{\\[^{}]*+\}")
#: Tags and entities.
MARKUP = re.compile(rf"{TAG.pattern}|&#?\w{{1,12}};")
#: What may stand before and after the whole text of a cue: tags, a position, notes, the speaker's name in capitals.
_BEFORE = re.compile(r"(?:<[^<>/]*+>|\{\\[^{}]*+\}|[\s♪♫])*+(?:[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ0-9 .'#-]{0,30}:\s+)?")
_AFTER = re.compile(r"(?:</[^<>]*+>|[\s♪♫])++")
#: The words of a song or of a sound, which are no part of the sentence beside them: "♪ La la ♪", "[door closes]".
_BRACKETS = re.compile(r"[\[(（【]([^\[\]()（）【】]+)[\])）】]")
_ASIDE = re.compile(r"[♪♫].*[♪♫]|\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】")
_ASIDE_MARK = re.compile(r"[♪♫\[\]()（）【】]")
_DIALOGUE = re.compile(r"[-–—][ \t]*(?=\S)")
_SENTENCE_END = re.compile(r"[.!?…。！？♪:][\"'”’»)\]]*\Z")
#: A word in the middle of a sentence: it begins with a small letter, or is the English pronoun.
_MIDDLE = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f]|I\b")
#: Most cues that a sentence is over.
_MOST_CUES = 6


@dataclass(frozen=True)
class Cue:
    """A stretch of text on the screen at one time, or a speaker's line of it; its lines are joined in `text`.

    Args:
        start, end: seconds.
        line: of the file, where the times stand.
    """

    start: float
    end: float
    line: int
    raw: str
    before: str
    text: str
    after: str
    n_lines: int
    line_end: str


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
    at, line, counted = 0, 1, 0
    for times in _TIMES.finditer(text):
        if times.start() < at:
            continue
        blank = _BLANK_LINE.search(text, times.end())
        stop = blank.start() if blank else max(times.end(), len(text.rstrip()))
        if _LINE_END.match(text, times.end()):  # a cue without text
            stop = times.end()
        yield text[at : times.end()]
        line, counted = line + text.count("\n", counted, times.start()), times.start()
        yield from _speakers(text[times.end() : stop], (_seconds(times[1]), _seconds(times[2]), line))
        at = stop
    yield text[at:]


def goes_on(cues: Sequence[Cue], following: Cue) -> bool:
    """Return True if the sentence of some cues goes on in the next one."""
    last = cues[-1].text
    if len(cues) >= _MOST_CUES or following.before.rstrip().endswith(":") or _SENTENCE_END.search(last):
        return False
    if _ASIDE_MARK.search(cues[-1].after + following.before):
        return False
    if MARKUP.search(last + following.text):
        return False
    return _MIDDLE.match(following.text) is not None or last.endswith((",", "，", "、"))


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _speakers(raw: str, place: tuple[float, float, int]) -> Iterator[str | Cue]:
    """Yield the lines of each speaker of a cue, and those of songs and sounds."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", raw)
    is_dialogue = len(lines) > 1 and all(_DIALOGUE.match(line) for line in lines if line)
    for part in lines if is_dialogue else _with_asides_apart(lines):
        dash = _DIALOGUE.match(part) if is_dialogue else None
        start = dash.end() if dash else 0
        before, core, after = _around(part[start:])
        if not has_words(TAG.sub("", core)):
            yield part
            continue
        ends = _LINE_END.findall(core)
        yield part[:start]
        text = " ".join(core.split())
        yield Cue(*place, part[start:], before, text, after, 1 + len(ends), (ends or ["\n"])[0])


def _with_asides_apart(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a cue, those of songs and sounds alone and others joined."""
    for _, group in groupby(enumerate(lines), lambda line: line[0] if _is_aside(line[1]) else -1):
        yield "".join(line for _, line in group)


def _is_aside(line: str) -> bool:
    return _ASIDE.fullmatch(TAG.sub("", line).strip()) is not None


def _around(raw: str) -> tuple[str, str, str]:
    """Return what stands before the text of a cue, the text, and what stands after it."""
    match = _BEFORE.match(raw)
    start = match.end() if match else 0
    end = next((each.start() for each in _AFTER.finditer(raw, start) if each.end() == len(raw)), len(raw))
    if inside := _BRACKETS.fullmatch(raw, start, end):
        start, end = inside.start(1), inside.start(1) + len(inside[1].rstrip())
        start += len(inside[1]) - len(inside[1].lstrip())
    return raw[:start], raw[start:end], raw[end:]
