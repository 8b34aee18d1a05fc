"""Statistics of a model's training text, kept in its bundle.

Text of another kind is cut before the model reads it. A model trained on single sentences translates the first
sentence of a line and drops the rest. A model trained on short sentences garbles a long one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from dragoman.errors import BundleError, ConfigError
from dragoman.settings.sections import Section, parse_section
from dragoman.text.sentences import has_words, sentence_spans

#: The key of these statistics in the facts of a bundle.
FACT = "learned_text"
#: A model can translate n sentences on a line if at least this share of its training lines had n.
KNOWN_SHARE = 0.05
#: A line with more sentences counts as having this many.
MOST_SENTENCES = 32
#: The shares of lines that are no longer than `usual_tokens` and than `long_tokens`.
_USUAL_SHARE, _LONG_SHARE = 0.99, 0.9999

Share = Annotated[float, Field(ge=0, le=1)]
Tokens = Annotated[int, Field(ge=1, le=2**31)]


class LearnedText(Section):
    """Statistics of the training pairs of a model, in tokens of its own tokenizers."""

    n_lines: Annotated[int, Field(ge=1)]
    """Lines that were counted."""
    several_sentences: Annotated[tuple[Share, ...], Field(max_length=MOST_SENTENCES - 1)]
    """Share of the source lines that have at least 2, 3, ... sentences."""
    median_tokens: Tokens
    """Of a source line, the end mark not counted."""
    usual_tokens: Tokens
    """99 of 100 source lines have no more."""
    long_tokens: Tokens
    """9,999 of 10,000 source lines have no more."""
    longest_tokens: Tokens
    target_ratio: Annotated[float, Field(gt=0, le=1e6)]
    """Median of a line's target tokens for each source token."""
    without_words: Share = 0.0
    """Share of the source lines that have neither letters nor digits."""

    context: Annotated[int, Field(ge=0, le=3)] = 0
    """Most sentences of the context before a source line."""
    context_tokens: Annotated[int, Field(ge=0, le=2**31)] = 0
    """Most tokens of a source line with its context."""

    def contradictions(self) -> Iterator[str]:
        """Report statistics that no text has: shares that rise, lengths that fall."""
        if list(self.several_sentences) != sorted(self.several_sentences, reverse=True):
            yield "more lines have several sentences than have fewer"
        lengths = [self.median_tokens, self.usual_tokens, self.long_tokens, self.longest_tokens]
        if lengths != sorted(lengths):
            yield f"lengths in the wrong order: {', '.join(map(str, lengths))}"

    @property
    def known_sentences(self) -> int:
        """The most sentences on a line that the model has seen often enough to translate all of them."""
        return 1 + sum(share >= KNOWN_SHARE for share in self.several_sentences)

    @property
    def knows_marks(self) -> bool:
        """True if the model has often seen lines of marks or pictures alone."""
        return self.without_words >= KNOWN_SHARE

    @classmethod
    def count(cls, lines: Iterable[str], source_tokens: NDArray[Any], target_tokens: NDArray[Any]) -> Self:
        """Count the statistics of a text.

        Args:
            lines: source lines, all or a fair sample.
            source_tokens: of each pair, in any order: (n_pairs,).
            target_tokens: the same of the targets.
        """
        lines = list(lines)
        n_sentences = np.array([sum(1 for _ in sentence_spans(line)) for line in lines])
        n_without_words = sum(not has_words(line) for line in lines)
        most = min(int(n_sentences.max(initial=1)), MOST_SENTENCES)
        lengths = np.maximum(source_tokens, 1)
        usual, long = np.quantile(lengths, (_USUAL_SHARE, _LONG_SHARE), method="inverted_cdf")
        return cls(
            n_lines=len(source_tokens),
            several_sentences=tuple(round(float((n_sentences >= n).mean()), 6) for n in range(2, most + 1)),
            median_tokens=int(np.median(lengths)),
            usual_tokens=int(usual),
            long_tokens=int(long),
            longest_tokens=int(lengths.max()),
            target_ratio=round(float(np.median(np.maximum(target_tokens, 1) / lengths)), 6),
            without_words=round(n_without_words / max(len(lines), 1), 6),
        )

    @classmethod
    def of_bundle(cls, facts: Mapping[str, Any], name: str | Path) -> Self | None:
        """Read the statistics from a bundle's facts; None if there are none, as in imported models.

        Raises:
            BundleError: they are not statistics that `count` gives.
        """
        if FACT not in facts:
            return None
        try:
            return parse_section(cls, facts[FACT] if isinstance(facts[FACT], Mapping) else {})
        except ConfigError as error:
            raise BundleError(f"its facts about the text it learned from are wrong ({error.message})", name) from None


def fewest_sentences(learned: Sequence[LearnedText | None]) -> LearnedText | None:
    """Return the statistics with the fewest sentences on a line: models that translate together need lines that all
    of them can translate. Models without statistics do not count. They read as much context as all of them can."""
    known = [statistics for statistics in learned if statistics is not None]
    fewest = min(known, key=lambda statistics: (statistics.known_sentences, statistics.long_tokens), default=None)
    if fewest is None or not fewest.context:
        return fewest
    reads = {
        name: min(0 if one is None else getattr(one, name) for one in learned) for name in ("context", "context_tokens")
    }
    return fewest.model_copy(update=reads)
