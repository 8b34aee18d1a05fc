"""TextFile (SRT and WebVTT): numbers, times, settings and everything else around the text stay as they are.

A sentence over several cues is one segment. Its translation is broken over the same cues, each with a share that is
close to that of the source. A cue with tags inside its text is a segment of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.documents.document import TextFile
from dragoman.documents.mark_projection import project
from dragoman.documents.marked_text import MarkedText, MarkedTextBuilder
from dragoman.documents.reading_files import decode
from dragoman.errors import DataError
from dragoman.text.languages import UNSPACED
from dragoman.text.sentences import has_words
from dragoman.translator import Translation

_TIME = r"(?:\d+:)?\d{1,2}:\d{2}[,.]\d{1,3}"
_TIMES = re.compile(rf"(?m)^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\r\n]*(?:\r\n|\n|\r|\Z)")
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_TAG = re.compile(r"<(?P<closing>/?)(?P<name>[A-Za-z]*+)[^<>]*+>|\{\\[^{}]*+\}")
#: Tags and entities.
_MARKUP = re.compile(rf"{_TAG.pattern}|&#?\w{{1,12}};")
#: What may stand before and after the whole text of a cue: tags, a position, the speaker's name in capitals.
_BEFORE = re.compile(r"(?:<[^<>/]*+>|\{\\[^{}]*+\}|\s)*+(?:[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ0-9 .'#-]{0,30}:\s+)?")
_AFTER = re.compile(r"(?:</[^<>]*+>|\s)++")
_DIALOGUE = re.compile(r"[-–—][ \t]*(?=\S)")
_SENTENCE_END = re.compile(r"[.!?…。！？♪:][\"'”’»)\]]*\Z")
#: A word in the middle of a sentence: it begins with a small letter, or is the English pronoun.
_MIDDLE = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u00ff\u03ac-\u03ce\u0430-\u045f]|I\b")
#: Most cues that a sentence is over.
_MOST_CUES = 6
#: A place to break: after white space, or after a character of a script without spaces.
_BREAK = re.compile(rf"\s+|(?<=[{UNSPACED}，。！？、；：])(?=[^\s，。！？、；：」』）])")
_CLAUSE_ENDS = frozenset(",;:.!?…，；：。！？、—–")
#: Characters by which a break at the end of a clause may be farther from its place.
_CLAUSE_BONUS = 8
#: Places on each side that can be the best: those beyond are farther away by more than the bonus.
_N_NEAR = _CLAUSE_BONUS + 2


@dataclass(frozen=True)
class _Cue:
    """A stretch of text on the screen at one time, or a speaker's line of it; its lines are joined in `text`."""

    raw: str
    before: str
    text: str
    after: str
    n_lines: int
    line_end: str

    def fill(self, text: str) -> str:
        """Return the cue with another text in as many lines."""
        return self.before + self.line_end.join(_broken(text, [1] * self.n_lines)) + self.after


@dataclass(frozen=True)
class _Sentence:
    """Cues that are translated together, and what is between them."""

    cues: Sequence[_Cue]
    between: Sequence[str]
    source: MarkedText

    def fill(self, translation: Translation) -> str:
        """Return the cues with another text."""
        if translation.text == self.source.text:
            texts = [cue.raw for cue in self.cues]
        elif len(self.cues) == 1:
            texts = [self.cues[0].fill(project(self.source, translation.text, translation.alignment))]
        else:
            shares = _broken(translation.text, [len(cue.text) for cue in self.cues])
            texts = [cue.fill(share) for cue, share in zip(self.cues, shares, strict=True)]
        return "".join(text + between for text, between in zip(texts, [*self.between, ""], strict=True))


def parse_subtitles(content: bytes, name: Path) -> TextFile:
    """Find the sentences of subtitles.

    Raises:
        DataError: it is not UTF-8, or has no cue.
    """
    mark, text = decode(content, name)
    if text.strip() and not text.startswith("WEBVTT") and not _TIMES.search(text):
        raise DataError("no cue with times such as 00:00:01,000 --> 00:00:02,500", name, advice="give SRT or WebVTT")
    return TextFile(mark, tuple(_sentences(_cues(text))))


def _cues(text: str) -> Iterator[str | _Cue]:
    """Yield the cues, and what is between them."""
    at = 0
    for times in _TIMES.finditer(text):
        if times.start() < at:
            continue
        blank = _BLANK_LINE.search(text, times.end())
        stop = blank.start() if blank else max(times.end(), len(text.rstrip()))
        if _LINE_END.match(text, times.end()):  # a cue without text
            stop = times.end()
        yield text[at : times.end()]
        yield from _speakers(text[times.end() : stop])
        at = stop
    yield text[at:]


def _speakers(raw: str) -> Iterator[str | _Cue]:
    """Yield the lines of each speaker of a cue."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", raw)
    is_dialogue = len(lines) > 1 and all(_DIALOGUE.match(line) for line in lines if line)
    for part in lines if is_dialogue else [raw]:
        dash = _DIALOGUE.match(part) if is_dialogue else None
        start = dash.end() if dash else 0
        before, core, after = _around(part[start:])
        if not has_words(_TAG.sub("", core)):
            yield part
            continue
        ends = _LINE_END.findall(core)
        yield part[:start]
        text = " ".join(core.split())
        yield _Cue(part[start:], before, text, after, 1 + len(ends), (ends or ["\n"])[0])


def _around(raw: str) -> tuple[str, str, str]:
    """Return what stands before the text of a cue, the text, and what stands after it."""
    match = _BEFORE.match(raw)
    start = match.end() if match else 0
    end = next((each.start() for each in _AFTER.finditer(raw, start) if each.end() == len(raw)), len(raw))
    return raw[:start], raw[start:end], raw[end:]


def _sentences(parts: Iterable[str | _Cue]) -> Iterator[str | _Sentence]:
    """Join the cues of each sentence."""
    cues: list[_Cue] = []
    between: list[str] = []
    gap = ""
    for part in parts:
        if isinstance(part, str):
            gap += part
            continue
        if cues and "-->" in gap and _goes_on(cues, part):
            between.append(gap)
        else:
            yield from [_joined(cues, between)] if cues else []
            yield gap
            cues, between = [], []
        gap = ""
        cues.append(part)
    yield from [_joined(cues, between)] if cues else []
    yield gap


def _joined(cues: Sequence[_Cue], between: Sequence[str]) -> _Sentence:
    builder = MarkedTextBuilder()
    for number, cue in enumerate(cues):
        at = 0
        builder.add_text(" " if number else "")
        for tag in _MARKUP.finditer(cue.text):
            builder.add_text(cue.text[at : tag.start()])
            if tag[0][0] == "&":
                builder.add_verbatim(tag[0])
            elif not tag["name"]:
                builder.add_point(tag[0])
            elif tag["closing"]:
                builder.close(tag["name"], tag[0])
            else:
                builder.open(tag["name"], tag[0])
            at = tag.end()
        builder.add_text(cue.text[at:])
    return _Sentence(cues, between, builder.build())


def _goes_on(cues: Sequence[_Cue], following: _Cue) -> bool:
    """Return True if the sentence of some cues goes on in the next one."""
    last = cues[-1].text
    if len(cues) >= _MOST_CUES or following.before.rstrip().endswith(":") or _SENTENCE_END.search(last):
        return False
    if _MARKUP.search(last + following.text):
        return False
    return _MIDDLE.match(following.text) is not None or last.endswith((",", "，", "、"))


def _broken(text: str, shares: Sequence[int]) -> list[str]:
    """Break a text into as many parts as there are shares, of about these lengths, at ends of clauses if they are near.

    There are fewer if the text cannot be broken so often; the last ones are empty then.
    """
    hidden = _MARKUP.sub(lambda match: "\ue000" * len(match[0]), text)
    places = [match.span() for match in _BREAK.finditer(hidden) if match.start() > 0 and match.end() < len(text)]
    starts = [start for start, _ in places]
    parts, at, total, so_far = [], 0, sum(shares), 0
    for left, share in zip(range(len(shares) - 1, 0, -1), shares, strict=False):
        so_far += share
        aim = len(text) * so_far / max(1, total)
        first = bisect_right(starts, at)
        last = len(places) - left + 1 if len(places) - first >= left else len(places)
        if first >= last:
            break
        near = min(max(bisect_right(starts, aim), first), last)
        usable = places[max(first, near - _N_NEAR) : min(last, near + _N_NEAR)]
        start, end = min(usable, key=lambda place: abs(place[0] - aim) - _CLAUSE_BONUS * _ends_clause(text, place[0]))
        parts.append(text[at:start])
        at = end
    parts.append(text[at:])
    return parts + [""] * (len(shares) - len(parts))


def _ends_clause(text: str, place: int) -> bool:
    return text[place - 1 : place] in _CLAUSE_ENDS
