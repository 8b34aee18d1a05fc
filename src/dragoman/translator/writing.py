"""What is done with a batch of sentences: search, then ids to text. Workers do it too, so all of it can be sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.search import search
from dragoman.decoding.state import TransformerScorer
from dragoman.errors import printable
from dragoman.settings.search_config import SearchConfig
from dragoman.text.cleaning import harmless
from dragoman.text.languages import WITHOUT_SPACES, base_language
from dragoman.text.tokenizer import Tokenizer, Tokenizers
from dragoman.text.vocabulary import EOS_ID
from dragoman.translator.batching import pad
from dragoman.translator.results import Alternative, Translation, merge_flags


class Job(NamedTuple):
    """Sentences that are searched at once."""

    sources: list[list[int]]
    starts: list[list[int]]  # what each translation begins with
    config: SearchConfig


class Written(NamedTuple):
    """A hypothesis of a part of a text, as text."""

    hypothesis: Hypothesis
    text: str
    tokens: tuple[str, ...]


def written_text(tokenizer: Tokenizer, ids: Sequence[int]) -> str:
    """The text of a translation that has these ids: one line, which every terminal and file can take."""
    return harmless(tokenizer.decode(list(ids))).strip()


class Writer:
    """Writes translations of whole batches.

    Args:
        scorer: what is searched with.
        tokenizers: those of its models.
    """

    def __init__(self, scorer: TransformerScorer, tokenizers: Tokenizers) -> None:
        self._scorer = scorer
        self._tokenizers = tokenizers

    def write(self, job: Job) -> list[list[Written]]:
        """The n best of each sentence, the best first."""
        source_ids = pad([[*source, EOS_ID] for source in job.sources])
        beams = search(self._scorer, source_ids, job.config, prefixes=job.starts)
        return [[self._as_text(hypothesis) for hypothesis in beam] for beam in beams]

    def _as_text(self, hypothesis: Hypothesis) -> Written:
        ids = list(hypothesis.ids)
        tokenizer = self._tokenizers.target
        return Written(hypothesis, written_text(tokenizer, ids), tuple(map(printable, tokenizer.pieces(ids))))

    def copied(self, text: str, n_best: int) -> list[Written]:
        """A part that was not searched, as often as the others have candidates."""
        return [Written(Hypothesis((), 0.0, 0.0, (), finished=True), text, (text,))] * n_best

    def join(self, beams: Sequence[Sequence[Written]]) -> Translation:
        """One translation from the n best of each part; the k-th alternative is made of the k-th of each part."""
        if not beams:
            return Translation(text="", score=0.0, tokens=())
        between = "" if base_language(self._tokenizers.target_lang) in WITHOUT_SPACES else " "
        alternatives = [
            Alternative(
                text=between.join(each.text for each in parts if each.text),
                score=math.fsum(each.hypothesis.score for each in parts),
                log_prob=math.fsum(each.hypothesis.log_prob for each in parts),
                tokens=tuple(token for each in parts for token in each.tokens),
            )
            for parts in zip(*beams, strict=False)
        ]
        best = alternatives[0]
        flags = merge_flags(fault for beam in beams for fault in beam[0].hypothesis.faults)
        return Translation(best.text, best.score, best.tokens, tuple(alternatives), n_parts=len(beams), flags=flags)
