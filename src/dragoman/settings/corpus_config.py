"""Settings of `data.corpora`: the corpora of a mixture, and their weights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Annotated

from pydantic import Field

from dragoman.settings.text_origin import LANGUAGE_CODE, TextOrigin

#: Most times that an epoch has a pair.
MOST_TIMES = 1000
Weight = Annotated[float, Field(ge=0, le=MOST_TIMES)]

#: What may follow the language in the name of a file.
_KINDS = re.compile(r"(\.(txt|tsv|csv|jsonl?|tmx|gz|bz2|xz|zst))+")
_NAME = re.compile(r"[\w+-]{1,64}")
#: The name of a tag for a kind of text.
_TAG = re.compile(r"[^\s<>]{1,32}")


class CorpusConfig(TextOrigin):
    """One corpus of a mixture: its text, as in `data`, and its part in the training."""

    name: str | None = None
    """Name in messages; by default the corpus's, or its languages, such as en-de."""
    both_ways: bool = False
    """Train from target to source too."""
    weight: Weight = 1.0
    """Number of times that an epoch has each pair: with 0.5, half of the pairs now, and the others in the next."""
    tag: str | None = None
    """Tag of a kind of text, such as bt for back-translated text. Sources begin with it."""

    def contradictions(self) -> Iterator[str]:
        """Yield no origin or two, half an origin, and names and languages that cannot be."""
        if all(getattr(self, name) is None for name in ("corpus", "source", "target", "pairs")):
            yield "a corpus needs source and target, or pairs, or corpus"
        yield from self.origin_problems()
        if self.name is not None and not _NAME.fullmatch(self.name):
            yield f"{self.name!r} cannot be the name of a corpus; use letters, digits, - and _"
        if self.tag is not None and not _TAG.fullmatch(self.tag):
            yield f"{self.tag!r} cannot be the name of a tag; use a word without angle brackets, such as bt"
        if self.tag is not None and self.both_ways:
            yield "tag and both_ways: a tag is for one direction; list the corpus twice"
        if self.source_lang is not None and self.source_lang == self.target_lang:
            yield f"source_lang and target_lang are both {self.source_lang!r}"

    @property
    def usual_name(self) -> str:
        """The name of a corpus that has none."""
        if self.corpus is not None:
            name = self.corpus
        else:
            source, target = self.source_lang or _language(self.source), self.target_lang or _language(self.target)
            name = f"{source}-{target}" if source and target else PurePath(self.source or self.pairs or "").name
        return re.sub(r"[^\w+-]+", "-", name)[:50] or "corpus"


def _language(file: str | None) -> str | None:
    """Return what is probably the language in the name of a file, or None."""
    *before, last = _KINDS.sub("", PurePath(file or "").name).split(".")
    return last if before and LANGUAGE_CODE.fullmatch(last) else None


def corpus_names(corpora: Sequence[CorpusConfig]) -> tuple[str, ...]:
    """Return the name of each corpus; one that has none gets its usual name, with a number if that is taken."""
    names = [corpus.name for corpus in corpora]
    taken = {name for name in names if name is not None}
    for index, corpus in enumerate(corpora):
        if names[index] is None:
            usual = corpus.usual_name
            candidates = (
                usual if number == 1 else f"{usual}-{number}" for number in range(1, len(corpora) + len(taken) + 2)
            )
            names[index] = next(name for name in candidates if name not in taken)
            taken.add(str(names[index]))
    return tuple(map(str, names))


def mixture_problems(corpora: Sequence[CorpusConfig], temperature: float) -> Iterator[str]:
    """Yield names that two corpora have, and weights that contradict each other."""
    names, weights = corpus_names(corpora), [corpus.weight for corpus in corpora]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"two corpora have the name {name!r}; give each its own (name)"
    if temperature != 1 and any(weight != 1 for weight in weights):
        yield "temperature chooses the weights; give either it or the weights of corpora"
    if not any(weights):
        yield "all corpora have the weight 0; one must have more"
