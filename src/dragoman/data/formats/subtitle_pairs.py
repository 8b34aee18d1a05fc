"""Subtitles of one film in two languages (SRT or WebVTT): pairs of the sentences on the screen at the same time.

A sentence may be over several cues. Sentences whose times overlap by half of the shorter one belong together, as in
Tiedemann 2007, "Improved sentence alignment for movie subtitles".
"""

from __future__ import annotations

import html
import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dragoman.data.formats.pair_file import LocatedPair, PairFile
from dragoman.data.formats.subtitle_cues import TAG, Cue, find_cues, goes_on, require_cues
from dragoman.data.text_files.compression import uncompressed_name
from dragoman.data.text_files.lines import check_text_file, check_unchanged
from dragoman.data.text_files.whole_files import decode, read_whole
from dragoman.errors import DataError, counted
from dragoman.text.languages import UNSPACED

SUFFIXES = frozenset((".srt", ".vtt"))
#: Two sentences belong together if they overlap by this share of the shorter one.
_OVERLAP = 0.5
#: Sentences of one file that may belong to one of the other; more are no pair.
_MOST_TOGETHER = 4
#: Sentences before the end of another one that may be on the screen with it.
_N_NEAR = 3 * _MOST_TOGETHER
#: Files of which a smaller share of the sentences has a partner are of different films or versions.
_LEAST_PAIRED = 0.3
_SEAM = re.compile(rf"(?<=[{UNSPACED}，。！？、；：…]) (?=[{UNSPACED}])")


class _Sentence(NamedTuple):
    """A text on the screen from `start` to `end`, in seconds; its first cue has its times on `line`."""

    start: float
    end: float
    line: int
    text: str


def are_subtitles(source: Path, target: Path) -> bool:
    """Return True if both names are those of subtitles."""
    return all(uncompressed_name(path).suffix.lower() in SUFFIXES for path in (source, target))


def open_subtitles(source: Path, target: Path) -> PairFile:
    """Return the pairs of two files of subtitles.

    Raises:
        DataError: a file cannot be read or has no cues, or few sentences are on the screen at the same time.
    """
    states = check_text_file(source), check_text_file(target)
    sides = [_read_sentences(path, state) for path, state in zip((source, target), states, strict=True)]
    pairs, n_paired = _paired(*sides)
    n_sentences = len(sides[0]), len(sides[1])
    if not pairs or min(n_paired) < _LEAST_PAIRED * min(n_sentences):
        problem = f"of {n_sentences[0]:,} and {n_sentences[1]:,} sentences, {min(n_paired):,} are at the same time"
        advice = "give subtitles of the same version of a film; shift the times of one if they are late"
        raise DataError(problem, f"{source} and {target}", advice=advice)
    left_out = " and ".join(f"{n - paired:,}" for n, paired in zip(n_sentences, n_paired, strict=True))
    note = f"{source} and {target}: read as subtitles, {counted(len(pairs), 'pair')} by their times"
    note += f" (sentences left out: {left_out})"

    def read() -> Iterator[LocatedPair]:
        for path, state in zip((source, target), states, strict=True):
            check_unchanged(path, state)
        yield from pairs

    return PairFile(read, lambda: len(pairs), notes=(note,))


def _read_sentences(path: Path, state: os.stat_result) -> list[_Sentence]:
    """Return the sentences of a file in the order of their times."""
    _, text = decode(read_whole(path, state), path)
    require_cues(text, path)
    sentences: list[_Sentence] = []
    cues: list[Cue] = []
    for part in find_cues(text):
        if isinstance(part, str):
            continue
        if cues and not (part.start >= cues[-1].end and goes_on(cues, part)):
            sentences.append(_joined(cues))
            cues = []
        cues.append(part)
    sentences += [_joined(cues)] if cues else []
    return sorted(sentences, key=lambda one: (one.start, one.end))


def _joined(cues: Sequence[Cue]) -> _Sentence:
    text = " ".join(html.unescape(TAG.sub("", cue.text)) for cue in cues)
    return _Sentence(cues[0].start, cues[-1].end, cues[0].line, _one_line([text]))


def _one_line(texts: Sequence[str]) -> str:
    """Return texts as one, without spaces where the script has none."""
    return _SEAM.sub("", " ".join(" ".join(texts).split()))


def _paired(sources: Sequence[_Sentence], targets: Sequence[_Sentence]) -> tuple[list[LocatedPair], tuple[int, int]]:
    """Return the pairs, and the number of sentences in them on each side."""
    pairs: list[LocatedPair] = []
    n_paired = [0, 0]
    for left, right in _groups(sources, targets):
        own, other = [sources[at] for at in left], [targets[at] for at in right]
        if max(len(own), len(other)) > _MOST_TOGETHER:
            continue
        n_paired = [n_paired[0] + len(own), n_paired[1] + len(other)]
        if len(own) == len(other):  # the lines of two speakers
            pairs += [(one.line, one.text, two.text) for one, two in zip(own, other, strict=True)]
        else:
            source, target = (_one_line([one.text for one in side]) for side in (own, other))
            pairs.append((own[0].line, source, target))
    return pairs, (n_paired[0], n_paired[1])


def _groups(sources: Sequence[_Sentence], targets: Sequence[_Sentence]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the indices of sentences that belong together, from both sides, in the order of the sources."""
    groups: dict[int, tuple[list[int], list[int]]] = {}
    #: The group of each target.
    owner: dict[int, int] = {}
    starts = [target.start for target in targets]
    for at, source in enumerate(sources):
        stop = bisect_left(starts, source.end)
        near = range(max(0, stop - _N_NEAR), stop)
        linked = [number for number in near if _belong_together(source, targets[number])]
        if not linked:
            continue
        before = sorted({owner[number] for number in linked if number in owner})
        left, right = groups.setdefault(before[0] if before else at, ([], []))
        for other in before[1:]:
            more = groups.pop(other)
            left += more[0]
            right += more[1]
        left.append(at)
        right += [number for number in linked if number not in owner]
        owner |= dict.fromkeys([*right], before[0] if before else at)
    for left, right in groups.values():
        yield sorted(left), sorted(right)


def _belong_together(source: _Sentence, target: _Sentence) -> bool:
    shared = min(source.end, target.end) - max(source.start, target.start)
    return shared > 0 and shared >= _OVERLAP * min(source.end - source.start, target.end - target.start)
