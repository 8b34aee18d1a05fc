"""Faults of pairs, found by rules that a reader can check: each has a count, the first line and a few samples.

The rules count neither words nor sentences, so that they hold for languages without spaces and for short texts.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dragoman.content.comparing import faults as content_faults
from dragoman.data.checks.copied import is_copied, is_wordless
from dragoman.data.checks.foreign_script import ForeignScript
from dragoman.data.checks.language_evidence import ALIKE, ForeignLanguage, identifier
from dragoman.data.checks.mojibake import has_mojibake
from dragoman.data.parallel_text import ParallelText
from dragoman.errors import counted
from dragoman.settings.data_config import Fault
from dragoman.text.cleaning import without_controls
from dragoman.text.languages import base_language
from dragoman.text.tags import UNKNOWN

#: A rule misses faults where at least this many of the two languages are unknown.
_BLIND_FROM_UNKNOWN: Mapping[Fault, int] = {"numbers": 1, "copied": 2, "script": 1, "language": 1}
#: The checks of content that are about other things than numbers.
_NOT_NUMBERS = ("money", "measures", "weekdays")
N_SAMPLES = 5
_MAX_SAMPLE = 60
#: A fault of a larger share of the pairs is worth a warning.
_LARGE_SHARE = 0.005
#: The fault in words, after "12 pairs have".
_DESCRIPTIONS: Mapping[Fault, str] = {
    "numbers": "numbers that differ between the sides",
    "copied": "the source copied as the target",
    "script": "a side in another script than its language's",
    "language": "a side in another language than its own",
    "mojibake": "misread characters, such as Ã¼ for ü",
    "wordless": "a side without letters or digits",
    "repeated": "a line that is repeated many times",
}
_ADVICE: Mapping[Fault, str] = {"mojibake": "; --set data.clean=mojibake repairs what is certain"}


@dataclass
class FoundFault:
    """Pairs with one fault."""

    n_pairs: int = 0
    first_line: int = 0
    #: (-hash, line, source, target) of some of them: a heap of the smallest hashes, so that they come from everywhere.
    samples: list[tuple[int, int, str, str]] = field(default_factory=list)

    def add(self, line: int, source: str, target: str) -> None:
        """Count a pair, and keep it if its hash is among the smallest."""
        if not self.n_pairs:
            self.first_line = line
        self.n_pairs += 1
        sample = (-crc32(f"{source}\n{target}".encode(errors="surrogatepass")), line, source, target)
        if len(self.samples) < N_SAMPLES:
            heapq.heappush(self.samples, sample)
        else:
            heapq.heappushpop(self.samples, sample)


class FaultCounter:
    """Takes the pairs of a corpus in order, and counts their faults. Its RAM does not grow with the corpus.

    Args:
        source_lang, target_lang: codes of the languages. Without them, or if they are alike, fewer rules apply.
        dropped: faults whose pairs are dropped.
    """

    def __init__(self, source_lang: str, target_lang: str, dropped: Collection[Fault]) -> None:
        self._scripts = ForeignScript(source_lang), ForeignScript(target_lang)
        source, target = base_language(source_lang), base_language(target_lang)
        # Slow, so it is done only to drop such pairs.
        detector = identifier() if "language" in dropped else None
        self._foreign = [ForeignLanguage(each, detector) for each in (source_lang, target_lang) if detector]
        self._may_be_equal = source == target or target in ALIKE.get(source, ())
        self._languages = source_lang, target_lang
        self._dropped = dropped
        self._found: dict[Fault, FoundFault] = {}
        self._n_pairs = 0

    def problem(self, line: int, source: str, target: str) -> Fault | None:
        """Count the faults of the next pair, and return the first for which it is dropped, or None."""
        self._n_pairs += 1
        faults = self._faults(source, target)
        for fault in faults:
            self._found.setdefault(fault, FoundFault()).add(line, source, target)
        return next((fault for fault in faults if fault in self._dropped), None)

    def add_repeats(self, text: ParallelText, repeats: NDArray[np.int64], examples: NDArray[np.int64]) -> None:
        """Take the lines of the corpus that are repeated many times, found after all pairs were taken.

        Args:
            repeats: indices of pairs of such lines, in order: int64 (n,).
            examples: indices of pairs to show: int64 (at most `N_SAMPLES`,).
        """
        if not len(repeats):
            return
        found, shown = FoundFault(len(repeats), text.line_of(int(repeats[0]))), set(examples.tolist())
        for index, (line, source, target) in enumerate(islice(text.numbered(), max(shown) + 1)):
            if index in shown and isinstance(source, str) and isinstance(target, str):
                found.samples.append((0, line, source, target))
        self._found["repeated"] = found

    def lines(self) -> list[str]:
        """Return lines for people about each fault that occurs, with samples."""
        lines: list[str] = []
        n_unknown = self._languages.count(UNKNOWN)
        idle = ",".join(
            fault for fault, least in _BLIND_FROM_UNKNOWN.items() if fault in self._dropped and n_unknown >= least
        )
        if idle:
            problem = f"data.drop={idle} needs the languages of the text, which are not known"
            lines.append(f"warning: {problem}; give --source-lang and --target-lang")
        for fault in _DESCRIPTIONS:
            if fault in self._found:
                lines += describe(fault, self._found[fault], self._n_pairs, is_dropped=fault in self._dropped)
        return lines

    def _faults(self, source: str, target: str) -> list[Fault]:
        faults: list[Fault] = []
        if self._numbers_differ(source, target):
            faults.append("numbers")
        if not self._may_be_equal and is_copied(source, target):
            faults.append("copied")
        if self._scripts[0].has(source) or self._scripts[1].has(target):
            faults.append("script")
        if any(each.has(text) for each, text in zip(self._foreign, (source, target), strict=False)):
            faults.append("language")
        if has_mojibake(source) or has_mojibake(target):
            faults.append("mojibake")
        if is_wordless(source) or is_wordless(target):
            faults.append("wordless")
        return faults

    def _numbers_differ(self, source: str, target: str) -> bool:
        """Return True if the numbers differ. They are compared only if there is data for both languages."""
        return bool(content_faults(source, target, self._languages, off=_NOT_NUMBERS))


def describe(fault: Fault, found: FoundFault, n_pairs: int, *, is_dropped: bool) -> list[str]:
    """Return a line for people about one fault, and one for each sample."""
    is_large = found.n_pairs > _LARGE_SHARE * n_pairs and not is_dropped
    count = counted(found.n_pairs, "pair has", "pairs have")
    treatment = "dropped" if is_dropped else f"kept; --set data.drop={fault} drops them{_ADVICE.get(fault, '')}"
    location = f"{'from ' if found.n_pairs > 1 else ''}line {found.first_line:,}"
    samples = sorted((line, source, target) for _, line, source, target in found.samples)
    return [
        f"{'warning: ' * is_large}{count} {_DESCRIPTIONS[fault]} ({location}; {treatment})",
        *(f"    line {line:,}: {_short(source)} | {_short(target)}" for line, source, target in samples),
    ]


def _short(text: str) -> str:
    text = without_controls(text)
    return text if len(text) <= _MAX_SAMPLE else text[: _MAX_SAMPLE - 1] + "…"
