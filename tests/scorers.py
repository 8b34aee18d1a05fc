"""Tables of probabilities to search with, and the translations that a search should find, by enumeration."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pytest

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.scores import ArrayScores, Scores
from dragoman.decoding.state import State
from dragoman.machine.arrays import Floats, Ints
from dragoman.settings.search_config import SearchConfig
from dragoman.text.special_ids import SpecialIdPair, SpecialIds

PAD_ID, UNK_ID, SOS_ID, EOS_ID = SpecialIds().pad, SpecialIds().unknown, SpecialIds().start, SpecialIds().end

A, B = 4, 5
#: A beam of this size drops nothing.
WIDE = 400  # more than all continuations of the translations of at most four tokens out of three


@dataclass
class TableScorer:
    """Random probabilities: a function of seed, source and what is written. Counts the rows of each step."""

    seed: int = 0
    vocab_size: int = 6
    max_length: int = 16
    peaked: float = 2.0
    special_ids: SpecialIdPair = SpecialIdPair()
    rows: list[int] = field(default_factory=list)

    def start(self, source_ids: Ints) -> State:
        return TableState(self, [tuple(id for id in ids if id != PAD_ID) for ids in source_ids.tolist()])

    def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
        noise = np.random.default_rng([self.seed, *source, 99, *written]).normal(size=self.vocab_size) * self.peaked
        return (noise - np.log(np.exp(noise).sum())).astype(np.float32)


@dataclass
class RowScorer(TableScorer):
    """The same given probabilities at every step."""

    row: Sequence[float] = ()

    def log_probs(self, source: tuple[int, ...], written: tuple[int, ...]) -> Floats:
        return logs(self.row)


class TableState:
    def __init__(self, scorer: TableScorer, sources: list[tuple[int, ...]]) -> None:
        self.scorer = scorer
        self.sources = sources
        self.written: list[tuple[int, ...]] = [() for _ in sources]

    def step(self, last_ids: Ints) -> Scores:
        assert last_ids.shape == (len(self.sources),)
        self.scorer.rows.append(len(self.sources))
        self.written = [(*ids, last) for ids, last in zip(self.written, last_ids.tolist(), strict=True)]
        assert all(ids[0] == SOS_ID and EOS_ID not in ids for ids in self.written)
        pairs = zip(self.sources, self.written, strict=True)
        return ArrayScores(np.stack([self.scorer.log_probs(source, ids[1:]) for source, ids in pairs]))

    def select(self, rows: Ints) -> None:
        self.sources = [self.sources[row] for row in rows.tolist()]
        self.written = [self.written[row] for row in rows.tolist()]


def logs(probabilities: Sequence[float]) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(np.array(probabilities, dtype=np.float32))


def sentences(*lengths: int) -> Ints:
    """Sources of these many different tokens, eos and padding after them."""
    rows = [[*range(10, 10 + length), EOS_ID, *[PAD_ID] * (max(lengths) - length)] for length in lengths]
    return np.array(rows)


def config(**options: object) -> SearchConfig:
    return SearchConfig.model_validate(options)


class Rule(Protocol):
    """A rule straight from its definition, as a function of all that is written."""

    def forbids(self, ids: tuple[int, ...], token: int) -> bool: ...

    def may_end(self, ids: tuple[int, ...]) -> bool: ...


@dataclass(frozen=True)
class Oracle:
    """The translations of one source, straight from the definitions."""

    scorer: TableScorer
    source: tuple[int, ...]
    options: SearchConfig
    prefix: tuple[int, ...] = ()
    rules: Sequence[Rule] = ()

    def next_tokens(self, ids: tuple[int, ...]) -> dict[int, float]:
        """The tokens that may follow, with their log-probabilities."""
        row = self.scorer.log_probs(self.source, ids).tolist()
        if len(ids) < len(self.prefix):
            token = self.prefix[len(ids)]
            return {token: row[token]} if row[token] > -math.inf else {}
        row = [value * (self.options.repetition_penalty if token in ids else 1) for token, value in enumerate(row)]
        return {token: value for token, value in enumerate(row) if self._allows(ids, token) and value > -math.inf}

    def _allows(self, ids: tuple[int, ...], token: int) -> bool:
        n = self.options.no_repeat_ngram
        ngram = (*ids, token)[-n:]
        if n > 0 and any(ids[i : i + n] == ngram for i in range(len(ids) - n + 1)):
            return False
        if token == EOS_ID:
            return len(ids) >= self.options.min_length and all(rule.may_end(ids) for rule in self.rules)
        return token not in (PAD_ID, SOS_ID) and not any(rule.forbids(ids, token) for rule in self.rules)

    def hypothesis(self, ids: tuple[int, ...], values: tuple[float, ...]) -> Hypothesis:
        log_prob, ended = sum(values), ids[-1:] == (EOS_ID,)
        score = log_prob / ((5 + len(ids)) / 6) ** self.options.length_penalty
        return Hypothesis(ids[:-1] if ended else ids, score, log_prob, values, ended)

    def every(self, ids: tuple[int, ...] = (), values: tuple[float, ...] = ()) -> Iterator[Hypothesis]:
        """Every translation that ends within the scorer's limit, or can go no further."""
        tokens = {} if ids[-1:] == (EOS_ID,) else self.next_tokens(ids)
        if len(ids) + 1 == self.scorer.max_length:
            tokens = {token: value for token, value in tokens.items() if token == EOS_ID}
        if not tokens:
            yield self.hypothesis(ids, values)
        for token, value in tokens.items():
            yield from self.every((*ids, token), (*values, value))

    def greedy(self) -> Hypothesis:
        """The most probable token at each step."""
        ids: tuple[int, ...] = ()
        values: tuple[float, ...] = ()
        while ids[-1:] != (EOS_ID,) and (tokens := self.next_tokens(ids)):
            token = max(tokens, key=tokens.__getitem__)
            if len(ids) + 1 == self.scorer.max_length and token != EOS_ID:
                break
            ids, values = (*ids, token), (*values, tokens[token])
        return self.hypothesis(ids, values)


def ranked(hypotheses: Iterator[Hypothesis], options: SearchConfig) -> list[Hypothesis]:
    """By falling score; the empty ones, which are faulty, after the others, and those without an end last."""
    empty_last = not options.no_repeat_ngram
    return sorted(hypotheses, key=lambda each: (not each.finished, empty_last and not each.ids, -each.score))


def cut(hypotheses: Sequence[Hypothesis], n: int | None, alpha: float) -> list[Hypothesis]:
    """All in at most n tokens, the end mark included, the first of those that are then the same."""
    cut: dict[tuple[int, ...], Hypothesis] = {}
    for each in hypotheses:
        if n is not None and len(each.ids) >= n:
            values = each.token_log_probs[: n - 1]
            each = Hypothesis(each.ids[: n - 1], sum(values) / ((4 + n) / 6) ** alpha, sum(values), values, False)
        cut.setdefault(each.ids, each)
    return list(cut.values())


def assert_same(found: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    assert [each.ids for each in found] == [each.ids for each in expected]
    assert [each.finished for each in found] == [each.finished for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-4)
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-4)
        assert one.token_log_probs == pytest.approx(other.token_log_probs, abs=1e-4)


METHODS: list[dict[str, object]] = [
    {"beam_size": 1},
    {"beam_size": 4, "n_best": 4},
    {"sample": True, "n_best": 4},
    {"sample": True, "n_best": 4, "top_k": 3, "top_p": 0.9, "temperature": 2.0},
]
