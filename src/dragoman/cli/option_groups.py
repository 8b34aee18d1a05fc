"""Options that belong together, as dataclasses; `grouping` makes each field an option of a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import typer

from dragoman.cli.options import (
    BatchSize,
    BeamSize,
    Columns,
    Corpus,
    Device,
    FromLang,
    IntoLang,
    LengthPenalty,
    MaxLength,
    MinConfidence,
    MinLength,
    NoRepeatNgram,
    NoShortList,
    Off,
    Pairs,
    Plain,
    Precision,
    Prefix,
    Protect,
    RepetitionPenalty,
    Sample,
    SampleSeed,
    Sentences,
    Source,
    SourceLang,
    Target,
    TargetLang,
    Temperature,
    Terms,
    TopK,
    TopP,
    ValidationPairs,
    ValidationSource,
    ValidationTarget,
    Workers,
)

if TYPE_CHECKING:
    from dragoman.translator import Translator


@dataclass(frozen=True)
class TextOptions:
    """Parallel text: a corpus known by name, two files, or one file of pairs."""

    corpus: Corpus = None
    source: Source = None
    target: Target = None
    pairs: Pairs = None
    columns: Columns = None


@dataclass(frozen=True)
class FileOptions:
    """Parallel text in files: two, or one file of pairs."""

    source: Source = None
    target: Target = None
    pairs: Pairs = None
    columns: Columns = None


@dataclass(frozen=True)
class ValidationOptions:
    """Parallel text by which a run chooses its best model."""

    validation_source: ValidationSource = None
    validation_target: ValidationTarget = None
    validation_pairs: ValidationPairs = None


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
    min_length: MinLength = None
    max_length: MaxLength = None
    no_repeat_ngram: NoRepeatNgram = None
    repetition_penalty: RepetitionPenalty = None


@dataclass(frozen=True)
class SamplingFlags:
    """Options of drawing translations at random."""

    sample: Sample = False
    temperature: Temperature = None
    top_k: TopK = None
    top_p: TopP = None
    seed: SampleSeed = None


@dataclass(frozen=True)
class TextFlags:
    """Options that belong to each text, by their names in `Translator.translate`."""

    prefixes: Prefix = None
    protect: Protect = None
    sentences: Sentences = None
    min_confidence: MinConfidence = None
    terms: Terms = None
    off: Off = None
    plain: Plain = False

    def options(self, direction: DirectionOptions) -> dict[str, Any]:
        """Return them for a translator: of a term list, the terms in a direction.

        Raises:
            DataError, ConfigError: as `read_terms`.
        """
        from dragoman.data.term_files import read_terms

        languages = direction.source_lang, direction.target_lang
        terms = None if self.terms is None else read_terms(self.terms, languages)
        off = None if self.off is None else [name for each in self.off for name in each.split(",")]
        return {**asdict(self), "terms": terms, "off": off}


@dataclass(frozen=True)
class EngineOptions:
    """The device of a model, and its precision."""

    batch_size: BatchSize = None
    workers: Workers = None
    precision: Precision = "float32"
    device: Device = "auto"
    no_short_list: NoShortList = False

    def load(self, models: Sequence[str], *, one_worker: bool = False) -> Translator:
        """Load one model, or several as an ensemble.

        Args:
            one_worker: use one process, and not all cores, unless --workers says otherwise.
        """
        from dragoman.machine.devices import all_cores
        from dragoman.translator import Translator

        workers = self.workers or (1 if one_worker else all_cores())
        options: Any = {"device": self.device, "workers": workers, "precision": self.precision}
        return Translator.load(*models, **options, short_list=not self.no_short_list)


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
