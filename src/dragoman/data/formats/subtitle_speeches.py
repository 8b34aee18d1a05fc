"""The text of a cue of subtitles: the words of each speaker, songs, and sounds ("[door closes]")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from dragoman.text.sentences import has_words

_LINE_END = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
#: Tags; the reading of a word in ruby characters is a part of its tag.
TAG = re.compile(r"<rt[^<>]*+>[^<>]*+(?:</rt>)?|<(?P<closing>/?)(?P<name>[A-Za-z]*+)[^<>]*+>|\{\\[^{}]*+\}")
#: Tags and entities.
MARKUP = re.compile(rf"{TAG.pattern}|&#?\w{{1,12}};")
#: The name of a speaker in capitals: "JOHN:", "MAN #2 (V.O.):".
_NAME = r"[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ0-9 .'#&-]{0,30}(?:\([A-Z .'-]{1,20}\))?:(?:</\w{1,10}>)?\s+"
#: Signs of another speaker: a dash, except that of a negative number, and those of closed captions.
_DASH = r"[-–—‐－](?:[ \t]++(?=\S)|(?=[^\s\d–—‐－-]))"
_CHEVRONS = r"(?:>|&gt;){2,3}[ \t]*"
#: What may stand before and after the whole text of a cue: tags, a position, notes, signs and names of speakers.
_BEFORE = re.compile(
    rf"(?:<(?!rt\b|ruby\b)[^<>/]*+>|\{{\\[^{{}}]*+\}}|[\s♪♫])*+(?:{_DASH}|{_CHEVRONS})?"
    rf"(?:<(?!rt\b|ruby\b)[^<>/]*+>|[\s♪♫])*+(?:{_NAME})?"
)
_AFTER = re.compile(r"(?:</(?!ruby\b)[^<>]*+>|[\s♪♫])++")
#: The words of a song or of a sound, which are no part of the sentence beside them: "♪ La la ♪", "[door closes]".
_BRACKETS = re.compile(r"[\[(（【]([^\[\]()（）【】]+)[\])）】]")
_ASIDE = re.compile(r"[♪♫].*[♪♫]|\[[^\[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】")
#: Most sounds before the words of a speaker; further ones stay beside them.
_MOST_SOUNDS = 4
#: A sound after the end of a sentence, at the end of a text.
_LAST_SOUND = re.compile(
    r"(?<=[.!?…。！？\"”’»])[ \t]+(?=[\[(（【][^\[\]()（）【】]+[\])）】]\s*(?:</[^<>]*+>|\s)*+\Z)"
)
_SENTENCE_END = re.compile(r"[.!?…。！？♪\])\"”’»）】]\s*\Z")
#: Another speaker in the same line.
_SECOND_CHEVRONS = re.compile(r"(?<=\s)(?=(?:>|&gt;){2})")
_SECOND_DASH = re.compile(rf"(?<=[.!?…\"”’»)\]][ \t])(?={_DASH})")
_STARTS_WITH_DASH = re.compile(_DASH)
#: The sign or the name of a speaker; "Tom:" in small letters may also be the beginning of a sentence.
_SPEAKER = re.compile(rf"{_CHEVRONS}|{_NAME}")
_POSSIBLE_SPEAKER = re.compile(r"[^\W\d_][\w.' -]{0,30}:\s")
_VOICE = re.compile(r"\s*<v[. \t]")


@dataclass(frozen=True)
class Cue:
    """A stretch of text on the screen at one time, or a speaker's part of it; its lines are joined in `text`.

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


def find_speeches(block: str, place: tuple[float, float, int]) -> Iterator[str | Cue]:
    """Yield the parts of a text that are translated by themselves, and what is between them.

    Args:
        place: start, end and line of its cue.
    """
    number, before = 0, ""
    is_dialogue = _is_dialogue(block)
    numbered: list[tuple[int, str]] = []
    for line in _lines(block, is_dialogue=is_dialogue):
        if _is_aside(line) or _is_aside(before) or _starts_speech(line, before, is_dialogue=is_dialogue):
            number += 1
        numbered.append((number, line))
        before = line
    for _, group in groupby(numbered, lambda each: each[0]):
        yield from _with_sounds_apart("".join(line for _, line in group), place)


def _is_dialogue(block: str) -> bool:
    """Return True if a text begins with the dash of a speaker."""
    return _STARTS_WITH_DASH.match(TAG.sub("", block).lstrip()) is not None


def _lines(block: str, *, is_dialogue: bool) -> Iterator[str]:
    """Yield the lines of a text; a line of two speakers is two."""
    for line in _LINE.findall(block):
        for part in _SECOND_CHEVRONS.split(line):
            yield from _SECOND_DASH.split(part) if is_dialogue else [part]


def _starts_speech(line: str, before: str, *, is_dialogue: bool) -> bool:
    """Return True if another speaker begins in a line, given the line before."""
    bare = TAG.sub("", line).lstrip()
    if not before or _VOICE.match(line) or _SPEAKER.match(bare):
        return True
    after_sentence = _SENTENCE_END.search(TAG.sub("", before)) is not None
    if _STARTS_WITH_DASH.match(bare):
        return after_sentence or is_dialogue
    return after_sentence and _POSSIBLE_SPEAKER.match(bare) is not None


def _is_aside(line: str) -> bool:
    return _ASIDE.fullmatch(TAG.sub("", line).strip()) is not None


def _with_sounds_apart(raw: str, place: tuple[float, float, int]) -> Iterator[str | Cue]:
    """Yield the words of a speaker, and the sounds before and after them."""
    start = 0
    for _ in range(_MOST_SOUNDS):
        sound = _BRACKETS.match(raw, _words_start(raw, start))
        if sound is None or not raw[sound.end() :][:1].isspace() or not has_words(TAG.sub("", raw[sound.end() :])):
            break
        yield from _cue(raw[start : sound.end()], place)
        start = sound.end()
    last = _LAST_SOUND.search(raw, start)
    end = last.end() if last else len(raw)
    yield from _cue(raw[start:end], place)
    if end < len(raw):
        yield from _cue(raw[end:], place)


def _cue(raw: str, place: tuple[float, float, int]) -> Iterator[str | Cue]:
    before, core, after = _around(raw)
    if not has_words(TAG.sub("", core)):
        yield raw
        return
    ends = _LINE_END.findall(core)
    yield Cue(*place, raw, before, " ".join(core.split()), after, 1 + len(ends), (ends or ["\n"])[0])


def _around(raw: str) -> tuple[str, str, str]:
    """Return what stands before the text of a cue, the text, and what stands after it."""
    start = _words_start(raw)
    end = next((each.start() for each in _AFTER.finditer(raw, start) if each.end() == len(raw)), len(raw))
    if inside := _BRACKETS.fullmatch(raw, start, end):
        start, end = inside.start(1), inside.start(1) + len(inside[1].rstrip())
        start += len(inside[1]) - len(inside[1].lstrip())
    return raw[:start], raw[start:end], raw[end:]


def _words_start(raw: str, start: int = 0) -> int:
    match = _BEFORE.match(raw, start)
    return match.end() if match else start
