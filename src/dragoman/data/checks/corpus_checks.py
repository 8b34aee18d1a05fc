"""Notice before a training what is wrong with a corpus as a whole: sides that do not belong together, languages other
than those asked for, remains of markup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dragoman.data.checks.language_evidence import LanguageSample
from dragoman.data.checks.markup import MarkupCounter
from dragoman.data.checks.misalignment import AlignmentCheck, Misfit
from dragoman.data.formats.pair_file import LocatedPair
from dragoman.data.formats.two_files import LineCountError
from dragoman.data.parallel_text import ParallelText
from dragoman.data.text_files.lines import Line

#: A corpus with a larger share of shifted pairs is refused.
_WORST_SHARE = 0.05
#: A corpus of so many pairs is refused if nothing shows that any fit; of fewer, that may be chance.
_MANY_PAIRS = 5_000
_MOST_TOLD = 10


class CorpusChecks:
    """Takes the pairs of a corpus in order, in memory that does not grow with it."""

    def __init__(self) -> None:
        self._alignment, self._markup, self._languages = AlignmentCheck(), MarkupCounter(), LanguageSample()
        self._n_pairs = 0
        self._misfits: list[Misfit] | None = None

    def read(self, text: ParallelText) -> Iterator[LocatedPair]:
        """Read the pairs of a text, and take each.

        Raises:
            DataError: it cannot be read; if one file is longer than the other, it says where a line may be missing.
        """
        try:
            for line, source, target in text.numbered():
                self.add(line, source, target)
                yield line, source, target
        except LineCountError as error:
            raise LineCountError(error.counts, *error.files, self.misalignment()) from None

    def add(self, line: int, source: Line, target: Line) -> None:
        """Take the next pair, which begins on this line; a side that cannot be read counts as empty."""
        left = source if isinstance(source, str) else ""
        right = target if isinstance(target, str) else ""
        self._n_pairs += 1
        self._alignment.add(left, right)
        if left and right:
            self._markup.add(line, left, right)
            self._languages.add(left, right)

    def lines(self, source_lang: str, target_lang: str) -> list[str]:
        """Return what a person should know, for the languages asked for."""
        told = [f"warning: {place}" for place in self.misalignment()]
        return [*told, *self._languages.lines(source_lang, target_lang), *self._markup.lines()]

    def misalignment(self) -> list[str]:
        """Return a line for each place where the sides do not belong together."""
        misfits = self._found()
        more = [f"and {len(misfits) - _MOST_TOLD:,} more such places"] if len(misfits) > _MOST_TOLD else []
        return [describe_misfit(each, self._n_pairs) for each in misfits[:_MOST_TOLD]] + more

    def problem(self) -> str | None:
        """Return the reason why a training makes no sense, if there is one: too many pairs are wrong."""
        misfits = self._found()
        if self._n_pairs >= _MANY_PAIRS and any(_is_whole(each, self._n_pairs) for each in misfits):
            return "nothing shows that the sides belong together"
        shifted = [each for each in misfits if each.shift is not None]
        n_shifted = sum(each.last - each.first + 1 for each in shifted)
        if n_shifted <= _WORST_SHARE * self._n_pairs:
            return None
        return f"the sides do not belong together from line {shifted[0].first:,} on"

    def _found(self) -> Sequence[Misfit]:
        if self._misfits is None:
            self._misfits = self._alignment.find()
        return self._misfits


def _is_whole(found: Misfit, n_lines: int) -> bool:
    return found.shift is None and found.last - found.first + 1 == n_lines


def describe_misfit(found: Misfit, n_lines: int) -> str:
    """Return one line for people."""
    n_misfits = found.last - found.first + 1
    if _is_whole(found, n_lines):
        return (
            f"nothing shows that lines of one side translate the same lines of the other ({n_lines:,} pairs); "
            "is one of them in another order, or of another text?"
        )
    where = f"lines {found.first:,} to {found.last:,}" if found.last < n_lines else f"line {found.first:,} on"
    if found.shift is None:
        begins = "in " if found.last < n_lines else "from "
        return f"{begins}{where} ({n_misfits:,} pairs) the sides do not fit each other; look at them"
    n_lost = abs(found.shift)
    loser, other = ("source", "target") if found.shift > 0 else ("target", "source")
    lost = "a line" if n_lost == 1 else f"{n_lost} lines"
    many = "one" if n_lost == 1 else f"{n_lost}"
    sign = "+" if found.shift > 0 else "-"
    return (
        f"{'in' if found.last < n_lines else 'from'} {where} ({n_misfits:,} pairs) the sides do not belong together: "
        f"line n of the source fits line n{sign}{n_lost} of the target; before it, the {loser} has lost {lost}, "
        f"or the {other} has {many} too many"
    )
