"""All rules of one search as one.

Padding and start marks are never written. The unknown token may be written: forbidding it would hide that the model
finds it most probable, and word-level models are trained to write it.

B sentences, S source, R rows, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dragoman.decoding.constraints.lengths import Limits, MinLength
from dragoman.decoding.constraints.prefix import Prefix, check_prefixes
from dragoman.decoding.constraints.protocol import Constraint, Guide, Rows
from dragoman.decoding.constraints.repetition import NoRepeatedNgrams, RepetitionPenalty
from dragoman.decoding.faults import FaultFinder
from dragoman.decoding.scores import Scores
from dragoman.decoding.state import Scorer
from dragoman.errors import ConfigError, counted
from dragoman.machine.arrays import Ints
from dragoman.settings.search_config import SearchConfig


def configured_constraints(config: SearchConfig) -> Iterator[Constraint]:
    """Yield the rules of a configuration, except those without effect."""
    if config.min_length:
        yield MinLength(config.min_length)
    if config.repetition_penalty != 1:
        yield RepetitionPenalty(config.repetition_penalty)
    if config.no_repeat_ngram:
        yield NoRepeatedNgrams(config.no_repeat_ngram)


def _last_sentence(source: Sequence[int], end: int) -> list[int]:
    """Return the ids of a source without its end mark, and without its context, which other end marks divide off."""
    ids = list(source[:-1] if source[-1:] == [end] else source)
    return ids[len(ids) - ids[::-1].index(end) :] if end in ids else ids


class ActiveConstraints:
    """The rules of one search for the translations of source_ids (B, S).

    Args:
        prefixes: for each sentence the ids that its translation begins with; None for none.
        constraints: further rules than those of the configuration.

    Raises:
        ConfigError: a prefix has special or unknown ids or is too long, or min_length leaves no room for the end.
    """

    def __init__(
        self,
        scorer: Scorer,
        source_ids: Ints,
        config: SearchConfig,
        prefixes: Sequence[Sequence[int]] | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        n_sentences = len(source_ids)
        prefixes = [()] * n_sentences if prefixes is None else prefixes
        if len(prefixes) != n_sentences:
            problem = f"{counted(len(prefixes), 'prefix', 'prefixes')} for {counted(n_sentences, 'sentence')}"
            raise ConfigError(problem, advice="give one for each, or none")
        of_source, self.special_ids = scorer.special_ids.source, scorer.special_ids.target
        #: Each sentence's ids, the end mark included.
        self.sources = [[id for id in ids if id != of_source.pad] for ids in source_ids.tolist()]
        self.limits = Limits.of(self.sources, prefixes, config, scorer.max_length)
        check_prefixes(prefixes, self.limits.returned, scorer.vocab_size, self.special_ids.marks)
        words = (_last_sentence(source, of_source.end) for source in self.sources)
        self.finders = tuple(map(FaultFinder, words, prefixes))  # (B,): of faults of each sentence's translations
        #: (R,): the sentence of each row that the search begins with.
        self.sentence = np.arange(n_sentences).repeat(config.n_best if config.sample else 1)
        rows = Rows(self.sentence, np.zeros((len(self.sentence), 0), dtype=np.int64))
        self._prefix = Prefix(prefixes, self.special_ids.pad) if any(prefixes) else None
        self._never_written = sorted(self.special_ids.marks - {self.special_ids.end})
        self._states = [rule.start(rows) for rule in (*configured_constraints(config), *constraints)]
        #: The rule that leads a beam search, if one does.
        self.guide = next((state for state in self._states if isinstance(state, Guide)), None)

    def apply(self, scores: Scores, rows: Rows) -> None:
        """Forbid tokens, or make them less probable, in the scores (R, V) of the next tokens."""
        # A token of a prefix keeps its probability, whatever the other rules say.
        forced = None if self._prefix is None else self._prefix.forced(scores, rows)
        scores.forbid_everywhere(self._never_written)
        if self._states:
            may_end = np.logical_and.reduce([state.satisfied(rows) for state in self._states])
            if not may_end.any():
                scores.forbid_everywhere([self.special_ids.end])
            elif not may_end.all():
                open_rows = np.flatnonzero(~may_end)
                scores.forbid(open_rows, np.full_like(open_rows, self.special_ids.end))
            for state in self._states:
                state.apply(scores, rows)
        if forced is not None:
            scores.force(*forced)

    def advance(self, parents: Ints, tokens: Ints) -> None:
        """Follow the search by one token: see `ConstraintState`."""
        for state in self._states:
            state.advance(parents, tokens)
