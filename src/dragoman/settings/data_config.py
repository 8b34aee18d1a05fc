"""Settings of the section `data`: the parallel text and the pairs that are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dragoman.settings.corpus_config import CorpusConfig, corpus_names, mixture_problems
from dragoman.settings.ranges import Positive, Size
from dragoman.settings.text_origin import TextOrigin

#: Settings that each corpus of a mixture has for itself.
_OF_ONE_CORPUS = (*TextOrigin.model_fields, "test_source", "test_target", "test_pairs")
#: Settings that name the files of the text. Its SHA-256 identifies it.
TEXT_FILES = frozenset(
    f"{split}{side}" for split in ("", "validation_", "test_") for side in ("source", "target", "pairs")
)


#: Faults of a pair that training text may have.
Fault = Literal["numbers", "copied", "script", "language", "mojibake", "wordless", "repeated"]


def _option(name: str) -> str:
    """Return the option that sets a setting of `data`, or `--set`."""
    return f"--set data.{name}=..." if name.startswith("test_") else f"--{name.replace('_', '-')}"


def _comma_separated(value: Any) -> Any:
    """Return the parts of a string as a tuple, for `--set data.clean=entities,tags`."""
    return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value


class DataConfig(TextOrigin):
    """The origin of the parallel text, and the filters of its pairs.

    Either `corpus` (a corpus known by name) or `source` and `target` (two files with one sentence a line), or `pairs`
    (one file: a table or JSONL), or `corpora`, a list of such texts. Each file may also be compressed. Files for
    validation or test are used instead of those that a named corpus has.
    """

    test_source: str | None = None
    """Text that `evaluate` with the recipe scores by default. Its overlap with the training text is counted."""
    test_target: str | None = None
    test_pairs: str | None = None
    corpora: tuple[CorpusConfig, ...] = ()
    """Several texts, in one or more languages: a list of {source: ..., target: ..., source_lang: en, target_lang: de,
    validation_source: ..., validation_target: ..., both_ways: true, weight: 1}. Each may also have corpus or pairs,
    columns, a name, and a tag."""
    temperature: Annotated[float, Field(ge=1, le=100)] = 1.0
    """With a temperature T, each of the `corpora` with n pairs counts as n^(1/T): small ones are seen more often."""
    validation_size: Positive = 1000
    """Number of pairs held out for validation when no validation files are given."""
    max_length: Size = 256
    """Longest side kept, in tokens; by default at most what the model can read."""
    max_ratio: Annotated[float, Field(ge=1, le=1000)] = 4.0
    """Longest side over shortest side, in tokens; short sentences are allowed a little more."""
    dedup: bool = False
    invalid_utf8: Literal["error", "drop"] = "error"
    clean: Annotated[tuple[Literal["entities", "tags", "mojibake"], ...], BeforeValidator(_comma_separated)] = ()
    """Repairs of the text before anything else: `entities` such as &amp; are decoded, `tags` removed, `mojibake` such
    as Ã¼ read as ü, where that is certain."""
    drop: Annotated[tuple[Fault, ...], BeforeValidator(_comma_separated)] = ()
    """Faults whose training pairs are dropped: `numbers` that differ between the sides, a source `copied` as target, a
    side in another `script` than its language's or clearly in another `language`, `mojibake`, a `wordless` side, a line
    `repeated` many times."""
    misaligned: Literal["error", "keep"] = "error"
    """Stop if the two sides do not belong together (one of them lost a line, say), or use the text as it is."""

    def contradictions(self) -> Iterator[str]:
        """Yield two origins of one text, half an origin, unknown language codes, and mixtures that cannot be."""
        yield from self.origin_problems(("", "validation_", "test_"), _option)
        if self.corpora:
            for name in _OF_ONE_CORPUS:
                if getattr(self, name) is not None:
                    where = "has no place beside them" if name.startswith("test_") else "belongs into one of them"
                    yield f"corpora have texts of their own; {name} {where}"
            yield from mixture_problems(self.corpora, self.temperature)
        elif self.temperature != 1:
            yield "temperature has no effect without corpora"

    def each(self) -> Iterator[tuple[str, DataConfig]]:
        """Yield the name of each corpus, and settings that have it alone; the only corpus has no name."""
        if not self.corpora:
            yield "", self
        alone = {"corpora": (), "temperature": 1.0}
        for name, corpus in zip(corpus_names(self.corpora), self.corpora, strict=True):
            text = {key: getattr(corpus, key) for key in _OF_ONE_CORPUS if not key.startswith("test_")}
            yield name, self.model_copy(update={**alone, **text})

    def files(self, split: Literal["train", "validation", "test"]) -> tuple[str | None, str | None, str | None]:
        """Return (source, target, pairs) of a split; None for each that is not set."""
        if split == "train":
            return self.source, self.target, self.pairs
        if split == "validation":
            return self.validation_source, self.validation_target, self.validation_pairs
        return self.test_source, self.test_target, self.test_pairs
