"""Settings of the section `search`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from dragoman.settings.ranges import Count, Positive
from dragoman.settings.sections import Section


class SearchConfig(Section):
    """The search for a translation. Beam size 1 is greedy search; `sample` draws from the model instead."""

    beam_size: Annotated[int, Field(ge=1, le=1_000)] = 5
    n_best: Annotated[int, Field(ge=1, le=1_000)] = 1
    length_penalty: Annotated[float, Field(ge=0, le=10)] = 0.6
    """Exponent of the length penalty ((5 + length) / 6) ** alpha by which log-probability is divided (Wu et al. 2016,
    section 7); 0 is off."""
    min_length: Count = 0
    max_length: Positive | None = None
    """Longest translation, in tokens, with the end mark. A longer one is cut, so a smaller limit gives the beginning
    of the translation that a larger limit gives. None is 1.5 times the source plus 50 plus the prefix, and at most
    the model's own max_length."""
    no_repeat_ngram: Count = 0
    """No sequence of this many tokens is written twice; 0 is off."""
    repetition_penalty: Annotated[float, Field(ge=1, le=100)] = 1.0
    """The log-probability of a token that was written before is multiplied by this (Keskar et al. 2019); 1 is off."""
    rerank: bool = False
    """Choose among the candidates by the probability in both directions, of the translation and of the source given it
    (Yee et al. 2019); the model must translate both ways."""
    sample: bool = False
    temperature: Annotated[float, Field(gt=0, le=100)] = 1.0
    top_k: Count = 0
    """Draw from the k most probable tokens only; 0 is off."""
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Draw from the most probable tokens that together have this probability."""
    seed: Count = 1

    def describe(self) -> str:
        """Return the search in a few words."""
        return "sampled" if self.sample else f"beam size {self.beam_size}, length penalty {self.length_penalty:g}"

    def contradictions(self) -> Iterator[str]:
        """Yield lengths in the wrong order, and more results than the beam has."""
        if self.max_length is not None and self.min_length > self.max_length:
            yield f"min_length {self.min_length} is more than max_length {self.max_length}"
        if self.rerank and (self.n_best if self.sample else self.beam_size) == 1:
            yield "reranking needs several candidates; have a larger beam, or with sampling more n best"
        if not self.sample and self.n_best > self.beam_size:
            yield f"n_best {self.n_best} is more than beam_size {self.beam_size}; raise beam_size"
