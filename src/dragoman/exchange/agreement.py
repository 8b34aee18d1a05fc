"""Comparing an exported model with ours, by the translations of some sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dragoman.bundle.bundle import Bundle
from dragoman.errors import printable
from dragoman.exchange.piece_names import never_written
from dragoman.settings.search_config import SearchConfig
from dragoman.text.subword import Subword
from dragoman.text.tags import split_tags, with_tag
from dragoman.text.tokenizer import Tokenizer
from dragoman.translator.models import ComputeOptions
from dragoman.translator.plans import SearchJob
from dragoman.translator.translator import Translator

N_SENTENCES = 200
#: Most tokens of a compared translation, and of a made-up sentence.
_LONGEST, _LONGEST_SOURCE = 100, 24

#: Translates source ids, without special ones, by greedy search into at least so many tokens, or to the end mark.
Greedy = Callable[[Sequence[Sequence[int]], int], Sequence[Sequence[int]]]


#: Most by which the log-probabilities of two next tokens differ so that rounding decides between them.
_TIE = 0.001


class Difference(NamedTuple):
    """A sentence that two programs translate in two ways."""

    ours: str
    theirs: str
    #: Our model finds both equally probable where they part.
    is_tie: bool


class Agreement(NamedTuple):
    """The number of sentences that were compared, and those with two translations."""

    n_sentences: int
    differences: tuple[Difference, ...] = ()

    @property
    def n_equal(self) -> int:
        """The number of sentences with equal translations."""
        return self.n_sentences - len(self.differences)

    def __str__(self) -> str:
        return f"{self.n_equal} of {self.n_sentences}"

    def others(self) -> str:
        """Return a sentence about the others, which shows the first one; "" if there are none."""
        if not self.differences:
            return ""
        n_ties = sum(one.is_tie for one in self.differences)
        first = min(self.differences, key=lambda one: one.is_tie)
        kinds = (
            f"{n_ties} by a tie of scores (at most {_TIE:g} apart), {len(self.differences) - n_ties} by other scores"
        )
        shown = f'"{printable(first.theirs)}", and dragoman writes "{printable(first.ours)}"'
        return f"of the others, {kinds}; the first: {shown}"


def compare(bundle: Bundle, translate: Greedy, sentences: Sequence[str] = (), target_lang: str = "") -> Agreement:
    """Compare the translations of another program with those of our greedy search in float32.

    Args:
        translate: by the other program.
        sentences: the first 200 are translated; without any, made-up ones are.
        target_lang: of sentences without a tag, where a model translates into several languages; "" is its first.
    """
    tokenizers = bundle.tokenizers
    tag = tokenizers.tag(target_lang or tokenizers.targets[0])
    room = bundle.config.max_length - 1
    if sentences:
        sources = [_encoded(tokenizers.source, tag, sentence) for sentence in sentences[:N_SENTENCES]]
    else:
        sources = list(made_up_sources(tokenizers.source, min(room, _LONGEST_SOURCE), tag))
    sources = [source[:room] for source in sources if source]
    limit = min(bundle.config.max_length, _LONGEST)
    translator = Translator([bundle], tokenizers, compute=ComputeOptions("cpu", short_list=False))
    config = SearchConfig(beam_size=1, max_length=limit)
    jobs = [SearchJob(source, (), config, never_written(tokenizers)) for source in sources]
    ours = [candidates[0].hypothesis.ids for candidates in translator.pipeline.search(jobs)]
    theirs = translate(sources, limit)
    last = limit - 2  # transformers counts the start as a token, and may force the end mark at the limit
    pairs = zip(sources, ours, theirs, strict=True)
    differing = [(source, *ids) for source, *ids in pairs if list(ids[0])[:last] != list(ids[1])[:last]]
    ties = _ties(translator, differing)
    decode = tokenizers.target.decode
    differences = (
        Difference(decode(list(one)), decode(list(other)), is_tie)
        for (_, one, other), is_tie in zip(differing, ties, strict=True)
    )
    return Agreement(len(sources), tuple(differences))


def _ties(translator: Translator, differing: Sequence[tuple[Sequence[int], ...]]) -> Iterator[bool]:
    """Yield True for two translations if our model finds both equally probable at the first token that differs.

    Args:
        differing: a source, and its two translations.
    """
    for source, *both in differing:
        parting = (at for at, (one, other) in enumerate(zip(*both, strict=False)) if one != other)
        at = next(parting, min(map(len, both)))  # or one ends where the other goes on
        first, second = translator.forced_decoder.log_probs([(source, list(one)[: at + 1]) for one in both])
        yield abs(first[at] - second[at]) <= _TIE


def until_end(ids: list[int], end: int) -> list[int]:
    """Return the ids before the first end mark, which another program may have written more after."""
    return ids[: ids.index(end)] if end in ids else ids


def made_up_sources(tokenizer: Tokenizer, longest: int, tag: str) -> Iterator[list[int]]:
    """Yield the ids of sentences of random pieces, always the same ones."""
    draw = np.random.default_rng(1)
    ordinary = [id for id in range(tokenizer.vocab_size) if _is_ordinary(tokenizer, id)]
    tags = tokenizer.vocabulary.ids([tag]) if tag else []
    for _ in range(N_SENTENCES):
        length = int(draw.integers(1, max(longest - len(tags), 1) + 1))
        yield tags + [int(id) for id in draw.choice(ordinary, length)]


def _encoded(tokenizer: Tokenizer, tag: str, sentence: str) -> list[int]:
    has_tag = not tag or bool(split_tags(sentence, tokenizer.tags)[0])
    return tokenizer.encode(sentence if has_tag else with_tag(tag, sentence))


def _is_ordinary(tokenizer: Tokenizer, id: int) -> bool:
    (piece,) = tokenizer.pieces([id])
    reserved = tokenizer.reserved if isinstance(tokenizer, Subword) else ()
    return id not in tokenizer.special_ids.names and piece not in tokenizer.tags and piece not in reserved
