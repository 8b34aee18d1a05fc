"""Subtitles (SRT and WebVTT): numbers, times, settings and everything else around the text stay as they are.

A sentence over several cues is one segment. Its translation is broken over the same cues, each with a share that is
close to that of the source. A cue with tags inside its text is a segment of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dragoman.data.formats.subtitle_cues import MARKUP, Cue, find_cues, goes_on, require_cues
from dragoman.data.text_files.whole_files import decode
from dragoman.documents.document import TextFile
from dragoman.documents.mark_projection import project
from dragoman.text.languages import UNSPACED
from dragoman.text.marked_text import MarkedText, MarkedTextBuilder
from dragoman.translator import Translation

#: A place to break: after white space, or after a character of a script without spaces.
_BREAK = re.compile(rf"\s+|(?<=[{UNSPACED}，。！？、；：])(?=[^\s，。！？、；：」』）])")
_CLAUSE_ENDS = frozenset(",;:.!?…，；：。！？、—–")
#: Characters by which a break at the end of a clause may be farther from its place.
_CLAUSE_BONUS = 8
#: Places on each side that can be the best: those beyond are farther away by more than the bonus.
_N_NEAR = _CLAUSE_BONUS + 2


@dataclass(frozen=True)
class _Sentence:
    """Cues that are translated together, and what is between them."""

    cues: Sequence[Cue]
    between: Sequence[str]
    source: MarkedText

    def fill(self, translation: Translation) -> str:
        """Return the cues with another text."""
        if translation.text == self.source.text:
            texts = [cue.raw for cue in self.cues]
        elif len(self.cues) == 1:
            texts = [_filled(self.cues[0], project(self.source, translation.text, translation.alignment))]
        else:
            shares = _broken(translation.text, [len(cue.text) for cue in self.cues])
            texts = [_filled(cue, share) for cue, share in zip(self.cues, shares, strict=True)]
        return "".join(text + between for text, between in zip(texts, [*self.between, ""], strict=True))


def parse_subtitles(content: bytes, name: Path) -> TextFile:
    """Find the sentences of subtitles.

    Raises:
        DataError: it is not UTF-8, or has no cue.
    """
    mark, text = decode(content, name)
    require_cues(text, name)
    return TextFile(mark, tuple(_sentences(find_cues(text))))


def _sentences(parts: Iterable[str | Cue]) -> Iterator[str | _Sentence]:
    """Join the cues of each sentence."""
    cues: list[Cue] = []
    between: list[str] = []
    gap = ""
    for part in parts:
        if isinstance(part, str):
            gap += part
            continue
        if cues and "-->" in gap and goes_on(cues, part):
            between.append(gap)
        else:
            yield from [_joined(cues, between)] if cues else []
            yield gap
            cues, between = [], []
        gap = ""
        cues.append(part)
    yield from [_joined(cues, between)] if cues else []
    yield gap


def _joined(cues: Sequence[Cue], between: Sequence[str]) -> _Sentence:
    builder = MarkedTextBuilder()
    for number, cue in enumerate(cues):
        at = 0
        builder.add_text(" " if number else "")
        for tag in MARKUP.finditer(cue.text):
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


def _filled(cue: Cue, text: str) -> str:
    """Return a cue with another text in as many lines."""
    return cue.before + cue.line_end.join(_broken(text, [1] * cue.n_lines)) + cue.after


def _broken(text: str, shares: Sequence[int]) -> list[str]:
    """Break a text into as many parts as there are shares, of about these lengths, at ends of clauses if they are near.

    There are fewer if the text cannot be broken so often; the last ones are empty then.
    """
    hidden = MARKUP.sub(lambda match: "\ue000" * len(match[0]), text)
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
