"""Options that belong together, as dataclasses; `grouping` makes each field an option of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dragoman.cli.options import (
    BatchSize,
    BeamSize,
    Device,
    FromLang,
    IntoLang,
    LengthPenalty,
    Sentences,
    SourceLang,
    TargetLang,
    option,
)
from dragoman.machine import devices

if TYPE_CHECKING:
    from dragoman.translator import Translator


@dataclass(frozen=True)
class FileOptions:
    """Parallel text in files: two, or one file of pairs."""

    source: Annotated[str | None, option("Source text, one sentence a line (.gz, .bz2, .xz too).", metavar="FILE")] = (
        None
    )
    target: Annotated[str | None, option("Target text, line by line with the source.", metavar="FILE")] = None
    pairs: Annotated[
        str | None,
        option("Both in one file: a table (TSV, CSV), JSONL, TMX, XLIFF or PO, compressed too.", metavar="FILE"),
    ] = None
    columns: Annotated[
        str | None,
        option(
            "The two columns in files of pairs, by number or name: 2,4 or en,de. Default: by header or content.",
            metavar="SOURCE,TARGET",
        ),
    ] = None


@dataclass(frozen=True)
class TextOptions(FileOptions):
    """Parallel text: a corpus known by name, two files, or one file of pairs."""

    corpus: Annotated[
        str | None,
        option("A corpus known by name: multi30k, captions, captions-zh, copy, reverse, sort.", metavar="NAME"),
    ] = None


@dataclass(frozen=True)
class ValidationOptions:
    """Parallel text by which a run chooses its best model."""

    validation_source: Annotated[
        str | None, option("Validation text; some is held out if there is none.", metavar="FILE")
    ] = None
    validation_target: Annotated[str | None, option("Its translation.", metavar="FILE")] = None
    validation_pairs: Annotated[
        str | None, option("Validation text and its translation in one file.", metavar="FILE")
    ] = None


@dataclass(frozen=True)
class LanguageOptions:
    """The languages of a parallel text."""

    source_lang: SourceLang = None
    target_lang: TargetLang = None


@dataclass(frozen=True)
class DirectionOptions:
    """The direction in which a model translates."""

    source_lang: FromLang = None
    target_lang: IntoLang = None


@dataclass(frozen=True)
class SearchFlags:
    """Options of the search for translations."""

    beam_size: BeamSize = None
    length_penalty: LengthPenalty = None
    min_length: Annotated[int | None, option("Shortest translation, in tokens.", min=0)] = None
    max_length: Annotated[int | None, option("Cut translations to this many tokens, the end mark included.", min=1)] = (
        None
    )
    no_repeat_ngram: Annotated[int | None, option("Write no sequence of this many tokens twice.", min=0)] = None
    repetition_penalty: Annotated[
        float | None, option("Above 1: make tokens that the translation already has less probable.", min=1)
    ] = None
    rerank: Annotated[
        bool,
        option(
            "Choose by the probability in both directions, if the model has both; better, but slower. A model of "
            "several languages needs --source-lang.",
            "--rerank",
        ),
    ] = False


@dataclass(frozen=True)
class SamplingFlags:
    """Options of drawing translations at random."""

    sample: Annotated[bool, option("Draw from the model instead of searching.", "--sample")] = False
    temperature: Annotated[float | None, option("Lower is closer to greedy.")] = None
    top_k: Annotated[int | None, option("Draw from the k most probable tokens.", min=0)] = None
    top_p: Annotated[
        float | None, option("Draw from the most probable tokens that together have this probability.", min=0, max=1)
    ] = None
    seed: Annotated[int | None, option("The same seed gives the same draws.")] = None


@dataclass(frozen=True)
class TextFlags:
    """Options that belong to each text, by their names in `Translator.translate`."""

    prefixes: Annotated[str | None, option("Begin each translation with these words.", "--prefix", metavar="TEXT")] = (
        None
    )
    protect: Annotated[
        list[str] | None,
        option(
            "Keep what a regular expression finds, or a preset: printf, urls, code, mentions, emoji, rst. Repeatable.",
            metavar="RULE",
        ),
    ] = None
    sentences: Sentences = None
    min_confidence: Annotated[
        float | None, option("Leave a text as it is below this confidence.", min=0, max=1, metavar="0..1")
    ] = None
    terms: Annotated[
        Path | None,
        option(
            "A term list, TBX, CSV or TSV: source, target (several with | between them, Vertrag* for a beginning), "
            "do-not-translate, case.",
            metavar="FILE",
        ),
    ] = None
    off: Annotated[
        list[str] | None,
        option(
            "Switch a check off, and what it repairs: spans, numbers, separators, words, percents, money, measures, "
            "dates, weekdays, times, minus, script, confidence. Repeatable.",
            metavar="NAME",
        ),
    ] = None
    plain: Annotated[
        bool, option("Return what the model says: nothing is read into the text, checked or repaired.", "--plain")
    ] = False

    def options(self, direction: DirectionOptions) -> dict[str, Any]:
        """Return them for a translator: of a term list, the terms in a direction.

        Raises:
            DataError, ConfigError: as `read_terms`.
        """
        terms = None
        if self.terms is not None:
            from dragoman.data.term_files import read_terms

            terms = read_terms(self.terms, (direction.source_lang, direction.target_lang))
        off = None if self.off is None else [name for each in self.off for name in each.split(",")]
        return {**asdict(self), "terms": terms, "off": off}


@dataclass(frozen=True)
class EngineOptions:
    """The device of a model, and its precision."""

    batch_size: BatchSize = None
    workers: Annotated[
        int | None, option("Processes that search at once; default: all cores, for a file on a CPU.", min=1)
    ] = None
    precision: Annotated[
        devices.Precision,
        option("bfloat16 and int8 (CPU only) are less exact, and faster on processors that support them."),
    ] = "float32"
    device: Device = "auto"
    no_short_list: Annotated[
        bool, option("Score all tokens, even if the model has a short-list.", "--no-short-list")
    ] = False

    def load(self, models: Sequence[str]) -> Translator:
        """Load one model, or several as an ensemble."""
        from dragoman.translator import Translator

        return Translator.load(*models, **self.compute(one_worker=False))

    def compute(self, *, one_worker: bool) -> dict[str, Any]:
        """Return the options of `Translator.load`.

        Args:
            one_worker: use one process, and not all cores, unless --workers says otherwise.
        """
        from dragoman.machine.devices import all_cores

        workers = self.workers or (1 if one_worker else all_cores())
        short_list = not self.no_short_list
        return {"device": self.device, "workers": workers, "precision": self.precision, "short_list": short_list}


def given_options(*groups: Any) -> dict[str, Any]:
    """Return the options of some groups that have a value, by their names."""
    return {name: value for group in groups for name, value in asdict(group).items() if value is not None}


def search_options(search: SearchFlags, sampling: SamplingFlags, *, samples: bool) -> dict[str, Any]:
    """Return the options of a search, by the names of their settings.

    Args:
        samples: the models draw translations even without --sample.

    Raises:
        typer.BadParameter: options for sampling in a search, or a beam size in sampling.
    """
    samples = sampling.sample or samples
    for field in fields(sampling)[1:]:
        if getattr(sampling, field.name) is not None and not samples:
            raise typer.BadParameter(f"--{field.name.replace('_', '-')} is for drawing; it needs --sample")
    if search.beam_size is not None and samples:
        reason = "it has no effect with --sample, or on a model that samples"
        raise typer.BadParameter(f"--beam-size is for searching; {reason}")
    return {**asdict(search), **asdict(sampling), "sample": sampling.sample or None}
