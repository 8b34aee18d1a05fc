"""Checks of a corpus as a whole: sides that do not belong together, unexpected languages, remains of markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dragoman.data.checks.language_evidence import LanguageSample
from dragoman.data.checks.markup import MarkupCounter
from dragoman.data.checks.misalignment import AlignmentCheck, Misfit
from dragoman.data.formats.pair_file import LocatedPair
from dragoman.data.formats.two_files import LineCountError
from dragoman.data.parallel_text import ParallelText
from dragoman.data.text_files.lines import Line
from dragoman.errors import counted

#: A corpus with a larger share of shifted pairs is refused.
_MAX_SHIFTED_SHARE = 0.05
#: A corpus of this many pairs is refused if no pair seems to fit; with fewer, that may be chance.
_MANY_PAIRS = 5_000
_MAX_NAMED = 10


class CorpusChecks:
    """Takes the pairs of a corpus in order. Its RAM does not grow with the corpus."""

    def __init__(self) -> None:
        self._alignment, self._markup, self._languages = AlignmentCheck(), MarkupCounter(), LanguageSample()
        self._n_pairs = 0
        self._line_of: Callable[[int], int] = lambda index: index + 1
        self._misfits: list[Misfit] | None = None

    def read(self, text: ParallelText) -> Iterator[LocatedPair]:
        """Yield the pairs of a text, and take each.

        Raises:
            DataError: it cannot be read.
            LineCountError: one file is longer than the other; the details name places where a line may be missing.
        """
        self._line_of = text.line_of
        try:
            for line, source, target in text.numbered():
                self.add(line, source, target)
                yield line, source, target
        except LineCountError as error:
            raise LineCountError(error.counts, *error.files, self.misalignment()) from None

    def add(self, line: int, source: Line, target: Line) -> None:
        """Take the next pair and its line; a side that cannot be read counts as empty."""
        left = source if isinstance(source, str) else ""
        right = target if isinstance(target, str) else ""
        self._n_pairs += 1
        self._alignment.add(left, right)
        if left and right:
            self._markup.add(line, left, right)
            self._languages.add(left, right)

    def lines(self, source_lang: str, target_lang: str, *, judge_pairs: bool = True) -> list[str]:
        """Return lines for people.

        Args:
            source_lang: the declared language of the source.
            target_lang: the declared language of the target.
            judge_pairs: say how many pairs have a side in another language.
        """
        misaligned = [f"warning: {problem}" for problem in self.misalignment()]
        languages = self._languages.lines(source_lang, target_lang, judge_pairs=judge_pairs)
        return [*misaligned, *languages, *self._markup.lines()]

    def misalignment(self) -> list[str]:
        """Return a line for each place where the sides do not belong together."""
        misfits = self._find_misfits()
        more = [f"and {len(misfits) - _MAX_NAMED:,} more such places"] if len(misfits) > _MAX_NAMED else []
        return [describe_misfit(misfit, self._n_pairs, self._line_of) for misfit in misfits[:_MAX_NAMED]] + more

    def problem(self) -> str | None:
        """Return the reason if too many pairs are wrong for training to make sense, else None."""
        misfits = self._find_misfits()
        if self._n_pairs >= _MANY_PAIRS and any(_is_whole(misfit, self._n_pairs) for misfit in misfits):
            return "nothing shows that the sides belong together"
        shifted = [misfit for misfit in misfits if misfit.shift is not None]
        n_shifted = sum(map(len, shifted))
        if n_shifted <= _MAX_SHIFTED_SHARE * self._n_pairs:
            return None
        return f"the sides do not belong together from line {self._line_of(shifted[0].first - 1):,} on"

    def _find_misfits(self) -> Sequence[Misfit]:
        if self._misfits is None:
            self._misfits = self._alignment.find()
        return self._misfits


def _is_whole(misfit: Misfit, n_lines: int) -> bool:
    return misfit.shift is None and len(misfit) == n_lines


def describe_misfit(misfit: Misfit, n_lines: int, line_of: Callable[[int], int]) -> str:
    """Return a line for people.

    Args:
        n_lines: of the corpus, in pairs.
        line_of: returns the line of a file where a pair begins, given its index.
    """
    if _is_whole(misfit, n_lines):
        return (
            f"nothing shows that lines of one side translate the same lines of the other ({counted(n_lines, 'pair')}); "
            "is one of them in another order, or of another text?"
        )
    first = line_of(misfit.first - 1)
    lines = f"lines {first:,} to {line_of(misfit.last - 1):,}" if misfit.last < n_lines else f"line {first:,} on"
    begins = "in" if misfit.last < n_lines else "from"
    if misfit.shift is None:
        return f"{begins} {lines} ({len(misfit):,} pairs) the sides do not fit each other; look at them"
    n_lost = abs(misfit.shift)
    loser, other = ("source", "target") if misfit.shift > 0 else ("target", "source")
    lost = "a line" if n_lost == 1 else f"{n_lost} lines"
    many = "one" if n_lost == 1 else f"{n_lost}"
    sign = "+" if misfit.shift > 0 else "-"
    return (
        f"{begins} {lines} ({len(misfit):,} pairs) the sides do not belong together: "
        f"line n of the source fits line n{sign}{n_lost} of the target; before it, the {loser} has lost {lost}, "
        f"or the {other} has {many} too many"
    )
